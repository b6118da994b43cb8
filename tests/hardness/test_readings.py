"""What the paper's text fixes, by name: the sum, the clusters, the margins, the recipes."""

import math

import pytest
import torch
from sklearn.base import clone

import augcl
from augcl.hardness import AffinityUncertainty, CollapseWarning, UndefinedAlphaError, Vitals
from augcl.hardness.uncertainty import Gamblers, PairNetwork, Pairs, train_network
from augcl.ops.cosine import cosine
from references import gamblers_loss
from short_fits import fit, generator, pair


def test_the_paper_recipe_is_what_the_text_says():
    paper = AffinityUncertainty.from_recipe("paper").get_params()
    text = {
        "partition": "kmeans",
        "partition_of": "embedding",
        "estimator": "gamblers",
        "optimizer": "sgd",
        "lr": 0.01,
        "passes": 10,
        "hidden": 128,
        "reduction": "sum",
        "alpha": "global",
        "temper": 1.0,
        "warmup": 0,
        "normalize": True,
        "affinity_input": False,
        "recipe": "paper",
    }
    assert {name: paper[name] for name in text} == text


def test_a_recipe_takes_settings_of_the_user():
    hardness = AffinityUncertainty.from_recipe("paper", reward=1.7, partition_of="affinity")
    assert (hardness.reward, hardness.partition_of, hardness.hidden) == (1.7, "affinity", 128)
    with pytest.raises(augcl.InputError, match="unknown recipe 'papr': did you mean paper"):
        AffinityUncertainty.from_recipe("papr")
    with pytest.raises(TypeError, match="rewrd"):
        AffinityUncertainty.from_recipe("paper", rewrd=1.7)


# A sum over the candidates, as printed


def loop_of_sgd(network, anchors, candidates, groups, *, reward, lr, rows, orders):
    """SGD on −Σ_j log(o · p_c + u) of each anchor, mean over the anchors of an update."""
    for order in orders:
        for some in order.split(rows):
            total = torch.zeros((), dtype=torch.float64)
            for i in some.tolist():
                for j in range(len(candidates)):
                    x = torch.cat([anchors[i], candidates[j], torch.zeros(1, dtype=torch.float64)])
                    hidden = torch.relu(network.middle(torch.relu(network.first(x))))
                    p = torch.softmax(network.last(hidden), 0)
                    total = total - torch.log(reward * p[groups[i, j]] + p[2])
            loss = total / len(some)
            gradients = torch.autograd.grad(loss, list(network.parameters()))
            with torch.no_grad():
                for weight, gradient in zip(network.parameters(), gradients, strict=True):
                    weight -= lr * gradient


def test_the_sum_is_the_printed_loss_step_by_step():
    z1, z2 = (torch.nn.functional.normalize(z.double(), dim=1) for z in pair(6, 3))
    groups = (torch.arange(36).view(6, 6) % 3 == 0).long()
    ours = PairNetwork(3, 3, hidden=5, generator=generator()).double()
    twin = PairNetwork(3, 3, hidden=5, generator=generator()).double()
    options = {"optimizer": "sgd", "lr": 0.01, "warmup": 0, "passes": 2, "pairs_per_pass": None}
    train_network(
        ours,
        Gamblers(1.7),
        [(z1, z2)],
        lambda a, b: Pairs(a, b, None, groups),
        reduction="sum",
        pair_batch=12,
        generator=generator(3),
        **options,
    )
    draws = generator(3)
    orders = [torch.randperm(6, generator=draws) for _ in range(2)]
    loop_of_sgd(twin, z1, z2, groups, reward=1.7, lr=0.01, rows=2, orders=orders)
    for a, b in zip(ours.parameters(), twin.parameters(), strict=True):
        assert a.allclose(b, rtol=1e-9, atol=1e-12)


def test_printed_and_released_loss_differ_by_a_constant():
    logits = torch.randn(30, 3, generator=generator())
    group = torch.arange(30) % 2
    p = torch.softmax(logits.double(), 1)
    printed = -torch.log(1.7 * p.gather(1, group[:, None])[:, 0] + p[:, 2]).mean().item()
    assert gamblers_loss(logits, group, 1.7) - math.log(1.7) == pytest.approx(printed)


# What the paper defines


def test_uncertainty_is_the_weight_before_alpha_and_temper():
    z = pair()
    hardness = fit([z], temper=0.5, alpha="row")
    root = hardness.uncertainty(*z).sqrt()
    assert hardness.weights(*z).allclose(root / root.mean(1, keepdim=True), rtol=1e-3)
    assert (hardness.uncertainty(*z) <= 1).all()


def test_margins_are_half_tau_times_the_log_weights():
    z = pair()
    hardness = fit([z])
    expected = [
        [0.5 / 2 * math.log(w) for w in row] for row in hardness.weights(*z).double().tolist()
    ]
    assert hardness.margins(*z, 0.5).double().allclose(torch.tensor(expected).double(), atol=1e-4)
    with pytest.raises(augcl.InputError, match="tau is 0"):
        hardness.margins(*z, 0)


def test_groups_need_no_fit_and_change_with_the_reading():
    z = pair()
    by_affinity = AffinityUncertainty().groups(*z)
    assert by_affinity.equal(augcl.hardness.two_means(cosine(*z)))
    by_cluster = AffinityUncertainty(partition_of="embedding").groups(*z)
    assert by_cluster.dtype == torch.bool
    assert not by_cluster.equal(by_affinity)
    # One clustering for all anchors: any two rows are equal or opposite.
    assert ((by_cluster == by_cluster[:1]).all(1) | (by_cluster != by_cluster[:1]).all(1)).all()


def test_alpha_without_a_meaning_is_refused_not_floored():
    z = pair()
    u = fit([z], alpha=0.0).uncertainty(*z)
    u = u[~torch.eye(len(u), dtype=torch.bool)].double()
    k = -(u.mean() / u.std(correction=0)).item()  # μ + kδ = 0
    with pytest.raises(UndefinedAlphaError, match="is not positive on these data"):
        fit([z], alpha=k * 1.01)
    assert fit([z], alpha=k * 0.9).weights(*z).isfinite().all()


def test_alpha_shifts_by_the_deviation_of_u_whatever_the_temper():
    z = pair()
    hardness, plain = fit([z], alpha=1.0, temper=0.25), fit([z], alpha=0.0, temper=0.25)
    u = hardness.uncertainty(*z)[~torch.eye(24, dtype=torch.bool)].double()
    factor = 1 / (1 + u.std(correction=0) / u.mean())
    assert hardness.weights(*z).double().allclose(plain.weights(*z).double() * factor, rtol=1e-3)


# Alive means learned


def vitals(**changes):
    healthy = {
        "uncertainty_mean": 0.2,
        "uncertainty_std": 0.2,
        "weight_std": 1.0,
        "near_one": 0.0,
        "agreement": 0.9,
        "majority": 0.6,
    }
    return Vitals(**{**healthy, **changes})


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "alive"),
        ({"near_one": 0.95}, "collapsed"),
        ({"weight_std": 0.001}, "collapsed"),
        ({"agreement": 0.6}, "unlearned"),
        ({"agreement": 0.4}, "unlearned"),
        ({"agreement": 0.63}, "unlearned"),  # as far as random weights come by chance
        ({"agreement": 1.0, "majority": 1.0}, "unlearned"),  # one group: nothing to learn
    ],
)
def test_states_of_the_model(changes, state):
    found = vitals(**changes)
    assert found.state == state
    assert found.alive == (state == "alive")
    assert found.to_dict()["state"] == state


def test_a_spread_without_learning_warns_and_is_called_unlearned():
    with pytest.warns(CollapseWarning, match="is unlearned after 1 attempt: .* larger group"):
        hardness = AffinityUncertainty(passes=0, warmup=0, restarts=0).fit([pair()])
    assert hardness.diagnose()["state"] == "unlearned"


# A recipe is never ignored


@pytest.mark.parametrize("method", [augcl.GraphCL, augcl.GCA, augcl.GRACE])
def test_a_hardness_of_another_recipe_is_refused(method, mutag):
    graphs = mutag if method is augcl.GraphCL else augcl.load("digits-knn")
    with pytest.raises(augcl.InputError, match=r"recipe 'paper' .* recipe 'default': give"):
        method(hardness=AffinityUncertainty(), recipe="paper", epochs=1).fit(graphs)


def test_a_hardness_of_the_same_recipe_is_taken_also_by_clones_and_files(mutag, tmp_path):
    hardness = AffinityUncertainty.from_recipe("paper", reward=1.8, passes=1)
    model = clone(augcl.GraphCL(hardness=hardness, recipe="paper", epochs=0))
    model.fit(mutag).save(tmp_path)
    again = augcl.load_model(tmp_path)
    assert again.hardness_.get_params() == hardness.get_params()
    assert model.hardness_.recipe == "paper"


def test_a_hardness_without_recipes_goes_with_every_recipe(mutag):
    augcl.GraphCL(hardness=augcl.DCL(), recipe="paper", epochs=1, random_state=0).fit(mutag)


def test_the_paper_recipe_sets_in_at_epoch_ten():
    for epochs, first in ((40, 10), (20, 10), (12, 6)):
        model = augcl.GraphCL(hardness="augcl", recipe="paper", epochs=epochs)
        model._start()
        assert model._schedule.first_epoch == first


def test_the_paper_recipe_is_alive_on_mutag(mutag):
    settings = {"hardness": "augcl", "recipe": "paper"}
    model = augcl.GraphCL(epochs=20, random_state=0, **settings).fit(mutag)
    assert model.hardness_.vitals_.state == "alive"
    assert model.hardness_.vitals_.agreement > model.hardness_.vitals_.majority + 0.1
