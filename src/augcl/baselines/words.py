"""What all models of gensim share here: one worker, a seed, and every word counts."""

from __future__ import annotations

from typing import Any

import torch

LONGEST = 10_000
"""Words of a document that gensim reads; it passes over the rest."""


def seed_of(generator: torch.Generator) -> int:
    """A seed for another source of random numbers."""
    return int(torch.randint(1 << 31, (1,), generator=generator))


def one_worker(generator: torch.Generator) -> dict[str, Any]:
    """Settings with which the same seed gives the same bits.

    Words are integers, so that no hash of a string, which differs from process to process, plays a
    part.
    """
    return {
        "workers": 1,
        "seed": seed_of(generator),
        "hashfxn": int,
        "min_count": 1,
        "sample": 0,
    }
