"""Numbers of 64 bits in a training; those of Fabric are for CUDA."""

import json

import numpy as np
import pytest
import torch

import augcl
from augcl.data.generators import planted
from augcl.errors import InputError
from augcl.runs.run import Spec
from augcl.training.loop import PRECISIONS, make_fabric

SHORT = {"epochs": 3, "width": 8, "random_state": 0, "progress": False}
pytestmark = pytest.mark.filterwarnings("ignore::augcl.hardness.CollapseWarning")


def wide(model):
    model.precision = "64-true"
    return model


def sparse_graph():
    graph = planted(300, classes=3, features=150)
    x = torch.where(graph.x > graph.x.quantile(0.97), graph.x, 0.0)
    return augcl.data.NodeGraph.from_arrays(pairs=graph.edge_index, num_nodes=300, x=x, y=graph.y)


@pytest.mark.parametrize("hardness", ["none", "augcl", "hcl"])
@pytest.mark.parametrize("batch_nodes", [None, 100])
def test_a_node_method_trains_embeds_and_is_kept(hardness, batch_nodes, tmp_path):
    graph = sparse_graph() if hardness == "augcl" else planted(300, classes=3)
    assert (graph.x.layout == torch.sparse_csr) == (hardness == "augcl")
    settings = {"hardness": hardness, "batch_nodes": batch_nodes, "candidates": 50, "warmup": 1}
    model = wide(augcl.GCA(**settings, **SHORT)).fit(graph)
    assert {p.dtype for p in model.network_.parameters()} == {torch.float64}
    Z = model.transform(graph)
    assert Z.dtype == np.float32
    model.save(tmp_path / "model")
    np.testing.assert_allclose(augcl.load_model(tmp_path / "model").transform(graph), Z, atol=1e-5)


def test_rounding_does_not_grow():
    graphs = augcl.load("MUTAG").select(range(60))

    def losses(shift, precision):
        class Moved(augcl.GraphCL):
            def _build(self, features, generator):
                network = super()._build(features, generator)
                with torch.no_grad():
                    next(network.parameters()).mul_(1 + shift)
                return network

        model = Moved(**SHORT, hardness="augcl", warmup=1)
        model.precision = precision
        return np.array([metrics["loss"] for metrics in model.fit(graphs).history_])

    for precision, most in (("64-true", 1e-3), ("32-true", 1.0)):
        assert np.abs(losses(1e-6, precision) - losses(0, precision)).max() < most


def test_a_checkpoint_of_another_precision_is_refused(tmp_path):
    graph = planted(100)
    wide(augcl.GRACE(**SHORT)).fit(graph, folder=tmp_path)
    with pytest.raises(InputError, match="precision"):
        augcl.GRACE(**SHORT).fit(graph, folder=tmp_path, resume=True)
    again = wide(augcl.GRACE(**SHORT)).fit(graph, folder=tmp_path, resume=True)
    assert len(again.history_) == 3


def test_what_cannot_be_is_said():
    assert make_fabric("cpu", precision="64-true").device.type == "cpu"
    with pytest.raises(InputError, match="bf16-mixed is for GPUs: give device cuda"):
        make_fabric("cpu", precision="bf16-mixed")
    with pytest.raises(InputError, match=", ".join(PRECISIONS)):
        make_fabric("cpu", precision="half")
    with pytest.raises(InputError, match=r"precision 64-true is not for DGI: GraphCL, .* have it"):
        wide(augcl.DGI(**SHORT)).fit(planted(100))


def test_the_option_is_recorded_and_the_name_of_a_record_is_what_it_was(succeeds, tmp_path):
    assert "precision" not in Spec("MUTAG").decides()
    assert Spec("MUTAG", precision="64-true").decides()["precision"] == "64-true"
    quick = ("--epochs", 1, "--seeds", 1, "--hardness", "none", "--no-evaluate")
    succeeds("train", "--precision", "64-true", *quick, "--out", tmp_path / "x")
    spec = json.loads((tmp_path / "x" / "result.json").read_text())["spec"]
    assert spec["precision"] == "64-true"
