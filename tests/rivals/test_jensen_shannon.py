import math

import pytest
import torch

from augcl.errors import InputError
from augcl.rivals.infograph import jensen_shannon


def slow(scores, positive):
    """The sums as they are written, pair by pair; what is masked is not in the sum."""
    gained, lost = [], []
    for row, kinds in zip(scores.tolist(), positive.tolist(), strict=True):
        for t, together in zip(row, kinds, strict=True):
            if together:
                gained.append(math.log(2) - math.log1p(math.exp(-t)))
            else:
                lost.append(math.log1p(math.exp(t)) - math.log(2))
    return sum(lost) / len(lost) - sum(gained) / len(gained)


@pytest.fixture
def scored():
    """Scores of 7 nodes in 3 graphs, and which graph each is in."""
    scores = torch.randn(7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    graph = torch.tensor([0, 0, 0, 1, 1, 2, 2])
    return 3 * scores, graph[:, None] == torch.arange(3)


def test_it_is_the_sum_over_all_pairs(scored):
    assert jensen_shannon(*scored).item() == pytest.approx(slow(*scored))
    single = jensen_shannon(scored[0].float(), scored[1])
    assert single.item() == pytest.approx(slow(*scored), rel=1e-5)


def test_a_masked_score_contributes_nothing_to_the_other_term(scored):
    scores, positive = scored
    gain = math.log(2) - torch.nn.functional.softplus(-scores[positive]).mean()
    for masked in (0.0, 1e4):
        changed = scores.masked_fill(~positive, masked)
        loss = jensen_shannon(changed, positive)
        lost = torch.nn.functional.softplus(changed[~positive]).mean() - math.log(2)
        assert loss.item() == pytest.approx((lost - gain).item())


def test_scores_of_zero_give_zero_and_perfect_ones_the_least(scored):
    _, positive = scored
    assert jensen_shannon(torch.zeros(7, 3), positive).item() == pytest.approx(0, abs=1e-7)
    perfect = torch.where(positive, 100.0, -100.0)
    assert jensen_shannon(perfect, positive).item() == pytest.approx(-2 * math.log(2))


def test_gradients_are_right(scored):
    scores, positive = scored
    scores.requires_grad_()
    assert torch.autograd.gradcheck(lambda s: jensen_shannon(s, positive), (scores,))


@pytest.mark.parametrize("size", [1e10, 1e30, -1e30])
def test_huge_scores_stay_finite(scored, size):
    _, positive = scored
    scores = torch.full((7, 3), size, requires_grad=True)
    loss = jensen_shannon(scores, positive)
    loss.backward()
    assert loss.isfinite()
    assert scores.grad.isfinite().all()


@pytest.mark.parametrize("kind", [True, False])
def test_nothing_to_tell_apart_gives_zero(kind):
    scores = torch.ones(4, 1, requires_grad=True)
    loss = jensen_shannon(scores, torch.full((4, 1), kind))
    loss.backward()
    assert loss.item() == 0
    assert not scores.grad.any()


def test_other_shapes_are_named():
    with pytest.raises(InputError, match=r"one shape, got \(2, 2\) and \(2,\)"):
        jensen_shannon(torch.zeros(2, 2), torch.ones(2, dtype=torch.bool))
