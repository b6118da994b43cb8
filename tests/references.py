"""Slow, obvious twins of the library's functions: loops over numbers, in double precision."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import networkx as nx
import numpy as np
import torch
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor, nn

from augcl.data import GraphSet, NodeGraph

SMILES = [
    "CC(=O)Oc1ccccc1C(=O)O",
    "CC(=O)Nc1ccc(O)cc1",
    "CC(C)Cc1ccc(C(C)C(=O)O)cc1",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "CCO",
    "CCCCO",
    "OCC(O)CO",
    "c1ccc2ccccc2c1",
    "Clc1ccccc1",
    "C1CCCCC1",
    "NC(=O)c1cccnc1",
    "CN1CCCC1c1cccnc1",
]
"""Aspirin, paracetamol, ibuprofen, caffeine and other small molecules."""


def cosines(a: Tensor, b: Tensor) -> list[list[float]]:
    """All cosines of the rows of `a` with the rows of `b`."""

    def length(row):
        return math.sqrt(sum(v * v for v in row))

    def cosine(u, v):
        return sum(p * q for p, q in zip(u, v, strict=True)) / (length(u) * length(v))

    return [[cosine(u, v) for v in b.tolist()] for u in a.tolist()]


def info_nce(
    anchors: Tensor,
    candidates: Tensor,
    *,
    tau: float = 0.2,
    weights: Callable[[Tensor, Tensor], Tensor] | None = None,
    positive_in_denominator: bool = True,
    symmetric: bool = False,
    intra: bool = False,
) -> float:
    """Mean of −log( e^{s_ii/τ} / mass_i ), exactly as the sum over j is written."""
    ways = [(anchors, candidates), (candidates, anchors)]
    losses = []
    for a, b in ways if symmetric else ways[:1]:
        across, within = cosines(a, b), cosines(a, a)
        w = torch.ones(len(a), len(b)) if weights is None else weights(a, b)
        for i in range(len(a)):
            positive = math.exp(across[i][i] / tau)
            mass = positive if positive_in_denominator else 0.0
            for j in range(len(b)):
                if j == i:
                    continue
                mass += float(w[i, j]) * math.exp(across[i][j] / tau)
                if intra:
                    mass += float(w[i, j]) * math.exp(within[i][j] / tau)
            losses.append(-math.log(positive / mass))
    return sum(losses) / len(losses)


def inertia(row: list[float], upper: list[bool]) -> float:
    """Within-group sum of squares of a split of `row` in two."""
    total = 0.0
    for side in (True, False):
        group = [v for v, up in zip(row, upper, strict=True) if up is side]
        if group:
            mean = math.fsum(group) / len(group)
            total += math.fsum((v - mean) ** 2 for v in group)
    return total


def best_threshold_inertia(row: list[float]) -> float:
    """The least inertia of all splits {v > t} of a row."""
    return min(inertia(row, [v > t for v in row]) for t in row)


def best_subset_inertia(row: list[float]) -> float:
    """The least inertia of all 2^m splits of a short row."""
    splits = itertools.product([False, True], repeat=len(row))
    return min(inertia(row, list(split)) for split in splits)


def gamblers_loss(logits: Tensor, group: Tensor, reward: float) -> float:
    """Mean of −log( p_c + u / o ) with the softmax written out."""
    losses = []
    for row, c in zip(logits.double().tolist(), group.tolist(), strict=True):
        top = max(row)
        e = [math.exp(v - top) for v in row]
        p = [v / sum(e) for v in e]
        losses.append(-math.log(p[c] + p[2] / reward))
    return sum(losses) / len(losses)


def entropy(logits: list[float]) -> float:
    """−Σ p log p of one softmax."""
    top, *rest = sorted(logits, reverse=True)
    tail = math.log1p(sum(math.exp(v - top) for v in rest))  # log(1 + x) would lose a small x
    return sum(math.exp(v - top - tail) * (top - v + tail) for v in logits)


def neighbour_sums(x: Tensor, edge_index: Tensor) -> Tensor:
    """Σ_{u → v} x_u, one edge at a time."""
    out = torch.zeros_like(x)
    for u, v in edge_index.t().tolist():
        out[v] += x[u]
    return out


def gin(network: nn.Module, x: Tensor, edge_index: Tensor, *, training: bool) -> Tensor:
    """The layers of our GIN by gather and scatter, with batch norm written out."""
    outputs = []
    for layer in network.layers:
        first, second, norm = layer.first, layer.second, layer.norm
        x = x + torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        x = torch.relu(x @ first.weight.t() + first.bias)
        x = torch.relu(x @ second.weight.t() + second.bias)
        if training:
            mean, variance = x.mean(0), x.var(0, correction=0)
        else:
            mean, variance = norm.running_mean, norm.running_var
        x = (x - mean) / torch.sqrt(variance + norm.eps) * norm.weight + norm.bias
        outputs.append(x)
    return torch.cat(outputs, 1)


class NamedGraphs:
    """A graph set whose only feature is the number of the node, so that a view names its nodes.

    Node v of the set has feature v + 1: a masked feature of 0 is nobody's name.
    """

    def __init__(self, graphs: GraphSet) -> None:
        names = torch.arange(1.0, graphs.num_nodes + 1).unsqueeze(1)
        self.graphs = GraphSet(names, graphs.edge_index, graphs.node_ptr, graphs.edge_ptr)

    def nodes(self, g: int) -> list[int]:
        """The nodes of graph g."""
        return list(range(int(self.graphs.node_ptr[g]), int(self.graphs.node_ptr[g + 1])))

    def edges(self, g: int) -> list[tuple[int, int]]:
        """The edge entries of graph g."""
        start, end = self.graphs.edge_ptr[g : g + 2].tolist()
        return [(u, v) for u, v in self.graphs.edge_index[:, start:end].t().tolist()]

    def neighbours(self, v: int) -> set[int]:
        """Where the edge entries of v lead."""
        return set(self.graphs.edge_index[1, self.graphs.edge_index[0] == v].tolist())

    @staticmethod
    def of_view(view: GraphSet, g: int) -> tuple[list[int], list[tuple[int, int]]]:
        """Nodes and edge entries of graph g of a view, under the names of the original."""
        name = (view.x[:, 0].long() - 1).tolist()
        first, last = view.node_ptr[g : g + 2].tolist()
        start, end = view.edge_ptr[g : g + 2].tolist()
        edges = view.edge_index[:, start:end].t().tolist()
        return name[first:last], [(name[u], name[v]) for u, v in edges]

    def induced(self, g: int, kept: list[int]) -> list[tuple[int, int]]:
        """The edge entries of graph g between kept nodes."""
        return [(u, v) for u, v in self.edges(g) if u in kept and v in kept]


def is_connected(nodes: list[int], edges: list[tuple[int, int]]) -> bool:
    """Whether every node can be reached from every other."""
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    return nx.is_connected(graph)


def random_graphs(sizes: list[int], density: float, seed: int) -> GraphSet:
    """Independent random graphs of these sizes."""
    rng = np.random.default_rng(seed)
    pairs, start = [np.empty((2, 0), dtype=np.int64)], 0
    for n in sizes:
        upper = np.triu(rng.random((n, n)) < density, 1)
        pairs.append(np.stack(upper.nonzero()) + start)
        start += n
    return GraphSet.from_arrays(
        pairs=torch.from_numpy(np.concatenate(pairs, 1)),
        graph_of_node=torch.repeat_interleave(torch.tensor(sizes)),
        num_graphs=len(sizes),
        x=torch.from_numpy(rng.normal(size=(start, 3))),
    )


def communities(nodes: int = 90, *, labels: bool = True, seed: int = 0) -> NodeGraph:
    """Three groups with many edges inside and few between; noisy words tell the group, too."""
    generator = torch.Generator().manual_seed(seed)
    y = torch.arange(nodes) % 3
    chance = torch.where(y[:, None] == y, 0.25, 0.02)
    linked = torch.rand(nodes, nodes, generator=generator) < chance
    words = torch.arange(24) % 3
    has = torch.rand(nodes, 24, generator=generator) < torch.where(y[:, None] == words, 0.4, 0.15)
    return NodeGraph.from_arrays(
        pairs=linked.triu(1).nonzero().t(),
        num_nodes=nodes,
        x=has.float(),
        y=y if labels else None,
        name="communities",
    )


def debiased_loss(anchors, candidates, *, tau, tau_plus, beta=0.0, intra=False):
    """DCL and HCL of one direction, anchor by anchor as published, in plain numbers."""

    def unit(rows):
        return [[x / math.sqrt(sum(y * y for y in row)) for x in row] for row in rows]

    u, v = unit(anchors.tolist()), unit(candidates.tolist())

    def e(a, b):
        return math.exp(sum(x * y for x, y in zip(a, b, strict=True)) / tau)

    losses = []
    for i in range(len(u)):
        others = [v[j] for j in range(len(v)) if j != i]
        others += [u[j] for j in range(len(u)) if j != i] if intra else []
        E = [e(u[i], b) for b in others]
        N, positive = len(E), e(u[i], v[i])
        importance = [x**beta for x in E]
        mean = sum(importance) / N
        R = sum(w * x for w, x in zip(importance, E, strict=True)) / mean
        mass = max((R - tau_plus * N * positive) / (1 - tau_plus), N * math.exp(-1 / tau))
        losses.append(-math.log(positive / (positive + mass)))
    return sum(losses) / len(losses)


def neighbour_lists(edges: list[tuple[int, int]]) -> dict[int, list[int]]:
    """Of an undirected graph, in increasing order."""
    nodes = {v for edge in edges for v in edge}
    return {
        v: sorted({a + b - v for a, b in edges if v in (a, b)})  # the other end
        for v in nodes
    }


def node2vec_step(
    neighbours: dict[int, list[int]], before: int, here: int, p: float, q: float
) -> dict[int, float]:
    """The chance of every next node of a walker that came from `before` to `here`."""

    def weight(there: int) -> float:
        if there == before:
            return 1 / p
        return 1.0 if there in neighbours[before] else 1 / q

    total = sum(weight(x) for x in neighbours[here])
    return {x: weight(x) / total for x in neighbours[here]}


def weisfeiler_lehman(labels: list[int], edges: list[list[int]], height: int) -> list[list[str]]:
    """The subgraph around every node at each height, written out as text."""
    rounds = [[str(label) for label in labels]]
    for _ in range(height):
        last = rounds[-1]
        around = [sorted(last[b] for a, b in edges if a == v) for v in range(len(labels))]
        rounds.append([f"{own}({','.join(n)})" for own, n in zip(last, around, strict=True)])
    return rounds


def component_counts(graphs):
    """(G,) the number of connected components of each graph."""
    row, column = graphs.edge_index.numpy()
    union = coo_array((np.ones(len(row)), (row, column)), shape=(graphs.num_nodes,) * 2)
    _, component = connected_components(union, directed=False)
    first = np.unique(component, return_index=True)[1]
    return torch.bincount(graphs.graph_of_node[torch.from_numpy(first)])
