"""What people stumble on in node features."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from augcl.data import GraphSet, NodeGraph
from augcl.experiments.finding import Finding, Level, counted, part_of

MANY = 0.1  # the share of nodes from which on a defect decides what is learned
SHOWN = 3  # names of columns


def look_at_features(data: GraphSet | NodeGraph) -> list[Finding]:
    """Features missing, constant, all 0, or there but not used."""
    of_graphs = isinstance(data, GraphSet)
    constant = constant_columns(data.x)
    columns = data.columns if isinstance(data, GraphSet) else None
    findings = []
    if bool(constant.all()):
        what = "none that differ: every node has the same (constant 1 if the files have none)"
        if of_graphs:
            cure = "the shape alone is learned; --features degree gives it more to see"
            findings.append(Finding("note", "features", what, cure))
        else:
            cure = "nodes differ by their neighbours only: give features or --features degree"
            findings.append(Finding("warning", "features", what, cure))
    elif bool(constant.any()):
        what = f"{part_of(int(constant.sum()), len(constant), 'column')} constant"
        what += _names(constant, columns)
        findings.append(Finding("note", "features", what, "they tell nothing: leave them out"))
    empty = int((~filled_rows(data.x)).sum())
    if empty:
        what = f"{part_of(empty, data.num_nodes, 'node')} with all features 0"
        cure = "check that 0 is meant, and not a value that is missing"
        level: Level = "warning" if empty >= MANY * data.num_nodes else "note"
        findings.append(Finding(level, "features", what, cure))
    findings += _unused(data) if isinstance(data, GraphSet) else []
    if not findings:
        what = f"{counted(data.num_features, 'column')}, none constant, finite"
        findings.append(Finding("ok", "features", what))
    return findings


def constant_columns(x: Tensor) -> Tensor:
    """(F,) bool: the columns with one value only, of dense or ``sparse_csr`` features.

    >>> constant_columns(torch.tensor([[1.0, 0.0], [1.0, 2.0]])).tolist()
    [True, False]
    """
    if x.layout != torch.sparse_csr:
        return x.amin(0) == x.amax(0)
    column, values = x.col_indices().long(), x.values()
    zeros = torch.zeros(x.shape[1])
    low = zeros.scatter_reduce(0, column, values, "amin", include_self=False)
    high = zeros.scatter_reduce(0, column, values, "amax", include_self=False)
    partly = torch.bincount(column, minlength=x.shape[1]) < len(x)  # the other entries are 0
    return torch.where(partly, (low == 0) & (high == 0), low == high)


def filled_rows(x: Tensor) -> Tensor:
    """(V,) bool: the rows that are not all 0.

    >>> filled_rows(torch.tensor([[0.0, 0.0], [1.0, 0.0]])).tolist()
    [False, True]
    """
    if x.layout != torch.sparse_csr:
        return (x != 0).any(1)
    row = torch.repeat_interleave(x.crow_indices().diff().long())
    filled = torch.zeros(len(x), dtype=torch.bool)
    filled[row[x.values() != 0]] = True
    return filled


def _unused(graphs: GraphSet) -> list[Finding]:
    attributes = graphs.node_attr
    if attributes is None or "attribute0" in (graphs.columns or ()):
        return []
    what = f"{counted(attributes.shape[1], 'continuous node attribute')} in the files, not used"
    return [Finding("note", "features", what, "add --features attributes to use what they tell")]


def _names(chosen: Tensor, columns: Sequence[str] | None) -> str:
    if columns is None:
        return ""
    names = [columns[i] for i in chosen.nonzero().squeeze(1).tolist()]
    return f": {', '.join(names[:SHOWN])}{' …' if len(names) > SHOWN else ''}"
