import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augcl.hardness import AffinityUncertainty, Hardness, Uniform
from augcl.losses.node_info_nce import PairWeights

ALL = slice(None)


class Given(Hardness):
    """Log-weights as they stand in a matrix; the first embedding column is the row number."""

    def __init__(self, log_w):
        self.log_w = log_w

    def log_weights(self, anchors, candidates, affinity):
        return self.log_w[anchors[:, 0].long()][:, candidates[:, 0].long()]


def stored(log_w):
    numbers = torch.arange(len(log_w), dtype=torch.float32)[:, None]
    return PairWeights.of(Given(log_w), numbers, rows=3)


@given(st.lists(st.floats(-30, 10), min_size=16, max_size=16))
def test_what_is_read_back_is_close_and_the_largest_exact(values):
    log_w = torch.tensor(values).reshape(4, 4)
    w, found = log_w.exp(), stored(log_w).block(ALL, ALL)
    largest = w.amax(1, keepdim=True)
    near = w > 0.01 * largest
    assert bool(((found - w).abs() <= 0.03 * w)[near].all())
    assert bool(((found - w).abs() <= 0.001 * largest)[~near].all())
    assert torch.allclose(found.amax(1, keepdim=True), largest, rtol=1e-4)


@pytest.mark.parametrize(("least", "error"), [(1e-2, 0.025), (1e-4, 0.082), (1e-6, 0.26)])
def test_the_error_of_a_byte_is_what_the_documents_say(least, error):
    share = torch.logspace(math.log10(least), 0, 400, dtype=torch.float64)
    w = stored(share.log().float().expand(400, -1)).block(ALL, ALL).double()[0]
    worst = float(((w - share).abs() / share).max())
    assert 0.8 * error < worst <= error


def test_a_block_is_a_part_of_the_whole():
    weights = stored(torch.randn(10, 10, generator=torch.Generator().manual_seed(0)))
    whole = weights.block(ALL, ALL)
    assert torch.equal(weights.block(slice(2, 5), slice(4, 9)), whole[2:5, 4:9])
    some = torch.tensor([7, 0, 3])
    assert torch.equal(weights.block(slice(1, 4), some), whole[1:4][:, some])


def test_a_pair_takes_a_byte_and_a_row_four_more():
    weights = stored(torch.zeros(6, 6))
    assert weights.codes.untyped_storage().nbytes() == 36
    assert weights.root.untyped_storage().nbytes() == 24
    assert {k for k, v in vars(weights).items() if isinstance(v, torch.Tensor)} == {"codes", "root"}


def test_a_block_is_not_the_memory_of_the_weights():
    weights = stored(torch.zeros(4, 4))
    weights.block(ALL, ALL).zero_()
    assert bool((weights.block(ALL, ALL) == 1).all())


def test_weights_of_almost_nothing_are_nothing_and_finite():
    log_w = torch.tensor([[0.0, -1e4, -40.0], [-1e4, -1e4, -1e4], [1.0, 1.0, 1.0]])
    weights = stored(log_w)
    assert weights.block(ALL, ALL)[:2].tolist() == [[1, 0, 0], [0, 0, 0]]
    assert weights.block(ALL, ALL).isfinite().all()


def test_uniform_weights_are_one():
    weights = PairWeights.of(Uniform(), torch.eye(4))
    assert torch.allclose(weights.block(ALL, ALL), torch.ones(4, 4))


def test_it_tells_the_weights_of_true_and_false_negatives():
    log_w = torch.randn(9, 9, generator=torch.Generator().manual_seed(0))
    weights, labels = stored(log_w), torch.arange(9) % 3
    found = weights.describe(labels, rows=4)
    w = weights.block(ALL, ALL)
    same, others = labels[:, None] == labels, ~torch.eye(9, dtype=torch.bool)
    assert found["weight_mean"] == pytest.approx(float(w[others].mean()))
    assert found["weight_std"] == pytest.approx(float(w[others].std(correction=0)), rel=1e-4)
    assert found["weight_false_negatives"] == pytest.approx(float(w[same & others].mean()))
    assert found["weight_true_negatives"] == pytest.approx(float(w[~same].mean()))


def test_affinity_uncertainty_gives_rows_of_mean_one():
    generator = torch.Generator().manual_seed(0)
    z = torch.randn(40, 6, generator=generator)
    hardness = AffinityUncertainty(passes=2).fit([(z, z + 0.1)])
    rows = PairWeights.of(hardness, z).block(ALL, ALL).mean(1)
    assert torch.allclose(rows, torch.ones(40), atol=0.02)


def test_nodes_of_unknown_class_count_for_the_spread_alone():
    log_w = torch.randn(9, 9, generator=torch.Generator().manual_seed(0))
    weights, labels = stored(log_w), torch.tensor([0, 1, -1, 0, -1, 1, 1, -1, 0])
    true, false = [], []
    w = weights.block(ALL, ALL)
    for i in range(9):
        for j in range(9):
            if i != j and labels[i] >= 0 and labels[j] >= 0:
                (false if labels[i] == labels[j] else true).append(float(w[i, j]))
    found = weights.describe(labels, rows=4)
    assert found["weight_false_negatives"] == pytest.approx(sum(false) / len(false))
    assert found["weight_true_negatives"] == pytest.approx(sum(true) / len(true))
    assert found["weight_mean"] == pytest.approx(weights.describe(rows=4)["weight_mean"])
    assert set(weights.describe(labels * 0 - 1)) == {"weight_mean", "weight_std", "near_one"}


@pytest.mark.parametrize("similar", ["larger", "positive"])
@pytest.mark.parametrize("estimator", ["gamblers", "distance"])
def test_how_many_rows_are_read_at_a_time_makes_no_difference(estimator, similar):
    z = torch.randn(30, 6, generator=torch.Generator().manual_seed(0))
    hardness = AffinityUncertainty(estimator=estimator, similar=similar, passes=1, restarts=0)
    hardness.fit([(z, z + 0.1)])
    few, all_at_once = (PairWeights.of(hardness, z, rows=r).block(ALL, ALL) for r in (7, 30))
    assert torch.allclose(few, all_at_once, rtol=0.02, atol=1e-4)
