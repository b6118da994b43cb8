"""Batch norm while a hardness is fitted: which statistics it uses, and that it leaves its own."""

import warnings

import pytest
import torch
from torch import nn

from augcl import GraphCL
from augcl.training.batches import STATISTICS


@pytest.mark.parametrize("name", STATISTICS)
def test_neither_kind_moves_the_running_averages(name):
    network = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    x = torch.randn(20, 3, generator=torch.Generator().manual_seed(0)) * 5 + 2
    network(x)
    before = {key: value.clone() for key, value in network.state_dict().items()}
    with STATISTICS[name](network):
        inside = network(x)
    del before["1.num_batches_tracked"]  # a momentum that is a number does not use it
    for key, value in before.items():
        assert network.state_dict()[key].equal(value), key
    assert network.training
    expected = network(x) if name == "batch" else network.eval()(x)
    if name == "batch":
        assert inside.allclose(expected)
    else:
        norm, mapped = network[1], network[0](x)
        scaled = (mapped - before["1.running_mean"]) / (before["1.running_var"] + norm.eps).sqrt()
        assert inside.allclose(scaled, atol=1e-5)


def test_the_fit_of_a_hardness_moves_no_running_average(molecules, monkeypatch):
    seen = []

    def watched(self, epoch, batches, generator, before=GraphCL._before_epoch):
        averages = {k: v.clone() for k, v in self.network_.named_buffers() if "running" in k}
        metrics = before(self, epoch, batches, generator)
        after = dict(self.network_.named_buffers())
        seen.append(("hardness" in metrics, all(after[k].equal(v) for k, v in averages.items())))
        return metrics

    monkeypatch.setattr(GraphCL, "_before_epoch", watched)
    for recipe in ("default", "authors", "paper"):
        model = GraphCL(hardness="augcl", recipe=recipe, epochs=2, warmup=1, width=8, layers=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the weights of so small a model collapse
            model.fit(molecules)
        assert (True, True) in seen
        assert all(still for _, still in seen)
        seen.clear()
