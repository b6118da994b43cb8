"""Kernels as grakel computes them, and its form of a graph.

grakel has no wheel for Python 3.13 and later: tests that ask for a kernel are skipped there.
"""

import numpy as np
import pytest


def grakel(module="grakel"):
    return pytest.importorskip(module, reason="grakel has no wheel for this Python")


def grakel_graphs(graphs):
    found = []
    for data in graphs:
        edges = {node: {} for node in range(data.num_nodes)}
        for u, v in data.edge_index.T.tolist():
            edges[u][v] = 1.0
        found.append(grakel().Graph(edges, dict(enumerate(data.x.argmax(1).tolist()))))
    return found


def weisfeiler_lehman(height):
    kernels = grakel("grakel.kernels")
    base = kernels.VertexHistogram
    return kernels.WeisfeilerLehman(n_iter=height, normalize=True, base_graph_kernel=base)


def shortest_path():
    return grakel("grakel.kernels").ShortestPath(normalize=True)


def same(ours, theirs):
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
