"""The step of the loss where the weights set in: found, named, and told from learning."""

import math

import pytest
import torch

from augcl.hardness import Hardness
from augcl.losses import info_nce
from augcl.paper.convergence import JumpCell, Shuffled, Step, jump, onset_of, step_at
from augcl.runs.run import Spec

BASE = [3.0 - 0.01 * epoch + 0.002 * (-1) ** epoch for epoch in range(40)]


def step(change):
    """Of a curve that is the base's up to epoch 10 and then differs by `change`."""
    curve = [y + (change if epoch >= 10 else 0) for epoch, y in enumerate(BASE)]
    return Step("MUTAG", "AUGCL", "GraphCL", 10, **step_at(curve, BASE, 10))


@pytest.mark.parametrize(
    ("change", "kind"), [(-0.5, "drops abruptly"), (0.5, "rises abruptly"), (0.002, "no jump")]
)
def test_a_step_is_a_jump_only_beyond_the_usual_noise(change, kind):
    assert step(change).kind == kind


def test_the_step_stands_beside_that_of_the_base():
    text = str(step(-0.5))
    assert text.startswith("MUTAG, AUGCL: when the weights begin, after epoch 10, the loss drops")
    assert f"{BASE[9]:.3f} to {BASE[10] - 0.5:.3f}; GraphCL {BASE[9]:.3f} to {BASE[10]:.3f}" in text
    assert "does not jump" in str(step(0))


@pytest.mark.parametrize("onset", [0, 40, 60])
def test_without_epochs_on_both_sides_there_is_no_step(onset):
    assert step_at(BASE, BASE, onset) is None


def test_the_paper_s_weights_set_in_at_epoch_10_whatever_the_number_of_epochs():
    assert onset_of(Spec("MUTAG", recipe="paper", epochs=100)) == 10
    assert onset_of(Spec("MUTAG", recipe="default", epochs=100)) == 50


class Weights(Hardness):
    def __init__(self, log_w):
        self.log_w = log_w

    def log_weights(self, anchors, candidates, affinity):
        return self.log_w


@pytest.fixture
def pair():
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(2, 9, 5, generator=generator))


def test_shuffled_weights_are_the_same_numbers_with_the_positive_where_it_was(pair):
    log_w = torch.randn(9, 9, generator=torch.Generator().manual_seed(1))
    before = log_w.clone()
    shuffled = Shuffled(Weights(log_w), torch.Generator().manual_seed(2))
    found = shuffled.log_weights(*pair, torch.zeros(9, 9))
    assert log_w.equal(before)
    assert found.diagonal().equal(log_w.diagonal())
    assert not found.equal(log_w)
    for row, expected in zip(found, log_w, strict=True):
        assert row.sort().values.equal(expected.sort().values)


def test_the_three_losses_are_those_of_info_nce(pair):
    log_w = torch.full((9, 9), math.log(0.5))
    found = jump([pair, pair], Weights(log_w), tau=0.2, generator=torch.Generator())
    assert found["plain"] == pytest.approx(float(info_nce(*pair, tau=0.2)))
    assert found["weighted"] == pytest.approx(
        float(info_nce(*pair, tau=0.2, hardness=Weights(log_w)))
    )
    assert found["shuffled"] == pytest.approx(found["weighted"])  # all weights are equal
    assert found["weighted"] < found["plain"]


def test_readings_have_cells_of_their_own(tmp_path):
    specs = [Spec("MUTAG"), Spec("MUTAG", recipe="paper"), Spec("MUTAG", epochs=20)]
    assert len({JumpCell(spec, 0).path(tmp_path) for spec in specs}) == 3
