"""The data of the attacks: classes, sizes and the published division."""

import pytest
import torch

from augcl.data import components
from augcl.data.generators import SIZES, component_sets, first_and_last
from augcl.errors import InputError
from references import component_counts


@pytest.mark.parametrize("size", SIZES)
def test_the_class_is_the_number_of_components_at_every_size(size):
    for part in component_sets(size, per_class=30, seed=3):
        assert torch.equal(component_counts(part), part.y + 1)
        low, high = SIZES[size][0]
        nodes = part.node_ptr.diff()
        assert int(nodes.max()) <= high
        assert int(nodes.min()) >= low // 3 * 3


def test_the_first_nine_tenths_of_each_class_train_and_the_rest_test():
    graphs = components(20, seed=1)
    train, test = component_sets(per_class=20, seed=1)
    assert train.y.tolist() == [0] * 18 + [1] * 18 + [2] * 18
    assert test.y.tolist() == [0] * 2 + [1] * 2 + [2] * 2
    expected = graphs.select([18, 19, 38, 39, 58, 59])
    assert torch.equal(test.edge_index, expected.edge_index)


def test_the_same_seed_gives_the_same_graphs():
    one, two = (component_sets(per_class=10, seed=5)[0] for _ in range(2))
    other = component_sets(per_class=10, seed=6)[0]
    assert torch.equal(one.edge_index, two.edge_index)
    assert not torch.equal(one.edge_ptr, other.edge_ptr)


def test_unknown_sizes_and_missing_labels_are_refused(molecules):
    with pytest.raises(InputError, match="15-20"):
        component_sets("15-21")
    unlabelled = molecules.select([0, 1])
    object.__setattr__(unlabelled, "y", None)
    with pytest.raises(InputError, match="no labels"):
        first_and_last(unlabelled)
