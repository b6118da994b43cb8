"""Clean edges: both directions of every edge once, without self-loops."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from augcl.errors import InputError


class Cleaned(NamedTuple):
    """Counts of what `simple_undirected` changed.

    Parameters
    ----------
    edges : int
        Undirected edges there are now.
    loops : int
        Entries from a node to itself, removed.
    duplicates : int
        Entries given again in the same direction, removed.
    one_way : int
        Edges given in one direction only; the other was added.
    """

    edges: int
    loops: int = 0
    duplicates: int = 0
    one_way: int = 0


def check_pairs(pairs: Tensor, num_nodes: int) -> None:
    """Raise `InputError` unless these are (2, P) pairs of the nodes 0 … num_nodes − 1."""
    if pairs.dim() != 2 or len(pairs) != 2:
        raise InputError(f"edge_index has shape {tuple(pairs.shape)}, not (2, E)")
    if not pairs.numel():
        return
    if int(pairs.min()) < 0:
        raise InputError("edge_index holds a node below 0: nodes are counted from 0")
    if int(pairs.max()) >= num_nodes:
        edge = int((pairs >= num_nodes).any(dim=0).nonzero()[0])
        raise InputError(
            f"edge_index points at node {int(pairs.max())} (first at edge {edge}), but the "
            f"{num_nodes} nodes are 0 to {num_nodes - 1}"
        )


def simple_undirected(
    pairs: Tensor, num_nodes: int, edge_attr: Tensor | None = None
) -> tuple[Tensor, Tensor | None, Cleaned]:
    """Both directions of every edge once, ordered by source then target, without self-loops.

    >>> edges, _, cleaned = simple_undirected(torch.tensor([[2, 1, 0, 1], [0, 1, 2, 2]]), 3)
    >>> edges.tolist(), cleaned
    ([[0, 1, 2, 2], [2, 2, 0, 1]], Cleaned(edges=2, loops=1, duplicates=0, one_way=1))
    """
    source, target = pairs.numpy()  # NumPy sorts many times faster than torch
    key, mirror = source * num_nodes + target, target * num_nodes + source
    # Well-kept files are in order, simple and symmetric already; then nothing has to be rebuilt.
    simple = bool((key[1:] > key[:-1]).all()) and bool((source != target).all())
    if simple and np.array_equal(np.sort(mirror), key):
        return pairs, edge_attr, Cleaned(edges=len(key) // 2)
    keep = source != target
    if edge_attr is None:
        # The edge, and in the last bit its direction: one sort tells both apart.
        given = (np.where(source < target, key, mirror) * 2 + (source < target))[keep]
        del key, mirror
        given.sort()
        given = _once(given)
        directed, once = len(given), _once(given // 2)
        both = np.concatenate([once, once % num_nodes * num_nodes + once // num_nodes])
        both.sort()
    else:
        both, first = np.unique(np.concatenate([key[keep], mirror[keep]]), return_index=True)
        kept = torch.from_numpy(np.flatnonzero(keep))
        directed = int((first < len(kept)).sum())  # the others are mirrors of an edge only
        edge_attr = edge_attr[kept.repeat(2)[torch.from_numpy(first)]]
    edges = torch.from_numpy(np.stack([both // num_nodes, both % num_nodes]))
    kept_entries = int(keep.sum())
    cleaned = Cleaned(
        edges=len(both) // 2,
        loops=len(source) - kept_entries,
        duplicates=kept_entries - directed,
        one_way=len(both) - directed,
    )
    return edges, edge_attr, cleaned


LARGEST_WEIGHT = 1e30  # equal edges add up, and the sum must fit into single precision


def undirected_weights(pairs: Tensor, weight: Tensor, edge_index: Tensor, num_nodes: int) -> Tensor:
    """Return (E,) float32 weights of `edge_index` from the (P,) weights of the pairs as given.

    Entries given again in the same direction add up, as parallel edges do; where both directions
    are given, the edge has the mean of the two. `edge_index` is what `simple_undirected` made of
    `pairs`.

    >>> pairs = torch.tensor([[0, 0, 1, 1], [1, 1, 0, 2]])
    >>> edges, _, _ = simple_undirected(pairs, 3)
    >>> undirected_weights(pairs, torch.tensor([1.0, 2.0, 5.0, 7.0]), edges, 3).tolist()
    [4.0, 4.0, 7.0, 7.0]
    """
    if weight.shape != (pairs.shape[1],):
        raise InputError(
            f"{len(weight)} edge weights for {pairs.shape[1]} edges: give one per edge"
        )
    values = weight.double().numpy()
    bad = ~((values >= 0) & (values <= LARGEST_WEIGHT))
    if bad.any():
        edge = int(bad.argmax())
        raise InputError(
            f"the weight of edge {edge}, counted from 0, is {values[edge]:g}: weights are numbers "
            f"from 0 to {LARGEST_WEIGHT:g}; under another name than weight it is an edge feature"
        )
    source, target = pairs.numpy()
    keep = source != target
    keys = (edge_index[0] * num_nodes + edge_index[1]).numpy()
    entry = np.searchsorted(keys, (source * num_nodes + target)[keep])
    total = np.bincount(entry, values[keep], minlength=len(keys))
    given = (np.bincount(entry, minlength=len(keys)) > 0).astype(float)
    mirror = np.searchsorted(keys, (edge_index[1] * num_nodes + edge_index[0]).numpy())
    both = (total + total[mirror]) / (given + given[mirror])
    return torch.from_numpy(both.astype(np.float32))


def _once(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return sorted values without repetitions."""
    new = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return values[new]
