"""What the weights are, and how the class behaves."""

import itertools

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import augcl
from augcl.hardness import HARDNESS, AffinityUncertainty, Uniform, named_hardness, two_means
from augcl.ops.cosine import cosine
from short_fits import ESTIMATORS, fit, generator, pair


def negatives(matrix):
    """All entries but the positives on the diagonal."""
    return matrix[~torch.eye(len(matrix), dtype=torch.bool)]


def plain_uncertainty(hardness, anchors, candidates):
    """u of every pair, one pair after the other, from the definition."""
    a, b = (torch.nn.functional.normalize(z, dim=1) for z in (anchors, candidates))
    s = a @ b.t()
    judged = (s - s.mean(1, keepdim=True)) / s.std(1, keepdim=True, correction=0)
    network, u = hardness.network_, torch.empty(len(a), len(b))
    for i, j in itertools.product(range(len(a)), range(len(b))):
        pair = torch.cat([a[i], b[j], judged[i, j][None]])
        logits = network.last(network.middle(network.first(pair).relu()).relu())
        u[i, j] = torch.softmax(logits, 0)[2]
    return u.detach().double()


# What the weights are


def test_row_weights_are_the_uncertainty_over_its_row_mean():
    z = pair(10)
    hardness = fit([z])
    u = plain_uncertainty(hardness, *z)
    assert hardness.weights(*z).double().allclose(u / u.mean(1, keepdim=True), rtol=1e-3)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("temper", [0.5, 1.0, 2.0])
def test_row_weights_have_mean_one(estimator, temper):
    z = pair()
    weights = fit([z], estimator=estimator, temper=temper).weights(*pair(seed=1))
    assert weights.mean(1).allclose(torch.ones(24), atol=1e-4)


def test_global_weights_have_mean_one_over_the_negatives_of_the_fit():
    batches = [pair(20), pair(12, seed=1)]
    hardness = fit(batches, alpha="global")
    every = torch.cat([negatives(hardness.weights(*z)) for z in batches])
    assert every.mean().item() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("k", [-0.5, 0, 0.0, 0.5, 1])
def test_a_number_shifts_alpha_by_standard_deviations(k):
    batches = [pair(8), pair(6, seed=1)]
    hardness = fit(batches, alpha=k)
    us = [plain_uncertainty(hardness, *z) for z in batches]
    every = torch.cat([negatives(u) for u in us])
    scale = every.mean() + k * every.std(correction=0)
    assert scale > 0
    for z, u in zip(batches, us, strict=True):
        assert hardness.weights(*z).double().allclose(u / scale, rtol=2e-3)


def test_temper_zero_is_uniform_and_no_collapse():
    z = pair()
    for alpha in ("row", "global"):
        hardness = AffinityUncertainty(temper=0, alpha=alpha, passes=1).fit([z])
        assert hardness.weights(*z).allclose(torch.ones(24, 24), atol=1e-5)


def test_temper_is_a_power_of_the_weights():
    z = pair()
    plain = fit([z]).weights(*z)
    root = fit([z], temper=0.5).weights(*z)
    expected = plain.sqrt() / plain.sqrt().mean(1, keepdim=True)
    assert root.allclose(expected, rtol=1e-3)


def test_distance_estimator_weighs_dissimilar_candidates_by_their_nearness():
    z = pair()
    s = cosine(*z)
    u = torch.where(two_means(s), 0.0, 1 / (1 - s))
    weights = fit([z], estimator="distance").weights(*z)
    assert weights.allclose(u / u.mean(1, keepdim=True), atol=1e-4)


def test_similar_can_mean_the_group_of_the_positive():
    anchors, candidates = pair()
    candidates = candidates.roll(1, 0)  # now the positive is often among the dissimilar ones
    s = cosine(anchors, candidates)
    groups = AffinityUncertainty(similar="positive").groups(anchors, candidates)
    assert groups.diagonal().all()
    larger = two_means(s)
    kept = larger.diagonal()
    assert groups[kept].equal(larger[kept])
    assert groups[~kept].equal(~larger[~kept])
    assert not kept.all()


# Contract


def test_weights_before_fit_are_refused():
    hardness = AffinityUncertainty()
    with pytest.raises(NotFittedError, match="call fit first"):
        augcl.info_nce(*pair(), hardness=hardness)
    assert not hardness.state()
    assert hardness.state() == {}
    assert hardness.diagnose() == {}


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"partition": "kmean"}, "did you mean kmeans.*kmeans, spectral"),
        ({"estimator": "dropout"}, "gamblers, softmax, entropy, distance"),
        ({"similar": "smaller"}, "larger, positive"),
        ({"alpha": "rows"}, "row, global"),
        ({"alpha": None}, "alpha is None: give 'row', 'global' or a number"),
        ({"alpha": float("nan")}, "alpha is nan"),
        ({"lr": 0}, "lr is 0: give a finite number, above 0"),
        ({"optimizer": "lbfgs"}, "adam, sgd"),
        ({"reward": 1.0}, "reward is 1.0: .* above 1"),
        ({"pairs_per_pass": 0}, "pairs_per_pass is 0"),
        ({"temper": -1}, "temper is -1"),
        ({"refresh": 0}, "refresh is 0: it must be a whole number, 1 or more"),
        ({"restarts": -1}, "restarts is -1: it must be a whole number, 0 or more"),
        ({"hidden": 0}, "hidden is 0"),
        ({"pair_batch": 0}, "pair_batch is 0"),
        ({"passes": 1.5}, "passes is 1.5: it must be a whole number, 0 or more"),
        ({"refresh": 2.5}, "refresh is 2.5: it must be a whole number, 1 or more"),
    ],
    ids=str,
)
def test_a_wrong_setting_is_named_with_what_would_be_right(option, message):
    with pytest.raises(augcl.InputError, match=message):
        AffinityUncertainty(**option).fit([pair()])


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        (
            pair(),
            r"a batch has the shapes .* as in fit\(\[\(z1, z2\), …\]\)",
        ),
        ([(torch.ones(4, 3), torch.ones(4, 2))], r"shapes \(4, 3\), \(4, 2\)"),
        ([(torch.ones(4, 3), torch.ones(2, 3))], r"shapes \(4, 3\), \(2, 3\)"),
        ([(torch.full((4, 3), torch.nan), torch.ones(4, 3))], "NaN or infinity.*learning rate"),
    ],
    ids=["one pair", "widths", "counts", "NaN"],
)
def test_batches_that_are_no_pairs_of_embeddings_are_told(batches, message):
    with pytest.raises(augcl.InputError, match=message):
        AffinityUncertainty().fit(batches)


@pytest.mark.parametrize("estimator", ["gamblers", "distance"])
def test_no_batches_are_told(estimator):
    with pytest.raises(augcl.InputError, match="got no batches"):
        AffinityUncertainty(estimator=estimator).fit([])


def test_an_iterator_is_as_good_as_a_list():
    z = pair()
    from_list, from_iterator = fit([z]), fit(iter([z]))
    assert from_list.weights(*z).equal(from_iterator.weights(*z))


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("alpha", ["row", "global", 0.5])
def test_state_takes_the_weights_elsewhere(estimator, alpha):
    z = pair()
    hardness = fit([z], estimator=estimator, alpha=alpha)
    again = clone(hardness)
    assert not again.state()
    again.load_state(hardness.state())
    assert again.weights(*z).equal(hardness.weights(*z))
    assert again.vitals_ == hardness.vitals_


def test_an_empty_state_leaves_it_unfitted():
    hardness = AffinityUncertainty()
    hardness.load_state({})
    assert not hardness.state()


def test_same_seed_same_weights_and_the_global_random_state_is_left_alone():
    z = pair()
    before = torch.random.get_rng_state()
    one, again, other = (fit([z], random_state=seed).weights(*z) for seed in (0, 0, 1))
    assert one.equal(again)
    assert not one.equal(other)
    assert torch.random.get_rng_state().equal(before)


def test_a_generator_is_used_instead_of_the_seed():
    z = pair()
    one, other = (
        AffinityUncertainty(passes=1).fit([z], generator=generator(seed)).weights(*z)
        for seed in (0, 5)
    )
    assert not one.equal(other)


def test_fitting_works_where_gradients_are_switched_off():
    z = pair()
    with torch.no_grad():
        inside = fit([z])
        assert not torch.is_grad_enabled()
    assert inside.weights(*z).equal(fit([z]).weights(*z))


def test_fitting_leaves_no_gradient_in_the_embeddings():
    a, b = (z.requires_grad_() for z in pair())
    hardness = fit([(a, b)])
    assert a.grad is None
    assert not hardness.weights(a, b).requires_grad


def test_numbers_of_numpy_are_numbers():
    z = pair()
    numpy_like = fit([z], random_state=np.int64(0), alpha=np.float32(0.5), hidden=np.int64(64))
    torch.testing.assert_close(numpy_like.weights(*z), fit([z], alpha=0.5).weights(*z))


def test_fitting_needs_no_square_batch():
    anchors, candidates = pair()
    hardness = fit([(anchors[:10], candidates)])
    assert hardness.weights(anchors[:10], candidates).shape == (10, 24)


def test_named_hardness_takes_the_settings_of_a_recipe():
    for recipe in ("default", "authors", "paper"):
        named = named_hardness("augcl", recipe).get_params()
        assert named == AffinityUncertainty.from_recipe(recipe).get_params()
        assert isinstance(named_hardness("none", recipe), Uniform)
    with pytest.raises(augcl.InputError, match=", ".join(HARDNESS)):
        named_hardness("magic")


def test_named_hardness_takes_every_option_of_the_user_or_none():
    assert named_hardness("augcl", "paper", {"temper": 0.5}).get_params()["temper"] == 0.5
    assert named_hardness("dcl", "paper", {"tau_plus": 0.2}).get_params() == {"tau_plus": 0.2}
    with pytest.raises(augcl.InputError, match=r"hardness augcl 'rewrd': did you mean reward"):
        named_hardness("augcl", "paper", {"rewrd": 1.5})
    with pytest.raises(augcl.InputError, match=r"hardness none has no options: leave out 'reward'"):
        named_hardness("none", "paper", {"reward": 1.5})
