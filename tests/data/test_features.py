import pytest
import torch

from augcl.data import GraphSet, node_features
from augcl.errors import InputError


@pytest.fixture
def star():
    return GraphSet.from_arrays(
        pairs=torch.tensor([[0, 0, 0], [1, 2, 3]]),
        graph_of_node=torch.zeros(5).long(),
        num_graphs=1,
        x=torch.full((5, 2), 7.0),
        node_attr=torch.arange(5.0).unsqueeze(1),
    )


def test_auto_is_the_set_as_read(star):
    assert node_features(star, "auto") is star


def test_constant_is_one_column_of_ones(star):
    assert torch.equal(node_features(star, "constant").x, torch.ones(5, 1))


@pytest.mark.parametrize("cap", [0, 1, 2, 3, 64])
def test_degree_width_is_the_cap_plus_one_whatever_the_graphs(star, cap):
    x = node_features(star, "degree", cap=cap).x
    assert x.shape == (5, cap + 1)
    assert x.argmax(1).tolist() == [min(degree, cap) for degree in (3, 1, 1, 1, 0)]
    assert torch.equal(x.sum(1), torch.ones(5))


def test_log_degree_is_log_of_one_plus_degree(star):
    expected = torch.log(torch.tensor([4.0, 2, 2, 2, 1]))
    torch.testing.assert_close(node_features(star, "log-degree").x[:, 0], expected)


def test_attributes_stand_after_the_features(star):
    x = node_features(star, "attributes").x
    assert x.shape == (5, 3)
    assert x[:, 2].tolist() == [0, 1, 2, 3, 4]


def test_attributes_of_a_set_without_any_are_refused(star):
    bare = node_features(star, "constant").select([0])
    bare = GraphSet(bare.x, bare.edge_index, bare.node_ptr, bare.edge_ptr, name="bare")
    with pytest.raises(InputError, match="bare has no node attributes beside its features"):
        node_features(bare, "attributes")


def test_an_unknown_kind_names_the_closest(star):
    with pytest.raises(InputError, match="did you mean degree"):
        node_features(star, "degre")
    with pytest.raises(InputError, match=r"cap .* -1"):
        node_features(star, "degree", cap=-1)
