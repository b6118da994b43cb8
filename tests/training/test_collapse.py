"""A training that teaches nothing is told of, of every method; one that went well is not."""

import json
import math
import warnings

import numpy as np
import pytest
import torch

import references
from augcl import GAE, GCA, GraphCL, load_model
from augcl.data import NodeGraph
from augcl.runs.models import METHODS
from augcl.training.collapse import ENOUGH_EPOCHS, all_alike, collapse, one_direction

TRAINED = [name for name, kind in METHODS.items() if "lr" in kind().get_params()]
CONTRASTED = ["GraphCL", "JOAO", "JOAOv2", "SimGRACE", "GRACE", "GCA"]
SMALL = {
    "GRACE": {"width": 8, "projection": 8},
    "GCA": {"width": 8, "projection": 8},
    **{name: {"width": 8, "patience": None} for name in ("DGI", "GMI", "MVGRL")},
    "HSAN": {"width": 8, "components": 8},
}


@pytest.fixture(scope="module")
def graph():
    return references.communities(60)


@pytest.fixture
def data(graph, molecules):
    return lambda name: graph if METHODS[name].level == "node" else molecules


def made(name, **options):
    return METHODS[name](**{"progress": False, **SMALL.get(name, {}), **options})


def trained_by(monkeypatch, name, optimizer, **options):
    """The method whose optimiser is made by ``optimizer(network)``."""
    monkeypatch.setattr(METHODS[name], "_optimizer", lambda model, network: optimizer(network))
    return made(name, **options)


class Killing(torch.optim.SGD):
    """Its first step turns every weight into 0."""

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for weights in group["params"]:
                weights.zero_()


def test_too_high_a_learning_rate_is_told_of_although_the_embeddings_differ(graph):
    model = made("GCA", epochs=ENOUGH_EPOCHS, lr=100.0, norm="none", tau=0.4)
    told = r"GCA on communities: nothing was learned: .*; lower the learning rate.*was 100$"
    with pytest.warns(UserWarning, match=told) as warned:
        model.fit(graph)
    assert len(warned) == 1
    assert "\n" not in str(warned[0].message)
    assert not all_alike(torch.from_numpy(model.transform(graph)))
    loss = model.history_[-1]["loss"]
    assert loss == pytest.approx(math.log(2 * graph.num_nodes - 1), abs=0.05)


@pytest.mark.parametrize("name", TRAINED)
def test_a_network_that_dies_is_told_of(monkeypatch, data, name):
    model = trained_by(monkeypatch, name, lambda network: Killing(network.parameters()), epochs=2)
    with pytest.warns(UserWarning, match=f"{name} on .*same embedding|one direction"):
        model.fit(data(name))


@pytest.mark.parametrize("name", CONTRASTED)
def test_a_projector_that_dies_is_told_of(monkeypatch, data, name):
    killed = trained_by(
        monkeypatch, name, lambda network: Constant(network.projector.parameters()), epochs=2
    )
    with pytest.warns(UserWarning, match=f"{name} on .*all projections"):
        killed.fit(data(name))


class Constant(torch.optim.SGD):
    """Its first step leaves a layer that gives the same for everything."""

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for weights in group["params"]:
                weights.fill_(float(weights.dim() == 1))


@pytest.mark.parametrize("name", TRAINED)
def test_a_loss_no_lower_than_that_of_the_untrained_network_is_told_of(monkeypatch, data, name):
    def uphill(network):
        return torch.optim.Adam(network.parameters(), lr=1e-4, maximize=True)

    model = trained_by(monkeypatch, name, uphill, epochs=ENOUGH_EPOCHS)
    with pytest.warns(UserWarning, match=f"{name} on .*nothing was learned"):
        model.fit(data(name))
    with warnings.catch_warnings():  # a short training may waver
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*not used")  # bonds
        trained_by(monkeypatch, name, uphill, epochs=1).fit(data(name))


@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("epochs", [0, 1, ENOUGH_EPOCHS])
def test_a_training_that_went_well_says_nothing(data, name, epochs):
    model = made(name, epochs=epochs).fit(data(name))  # a warning is an error here
    assert model.collapse_ is None


@pytest.mark.parametrize("hardness", ["augcl", "dcl", "hcl", "progcl"])
@pytest.mark.parametrize("name", ["GraphCL", "GCA"])
def test_weights_that_raise_the_loss_are_no_collapse(data, name, hardness):
    assert made(name, epochs=ENOUGH_EPOCHS, hardness=hardness).fit(data(name)).collapse_ is None


def test_looking_changes_nothing(monkeypatch, molecules):
    seen = GraphCL(epochs=ENOUGH_EPOCHS, progress=False).fit(molecules)
    monkeypatch.setattr(GraphCL, "_find_collapse", lambda *_: None)
    blind = GraphCL(epochs=ENOUGH_EPOCHS, progress=False).fit(molecules)
    assert seen.network_.training == blind.network_.training
    for one, two in zip(
        seen.network_.state_dict().values(), blind.network_.state_dict().values(), strict=True
    ):
        assert torch.equal(one, two)


def test_a_collapsed_model_from_a_file_is_told_of_when_it_is_loaded(graph, tmp_path):
    dead = GAE(epochs=3, lr=10.0, progress=False)  # its first step is so long that all units die
    with pytest.warns(UserWarning, match=r"same embedding; lower.*normalize_features"):
        dead.fit(graph)
    dead.save(tmp_path)
    assert json.loads((tmp_path / "model.json").read_text())["collapse"] == dead.collapse_
    with pytest.warns(UserWarning, match="GAE: nothing was learned: everything gets the same"):
        again = load_model(tmp_path)
    assert not again.transform(graph).any()


def test_a_new_fit_forgets_the_collapse_of_the_one_before(graph):
    model = GAE(epochs=3, lr=10.0, progress=False)
    with pytest.warns(UserWarning, match="nothing was learned"):
        model.fit(graph)
    assert model.set_params(lr=0.01).fit(graph).collapse_ is None


def test_data_that_are_alike_are_no_collapse(molecules):
    ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    same_nodes = NodeGraph.from_arrays(pairs=ring, num_nodes=4, x=torch.ones(4, 2))
    for kind in (GAE, GCA):
        z = kind(epochs=2, progress=False).fit_transform(same_nodes)
        assert np.ptp(z, axis=0).max() < 1e-6
    GraphCL(epochs=2, progress=False).fit(molecules.select([0, 0, 0]))


def test_roundings_are_no_difference_and_a_small_column_is_one():
    z = torch.full((5, 2), 3.0)
    assert all_alike(z + 1e-6 * torch.randn(5, 2, generator=torch.Generator().manual_seed(0)))
    z[0, 1] += 0.01
    assert not all_alike(z)


def test_lengths_do_not_count_where_angles_are_compared():
    lengths = torch.arange(1.0, 6.0)[:, None]
    assert one_direction(lengths * torch.tensor([1.0, -2.0]))
    assert not one_direction(torch.cat([torch.eye(3), -torch.eye(3)]))
    assert not one_direction(torch.tensor([[1.0, 0.0], [1.0, 0.1]]))
    assert not one_direction(torch.ones(1, 2))


class Seen:
    """A network of which everything is known."""

    def __init__(self, z, loss, projections=None):
        self.embeddings, self.loss = lambda: z, lambda: loss
        self.projections = lambda: projections


def test_the_reason_is_the_first_that_holds():
    good, alike = torch.eye(3), torch.ones(3, 3)
    before = Seen(good, 2.0, good)

    def reason(network, epochs=ENOUGH_EPOCHS, **options):
        return collapse(network, before, losses=options.pop("losses", [2.0] * epochs), **options)

    assert "untrained weights are kept" in reason(Seen(good, 1.0), kept_first=True)
    assert "not finite" in reason(Seen(good / 0, 1.0))
    assert "same embedding" in reason(Seen(alike, 1.0))
    assert "one direction" in reason(Seen(good, 1.0, alike))
    assert "the loss, 2, is no lower" in reason(Seen(good, 2.0, good))
    assert "no lower" in reason(Seen(good, math.nan, good))
    assert reason(Seen(good, 3.0, good), epochs=ENOUGH_EPOCHS - 1) is None
    assert reason(Seen(good, 1.999, good)) is None
    falling = torch.linspace(2.0, 1.5, ENOUGH_EPOCHS).tolist()
    assert reason(Seen(good, 2.1, good), losses=falling) is None
