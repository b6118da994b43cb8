"""Find what goes wrong with a data set: edges, features, small graphs, classes and targets."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import torch
from torch import Tensor

from augcl.data import GraphSet, NodeGraph
from augcl.data.catalogue import known_name
from augcl.data.edges import Cleaned
from augcl.data.features import degrees
from augcl.data.sparse import some_rows
from augcl.data.summary import edge_homophily, statistics
from augcl.evaluation.svm import smallest_class
from augcl.methods.beside import Beside
from augcl.rivals.walks import WEIGHT, WeightedGraphReader
from augcl.runs.cost import Finding, Level, counted, part_of
from augcl.runs.models import METHODS
from augcl.training.method import Method

MANY = 0.1  # from this share of the nodes on, a defect is a warning
SHOWN = 3  # names of columns
STRUCTURE_ONLY = ("DeepWalk", "Node2Vec")  # these do not read node features
DATASET = "DATASET"  # in a command, where no name is known


def advice(data: GraphSet | NodeGraph, model: Method, dataset: str) -> list[Finding]:
    """Return what a user should know before `model` is trained on `data`, if anything.

    `dataset` is the name or path that the user gave; published settings of a known data set leave
    edge features out on purpose.

    >>> import augcl
    >>> path = NodeGraph.from_arrays(pairs=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    >>> [finding.about for finding in advice(path, augcl.GCA(), "path.graphml")]
    ['features']
    >>> advice(path, augcl.Node2Vec(), "path.graphml")
    []
    """
    findings = []
    if type(model).__name__ not in STRUCTURE_ONLY:
        findings += look_at_missing_features(data, dataset)
    if known_name(dataset) is None:
        findings += look_at_unused_edges(data, model)
    findings += [f for f in look_at_classes(data) if f.about in (MANY_CLASSES, MAJORITY)]
    return [finding for finding in findings if finding.level != "ok"]


def look_at_missing_features(data: GraphSet | NodeGraph, dataset: str = DATASET) -> list[Finding]:
    """Report features that are the same for every node."""
    if not bool(constant_columns(some_rows(data.x)).all()):
        return []
    what = "none that differ: every node has the same (constant 1 if the files have none)"
    if isinstance(data, GraphSet):
        cure = "only the structure is learned; --features degree adds features"
        return [Finding("note", "features", what, cure)]
    command = f"augcl train {shlex.quote(dataset)}"
    cure = (
        f"Node2Vec or degree features usually do better here: {command} --method Node2Vec, or "
        f"{command} --features degree"
    )
    return [Finding("warning", "features", what, cure)]


def look_at_unused_edges(data: GraphSet | NodeGraph, model: Method) -> list[Finding]:
    """Report edge features that the method does not read."""
    if data.edge_attr is None or not data.edge_attr.shape[1]:
        return []
    model = model.first if isinstance(model, Beside) else model  # the trained one
    switch = getattr(model, "edge_switch", None)  # the parameter that turns them on
    if switch is not None and getattr(model, switch) is not False:
        return []
    if getattr(model, "edge_cure", "") is None:  # it reads something else than the graph
        return []
    count, columns = data.edge_attr.shape[1], data.edge_columns
    if isinstance(model, WeightedGraphReader) and columns is not None:
        columns = [name for name in columns if name != WEIGHT]
        count = len(columns)
    if not count:
        return []
    names = _names(torch.ones(count, dtype=torch.bool), columns)
    what = f"{counted(count, 'edge column')} not used by {type(model).__name__}{names}"
    users = [name for name, kind in METHODS.items() if getattr(kind, "edge_switch", None)]
    if switch is not None:
        cure = f"--set {switch}=true uses them"
    elif isinstance(data, GraphSet) and users:
        cure = f"methods that use them: {', '.join(users)}"
    else:
        cure = "of an edge only a column called weight is used: give what matters as node features"
    return [Finding("note", "edge columns", what, cure)]


def look_at_features(data: GraphSet | NodeGraph, dataset: str = DATASET) -> list[Finding]:
    """Report features that are missing, constant, all 0, or there but not used."""
    x = some_rows(data.x)
    constant = constant_columns(x)
    findings = look_at_missing_features(data, dataset)
    if not findings and bool(constant.any()):
        what = f"{part_of(int(constant.sum()), len(constant), 'column')} constant"
        what += _names(constant, data.columns)
        findings.append(
            Finding("note", "features", what, "they carry no information: leave them out")
        )
    empty = int((~filled_rows(x)).sum() * (data.num_nodes / len(x)))
    if empty:
        what = f"{part_of(empty, data.num_nodes, 'node')} with all features 0"
        cure = "check that 0 is a value and not a missing one"
        level: Level = "warning" if empty >= MANY * data.num_nodes else "note"
        findings.append(Finding(level, "features", what, cure))
    findings += _unused(data) if isinstance(data, GraphSet) else []
    if not findings:
        what = f"{counted(data.num_features, 'column')}, none constant, finite"
        findings.append(Finding("ok", "features", what))
    return findings


def constant_columns(x: Tensor) -> Tensor:
    """Return (F,) bool: the columns with one value only, of dense or ``sparse_csr`` features.

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
    """Return (V,) bool: the rows that are not all 0.

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
    if attributes is None:
        return []
    what = f"{counted(attributes.shape[1], 'continuous node attribute')} in the files, not used"
    return [Finding("note", "features", what, "add --features attributes to use them")]


def _names(chosen: Tensor, columns: Sequence[str] | None) -> str:
    if columns is None:
        return ""
    names = [columns[i] for i in chosen.nonzero().squeeze(1).tolist()]
    return f": {', '.join(names[:SHOWN])}{' …' if len(names) > SHOWN else ''}"


FOLDS = 10
ALTERED_FROM = 10  # nodes; 10 % of fewer nodes is less than one
FEWEST_NODES = 10  # labelled nodes; 10 % of fewer is less than one
HOMOPHILOUS = 0.1  # above chance; below that, smoothing over neighbours does not help
NODES_TO_TRAIN_ON = 10  # of a class; the 10 % for training may miss a smaller one
IMBALANCED = 80  # percent of the largest class


def look_at_data(
    data: GraphSet | NodeGraph, model: Method | None = None, dataset: str = DATASET
) -> list[Finding]:
    """Report everything that can be seen without training.

    `model` is the method that would be trained; `dataset` is what the user calls the data in a
    command.

    >>> path = NodeGraph.from_arrays(pairs=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    >>> [finding.about for finding in look_at_data(path) if finding.level == "warning"]
    ['features']
    """
    own = look_at_sizes(data) if isinstance(data, GraphSet) else look_at_components(data)
    edges = look_at_edges(data.cleaned) if data.cleaned is not None else []
    unused = look_at_unused_edges(data, model) if model is not None else []
    features = look_at_features(data, dataset)
    classes = look_at_classes(data)
    if isinstance(data, NodeGraph):
        classes += look_at_homophily(data)
    return [*edges, *unused, *look_at_isolated(data), *own, *features, *classes]


def look_at_homophily(graph: NodeGraph) -> list[Finding]:
    """Report whether neighbours share their class more often than two random nodes.

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
    """Report what was corrected in the edges of the files."""
    if cleaned.edges == 0:
        cure = "check the list of edges: every method here learns from them"
        return [Finding("warning", "edges", "there are no edges", cure)]
    findings = []
    if cleaned.loops:
        what = f"{counted(cleaned.loops, 'self-loop')} in the files, removed"
        cure = "if a self-loop has a meaning, give it as a node feature"
        findings.append(Finding("note", "edges", what, cure))
    if cleaned.duplicates:
        what = f"{counted(cleaned.duplicates, 'repeated edge')} in the files, each counted once"
        cure = "if repeats have a meaning, give their number in a column called weight"
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
    """Report nodes without a neighbour."""
    alone = int((degrees(data) == 0).sum())
    if not alone:
        return [Finding("ok", "isolated nodes", "every node has a neighbour")]
    what = f"{part_of(alone, data.num_nodes, 'node')} without an edge"
    cure = "they are embedded from their own features alone: drop them, or look for lost edges"
    level: Level = "warning" if alone >= MANY * data.num_nodes else "note"
    return [Finding(level, "isolated nodes", what, cure)]


def look_at_sizes(graphs: GraphSet) -> list[Finding]:
    """Report graphs too small for a view that drops or masks 10 % of the nodes."""
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
    """Report connected components of one graph, if there are several."""
    count = statistics(graph)["components"]
    if count == 1:
        return [Finding("ok", "components", "the graph is connected")]
    what = f"{counted(count, 'connected component')}"
    cure = "no information passes between them: if that is not intended, look for lost edges"
    return [Finding("note", "components", what, cure)]


def look_at_classes(data: GraphSet | NodeGraph) -> list[Finding]:
    """Report whether classes or targets are fit for an evaluation."""
    graphs, y = isinstance(data, GraphSet), data.y
    if y is None or (not y.is_floating_point() and not bool((y >= 0).any())):
        where = (
            "graph labels (augcl data --help: formats)"
            if graphs
            else "classes of nodes, e.g. label in nodes.csv"
        )
        cure = f"fine for embeddings; for a score add {where}"
        return [Finding("note", "classes", "none: embeddings cannot be evaluated", cure)]
    things = "graphs" if graphs else "nodes"
    if y.is_floating_point():
        return look_at_targets(y, data.task or "", data.targets, things)
    known = y[y >= 0]
    classes, sizes = torch.unique(known, return_counts=True)
    called = None if data.classes is None else [data.classes[c] for c in classes.tolist()]
    if len(known) >= FOLDS and 2 * len(sizes) > len(known):
        return [_many_classes(len(sizes), len(known), called, things)]
    if not graphs:
        return look_at_node_classes(y)
    unknown = len(y) - len(known)
    what = f"{part_of(unknown, len(y), 'graph')} without a class"
    cure = "nothing to do: they are embedded, and left out of the score"
    notes = [Finding("note", "classes", what, cure)] if unknown else []
    return [*notes, *look_at_graph_classes(sizes)]


def look_at_targets(
    y: Tensor, task: str, names: Sequence[str] | None, things: str
) -> list[Finding]:
    """Report targets that are not classes: missing values, and constant ones."""
    columns = y.reshape(len(y), -1)
    count = columns.shape[1]
    what = f"{counted(count, 'target')} for {task}{_names(torch.ones(count) > 0, names)}"
    findings = [Finding("ok", "targets", what)]
    known = ~columns.isnan()
    if not bool(known.all()):
        what = f"{part_of(int((~known).sum()), known.numel(), 'value')} missing"
        cure = f"nothing to do: {things} without a value are left out of the score of that target"
        findings.append(Finding("note", "targets", what, cure))
    filled = columns.masked_fill(~known, -torch.inf).amax(0)
    constant = filled <= columns.masked_fill(~known, torch.inf).amin(0)
    if bool(constant.any()):
        what = f"{part_of(int(constant.sum()), count, 'target')} constant{_names(constant, names)}"
        cure = "nothing can be learned for them: leave them out with --target"
        findings.append(Finding("warning", "targets", what, cure))
    return findings


MANY_CLASSES, MAJORITY = "number of classes", "majority class"


def _many_classes(classes: int, count: int, names: Sequence[str] | None, things: str) -> Finding:
    """Report classes that are so many that they are rather numbers to predict, or names."""
    what = f"{counted(classes, 'class')} for {count:,} {things}"
    if names is None or all(map(_is_number, names)):
        cure = "is this regression? --task regression; or choose another column with --target"
    else:
        cure = "is this a name and no class? Choose another column with --target"
    return Finding("warning", MANY_CLASSES, what, cure)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def look_at_graph_classes(sizes: Tensor) -> list[Finding]:
    """Report whether ten folds can evaluate embeddings of graphs with classes of these sizes."""
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
    return _class_sizes(sizes, "graphs")


def look_at_node_classes(y: Tensor) -> list[Finding]:
    """Report whether a classifier learns every class from 10 % of the nodes; -1: no class."""
    known = y[y >= 0]
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
        findings += _class_sizes(sizes, "nodes")
    return findings


def _only_one_class(things: str) -> Finding:
    what = f"all {things} are of one class: embeddings cannot be evaluated"
    return Finding("warning", "classes", what, "check the labels, or train with --no-evaluate")


def _class_sizes(sizes: Tensor, things: str) -> list[Finding]:
    guess = 100 * float(sizes.max()) / float(sizes.sum())
    least, most = int(sizes.min()), int(sizes.max())
    each = f"{least:,} {things} each" if least == most else f"{least:,} to {most:,} {things}"
    what = f"{len(sizes)} classes of {each}; guessing the largest is right in {guess:.1f} %"
    findings = [Finding("ok", "classes", what)]
    if guess >= IMBALANCED:
        what = f"the largest class has {guess:.1f} % of the {things}"
        cure = (
            f"compare every accuracy with {guess:.1f} %, or use augcl evaluate --scoring "
            "balanced_accuracy or roc_auc"
        )
        findings.append(Finding("note", MAJORITY, what, cure))
    return findings
