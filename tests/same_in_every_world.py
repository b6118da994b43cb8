"""Train several models as one of the processes of the environment; write what they found.

``python same_in_every_world.py FILE FOLDER``; in FOLDER is a training of `node_model` that was
stopped. All but the plain GCA work with 64-bit numbers: training amplifies the rounding of 32-bit
ones, also in one process. Where a hardness is fitted, a last bit decides to which group a pair
belongs: initial weights of GCA changed by 10⁻⁸ move the loss of the next epoch by 7 · 10⁻⁵.
"""

import os
import sys
import warnings
from dataclasses import replace

import numpy as np
import torch

import augcl
from augcl.data import NodeGraph
from augcl.ops import processes


def exact(method):
    """Let a method work with 64-bit numbers."""

    class Exact(method):
        def _build(self, features, generator):
            return super()._build(features, generator).double()

    return Exact


class OwnEncoder(torch.nn.Module):
    """An encoder of the user: its batch norm is torch's."""

    def __init__(self, features):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        weight = torch.rand(features, 8, generator=generator) - 0.5
        self.weight = torch.nn.Parameter(weight)
        self.norm = torch.nn.BatchNorm1d(8)

    def forward(self, x, edge_index):
        source, target = edge_index
        mixed = x.index_add(0, target, x[source]) @ self.weight
        return torch.relu(self.norm(mixed))


def hardness():
    return augcl.AffinityUncertainty(passes=2, warmup=1, restarts=0, hidden=8)


def ring(nodes):
    """A ring with random chords: more nodes than two tiles of the exact loss."""
    generator = torch.Generator().manual_seed(0)
    here = torch.arange(nodes).repeat(4)
    there = torch.cat([here[:nodes] + 1, torch.randint(nodes, (3 * nodes,), generator=generator)])
    pairs = torch.stack([here, there % nodes])
    x = torch.rand(nodes, 12, generator=generator) + 3 * torch.eye(12)[torch.arange(nodes) // 100]
    return NodeGraph.from_arrays(pairs=pairs, num_nodes=nodes, x=x)


OF_NODES = {"width": 16, "epochs": 5, "random_state": 0, "progress": False}


def node_model(**more):
    return augcl.GCA(**OF_NODES, **more)


def trained():
    """Yield a name, the losses and the embeddings of each model."""
    graphs = augcl.load("MUTAG").select(range(0, 188, 2))
    graphs = replace(graphs, x=graphs.x.double(), edge_attr=graphs.edge_attr.double())
    graph = ring(1200)
    wide = replace(graph, x=graph.x.double())
    general = {"epochs": 5, "random_state": 0, "progress": False}
    # The last batch has two graphs: of four processes, two have none.
    of_graphs = {"batch_size": 46, "lr": 0.001, "edge_features": False, **general}
    own = OwnEncoder(graphs.num_features)
    models = {
        "GraphCL": exact(augcl.GraphCL)(**of_graphs),
        "GraphCL-augcl": exact(augcl.GraphCL)(
            hardness=hardness(), warmup=2, **{**of_graphs, "edge_features": True}
        ),
        "SimGRACE": exact(augcl.SimGRACE)(encoder=own, eta=0.1, **of_graphs),
        "JOAOv2": exact(augcl.JOAOv2)(**of_graphs),
        "GCA": node_model(),
        "GCA-augcl": exact(augcl.GCA)(hardness=hardness(), warmup=2, **OF_NODES),
        "GCA-sampled": exact(augcl.GCA)(hardness=hardness(), warmup=2, candidates=100, **OF_NODES),
        "GRACE-parts": exact(augcl.GRACE)(batch_nodes=500, candidates=100, **OF_NODES),
        "GCA-parts-augcl": exact(augcl.GCA)(
            hardness=hardness(), warmup=2, batch_nodes=500, candidates=100, **OF_NODES
        ),
    }
    for name, model in models.items():
        data = graphs if model.level == "graph" else graph if name == "GCA" else wide
        model.fit(data)
        yield name, [m["loss"] for m in model.history_], model.transform(data)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # two passes are too few for the uncertainty model
    arrays = {}
    for name, losses, embeddings in trained():
        arrays |= {f"{name}-losses": np.array(losses), f"{name}-embeddings": embeddings}
    resumed = node_model().fit(ring(1200), folder=sys.argv[2], resume=True)
    traffic = [processes.traffic[name] for name in ("gathered", "gradients", "sums", "weights")]
    if int(os.environ.get("RANK", 0)) == 0:
        np.savez(sys.argv[1], resumed=resumed.transform(ring(1200)), traffic=traffic, **arrays)
