"""What people stumble on in a data set: edges, small graphs, classes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from augcl.data import GraphSet, NodeGraph
from augcl.data.edges import Cleaned
from augcl.data.features import degrees
from augcl.data.summary import edge_homophily, statistics
from augcl.evaluation.svm import smallest_class
from augcl.runs.cost import Finding, Level, counted, part_of

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
            cure = "only the structure is learned; --features degree adds features"
            findings.append(Finding("note", "features", what, cure))
        else:
            cure = "nodes differ only by their neighbours: add features, or use --features degree"
            findings.append(Finding("warning", "features", what, cure))
    elif bool(constant.any()):
        what = f"{part_of(int(constant.sum()), len(constant), 'column')} constant"
        what += _names(constant, columns)
        findings.append(
            Finding("note", "features", what, "they carry no information: leave them out")
        )
    empty = int((~filled_rows(data.x)).sum())
    if empty:
        what = f"{part_of(empty, data.num_nodes, 'node')} with all features 0"
        cure = "check that 0 is meant and does not stand for a missing value"
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
    return [Finding("note", "features", what, "add --features attributes to use them")]


def _names(chosen: Tensor, columns: Sequence[str] | None) -> str:
    if columns is None:
        return ""
    names = [columns[i] for i in chosen.nonzero().squeeze(1).tolist()]
    return f": {', '.join(names[:SHOWN])}{' …' if len(names) > SHOWN else ''}"


FOLDS = 10
ALTERED_FROM = 10  # nodes; floor(10 %) of fewer is 0
FEWEST_NODES = 10  # of all classes; 10 % of fewer are none
HOMOPHILOUS = 0.1  # above chance; below that, smoothing over neighbours does not help
NODES_TO_TRAIN_ON = 10  # of a class; 10 % of fewer are often none


def look_at_data(data: GraphSet | NodeGraph) -> list[Finding]:
    """Everything that can be seen without training.

    >>> path = NodeGraph.from_arrays(pairs=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    >>> [finding.about for finding in look_at_data(path) if finding.level == "warning"]
    ['features']
    """
    if isinstance(data, GraphSet):
        own, classes = look_at_sizes(data), look_at_graph_classes(data.y)
    else:
        own, classes = look_at_components(data), look_at_node_classes(data.y)
        classes = [*classes, *look_at_homophily(data)]
    edges = look_at_edges(data.cleaned) if data.cleaned is not None else []
    return [*edges, *look_at_isolated(data), *own, *look_at_features(data), *classes]


def look_at_homophily(graph: NodeGraph) -> list[Finding]:
    """Do neighbours share their class more often than two nodes at random?

    >>> path = torch.tensor([[0, 1, 2], [1, 2, 3]])
    >>> y = torch.tensor([0, 1, 0, 1])
    >>> look_at_homophily(NodeGraph.from_arrays(pairs=path, num_nodes=4, y=y))[0].what[:39]
    '0.0 % of the edges join nodes of one cl'
    """
    found = edge_homophily(graph)
    if found is None or graph.num_classes < 2 or graph.y is None:
        return []
    shares = torch.bincount(graph.y[graph.y >= 0]).double()
    chance = float((shares / shares.sum()).square().sum())
    what = (
        f"{100 * found:.1f} % of the edges join nodes of one class; by chance {100 * chance:.1f} %"
    )
    if found <= chance + HOMOPHILOUS:
        what += ": neighbours tell little of the class"
    return [Finding("ok", "edge homophily", what)]


def look_at_edges(cleaned: Cleaned) -> list[Finding]:
    """What a reader had to put right in the edges of the files."""
    if cleaned.edges == 0:
        cure = "check the list of edges: every method here learns from them"
        return [Finding("warning", "edges", "there are no edges", cure)]
    findings = []
    if cleaned.loops:
        what = f"{counted(cleaned.loops, 'self-loop')} in the files, removed"
        cure = "if a loop means something, give it as a node feature"
        findings.append(Finding("note", "edges", what, cure))
    if cleaned.duplicates:
        what = f"{counted(cleaned.duplicates, 'repeated edge')} in the files, each counted once"
        cure = "if repeats mean something, they are lost: check how the file was written"
        findings.append(Finding("note", "edges", what, cure))
    if 0 < cleaned.one_way < cleaned.edges:
        missing = part_of(cleaned.one_way, cleaned.edges, "edge")
        what = f"{missing} in one direction only, the other was added"
        cure = "fine if your graph is undirected; directions are ignored"
        findings.append(Finding("note", "edges", what, cure))
    elif not findings:
        way = "given once, read as undirected" if cleaned.one_way else "given in both directions"
        findings.append(Finding("ok", "edges", f"{counted(cleaned.edges, 'edge')}, {way}"))
    return findings


def look_at_isolated(data: GraphSet | NodeGraph) -> list[Finding]:
    """Nodes without a neighbour."""
    alone = int((degrees(data) == 0).sum())
    if not alone:
        return [Finding("ok", "isolated nodes", "every node has a neighbour")]
    what = f"{part_of(alone, data.num_nodes, 'node')} without an edge"
    cure = "they are embedded from their own features alone: drop them, or look for lost edges"
    level: Level = "warning" if alone >= MANY * data.num_nodes else "note"
    return [Finding(level, "isolated nodes", what, cure)]


def look_at_sizes(graphs: GraphSet) -> list[Finding]:
    """Graphs too small for a view that drops or masks 10 % of the nodes."""
    size = graphs.node_ptr.diff()
    small = int((size < ALTERED_FROM).sum())
    if not small:
        least = int(size.min())
        return [Finding("ok", "small graphs", f"the smallest of the graphs has {least} nodes")]
    what = (
        f"{part_of(small, len(graphs), 'graph')} below {ALTERED_FROM} nodes: 10 % of them is less "
        "than one node, so node-drop and attribute-mask do not change them"
    )
    level: Level = "warning" if 2 * small >= len(graphs) else "note"
    return [
        Finding(
            level, "small graphs", what, "try --augmentation subgraph, which changes all graphs"
        )
    ]


def look_at_components(graph: NodeGraph) -> list[Finding]:
    """Parts of one graph that no path joins."""
    count = statistics(graph)["components"]
    if count == 1:
        return [Finding("ok", "components", "the graph is connected")]
    what = f"{counted(count, 'component')} that no edge joins"
    cure = "no information passes between them: if that is not intended, look for lost edges"
    return [Finding("note", "components", what, cure)]


def look_at_graph_classes(y: Tensor | None) -> list[Finding]:
    """Can ten folds judge the embeddings of graphs?"""
    if y is None:
        cure = "fine for embeddings; for a score add graph labels (augcl data --help: formats)"
        return [Finding("note", "classes", "none: embeddings cannot be evaluated", cure)]
    sizes = torch.unique(y, return_counts=True)[1]
    if len(sizes) < 2:
        return [_only_one_class("graphs")]
    needed = smallest_class(FOLDS)
    least = int(sizes.min())
    if least < needed:
        few = int((sizes < needed).sum())
        what = (
            f"{part_of(few, len(sizes), 'class')} below the {needed} graphs "
            f"that {FOLDS} folds need, the smallest has {least}"
        )
        cure = "merge or drop them; or --no-evaluate, then augcl evaluate --folds with fewer"
        return [Finding("warning", "classes", what, cure)]
    return [_class_sizes(sizes, "graphs")]


def look_at_node_classes(y: Tensor | None) -> list[Finding]:
    """Can 10 % of the nodes teach a classifier every class?"""
    known = torch.empty(0).long() if y is None else y[y >= 0]
    if y is None or not len(known):
        cure = "fine for embeddings; for a score give classes of nodes, e.g. label in nodes.csv"
        return [Finding("note", "classes", "none: embeddings cannot be evaluated", cure)]
    findings = []
    if len(known) < len(y):
        what = f"{part_of(len(y) - len(known), len(y), 'node')} without a class"
        cure = "nothing to do: they are embedded, and left out of the score"
        findings.append(Finding("note", "classes", what, cure))
    sizes = torch.unique(known, return_counts=True)[1]
    least = int(sizes.min())
    if len(sizes) < 2:
        findings.append(_only_one_class("nodes"))
    elif len(known) < FEWEST_NODES:
        what = f"{counted(len(known), 'labelled node')}: 10 % of them is less than one to train on"
        cure = f"give classes to {FEWEST_NODES} nodes or more, or train with --no-evaluate"
        findings.append(Finding("warning", "classes", what, cure))
    elif least < NODES_TO_TRAIN_ON:
        what = f"the smallest class has {counted(least, 'node')}: the 10 % to train on may miss it"
        findings.append(Finding("warning", "classes", what, "merge or drop classes that small"))
    else:
        findings.append(_class_sizes(sizes, "nodes"))
    return findings


def _only_one_class(things: str) -> Finding:
    what = f"all {things} are of one class: embeddings cannot be evaluated"
    return Finding("warning", "classes", what, "check the labels, or train with --no-evaluate")


def _class_sizes(sizes: Tensor, things: str) -> Finding:
    guess = 100 * float(sizes.max()) / float(sizes.sum())
    least, most = int(sizes.min()), int(sizes.max())
    each = f"{least:,} {things} each" if least == most else f"{least:,} to {most:,} {things}"
    what = f"{len(sizes)} classes of {each}; guessing the largest is right in {guess:.1f} %"
    if guess < 90:
        return Finding("ok", "classes", what)
    return Finding("note", "classes", what, "do not rely on accuracy alone")
