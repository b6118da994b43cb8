"""Methods for graphs with featured edges: bonds count, in training and in embeddings."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch_geometric.nn import GINEConv

import augcl
from augcl import GraphCL, InfoGraph, InputError, JOAOv2, SimGRACE, WLKernel
from augcl.encoders import GIN, GINE
from augcl.paper.cells import digest
from augcl.rivals import JOAO, Graph2Vec, MVGRLGraphs
from augcl.runs.run import Spec

QUICK = {"epochs": 2, "width": 8, "layers": 2, "progress": False, "random_state": 0}
WITH_GIN = [GraphCL, SimGRACE, JOAO, JOAOv2, InfoGraph]
NAMES = ["aromatic", "single", "double", "triple"]


@pytest.fixture(scope="module")
def bonds(molecules):
    return replace(molecules, edge_columns=NAMES)


def fitted(kind, graphs, **options):
    return kind(**{**QUICK, **options}).fit(graphs)


@pytest.mark.parametrize("kind", WITH_GIN)
def test_bonds_count_where_there_are_any(kind, bonds):
    bare = replace(bonds, edge_attr=None, edge_columns=None)
    model, off, without = (
        fitted(kind, bonds),
        fitted(kind, bonds, edge_features=False),
        fitted(kind, bare),
    )
    assert type(model.network_.encoder) is GINE
    assert type(off.network_.encoder) is type(without.network_.encoder) is GIN
    assert (model.n_edge_features_, model.edge_columns_) == (4, NAMES)
    assert (off.n_edge_features_, off.edge_columns_) == (0, None)
    Z = model.transform(bonds)
    assert np.array_equal(off.transform(bonds), without.transform(bare))
    assert np.array_equal(off.transform(bare), without.transform(bonds))
    assert Z.shape == without.transform(bare).shape
    changed = replace(bonds, edge_attr=bonds.edge_attr.roll(1, dims=1))
    assert not np.allclose(model.transform(changed), Z)
    assert np.array_equal(off.transform(changed), off.transform(bonds))
    assert len(model.get_feature_names_out()) == Z.shape[1]


def test_the_weights_of_the_edges_are_trained(bonds):
    start, end = (fitted(GraphCL, bonds, epochs=e).network_.encoder.layers for e in (0, 2))
    for before, after in zip(start, end, strict=True):
        assert not torch.equal(before.edge.weight, after.edge.weight)


@pytest.mark.parametrize("kind", [GraphCL, InfoGraph])
def test_a_saved_model_knows_the_bonds(kind, bonds, tmp_path):
    model = fitted(kind, bonds)
    model.save(tmp_path)
    again = augcl.load_model(tmp_path)
    assert (again.n_edge_features_, again.edge_columns_) == (4, NAMES)
    assert np.array_equal(again.transform(bonds), model.transform(bonds))


def test_columns_are_found_by_name(bonds, tmp_path):
    model = fitted(GraphCL, bonds)
    expected = model.transform(bonds)
    order = [2, 0, 3, 1]
    shuffled = replace(
        bonds, edge_attr=bonds.edge_attr[:, order], edge_columns=[NAMES[i] for i in order]
    )
    assert np.array_equal(model.transform(shuffled), expected)
    more = torch.cat([bonds.edge_attr, torch.zeros(bonds.num_edges, 1)], 1)
    unused = replace(bonds, edge_attr=more, edge_columns=[*NAMES, "ionic"])
    assert np.array_equal(model.transform(unused), expected)
    more[0, 4] = 1
    with pytest.raises(InputError, match="has the edge feature 'ionic', never seen in training"):
        model.transform(unused)
    kept = [i for i in range(4) if bool(bonds.edge_attr[:, i].any())]
    fewer = replace(
        bonds, edge_attr=bonds.edge_attr[:, kept], edge_columns=[NAMES[i] for i in kept]
    )
    assert np.array_equal(model.transform(fewer), expected)


def test_missing_bonds_are_told(bonds):
    model = fitted(GraphCL, bonds)
    with pytest.raises(
        InputError, match="no edge features: the model was trained on the edge feat"
    ):
        model.transform(replace(bonds, edge_attr=None, edge_columns=None))
    with pytest.raises(InputError, match="has 2 edge features, the model was trained on 4"):
        model.transform(replace(bonds, edge_attr=bonds.edge_attr[:, :2], edge_columns=None))
    with pytest.raises(InputError, match="edge_features is True, but MUTAG has no edge features"):
        fitted(GraphCL, replace(bonds, edge_attr=None), edge_features=True)
    with pytest.raises(InputError, match="edge_features is 'yes': give True, False or None"):
        fitted(GraphCL, bonds, edge_features="yes")


def test_graphs_without_edges_need_no_features(bonds):
    model = fitted(GraphCL, bonds)
    atoms = augcl.GraphSet.from_arrays(
        pairs=torch.zeros(2, 0).long(),
        graph_of_node=torch.tensor([0, 1]),
        num_graphs=2,
        x=torch.eye(7)[:2],
        columns=bonds.columns,
    )
    assert np.isfinite(model.transform(atoms)).all()


class Messages(nn.Module):
    """An encoder of the user, called as PyG's are."""

    def __init__(self):
        super().__init__()
        self.conv = GINEConv(nn.Linear(7, 5), edge_dim=4)

    def forward(self, x, edge_index, edge_attr):
        return self.conv(x, edge_index, edge_attr)


@pytest.mark.parametrize("kind", [GraphCL, InfoGraph, SimGRACE])
def test_an_encoder_of_the_user_gets_them_on_demand(kind, bonds, tmp_path):
    with torch.random.fork_rng():
        torch.manual_seed(0)  # some of its starts die
        encoder = Messages()
    model = fitted(kind, bonds, encoder=encoder, edge_features=True)
    Z = model.transform(bonds)
    assert Z.shape == (40, 5)
    model.save(tmp_path)
    assert np.array_equal(augcl.load_model(tmp_path, encoder=encoder).transform(bonds), Z)


def test_an_encoder_of_the_user_is_not_given_what_it_does_not_ask_for(bonds):
    plain = GIN(7, width=4, layers=1)
    assert fitted(GraphCL, bonds, encoder=plain).n_edge_features_ == 0

    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(7, 3)

        def forward(self, x, edge_index):
            return self.linear(x)

    with pytest.raises(InputError, match="encoder Two takes no edge features"):
        fitted(GraphCL, bonds, encoder=Two(), edge_features=True)


@pytest.mark.parametrize("augmentation", ["random4", "attribute-mask", "edge-perturb", "identity"])
def test_every_augmentation_works(augmentation, bonds):
    model = fitted(GraphCL, bonds, augmentation=augmentation, hardness="augcl")
    assert np.isfinite(model.transform(bonds)).all()


def test_a_training_goes_on_with_the_same_bonds_only(bonds, tmp_path):
    whole = fitted(GraphCL, bonds, epochs=4, warmup=0)
    halves = GraphCL(**{**QUICK, "warm_start": True}).fit(bonds)
    halves.set_params(epochs=4).fit(bonds)
    assert np.array_equal(halves.transform(bonds), whole.transform(bonds))
    with pytest.raises(InputError, match="the graphs are not those it was started with"):
        halves.fit(replace(bonds, edge_attr=bonds.edge_attr.flip(1)))


def test_methods_without_a_use_for_them_leave_them(bonds):
    bare = replace(bonds, edge_attr=None, edge_columns=None)
    for graphs in (bonds, bare):
        model = MVGRLGraphs(epochs=1, width=4, progress=False).fit(graphs)
        assert model.n_edge_features_ == 0
        assert np.isfinite(model.transform(bonds)).all()


@pytest.mark.parametrize("method", ["GraphCL", "SimGRACE", "InfoGraph", "WLKernel", "Graph2Vec"])
def test_published_settings_have_no_bonds_and_the_digests_of_before(method):
    spec = Spec("MUTAG", method=method, hardness="none", preset="published")
    model = spec.estimator(augcl.load("MUTAG"), 0)
    switch = type(model).edge_switch
    assert getattr(model, switch) is False
    assert switch not in spec.decides()["settings"]
    own = Spec("my.csv", method=method, hardness="none", preset="published")
    assert switch not in own.decides()["settings"]

    def of(value, dataset="MUTAG"):
        given = {"hardness": "none", "preset": "published", "options": {switch: value}}
        return digest(Spec(dataset, method=method, **given).decides())

    assert of(False) == digest(spec.decides()) != of(True)
    assert len({of(False, "my.csv"), of(True, "my.csv"), digest(own.decides())}) == 3


@pytest.mark.parametrize("method", ["GraphCL", "WLKernel", "MVGRLGraphs"])
def test_the_fingerprint_has_the_bonds_that_are_used(method, bonds):
    spec = Spec("my.csv", method=method, hardness="none")
    mine = replace(bonds, name="mine")
    other = replace(mine, edge_attr=mine.edge_attr.flip(1))
    assert (spec.fingerprint(mine) == spec.fingerprint(other)) == (method == "MVGRLGraphs")
    published = Spec("MUTAG", method=method, hardness="none", preset="published")
    flipped = replace(bonds, edge_attr=bonds.edge_attr.flip(1))
    assert published.fingerprint(bonds) == published.fingerprint(flipped)


@pytest.mark.parametrize("kind", [WLKernel, Graph2Vec])
def test_edge_labels_are_used_where_there_are_some(kind, bonds, tmp_path):
    options = {"passes": 2, "dimensions": 8} if kind is Graph2Vec else {}
    bare = replace(bonds, edge_attr=None, edge_columns=None)
    model, off, without = (
        kind(progress=False, **options, **more).fit(graphs)
        for graphs, more in ((bonds, {}), (bonds, {"edge_labels": False}), (bare, {}))
    )
    Z = model.transform(bonds)
    assert np.array_equal(off.transform(bonds), without.transform(bare))
    assert not np.array_equal(off.transform(bonds), Z)
    model.save(tmp_path)
    again = augcl.load_model(tmp_path)
    assert np.array_equal(again.transform(bonds), Z)
    order = [3, 1, 0, 2]
    shuffled = replace(
        bonds, edge_attr=bonds.edge_attr[:, order], edge_columns=[NAMES[i] for i in order]
    )
    assert np.array_equal(again.transform(shuffled), Z)
    with pytest.raises(InputError, match="no edge features"):
        again.transform(bare)


@pytest.mark.parametrize("kind", [WLKernel, Graph2Vec])
def test_fractions_on_edges_are_no_labels(kind, bonds):
    options = {"passes": 1, "dimensions": 4} if kind is Graph2Vec else {}
    lengths = replace(bonds, edge_attr=bonds.edge_attr + 0.5)
    assert kind(progress=False, **options).fit(lengths).n_edge_features_ == 0
    with pytest.raises(InputError, match="edge features that are not whole numbers"):
        kind(progress=False, edge_labels=True, **options).fit(lengths)
