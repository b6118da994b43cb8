"""Time views of a whole batch at once, against one graph after the other."""

from __future__ import annotations

import numpy as np
import torch

from augcl.data import GraphSet
from augcl.views import named_view
from benchmarks import textbook
from benchmarks.data import graphs, one_by_one
from benchmarks.measure import Row, faster, in_turns


def views(full: bool) -> list[Row]:
    """Augment and batch 128 graphs of PROTEINS; only its own mode, random2, has a target."""
    batch = graphs("PROTEINS").select(range(128))
    targets = {"random2": 20, "random3": None, "random4": None}
    return [_one_mode(batch, mode, target) for mode, target in targets.items()]


def _one_mode(batch: GraphSet, mode: str, target: float | None) -> Row:
    single, rng = one_by_one(batch), np.random.default_rng(0)
    view, generator = named_view(mode), torch.Generator().manual_seed(0)

    def graph_by_graph() -> None:
        textbook.collate([textbook.random_view(graph, rng, mode) for graph in single])

    def at_once() -> None:
        view(batch, generator)

    slow, fast = in_turns(graph_by_graph, at_once, repeats=15)
    return faster(f"views of 128 PROTEINS graphs, {mode}", slow, fast, target)
