"""All that computes, on another device: nothing may lie where it does not belong."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch
from lightning_fabric import Fabric

import augcl
import references
from augcl.attacks import (
    RLS2V,
    GradArgmax,
    NodeGradientFlips,
    NodeRandomFlips,
    NodeVictim,
    RandSampling,
)
from augcl.hardness import CEILING, HARDNESS
from augcl.runs.models import METHODS
from augcl.training import estimator
from augcl.training.loop import OneCPU, make_fabric
from pretend_cuda import CUDA, WrongDeviceError, pretend_cuda

PLACED = [name for name, kind in METHODS.items() if "device" in inspect.signature(kind).parameters]
QUICK = {"warmup": 1, "passes": 1, "restarts": 0}
SETTINGS = {
    "spectral": augcl.AffinityUncertainty(partition="spectral", **QUICK),
    "softmax": augcl.AffinityUncertainty(estimator="softmax", alpha="global", **QUICK),
    "entropy": augcl.AffinityUncertainty(estimator="entropy", alpha=1.0, refresh=1, **QUICK),
    "distance": augcl.AffinityUncertainty(estimator="distance", similar="positive"),
    "mix": augcl.ProGCL(mode="mix"),
    "of embeddings": augcl.AffinityUncertainty(affinity="embedding", cap=True, **QUICK),
    "propagated": augcl.AffinityUncertainty(affinity="propagated", **QUICK),
    "near features": augcl.NearestOut("features"),
    "partial oracle": augcl.Oracle(among="embedding", precision=0.8, recall=0.5),
} | {name: kind() for name, kind in (HARDNESS | CEILING).items()}


class There(OneCPU):
    device = CUDA


@pytest.fixture(autouse=True)
def _pretended(monkeypatch):
    def fabric(name, *, alone=False, precision="32-true"):
        return There() if name == "cuda" else make_fabric(name, alone=alone)

    monkeypatch.setattr(estimator, "make_fabric", fabric)


@pytest.fixture(scope="module")
def graphs():
    every = augcl.load("components")
    return every.select(torch.linspace(0, len(every) - 1, 40).long())


@pytest.fixture(scope="module")
def graph():
    return references.communities(60)


def assert_device_is_no_matter(kind, data, **options):
    options = {"epochs": 2, "progress": False, **options}
    here = kind(**options).fit(data)
    with pretend_cuda() as there:
        model = kind(**options, device="cuda").fit(data)
        assert all(weight in there for weight in model.network_.parameters())
        embeddings = model.transform(data)
    assert np.array_equal(embeddings, here.transform(data))


def test_what_cuda_refuses_is_refused():
    with pretend_cuda():
        here, there = torch.ones(3), torch.ones(3, device="cuda")
        assert there.device == (2 * there).device == CUDA
        assert there.cpu().device == here.device == torch.device("cpu")
        refused = {
            "both devices": lambda: here + there,
            "an index from there": lambda: here[there.long()],
            "NumPy": there.numpy,
            "a generator": lambda: torch.rand(3, device="cuda", generator=torch.Generator()),
            "a draw in place": lambda: there.uniform_(generator=torch.Generator()),
            "a gradient": lambda: _Forgetful.apply(there.requires_grad_()).sum().backward(),
        }
        for act in refused.values():
            with pytest.raises(WrongDeviceError):
                act()
        assert (there * torch.tensor(2.0))[here.long()].sum().item() == 6  # as CUDA has it


class _Forgetful(torch.autograd.Function):
    """Its backward pass forgets where it is."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient * torch.ones(len(gradient))


@pytest.mark.filterwarnings("ignore:MVGRL .* no epoch had a lower loss")
@pytest.mark.parametrize("name", PLACED)
def test_every_method_learns_the_same(name, graphs, graph):
    kind = METHODS[name]
    assert_device_is_no_matter(kind, graphs if kind.level == "graph" else graph)


@pytest.mark.filterwarnings("ignore:MVGRL .* no epoch had a lower loss")
@pytest.mark.parametrize("name", PLACED)
def test_every_method_learns_the_same_of_edges_that_carry_information(name, graph, molecules):
    kind = METHODS[name]
    weight = 1 + graph.edge_index.sum(0) % 3  # the same in both directions
    weighted = replace(graph, edge_weight=weight.float())
    assert_device_is_no_matter(kind, molecules if kind.level == "graph" else weighted)


@pytest.mark.filterwarnings("ignore:MVGRL .* no epoch had a lower loss")
@pytest.mark.parametrize("name", PLACED)
def test_lightning_fabric_which_trains_on_cuda_does_what_we_do_without_it(
    name, graphs, graph, monkeypatch
):
    kind = METHODS[name]
    data = graphs if kind.level == "graph" else graph
    plain = kind(epochs=2, progress=False).fit(data)
    monkeypatch.setattr(
        estimator, "make_fabric", lambda *_, **__: Fabric(accelerator="cpu", devices=1)
    )
    assert np.array_equal(
        kind(epochs=2, progress=False).fit(data).transform(data), plain.transform(data)
    )


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("level", ["graph", "node"])
def test_every_hardness_weighs_the_same(name, level, graphs, graph):
    kind, data = {"graph": (augcl.GraphCL, graphs), "node": (augcl.GCA, graph)}[level]
    assert_device_is_no_matter(kind, data, hardness=SETTINGS[name], warmup=1, epochs=3)


@pytest.mark.parametrize("options", [{"candidates": 16}, {"weights": "live"}, {"sample": 20}])
def test_parts_of_a_graph_learn_the_same(options, graph):
    hardness = augcl.AffinityUncertainty(**QUICK)
    assert_device_is_no_matter(augcl.GRACE, graph, hardness=hardness, warmup=1, **options)


@pytest.mark.parametrize("growth", ["star", "walk"])
def test_every_view_is_the_same(growth, graphs):
    options = {"augmentation": "random4", "growth": growth, "augment_anchor": True}
    assert_device_is_no_matter(augcl.GraphCL, graphs, **options)


def test_batches_of_neighbors_are_the_same(graphs):
    assert_device_is_no_matter(augcl.GraphCL, graphs, batches="neighbors", batch_size=8)


def test_a_run_is_resumed_and_its_model_read_where_it_is_wanted(graphs, tmp_path):
    with pretend_cuda() as there:
        model = augcl.GraphCL(hardness="augcl", epochs=3, device="cuda", progress=False)
        model.fit(graphs, folder=tmp_path)
        before = model.transform(graphs)
        assert np.array_equal(
            model.fit(graphs, folder=tmp_path, resume=True).transform(graphs), before
        )
        model.save(tmp_path)
        for device, is_there in (("cpu", False), ("cuda", True)):
            again = augcl.load_model(tmp_path, device=device)
            assert all((weight in there) == is_there for weight in again.network_.parameters())
            assert np.array_equal(again.transform(graphs), before)


def test_a_loop_of_one_s_own_needs_no_other_care(graphs):
    generator = torch.Generator().manual_seed(0)
    anchors, candidates = torch.randn(2, 24, 6, generator=generator)
    for hardness in SETTINGS.values():
        if isinstance(hardness, augcl.Oracle) or hardness.affinity_of != "projection":
            continue
        with pretend_cuda():
            z1, z2 = anchors.to("cuda").requires_grad_(), candidates.to("cuda")
            hardness.fit([(z1.detach(), z2)])
            augcl.info_nce(z1, z2, hardness=hardness).backward()
            assert z1.grad is not None
            assert z1.grad.isfinite().all()


def test_embeddings_there_are_judged(graphs, graph):
    with pretend_cuda():
        for data, count in ((graphs, len(graphs)), (graph, graph.num_nodes)):
            noise = torch.randn(count, 4, generator=torch.Generator().manual_seed(0))
            score = augcl.evaluate(noise.to("cuda"), data, repeats=1, progress=False)
            assert score.mean == augcl.evaluate(noise, data, repeats=1, progress=False).mean


def test_victims_there_are_attacked(graphs, graph):
    with pretend_cuda():
        victim = augcl.Structure2VecClassifier(epochs=2, device="cuda", progress=False)
        victim.fit(graphs, graphs.y)
        agent = RLS2V(updates=4, burn_in=2, width=4, progress=False).fit(victim, graphs)
        for attack in (RandSampling(budget=2), GradArgmax(budget=2, changes="both"), agent):
            assert len(attack.perturb(victim, graphs)) == len(graphs)
        nodes = NodeVictim(augcl.GRACE(epochs=2, device="cuda", progress=False).fit(graph))
        nodes.fit(graph, torch.arange(0, 60, 2))
        for flips in (NodeRandomFlips(), NodeGradientFlips()):
            flips.attack(nodes, graph, torch.arange(1, 9))
