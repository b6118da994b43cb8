"""Kernels as grakel computes them, and its form of a graph."""

import numpy as np
from grakel import Graph
from grakel.kernels import ShortestPath, VertexHistogram, WeisfeilerLehman


def grakel_graphs(graphs):
    found = []
    for data in graphs:
        edges = {node: {} for node in range(data.num_nodes)}
        for u, v in data.edge_index.T.tolist():
            edges[u][v] = 1.0
        found.append(Graph(edges, dict(enumerate(data.x.argmax(1).tolist()))))
    return found


def weisfeiler_lehman(height):
    return WeisfeilerLehman(n_iter=height, normalize=True, base_graph_kernel=VertexHistogram)


def shortest_path():
    return ShortestPath(normalize=True)


def same(ours, theirs):
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
