"""A training after which everything has one embedding is told of; data that are alike are not."""

import numpy as np
import pytest
import torch

import references
from augcl import DGI, GAE, GraphCL, load_model
from augcl.data import NodeGraph
from augcl.training.alike import all_alike


@pytest.fixture
def graph():
    return references.communities()


@pytest.fixture
def dead(graph):
    """Its first step is so long that all units die."""
    return GAE(epochs=3, lr=10.0, progress=False).fit(graph)


def test_a_collapsed_training_is_told_in_one_line_with_the_cure(graph, dead):
    with pytest.warns(UserWarning, match=r"GAE gives everything.*lower.*lr.*was 10$") as told:
        z = dead.transform(graph)
    assert "\n" not in str(told[0].message)
    assert np.ptp(z, axis=0).max() == 0


def test_a_collapsed_model_from_a_file_is_told_of_too_and_stays_as_it_is(graph, dead, tmp_path):
    dead.save(tmp_path)
    again = load_model(tmp_path)
    for _ in range(2):
        with pytest.warns(UserWarning, match="training collapsed"):
            assert not again.transform(graph).any()


def test_a_training_that_went_well_and_an_untrained_network_say_nothing(graph):
    for kind in (DGI, GAE):  # a warning is an error here
        kind(epochs=5, progress=False).fit_transform(graph)
        kind(epochs=0, progress=False).fit_transform(graph)


def test_data_that_are_alike_are_no_collapse(molecules):
    ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    same_nodes = NodeGraph.from_arrays(pairs=ring, num_nodes=4, x=torch.ones(4, 2))
    assert np.ptp(GAE(epochs=2, progress=False).fit_transform(same_nodes), axis=0).max() < 1e-6
    same_graphs = molecules.select([0, 0, 0])
    GraphCL(epochs=2, progress=False).fit(molecules).transform(same_graphs)


def test_roundings_are_no_difference_and_a_small_column_is_one():
    z = torch.full((5, 2), 3.0)
    assert all_alike(z + 1e-6 * torch.randn(5, 2, generator=torch.Generator().manual_seed(0)))
    z[0, 1] += 0.01
    assert not all_alike(z)
