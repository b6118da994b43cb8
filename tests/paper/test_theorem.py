"""The weighted loss is a triplet loss with a margin per negative: the proof, one step a test.

With α u_ij the weight of negative j of anchor i, the margin is m_ij = (τ/2) log(α u_ij).

    1  −log( E_ii / (E_ii + Σ α u_ij E_ij) )  =  log( 1 + Σ α u_ij exp((s_ij − s_ii)/τ) )
    2                                         =  log( 1 + Σ exp((s_ij − s_ii + 2 m_ij)/τ) )
    3  s_ij − s_ii  =  ½ ( ‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖² ),  unit vectors
    4  log(1 + x)  ≈  x  for small x, as when every negative is opposite: s_ij − s_ii ≈ −2
    5  exp is linear to first order there, so the gradient is that of the triplet loss
       Σ_j α u_ij ( ‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖² ), scaled by exp(−2/τ) / 2τ

The printed theorem has the margins inside the sum instead of the weights before the distances.
That is the expansion at another point, where every negative is as similar as the positive:

    6  log( 1 + Σ e^{y_ij} )  ≈  log N + (1/N) Σ y_ij  for small y_ij = (s_ij − s_ii + 2 m_ij)/τ,
       and Σ y_ij = (1/2τ) Σ ( ‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖² + 4 m_ij )
    7  the gradient of that form is the same for all weights
    8  everywhere, without any approximation: the gradient of the loss is that of the triplet loss
       whose terms are multiplied by the share of the negative, w_ij e^{s_ij/τ} over the sum
"""

import math

import pytest
import torch

from augcl.errors import InputError
from augcl.hardness import Hardness
from augcl.losses import info_nce
from augcl.ops.cosine import cosine, unit_rows
from augcl.paper.theorem import negative_shares, triplet_form

TAU = 0.2


class Weights(Hardness):
    """α · u for given numbers."""

    def __init__(self, w):
        self.w = w

    def log_weights(self, anchors, candidates, affinity):
        return self.w.log()


def random(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, dtype=torch.float64, generator=generator)


@pytest.fixture
def views():
    z = random(7, 5)
    return z, z + 0.5 * random(7, 5, seed=1)


@pytest.fixture
def uncertainty():
    return random(7, 7, seed=2).sigmoid()


@pytest.fixture
def alpha(uncertainty):
    return 1 / uncertainty.mean()


def negatives(matrix):
    """(N, N − 1): the rows without their diagonal."""
    n = len(matrix)
    return matrix[~torch.eye(n, dtype=torch.bool)].view(n, n - 1)


def margins(weights):
    return TAU / 2 * weights.log()


def margin_form(differences, m):
    """log( 1 + Σ_j exp((s_ij − s_ii + 2 m_ij)/τ) ) of every anchor."""
    return torch.log1p(torch.exp((differences + 2 * m) / TAU).sum(1))


def squared_distances(a, b):
    return (a[:, None] - b[None]).square().sum(-1)


def test_step_1_the_positive_divides_out(views, uncertainty, alpha):
    w = alpha * uncertainty
    s = cosine(*views)
    ratio = torch.exp(negatives(s - s.diagonal()[:, None]) / TAU)
    expected = torch.log1p((negatives(w) * ratio).sum(1)).mean()
    assert info_nce(*views, tau=TAU, hardness=Weights(w)).item() == pytest.approx(
        expected.item(), abs=1e-12
    )


def test_step_2_the_weight_is_a_margin_in_the_exponent(views, uncertainty, alpha):
    w = alpha * uncertainty
    s = cosine(*views)
    differences = negatives(s - s.diagonal()[:, None])
    expected = margin_form(differences, margins(negatives(w))).mean()
    assert info_nce(*views, tau=TAU, hardness=Weights(w)).item() == pytest.approx(
        expected.item(), abs=1e-12
    )


def test_step_2_a_certain_negative_has_a_smaller_margin_than_an_uncertain_one():
    certain, average, uncertain = margins(torch.tensor([0.1, 1.0, 3.0], dtype=torch.float64))
    assert certain < average == 0 < uncertain


def test_step_3_cosines_are_squared_distances_of_unit_vectors(views):
    s = cosine(*views)
    d = squared_distances(*map(unit_rows, views))
    assert s.allclose(1 - d / 2, atol=1e-12)
    assert (s - s.diagonal()[:, None]).allclose((d.diagonal()[:, None] - d) / 2, atol=1e-12)


def test_steps_1_to_3_together_are_a_triplet_loss_in_a_softplus(views, uncertainty, alpha):
    w = alpha * uncertainty
    d = squared_distances(*map(unit_rows, views))
    triplets = negatives(d.diagonal()[:, None] - d) + 4 * margins(negatives(w))
    expected = torch.log1p(torch.exp(triplets / (2 * TAU)).sum(1)).mean()
    assert info_nce(*views, tau=TAU, hardness=Weights(w)).item() == pytest.approx(
        expected.item(), abs=1e-12
    )


def opposite(negative_count, spread, seed=0):
    """An anchor with its positive close by and its negatives on the other side, as raw vectors."""
    anchor = random(1, 6, seed=seed)
    positive = anchor + spread * random(1, 6, seed=seed + 10)
    others = -anchor + spread * random(negative_count, 6, seed=seed + 20)
    return [v.requires_grad_() for v in (anchor, positive, others)]


def similarity_differences(anchor, positive, others):
    return cosine(anchor, others) - cosine(anchor, positive)


def test_step_4_opposite_negatives_make_the_exponentials_small():
    w = random(1, 5, seed=3).exp()
    differences = similarity_differences(*opposite(5, 1e-3))
    assert differences.allclose(torch.full_like(differences, -2), atol=1e-4)
    x = torch.exp((differences + 2 * margins(w)) / TAU).sum()
    assert x < 1e-2
    loss = margin_form(differences, margins(w)).item()
    assert loss == pytest.approx(x.item(), rel=x.item())  # log(1 + x) = x − x²/2 + …


def weighted_triplets(w, anchor, positive, others):
    """Σ_j α u_j ( ‖z − ẑ‖² − ‖z − ẑ_j‖² )."""
    a, p, o = map(unit_rows, (anchor, positive, others))
    return (w * (squared_distances(a, p) - squared_distances(a, o))).sum()


def gradients(value, vectors):
    return torch.cat([g.flatten() for g in torch.autograd.grad(value, vectors)])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_step_5_the_gradient_is_that_of_the_triplet_loss(weighted, seed):
    w = random(1, 5, seed=30 + seed).exp() if weighted else torch.ones(1, 5, dtype=torch.float64)
    vectors = opposite(5, 1e-3, seed)
    of_loss = gradients(margin_form(similarity_differences(*vectors), margins(w)).sum(), vectors)
    of_triplet = gradients(weighted_triplets(w, *vectors), vectors)
    factor = math.exp(-2 / TAU) / (2 * TAU)
    assert of_loss.norm() > 0
    assert (of_loss - factor * of_triplet).norm() < 5e-3 * of_loss.norm()


def test_step_5_with_one_negative_the_gradients_are_proportional_everywhere():
    w = torch.tensor([[1.7]], dtype=torch.float64)
    vectors = [
        v.requires_grad_() for v in (random(1, 6), random(1, 6, seed=1), random(1, 6, seed=2))
    ]
    of_loss = gradients(margin_form(similarity_differences(*vectors), margins(w)).sum(), vectors)
    of_triplet = gradients(weighted_triplets(w, *vectors), vectors)
    assert torch.cosine_similarity(of_loss, of_triplet, dim=0).item() == pytest.approx(1, abs=1e-12)


def test_step_5_holds_for_the_library_loss_of_two_opposite_pairs():
    generator = torch.Generator().manual_seed(0)
    pole = torch.tensor([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]], dtype=torch.float64)
    a, b = (
        (pole + 1e-3 * torch.randn(2, 4, dtype=torch.float64, generator=generator)).requires_grad_()
        for _ in range(2)
    )
    w = torch.tensor([[1.0, 0.4], [1.6, 1.0]], dtype=torch.float64)
    of_loss = gradients(info_nce(a, b, tau=TAU, hardness=Weights(w)), [a, b])
    triplets = sum(weighted_triplets(w[i, 1 - i], a[[i]], b[[i]], b[[1 - i]]) for i in range(2)) / 2
    factor = math.exp(-2 / TAU) / (2 * TAU)
    of_triplet = factor * gradients(triplets, [a, b])
    assert (of_loss - of_triplet).norm() < 5e-3 * of_loss.norm()


def loop_of_triplets(a, b, w, *, squared, margins):
    """(1/2τ) Σ_j ( distance of the positive − distance of negative j + margins · m_ij ), slowly."""
    a, b = unit_rows(a), unit_rows(b)
    found = torch.zeros(len(a), dtype=torch.float64)
    for i in range(len(a)):
        near = (a[i] - b[i]).norm()
        for j in range(len(b)):
            if j != i:
                far, m = (a[i] - b[j]).norm(), TAU / 2 * w[i, j].log()
                gap = near**2 - far**2 if squared else near - far
                found[i] += (gap + margins * m) / (2 * TAU)
    return found


def first_order_term(a, b, w):
    """N times the derivative at t = 0 of log( 1 + Σ_j e^{t y_ij} ), by autograd."""
    s = cosine(a, b)
    y = negatives((s - s.diagonal()[:, None]) / TAU + w.log())
    t = torch.zeros(len(y), dtype=torch.float64, requires_grad=True)
    loss = torch.log1p(torch.exp(t[:, None] * y).sum(1))
    return len(b) * torch.autograd.grad(loss.sum(), t)[0]


def test_step_6_the_first_order_term_has_squares_and_four_margins(views, uncertainty, alpha):
    w = alpha * uncertainty
    exact = first_order_term(*views, w)
    assert exact.allclose(loop_of_triplets(*views, w, squared=True, margins=4), atol=1e-10)
    assert exact.allclose(triplet_form(*views, w.log(), tau=TAU), atol=1e-10)


@pytest.mark.parametrize(
    ("squared", "margins"), [(True, 1), (False, 1), (False, 4)], ids=["m", "printed", "norms, 4 m"]
)
def test_step_6_no_other_form_is_the_first_order_term(views, uncertainty, alpha, squared, margins):
    w = alpha * uncertainty
    exact = first_order_term(*views, w)
    other = loop_of_triplets(*views, w, squared=squared, margins=margins)
    assert (exact - other).abs().min() > 0.1


def test_step_6_the_loss_is_log_n_plus_the_form_over_n_up_to_squares():
    w = (1e-3 * (1 + random(7, 7, seed=4))).exp()
    a = random(1, 5) + 1e-4 * random(7, 5, seed=1)
    b = random(1, 5) + 1e-4 * random(7, 5, seed=2)
    loss = info_nce(a, b, tau=TAU, hardness=Weights(w)).item()
    change = triplet_form(a, b, w.log(), tau=TAU).mean().item() / 7
    assert abs(change) > 1e-4
    assert loss - math.log(7) == pytest.approx(change, rel=1e-2)


def test_step_6_far_from_there_the_form_is_not_the_loss(views, uncertainty, alpha):
    w = alpha * uncertainty
    loss = info_nce(*views, tau=TAU, hardness=Weights(w)).item()
    linear = math.log(7) + triplet_form(*views, w.log(), tau=TAU).mean().item() / 7
    assert linear < 0 < loss  # a loss is never negative


def gradient_of_triplets(vectors, w, hinge):
    d = squared_distances(*map(unit_rows, vectors))
    triplets = negatives(d.diagonal()[:, None] - d) + 4 * margins(negatives(w))
    return gradients((triplets.relu() if hinge else triplets).sum() / (2 * TAU), vectors)


def test_step_7_margins_move_nothing_without_a_hinge(views):
    vectors = [v.requires_grad_() for v in views]
    several = [(3 * random(7, 7, seed=seed)).exp() for seed in (5, 6)]
    one, other = (gradient_of_triplets(vectors, w, hinge=False) for w in several)
    assert one.norm() > 1
    assert one.allclose(other, atol=1e-12)
    of_form = gradients(triplet_form(*vectors, several[0].log(), tau=TAU).sum(), vectors)
    assert of_form.allclose(one, atol=1e-10)


def test_step_7_with_a_hinge_they_would_decide_which_triplets_count(views):
    vectors = [v.requires_grad_() for v in views]
    several = [(3 * random(7, 7, seed=seed)).exp() for seed in (5, 6)]
    one, other = (gradient_of_triplets(vectors, w, hinge=True) for w in several)
    assert (one - other).norm() > 0.1 * one.norm()


def test_step_7_the_gradient_of_the_loss_does_depend_on_the_weights(views):
    vectors = [v.requires_grad_() for v in views]
    one, other = (
        gradients(info_nce(*vectors, tau=TAU, hardness=Weights(w)), vectors)
        for w in ((3 * random(7, 7, seed=seed)).exp() for seed in (5, 6))
    )
    assert (one - other).norm() > 0.1 * one.norm()


def test_step_8_a_share_is_the_derivative_of_the_loss_by_the_cosine(views, uncertainty, alpha):
    w = alpha * uncertainty
    s = cosine(*views).requires_grad_()
    logits = s / TAU + w.log().fill_diagonal_(0)
    loss = logits.logsumexp(1) - logits.diagonal()
    (by_cosine,) = torch.autograd.grad(loss.sum(), s)
    shares = negative_shares(*views, w.log(), tau=TAU)
    assert negatives(TAU * by_cosine).allclose(negatives(shares), atol=1e-12)
    assert (-TAU * by_cosine.diagonal()).allclose(shares.sum(1), atol=1e-12)  # of the positive
    assert shares.diagonal().eq(0).all()


@pytest.mark.parametrize("seed", range(3))
def test_step_8_the_gradient_is_that_of_triplets_multiplied_by_their_shares(seed):
    vectors = [random(7, 5, seed=seed), random(7, 5, seed=10 + seed)]
    vectors = [v.requires_grad_() for v in vectors]
    w = (2 * random(7, 7, seed=20 + seed)).exp()
    of_loss = gradients(info_nce(*vectors, tau=TAU, hardness=Weights(w)), vectors)
    shares = negative_shares(*vectors, w.log(), tau=TAU).detach()
    d = squared_distances(*map(unit_rows, vectors))
    triplets = (shares * (d.diagonal()[:, None] - d)).sum(1).mean() / (2 * TAU)
    assert gradients(triplets, vectors).allclose(of_loss, atol=1e-12)


def test_step_8_twice_the_weight_is_a_cosine_larger_by_tau_log_2(views):
    w = torch.ones(7, 7, dtype=torch.float64)
    w[0, 3] = 2
    heavier = negative_shares(*views, w.log(), tau=TAU)[0]
    logits = cosine(*views)[0] / TAU
    logits[3] += math.log(2)
    assert heavier[1:].allclose(logits.softmax(0)[1:], atol=1e-12)


def test_a_weight_of_zero_has_no_share_and_nothing_is_nan():
    log_w = torch.full((3, 3), -1e30)
    shares = negative_shares(torch.eye(3), torch.eye(3), log_w, tau=0.01)
    assert shares.eq(0).all()


@pytest.mark.parametrize(
    ("candidates", "log_weights", "tau", "told"),
    [
        (torch.ones(3, 2), None, 0.2, "two"),
        (torch.ones(2, 2), torch.ones(2), 0.2, "log_weights"),
        (torch.ones(2, 2), None, 0.0, "above 0"),
    ],
    ids=["shapes", "weights", "tau"],
)
def test_what_does_not_fit_is_refused(candidates, log_weights, tau, told):
    for function in (triplet_form, negative_shares):
        with pytest.raises(InputError, match=told):
            function(torch.ones(2, 2), candidates, log_weights, tau=tau)
