"""Time random walks of all nodes of Amazon-Photo at once, against one step after the other."""

from __future__ import annotations

import torch

from augcl.ops.csr import Rows
from augcl.rivals.walks import random_walks
from benchmarks.data import one_graph
from benchmarks.measure import Row, faster, in_turns
from benchmarks.textbook.walker import Walker

LENGTH = 80
PER_NODE = 10


def walks(full: bool) -> list[Row]:
    """Time the published walks of DeepWalk and node2vec; by default loop over every 40th node."""
    return [_walks(1, 1, full, target=20), _walks(0.25, 4, full, target=20)]


def _walks(p: float, q: float, full: bool, *, target: float) -> Row:
    graph = one_graph("Amazon-Photo")
    n, share = graph.num_nodes, 1 if full else 40
    slow = Walker(graph.edge_index, n, p=p, q=q)
    rows = Rows.from_pairs(*graph.edge_index, n, ordered=True)
    starts, generator = torch.arange(n).repeat(PER_NODE), torch.Generator().manual_seed(0)
    begin = starts[::share].tolist()
    theirs, ours = in_turns(
        lambda: slow.walks(begin, LENGTH),
        lambda: random_walks(rows, starts, LENGTH, generator, p=p, q=q),
        repeats=3,
    )
    what = f"{PER_NODE} walks of {LENGTH} from every node, p = {p:g}, q = {q:g}, Amazon-Photo"
    return faster(what, theirs * share, ours, target, note="" if full else "loop scaled up")
