"""Measure node methods: one exact GCA step, an epoch with weights, and memory by graph size."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import torch
from torch import Tensor, nn

from augcl.data import NodeGraph
from augcl.hardness import AffinityUncertainty
from augcl.losses.node_info_nce import PairWeights, node_info_nce
from augcl.methods import GCA
from augcl.training.batches import NodeBatch
from augcl.views.nodes import NodeView
from benchmarks.data import one_graph
from benchmarks.measure import Row, at_most, faster, in_turns
from benchmarks.textbook import gca

ACTIVATIONS = {"relu": nn.ReLU(), "rrelu": nn.LeakyReLU(11 / 48)}
PUBLISHED = {
    "Amazon-Photo": "Amazon-Photo/published",
    "Amazon-Computers": "Amazon-Computers",
}
SIZES = (4000, 8000, 16000, 32000)


def node_step(full: bool) -> list[Row]:
    """Time forward and backward of the exact loss: published widths, same views on both sides."""
    rows = []
    for name, preset in PUBLISHED.items():
        step = Step(one_graph(name), preset)
        apart = abs(float(step.ours() - step.textbook()))  # also warms up: first calls are slower
        slow, fast = in_turns(step.textbook, step.ours, repeats=3 if full else 1)
        note = f"losses differ by {apart:.0e}"
        rows.append(faster(f"GCA step, {name}", slow, fast, 4, same=apart < 1e-4, note=note))
    return rows


def node_weights(full: bool) -> list[Row]:
    """Time an AUGCL epoch with frozen weights against a GCA epoch, Amazon-Photo."""
    step = Step(one_graph("Amazon-Photo"), PUBLISHED["Amazon-Photo"])
    with torch.no_grad():
        z = step.model.network_(step.batch.views.clean)
        u, v = (step.model.network_(view) for view in step.views)
    blocks = torch.randperm(len(z), generator=step.generator).split(256)
    hardness = AffinityUncertainty().fit([(u[b], v[b]) for b in blocks])
    weights = PairWeights.of(hardness, z)
    plain, weighted = in_turns(step.epoch, partial(step.epoch, weights), repeats=3 if full else 2)
    what = "AUGCL epoch with frozen weights against a GCA epoch, Amazon-Photo"
    return [at_most(what, "GCA", plain, weighted, 1.3)]


def node_memory(full: bool) -> list[Row]:
    """Measure the memory that one exact step on a random graph adds to its process, at peak."""
    command = [sys.executable, "-m", "benchmarks.node_memory"]
    peaks = [
        float(subprocess.run([*command, str(n)], stdout=subprocess.PIPE, check=True).stdout)
        for n in SIZES
    ]
    growth = (peaks[-1] - peaks[-2]) / (peaks[-2] - peaks[-3])
    return [
        Row(
            what=f"peak memory of a step on {', '.join(map(str, SIZES))} nodes: "
            f"{', '.join(f'{peak:.2f}' for peak in peaks)} GB; ratio of the last two steps",
            ours=f"{peaks[-1]:.2f} GB",
            ratio=f"{growth:.1f}×",
            target="< 2.5 GB",
            ok=peaks[-1] < 2.5 and growth < 2.5,
        )
    ]


class Step:
    """One training step with the same network, views and loss, by our code and by the textbook."""

    def __init__(self, graph: NodeGraph, preset: str) -> None:
        self.model = GCA(preset=preset, epochs=0, lr=0.01, progress=False).fit(graph)
        self.generator = torch.Generator().manual_seed(0)
        (self.batch,) = self.model._batches(self.model.read(graph), self.generator)
        assert isinstance(self.batch, NodeBatch)
        self.views = list(self.model._two_views(self.batch).draw(self.generator))
        network = self.model.network_
        activation = ACTIVATIONS[self.model._setting("activation")]
        self.encoder = gca.Encoder(graph.num_features, network.encoder.out_features, activation)
        for layer in ("first", "second"):
            theirs, mine = getattr(self.encoder, layer), getattr(network.encoder, layer)
            theirs.lin.weight.data.copy_(mine.weight.data)
            theirs.bias.data.copy_(mine.bias.data)
        self.dense = [view.x() for view in self.views]

    def textbook(self) -> Tensor:
        """Compute loss and gradients with PyG and dense matrices."""
        head, tau = self.model.network_.projector, self.model._setting("tau")
        u, v = (
            head(self.encoder(x, view.edge_index))
            for x, view in zip(self.dense, self.views, strict=True)
        )
        value = gca.loss(u, v, tau)
        value.backward()
        return value.detach()

    def ours(self, weights: PairWeights | None = None) -> Tensor:
        """Compute loss and gradients with sparse products and tiles."""
        return self._ours(self.views, weights)

    def epoch(self, weights: PairWeights | None = None) -> Tensor:
        """Run a whole training step: new views, loss and gradients."""
        return self._ours(list(self.model._two_views(self.batch).draw(self.generator)), weights)

    def _ours(self, views: list[NodeView], weights: PairWeights | None) -> Tensor:
        u, v = self.model._compared(views)
        value = node_info_nce(u, v, tau=self.model._setting("tau"), weights=weights)
        value.backward()
        return value.detach()
