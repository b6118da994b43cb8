"""The weighted loss is a triplet loss with a margin per negative: the proof, one step a test.

With α u_ij the weight of negative j of anchor i, the margin is m_ij = (τ/2) log(α u_ij).

    1  −log( E_ii / (E_ii + Σ α u_ij E_ij) )  =  log( 1 + Σ α u_ij exp((s_ij − s_ii)/τ) )
    2                                         =  log( 1 + Σ exp((s_ij − s_ii + 2 m_ij)/τ) )
    3  s_ij − s_ii  =  ½ ( ‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖² ),  unit vectors
    4  log(1 + x)  ≈  x  for small x, as when every negative is opposite: s_ij − s_ii ≈ −2
    5  exp is linear to first order there, so the gradient is that of the triplet loss
       Σ_j α u_ij ( ‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖² ), scaled by exp(−2/τ) / 2τ
"""

import math

import pytest
import torch

from augcl.hardness import Hardness
from augcl.objectives import info_nce
from augcl.ops.cosine import cosine, unit_rows

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


def triplet_form(w, anchor, positive, others):
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
    of_triplet = gradients(triplet_form(w, *vectors), vectors)
    factor = math.exp(-2 / TAU) / (2 * TAU)
    assert of_loss.norm() > 0
    assert (of_loss - factor * of_triplet).norm() < 5e-3 * of_loss.norm()


def test_step_5_with_one_negative_the_gradients_are_proportional_everywhere():
    w = torch.tensor([[1.7]], dtype=torch.float64)
    vectors = [
        v.requires_grad_() for v in (random(1, 6), random(1, 6, seed=1), random(1, 6, seed=2))
    ]
    of_loss = gradients(margin_form(similarity_differences(*vectors), margins(w)).sum(), vectors)
    of_triplet = gradients(triplet_form(w, *vectors), vectors)
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
    triplets = sum(triplet_form(w[i, 1 - i], a[[i]], b[[i]], b[[1 - i]]) for i in range(2)) / 2
    factor = math.exp(-2 / TAU) / (2 * TAU)
    of_triplet = factor * gradients(triplets, [a, b])
    assert (of_loss - of_triplet).norm() < 5e-3 * of_loss.norm()
