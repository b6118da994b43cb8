"""Protocol `links-10-hadamard`: predict edges that were held out before training.

10 % of the edges are held out, with as many pairs of nodes that no edge joins. Logistic regression
on the Hadamard products of two nodes' embeddings learns the other edges, against as many other
pairs, and is tested on those held out (as in node2vec, Grover and Leskovec, KDD 2016).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score

from augcl.checks import whole_number
from augcl.data.features import structure_features
from augcl.data.node_convert import as_node_graph
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError
from augcl.evaluation.inputs import embeddings
from augcl.evaluation.penalised import logistic_columns, standardised
from augcl.evaluation.score import Score
from augcl.evaluation.splits import TEST, TRAIN
from augcl.training.threads import one_blas_thread

Ints = NDArray[np.int64]

HELD_OUT = 0.1
MOST_PAIRS = 100_000
"""Edges that the logistic regression learns from at most; more change nothing but the time."""


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """A graph without the edges that were held out, and pairs of nodes to learn and to test.

    Parameters
    ----------
    graph : NodeGraph
        All nodes, and the edges that were kept: the only edges that a training may see.
    held : (P,) bool
        Which edges were held out, of the edges source < target in the order of the whole graph.
    train, test : (2, M) int64
        Pairs of nodes, edges first, then as many pairs without an edge.
    """

    graph: NodeGraph
    held: NDArray[np.bool_]
    train: Ints
    test: Ints


def split_links(graph: Any, *, random_state: int = 0) -> LinkSplit:
    """Hold out 10 % of the edges of a graph, and draw as many pairs without an edge.

    Features that are computed from degrees are computed again from the edges that are kept.

    Examples
    --------
    >>> ring = torch.stack([torch.arange(20), (torch.arange(20) + 1) % 20])
    >>> split = split_links(NodeGraph.from_arrays(pairs=ring, num_nodes=20))
    >>> split.graph.num_edges // 2, split.test.shape, split.train.shape
    (18, (2, 4), (2, 36))
    """
    graph = as_node_graph(graph)
    source, target = graph.edge_index.cpu().numpy()
    once = source < target
    edges = np.stack([source[once], target[once]])
    N, P = graph.num_nodes, edges.shape[1]
    count = int(HELD_OUT * P)
    if count == 0:
        raise InputError(f"{P} edges are too few to hold out 10 % of them: give 10 or more")
    if N * (N - 1) // 2 < 2 * P:
        raise InputError(f"{N} nodes with {P} edges have fewer pairs without an edge than edges")
    rng = np.random.default_rng(random_state)
    held = np.zeros(P, dtype=bool)
    held[rng.permutation(P)[:count]] = True
    others = _non_edges(edges, N, P, rng)
    kept = edges[:, ~held]
    train = np.concatenate([kept, others[:, count:]], axis=1)
    test = np.concatenate([edges[:, held], others[:, :count]], axis=1)
    gone = edges[0, held] * N + edges[1, held]
    stays = torch.from_numpy(
        ~np.isin(np.minimum(source, target) * N + np.maximum(source, target), gone)
    )
    parts: dict[str, Any] = {"edge_index": graph.edge_index[:, stays].contiguous()}
    for key in ("edge_weight", "edge_attr"):
        if getattr(graph, key) is not None:
            parts[key] = getattr(graph, key)[stays]
    return LinkSplit(_without_degrees(replace(graph, **parts)), held, train, test)


def _without_degrees(graph: NodeGraph) -> NodeGraph:
    """Compute features again that are degrees: those of the whole graph tell the edges held out."""
    columns = graph.columns or []
    if columns == ["log-degree"]:
        return structure_features(graph, "log-degree")
    if columns and all(name.startswith("degree") for name in columns):
        return structure_features(graph, "degree", cap=len(columns) - 1)
    return graph


def _non_edges(edges: Ints, N: int, count: int, rng: np.random.Generator) -> Ints:
    """Draw (2, count) different pairs source < target that no edge joins."""
    taken = np.sort(edges[0] * N + edges[1])
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        pair = np.sort(rng.integers(N, size=(2, 2 * count)), axis=0)
        key = (pair[0] * N + pair[1])[pair[0] < pair[1]]
        place = np.searchsorted(taken, key).clip(max=max(len(taken) - 1, 0))
        found = np.concatenate([found, key[taken[place] != key]])
        found = found[np.sort(np.unique(found, return_index=True)[1])]  # in the order of the draw
    found = found[:count]
    return np.stack([found // N, found % N])


def evaluate_links(
    method: Any, graph: Any, *, repeats: int | None = None, random_state: int = 0
) -> Score:
    """Measure how well embeddings predict edges that were held out before the training.

    Parameters
    ----------
    method : a node method, or (N, D) array
        A method, trained or not: a copy with its settings is trained on the edges that are kept.
        Or embeddings of the nodes, which you trained on ``split_links(graph,
        random_state=random_state).graph``. Embeddings that have seen all edges score too high.
    graph : NodeGraph, PyG Data or networkx graph
        The whole graph.
    repeats : int, optional
        Number of runs; run r holds out other edges, drawn with seed ``random_state + r``. 1 if
        None. Embeddings have one run.
    random_state : int
        Seed of the first run.

    Returns
    -------
    Score
        ROC-AUC; ``.details["average_precision"]`` has the average precision of each run.
        ``.splits`` (R, P) is 0 for an edge that was kept and 2 for one that was held out. The floor
        is chance.

    Examples
    --------
    >>> import networkx as nx, augcl
    >>> graph = nx.connected_caveman_graph(8, 8)
    >>> score = evaluate_links(augcl.GAE(epochs=2, progress=False), graph)
    >>> score.protocol, score.scoring, score.floor
    ('links-10-hadamard', 'roc_auc', 0.5)
    """
    graph = as_node_graph(graph)
    trained = hasattr(method, "fit") and hasattr(method, "transform")
    count = 1 if repeats is None else repeats
    whole_number("repeats", count, least=1)
    if not trained and count > 1:
        raise InputError("embeddings have seen one split of the edges: use repeats=1")
    if trained and getattr(method, "level", "node") != "node":
        raise InputError(
            f"{type(method).__name__} embeds whole graphs, but links join nodes: use a node method"
        )
    folds, precision, splits = [], [], []
    for seed in range(random_state, random_state + count):
        split = split_links(graph, random_state=seed)
        Z = clone(method).fit(split.graph).transform(split.graph) if trained else method
        X = embeddings(Z).cpu().double().numpy()
        if len(X) != graph.num_nodes:
            raise InputError(f"{len(X)} embeddings for {graph.num_nodes} nodes: give one per node")
        values = _link_scores(X, split, seed)
        truth = np.repeat([1, 0], split.test.shape[1] // 2)
        folds.append((float(roc_auc_score(truth, values)),))
        precision.append(float(average_precision_score(truth, values)))
        splits.append(np.where(split.held, TEST, TRAIN))
    return Score(
        "links-10-hadamard",
        tuple(folds),
        np.stack(splits).astype(np.int64),
        {"average_precision": tuple(precision)},
        scoring="roc_auc",
        floor=0.5,
    )


def _link_scores(X: NDArray[np.float64], split: LinkSplit, seed: int) -> NDArray[np.float64]:
    """Learn the pairs of the training part; return a number for each pair of the test part."""
    half = split.train.shape[1] // 2
    rows = np.arange(half)
    if half > MOST_PAIRS:
        rows = np.sort(np.random.default_rng(seed).permutation(half)[:MOST_PAIRS])
    chosen = split.train[:, np.concatenate([rows, half + rows])]
    learned, held = (X[pairs[0]] * X[pairs[1]] for pairs in (chosen, split.test))
    learned, held = standardised(learned, held)
    truth = np.repeat([1.0, 0.0], len(rows))[:, None]
    with one_blas_thread():
        W = logistic_columns(learned, truth, np.ones(1))
    found: NDArray[np.float64] = (held @ W[:-1] + W[-1])[:, 0]
    return found
