"""Batches of graphs whose members stay together for a whole training."""

from __future__ import annotations

import torch

from augcl.data.graph import GraphSet
from augcl.errors import InputError


def fixed_batches(graphs: GraphSet, size: int, generator: torch.Generator) -> list[GraphSet]:
    """Shuffle once and cut; a single graph left over joins the batch before it.

    The members of a batch never change (as in the published code), so what depends on the batch
    alone, such as its adjacency, is computed once. One graph has no negatives and would teach
    nothing.
    """
    if not len(graphs):
        raise InputError(f"{graphs.name} holds no graphs: give at least one")
    order = torch.randperm(len(graphs), generator=generator, device=generator.device)
    parts = list(torch.split(order, size))
    if len(parts) > 1 and len(parts[-1]) == 1:
        parts[-2:] = [torch.cat(parts[-2:])]
    return [graphs.select(part) for part in parts]
