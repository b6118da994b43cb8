"""Whether the uncertainty model learns, and what it says when it does not."""

import pytest
import torch

import augcl
from augcl.encoders import inputs
from augcl.hardness import AffinityUncertainty, CollapseWarning, Vitals, affinity
from augcl.hardness.uncertainty import PairNetwork
from augcl.training.batches import batch_statistics, fixed_batches
from augcl.views import named_view
from short_fits import fit, generator, pair


@pytest.fixture(scope="module")
def mutag_pairs(mutag):
    """Two batches of embeddings, as the model meets them after ten epochs of GraphCL."""
    network = augcl.GraphCL(epochs=10).fit(mutag).network_
    rng, view = generator(1), named_view("random2")
    with batch_statistics(network), torch.no_grad():
        return [
            tuple(network(*inputs(network.encoder, g)) for g in (batch, view(batch, rng)))
            for batch in fixed_batches(mutag, 128, rng)
        ]


@pytest.mark.parametrize("reward", [1.5, 1.6, 1.7, 1.8, 1.9])
def test_the_model_is_alive_for_every_reward_of_the_paper(mutag_pairs, reward):
    vitals = AffinityUncertainty(reward=reward).fit(mutag_pairs).vitals_
    assert vitals.alive
    assert vitals.weight_std > 0.1
    assert vitals.agreement > vitals.majority + 0.1


@pytest.mark.parametrize("estimator", ["softmax", "entropy", "distance"])
def test_the_other_estimators_are_alive_too(mutag_pairs, estimator):
    assert AffinityUncertainty(estimator=estimator).fit(mutag_pairs).vitals_.alive


def test_vitals_tell_the_spread_of_the_weights_at_full_strength(mutag_pairs):
    hardness = AffinityUncertainty(temper=1.0).fit(mutag_pairs)
    spread = [hardness.weights(*z).std(correction=0).item() for z in mutag_pairs]
    assert hardness.vitals_.weight_std == pytest.approx(sum(spread) / len(spread), rel=1e-4)
    assert hardness.diagnose()["weight_std"] == hardness.vitals_.weight_std


@pytest.fixture
def count_fits(monkeypatch):
    """The warm-up of every training of the network."""
    calls = []
    real = affinity.train_network

    def spy(*args, warmup, **options):
        calls.append(warmup)
        return real(*args, warmup=warmup, **options)

    monkeypatch.setattr(affinity, "train_network", spy)
    return calls


def test_a_collapse_restarts_with_twice_the_warm_up_and_then_warns(count_fits):
    z = torch.ones(16, 4)
    with pytest.warns(CollapseWarning, match="collapsed after 3 attempts"):
        hardness = AffinityUncertainty(warmup=1, restarts=2).fit([(z, z)])
    assert count_fits == [1, 2, 4]
    assert not hardness.vitals_.alive
    assert hardness.weights(z, z).allclose(torch.ones(16, 16), atol=1e-5)


def test_a_living_model_is_not_trained_again(count_fits, mutag_pairs):
    AffinityUncertainty(passes=2).fit(mutag_pairs)
    assert count_fits == [3]


@pytest.mark.parametrize("recipe", ["authors", "paper"])
def test_the_published_settings_warn_when_they_collapse(recipe, count_fits):
    z = torch.ones(16, 4)
    with pytest.warns(CollapseWarning, match="collapsed after 1 attempt:"):
        AffinityUncertainty.from_recipe(recipe).fit([(z, z)])
    assert count_fits == [0]


def test_passes_after_the_first_see_a_bounded_number_of_pairs(monkeypatch):
    seen = []
    real = PairNetwork.forward

    def spy(self, anchors, candidates, affinity):
        if torch.is_grad_enabled():
            seen.append(affinity.numel())
        return real(self, anchors, candidates, affinity)

    monkeypatch.setattr(PairNetwork, "forward", spy)
    options = {"warmup": 0, "passes": 3, "pair_batch": 10**6}
    fit([pair(), pair(seed=1)], pairs_per_pass=100, **options)
    assert seen == [24 * 24] * 2 + [24 * 3] * 4  # 3 of 24 anchors are the least above 100 pairs
    seen.clear()
    fit([pair(), pair(seed=1)], pairs_per_pass=None, **options)
    assert seen == [24 * 24] * 6


def test_vitals_are_the_plain_statistics():
    log_u = torch.randn(4, 5, generator=generator()).double() - 1
    guess = torch.tensor([[1, 0, 1, 0, 0]] * 4)
    group = torch.tensor([[1, 0, 0, 0, 0]] * 4)
    vitals = Vitals.of_batch(log_u, guess, group)
    u = log_u.exp()
    w = u / u.mean(1, keepdim=True)
    assert vitals.uncertainty_mean == pytest.approx(u.mean().item())
    assert vitals.uncertainty_std == pytest.approx(u.std(correction=0).item())
    assert vitals.weight_std == pytest.approx(w.std(correction=0).item())
    assert vitals.near_one == pytest.approx(((w - 1).abs() < 0.01).double().mean().item())
    assert vitals.agreement == pytest.approx(0.8)
    assert vitals.majority == pytest.approx(0.8)
    assert Vitals.from_tensor(vitals.to_tensor()) == vitals
