"""``python -m benchmarks.node_memory N``: one exact GCA step on N nodes, print the peak in GB."""

from __future__ import annotations

import sys

import torch

from augcl.data import NodeGraph
from augcl.methods import GCA
from augcl.runs.run import peak_memory

DEGREE, FEATURES = 32, 128  # degree as in the Amazon graphs; few features, as in Wiki-CS


def random_graph(nodes: int) -> NodeGraph:
    """Return a graph with random edges and features."""
    generator = torch.Generator().manual_seed(0)
    return NodeGraph.from_arrays(
        pairs=torch.randint(nodes, (2, nodes * DEGREE // 2), generator=generator),
        num_nodes=nodes,
        x=torch.rand(nodes, FEATURES, generator=generator),
    )


if __name__ == "__main__":
    GCA(preset="Amazon-Computers", epochs=1, progress=False).fit(random_graph(int(sys.argv[1])))
    print(peak_memory() / 1e9)
