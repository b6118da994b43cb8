"""What all models of gensim share here: words, texts in random order, one worker and a seed.

Words are strings. gensim asks its vocabulary for the count of the word *at an index* by passing the
index where a word may stand as well: if words are integers, the index is taken for the word of that
name, and negatives are drawn by the counts of other words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

LONGEST = 10_000
"""Words of a text that gensim reads; it passes over the rest."""


def seed_of(generator: torch.Generator) -> int:
    """Draw a seed for another source of random numbers."""
    return int(torch.randint(1 << 31, (1,), generator=generator))


def one_worker(generator: torch.Generator) -> dict[str, Any]:
    """Settings with which the same seed gives the same bits, in every process.

    gensim draws the first vectors from the seed and orders words by count and by the order in
    which it met them; it hashes no word for either.
    """
    return {"workers": 1, "seed": seed_of(generator), "min_count": 1, "sample": 0}


def names(count: int) -> NDArray[np.object_]:
    """Words 0 to `count` − 1 as strings, each made once, to be picked by index."""
    return np.array([str(number) for number in range(count)], dtype=object)


def numbers(model: Any) -> Tensor:
    """(W,) the word that gensim keeps at each of its indices."""
    return torch.tensor([int(name) for name in model.wv.index_to_key], dtype=torch.long)


def frequencies(counts: Tensor) -> dict[str, int]:
    """How often each word occurs, by its name."""
    return dict(zip(names(len(counts)).tolist(), counts.tolist(), strict=True))


class Texts:
    """Text t has the words ``words[ptr[t]:ptr[t+1]]``, whole numbers from 0.

    A text that is longer than gensim reads comes in several pieces.
    """

    def __init__(self, words: Tensor, ptr: Tensor) -> None:
        self.words, self.ptr = words.numpy(), ptr.tolist()
        self.names = names(int(words.max()) + 1 if len(words) else 0)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def of(self, text: int) -> Iterator[list[str]]:
        """The words of one text, in pieces."""
        last = self.ptr[text + 1]
        for begin in range(self.ptr[text], last, LONGEST):
            yield self.names[self.words[begin : min(begin + LONGEST, last)]].tolist()

    def shuffled(self, generator: torch.Generator) -> Iterator[int]:
        """Every text once, in a new random order: that of a file may tell the class."""
        yield from torch.randperm(len(self), generator=generator).tolist()
