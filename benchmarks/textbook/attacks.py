"""RandSampling and GradArgmax as published: one graph at a time, with a dense adjacency."""

from __future__ import annotations

import networkx as nx
import numpy as np
import torch
from torch import Tensor, nn


def allowed_pairs(graph: nx.Graph) -> list[tuple[int, int]]:
    """Return the pairs i < j of one component that are not connected by an edge."""
    component = {v: c for c, nodes in enumerate(nx.connected_components(graph)) for v in nodes}
    nodes = sorted(graph.nodes)
    return [
        (i, j)
        for a, i in enumerate(nodes)
        for j in nodes[a + 1 :]
        if component[i] == component[j] and not graph.has_edge(i, j)
    ]


def random_edge(graph: nx.Graph, rng: np.random.Generator) -> nx.Graph:
    """Return the graph with one random edge added."""
    pairs = allowed_pairs(graph)
    changed = graph.copy()
    if pairs:
        changed.add_edge(*pairs[rng.integers(len(pairs))])
    return changed


def logits(network: nn.Module, adjacency: Tensor) -> Tensor:
    """Return (1, C) scores of one graph with constant features 1."""
    encoder = network.encoder
    own = encoder.first(torch.ones(len(adjacency), 1))
    values = torch.relu(own)
    for _ in range(encoder.depth):
        values = torch.relu(encoder.shared(adjacency @ values) + own)
    return network.head(torch.relu(values.sum(0, keepdim=True)))


def gradient_edge(network: nn.Module, graph: nx.Graph, label: int, classes: int) -> nx.Graph:
    """Return the first graph with one added edge that is misclassified, else the graph itself."""
    adjacency = torch.from_numpy(nx.to_numpy_array(graph, dtype=np.float32))
    if int(logits(network, adjacency).argmax()) != label:
        return graph
    pairs = allowed_pairs(graph)
    if not pairs:
        return graph
    i, j = torch.tensor(pairs).t()
    for target in range(classes):
        if target == label:
            continue
        entries = adjacency.clone().requires_grad_()
        loss = nn.functional.cross_entropy(logits(network, entries), torch.tensor([target]))
        (slope,) = torch.autograd.grad(loss, entries)
        both = slope[i, j] + slope[j, i]
        best = int(both.argmin())
        if both[best] > 0:
            continue
        changed = adjacency.clone()
        changed[i[best], j[best]] = changed[j[best], i[best]] = 1
        if int(logits(network, changed).argmax()) != label:
            found = graph.copy()
            found.add_edge(*pairs[best])
            return found
    return graph
