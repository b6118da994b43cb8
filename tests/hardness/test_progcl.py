"""ProGCL: the beta mixture, the weights and the mixing."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import augcl
import references
from augcl import InputError, ProGCL
from augcl.hardness.progcl import BetaMixture, mixed_log_mass, mixed_node_log_mass
from augcl.losses import info_nce
from augcl.losses.node_info_nce import PairWeights, node_info_nce
from augcl.ops.cosine import cosine, unit_rows


def draws(low, high, share_high, n=40_000):
    rng = np.random.default_rng(0)
    upper = rng.random(n) < share_high
    return torch.from_numpy(np.where(upper, rng.beta(*high, n), rng.beta(*low, n)))


@pytest.mark.parametrize(
    ("low", "high", "share"),
    [((4, 16), (24, 6), 0.3), ((8, 24), (12, 4), 0.1), ((2, 8), (9, 2), 0.5)],
)
def test_the_mixture_recovers_known_parameters(low, high, share):
    mixture = BetaMixture.fit(draws(low, high, share), iterations=200)
    assert float(mixture.weight[1]) == pytest.approx(share, abs=0.02)
    means = [a / (a + b) for a, b in (low, high)]
    assert mixture.mean.tolist() == pytest.approx(means, abs=0.01)
    found = torch.stack([mixture.alpha, mixture.beta], dim=1)
    assert torch.allclose(found, torch.tensor([low, high], dtype=torch.float64), rtol=0.15)


def test_the_posterior_is_bayes_rule():
    mixture = BetaMixture.fit(draws((4, 16), (24, 6), 0.3))
    x = torch.linspace(0.01, 0.99, 30, dtype=torch.float64)
    a, b, w = mixture.alpha.numpy(), mixture.beta.numpy(), mixture.weight.numpy()
    low, high = (w[k] * stats.beta.pdf(x.numpy(), a[k], b[k]) for k in (0, 1))
    assert mixture.log_probability_low(x).exp().numpy() == pytest.approx(low / (low + high))


@given(
    st.lists(st.sampled_from([0.0, 1e-9, 0.25, 0.5, 0.5 + 1e-9, 1 - 1e-9, 1.0]), min_size=1),
    st.floats(1e-9, 1 - 1e-9),
    st.integers(1, 30),
)
def test_no_data_make_the_mixture_infinite(x, start, iterations):
    data = torch.tensor(x)
    mixture = BetaMixture.fit(data, weight_high=start, iterations=iterations)
    for part in (mixture.alpha, mixture.beta, mixture.weight):
        assert part.isfinite().all()
        assert (part > 0).all()
    probability = mixture.log_probability_low(torch.linspace(0, 1, 11))
    assert probability.isfinite().all()
    assert (probability <= 0).all()


def embeddings(n=40, d=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(n, d, generator=generator)
    return z, z + 0.5 * torch.randn(n, d, generator=generator)


def test_weights_are_probability_times_similarity_over_the_row_mean():
    a, b = embeddings()
    hardness = ProGCL().fit([(a, b)])
    s = cosine(a, b)
    x = (s + 1) / 2
    B = hardness.mixture_.log_probability_low(x).exp() * x
    B.fill_diagonal_(0)
    expected = B / (B.sum(1, keepdim=True) / 39)
    found = hardness.log_weights(a, b, s).exp().fill_diagonal_(0)
    assert torch.allclose(found, expected, rtol=1e-4)


def test_positives_are_not_in_the_fit():
    a, _ = embeddings()
    hardness = ProGCL(columns=1000).fit([(a, a)])
    x = (cosine(a, a) + 1) / 2
    negatives = x[~torch.eye(40, dtype=torch.bool)]
    expected = BetaMixture.fit(negatives)
    assert torch.allclose(hardness.mixture_.alpha, expected.alpha, rtol=1e-4)


def test_constant_hardness_is_plain_info_nce():
    z = torch.eye(5)  # all negatives alike
    hardness = ProGCL().fit([embeddings()])
    weighted, plain = (info_nce(z, z, hardness=h) for h in (hardness, None))
    assert weighted.item() == pytest.approx(plain.item(), abs=1e-6)


def slow_mix(logits, weights, order):
    """Row by row as published; `weights` are 0 for what is no negative."""
    masses = []
    for s, b in zip(logits.tolist(), weights.tolist(), strict=True):
        ranked = sorted(range(len(s)), key=lambda j: -b[j])[: len(order)]
        s, b = [s[j] for j in ranked], [b[j] for j in ranked]
        total = 0.0
        for k, other in enumerate(order.tolist()):
            m = (b[k] * s[k] + b[other] * s[other]) / (b[k] + b[other] + 1e-12)
            total += math.exp(m)
        masses.append(math.log(total))
    return masses


def test_mixing_is_the_published_formula():
    generator = torch.Generator().manual_seed(3)
    logits, b = torch.randn(2, 6, 9, generator=generator, dtype=torch.float64)
    weights = b.exp()
    order = torch.randperm(5, generator=generator)
    found = mixed_log_mass(logits, weights.log(), order)
    assert found.tolist() == pytest.approx(slow_mix(logits, weights, order))


def test_mixed_negatives_come_on_top_of_all_others():
    a, b = embeddings()
    hardness = ProGCL("mix", hardest=7).fit([(a, b)])
    plain, mixed = (info_nce(a, b, hardness=h) for h in (None, hardness))
    s = cosine(a, b) / 0.2
    weights = hardness.log_weights(a, b, s * 0.2).exp().fill_diagonal_(0)
    extra = slow_mix(s, weights, hardness._order(7, None))
    everything = torch.logaddexp(s.logsumexp(1), torch.tensor(extra))
    assert mixed.item() == pytest.approx((everything - s.diagonal()).mean().item(), abs=1e-4)
    assert mixed > plain


@pytest.mark.parametrize("columns", [None, torch.arange(0, 300, 7)])
def test_mixing_of_nodes_in_blocks_is_the_dense_one(columns):
    a, b = (z.double().requires_grad_() for z in embeddings(300))
    hardness = ProGCL("mix", hardest=20).fit([(a, b)])
    pairs = PairWeights.of(hardness, a.detach().float())
    order = hardness._order(20, None)
    u, v = unit_rows(a), unit_rows(b)
    blocks = mixed_node_log_mass(u, v, 0.4, pairs.block, order, columns)
    log_w = pairs.block(slice(None), slice(None)).double().log().fill_diagonal_(-1e30)
    kept = slice(None) if columns is None else columns
    dense = mixed_log_mass((u @ v.t() / 0.4)[:, kept], log_w[:, kept], order)
    assert torch.allclose(blocks, dense)
    ours, theirs = (
        torch.autograd.grad(x.sum(), (a, b), retain_graph=True) for x in (blocks, dense)
    )
    for one, other in zip(ours, theirs, strict=True):
        assert torch.allclose(one, other, atol=1e-9)


def test_mixing_of_nodes_adds_to_the_plain_loss():
    a, b = embeddings(60)
    hardness = ProGCL("mix", hardest=20).fit([(a, b)])
    pairs = PairWeights.of(hardness, a)
    plain = node_info_nce(a, b, tau=0.4)
    mixed = node_info_nce(a, b, tau=0.4, hardness=hardness, weights=pairs)
    assert plain < mixed < plain + 1


class MixedAlone(ProGCL):
    """Counts no negatives but the mixed ones."""

    def log_mass(self, log_sums, positive, *, count, tau):
        return torch.full_like(positive, -1e30)


@pytest.mark.parametrize("hardest", [24, 59])
def test_mixed_negatives_of_drawn_nodes_have_the_mass_of_all_in_the_mean(hardest):
    a, b = embeddings(60)
    pairs = PairWeights.of(ProGCL().fit([(a, b)]), a)
    generator = torch.Generator().manual_seed(0)
    hardness = MixedAlone("mix", hardest=hardest)
    options = {
        "hardness": hardness,
        "weights": pairs,
        "positive_in_denominator": False,
        "generator": generator,
    }
    everyone = node_info_nce(a, b, tau=1.0, **options)
    some = [
        node_info_nce(
            a, b, tau=1.0, columns=torch.randperm(60, generator=generator)[:31], **options
        )
        for _ in range(100)
    ]
    assert float(torch.stack(some).mean()) == pytest.approx(float(everyone), abs=0.02)


@given(
    st.integers(2, 6), st.sampled_from([0.0, 1e-30, 1.0, 1e30]), st.sampled_from(["weight", "mix"])
)
def test_everything_is_finite(n, scale, mode):
    generator = torch.Generator().manual_seed(0)
    a, b = scale * torch.randn(2, n, 3, generator=generator)
    hardness = ProGCL(mode).fit([(a, b)])
    assert hardness.log_weights(a, b, cosine(a, b)).isfinite().all()
    assert info_nce(a, b, hardness=hardness).isfinite()


@pytest.mark.parametrize("mode", ["weight", "mix"])
def test_a_stopped_training_goes_on_to_the_same_bits(mode, molecules, tmp_path):
    def model(epochs):
        return augcl.GraphCL(hardness=ProGCL(mode, start=1), epochs=epochs, width=8, progress=False)

    whole = model(4).fit(molecules).transform(molecules)
    model(4).fit(molecules, folder=tmp_path)
    again = model(4).fit(molecules, folder=tmp_path, resume=True)
    assert (again.transform(molecules) == whole).all()
    assert again.hardness_.state()


def test_it_starts_when_told(molecules):
    model = augcl.GraphCL(hardness=ProGCL(start=3), epochs=5, width=8, progress=False)
    model.fit(molecules)
    assert [m["epoch"] for m in model.history_ if "hardness" in m] == [4]
    with pytest.raises(InputError, match="start is 9"):
        augcl.GraphCL(hardness=ProGCL(start=9), epochs=5).fit(molecules)


@pytest.mark.parametrize(
    "wrong", [{"mode": "both"}, {"init_weight": 0}, {"iterations": 0}, {"hardest": 1}], ids=str
)
def test_impossible_settings_are_named(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        ProGCL(**wrong).fit([])


def test_nodes_are_mixed_too():
    graph = references.communities(60)
    model = augcl.GRACE(hardness=ProGCL("mix", hardest=10), epochs=4, width=8, progress=False)
    losses = [m["loss"] for m in model.fit(graph).history_]
    assert losses[2] > losses[1]  # more negatives from the third epoch on


def test_a_share_of_the_hardest_that_rounds_to_none_mixes_one():
    """3 of 40 nodes are candidates: of the 2 hardest, 0.1 would be mixed."""
    u, v = (unit_rows(z) for z in embeddings())
    hardness = ProGCL(mode="mix", hardest=2).fit([(u, v)])
    ones = lambda rows, columns: torch.ones(40, 40)[rows][:, columns]  # noqa: E731
    columns = torch.tensor([3, 17, 31])
    found = hardness.synthetic_node_log_mass(u, v, 0.5, ones, columns=columns)
    assert found.shape == (80,)
    assert found.isfinite().all()
    one = mixed_node_log_mass(u, v, 0.5, ones, torch.tensor([0]), columns) + math.log(2)
    torch.testing.assert_close(found[:40], one)
