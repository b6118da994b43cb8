import itertools

import pytest
import torch

import augcl
import references
from augcl.hardness import Hardness
from augcl.losses import info_nce


class Fixed(Hardness):
    """Weights given as a function of the two views."""

    def __init__(self, weights):
        self.weights = weights

    def log_weights(self, anchors, candidates, affinity):
        return self.weights(anchors, candidates).log()


def some_weights(anchors, candidates):
    """Any positive numbers that depend on the pair, not symmetric."""
    return (anchors @ candidates.t() + 2 * anchors[:, :1]).sin().exp()


def pair(n=6, d=4, *, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    a, b = torch.randn(2, n, d, generator=generator, dtype=torch.float64)
    return a.to(dtype), (0.7 * a + b).to(dtype)


OPTIONS = list(itertools.product([True, False], repeat=4))


@pytest.mark.parametrize(("inside", "symmetric", "intra", "weighted"), OPTIONS)
def test_loss_is_the_double_loop(inside, symmetric, intra, weighted):
    options = {"positive_in_denominator": inside, "symmetric": symmetric, "intra": intra}
    weights = some_weights if weighted else None
    for n, tau in ((2, 0.2), (6, 0.2), (5, 1.3)):
        a, b = pair(n)
        fast = info_nce(a, b, tau=tau, hardness=Fixed(weights) if weights else None, **options)
        slow = references.info_nce(a, b, tau=tau, weights=weights, **options)
        assert fast.item() == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize(("inside", "symmetric", "intra", "weighted"), OPTIONS)
def test_gradient_is_right(inside, symmetric, intra, weighted):
    a, b = (z.requires_grad_() for z in pair(4, 3))
    frozen = {}

    def frozen_weights(anchors, candidates):  # no gradient goes through the weights
        key = tuple(anchors.shape)
        return frozen.setdefault(key, some_weights(anchors, candidates).detach())

    def loss(a, b):
        return info_nce(
            a,
            b,
            hardness=Fixed(frozen_weights) if weighted else None,
            positive_in_denominator=inside,
            symmetric=symmetric,
            intra=intra,
        )

    assert torch.autograd.gradcheck(loss, (a, b))


def per_sample_without_positive(a, b, tau=0.2):
    """GraphCL's own loss of every anchor."""
    s = torch.tensor(references.cosines(a, b), dtype=torch.float64) / tau
    others = s.exp().fill_diagonal_(0).sum(1)
    return others.log() - s.diagonal()


def test_softplus_turns_the_loss_without_the_positive_into_the_one_with_it():
    a, b = pair(8)
    without = per_sample_without_positive(a, b)
    outside = info_nce(a, b, positive_in_denominator=False)
    inside = info_nce(a, b)
    assert outside.item() == pytest.approx(without.mean().item(), abs=1e-12)
    assert inside.item() == pytest.approx(
        torch.nn.functional.softplus(without).mean().item(), abs=1e-12
    )


def test_weights_of_one_are_plain_info_nce_bit_for_bit():
    a, b = pair(dtype=torch.float32)
    ones = Fixed(lambda a, b: torch.ones(len(a), len(b)))
    assert info_nce(a, b, hardness=ones).equal(info_nce(a, b))


@pytest.mark.parametrize("alpha", ["row", "global"])
def test_constant_uncertainty_is_plain_info_nce(alpha):
    a, b = pair(12, dtype=torch.float32)
    hardness = augcl.AffinityUncertainty(alpha=alpha, passes=1).fit([(a, b)])
    torch.nn.init.zeros_(hardness.network_.last.weight)
    hardness._measure([(a, b)])
    assert info_nce(a, b, hardness=hardness).item() == pytest.approx(
        info_nce(a, b).item(), abs=1e-6
    )


def test_the_weight_of_the_positive_does_not_count():
    a, b = pair()
    ones = torch.ones(6, 6)
    loaded = ones + 99 * torch.eye(6)
    one, other = (info_nce(a, b, hardness=Fixed(lambda *_, w=w: w)) for w in (ones, loaded))
    assert one.equal(other)


def test_no_gradient_goes_through_the_weights():
    a, b = (z.requires_grad_() for z in pair())
    seen = []

    class Spy(Hardness):
        def log_weights(self, anchors, candidates, affinity):
            seen.extend([anchors, candidates, affinity])
            return torch.zeros_like(affinity)

    info_nce(a, b, hardness=Spy())
    assert not any(tensor.requires_grad for tensor in seen)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("inside", [True, False])
def test_one_pair_has_loss_zero_and_gradient_zero(symmetric, inside):
    a, b = (z.requires_grad_() for z in pair(1))
    loss = info_nce(a, b, symmetric=symmetric, positive_in_denominator=inside)
    loss.backward()
    assert loss.item() == 0
    assert not a.grad.any()
    assert not b.grad.any()


@pytest.mark.parametrize(("inside", "symmetric", "intra", "weighted"), OPTIONS)
@pytest.mark.parametrize("tau", [1e-3, 0.2, 1e3])
def test_huge_tiny_and_zero_embeddings_give_finite_loss_and_gradients(
    inside, symmetric, intra, weighted, tau
):
    a, b = pair(8, dtype=torch.float32)
    for row, scale in enumerate([0.0, 1e-30, 1e-10, 1e10, 1e30, 1e37]):
        a[row] *= scale
        b[row + 1] *= scale
    a.requires_grad_()
    b.requires_grad_()
    extreme = torch.linspace(-1e4, 50, 64).view(8, 8)
    loss = info_nce(
        a,
        b,
        tau=tau,
        hardness=LogWeights(extreme) if weighted else None,
        positive_in_denominator=inside,
        symmetric=symmetric,
        intra=intra,
    )
    loss.backward()
    assert loss.isfinite()
    assert a.grad.isfinite().all()
    assert b.grad.isfinite().all()


class LogWeights(Hardness):
    def __init__(self, log_w):
        self.log_w = log_w

    def log_weights(self, anchors, candidates, affinity):
        return self.log_w


def test_equal_embeddings_give_the_logarithm_of_their_number():
    z = torch.ones(5, 3)
    assert info_nce(z, z).item() == pytest.approx(torch.tensor(5.0).log().item(), abs=1e-6)


def test_symmetric_loss_does_not_mind_which_view_is_the_anchor():
    a, b = pair()
    assert info_nce(a, b, symmetric=True).item() == pytest.approx(
        info_nce(b, a, symmetric=True).item(), abs=1e-14
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 4), (3, 5)), ((3, 4), (2, 4)), ((4,), (4,)), ((2, 3, 4), (2, 3, 4))],
)
def test_shapes_that_do_not_match_are_told(a, b):
    with pytest.raises(augcl.InputError, match=r"two \(N, D\) tensors of one shape"):
        info_nce(torch.ones(a), torch.ones(b))


@pytest.mark.parametrize("tau", [0.0, -0.1, float("nan")])
def test_a_temperature_must_be_above_zero(tau):
    with pytest.raises(augcl.InputError, match="temperature must be above 0"):
        info_nce(*pair(), tau=tau)


def test_no_pairs_at_all_give_zero():
    assert info_nce(torch.empty(0, 3), torch.empty(0, 3)).item() == 0


@pytest.mark.parametrize("intra", [True, False])
def test_half_precision_embeddings_are_compared_in_single_precision(intra):
    a, b = pair(dtype=torch.float16)
    a.requires_grad_()
    loss = info_nce(a, b, intra=intra)
    loss.backward()
    assert loss.dtype == torch.float32
    assert loss.equal(info_nce(a.float(), b.float(), intra=intra))
    assert a.grad.dtype == torch.float16
    assert a.grad.isfinite().all()
