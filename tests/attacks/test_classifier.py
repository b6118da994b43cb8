"""The victim of the attacks: it learns, is kept at its best epoch, saves, loads and resumes."""

import math

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from augcl import AffinityUncertainty, InputError, Structure2VecClassifier, load_model
from augcl.data import GraphSet, components
from augcl.data.generators import component_sets
from stopping import stopped_and_resumed, without_seconds

TRAIN, TEST = component_sets(per_class=100, seed=0)
QUICK = {"epochs": 4, "width": 16, "hidden": 8, "lr": 0.01, "batch_size": 25}


def quick(**options):
    return Structure2VecClassifier(**{**QUICK, **options})


def same_answers(one, other):
    return np.array_equal(one.predict_proba(TEST), other.predict_proba(TEST))


def test_it_learns_the_number_of_components():
    others = components(60, seed=9)
    model = quick(epochs=40, width=32, lr=0.003).fit(TRAIN)
    untrained = quick(epochs=0).fit(TRAIN)
    assert model.score(others) > 0.6
    assert model.score(others) > untrained.score(others) + 0.1


def test_probabilities_sum_to_one_and_the_largest_is_predicted():
    model = quick().fit(TRAIN)
    p = model.predict_proba(TEST)
    assert p.sum(1) == pytest.approx(np.ones(30), abs=1e-5)
    assert np.array_equal(model.predict(TEST), p.argmax(1))
    assert model.score(TEST) == np.mean(model.predict(TEST) == TEST.y.numpy())
    assert model.transform(TEST).shape == (30, 16)


def test_labels_may_be_words_and_survive_a_file(tmp_path):
    words = np.array(["one", "two", "three"])[TRAIN.y.numpy()]
    model = quick().fit(TRAIN, words)
    assert set(model.classes_) == {"one", "two", "three"}
    assert set(model.predict(TEST)) <= {"one", "two", "three"}
    model.save(tmp_path)
    assert np.array_equal(load_model(tmp_path).predict(TEST), model.predict(TEST))


def test_the_epoch_with_the_least_validation_loss_is_kept():
    model = quick(epochs=8, lr=0.05).fit(TRAIN)
    losses = [entry["selection_loss"] for entry in model.history_]
    assert model.best_epoch_ == int(np.argmin(losses)) + 1
    shorter = quick(epochs=model.best_epoch_, lr=0.05).fit(TRAIN)
    assert same_answers(model, shorter)


def test_without_validation_the_last_epoch_is_kept():
    model = quick(validation=0).fit(TRAIN)
    assert model.best_epoch_ is None
    assert "selection_loss" not in model.history_[-1]


def test_the_authors_choose_on_the_test_graphs():
    model = quick(recipe="authors", epochs=6).fit(TRAIN, test=TEST)
    losses = [entry["selection_loss"] for entry in model.history_]
    assert model.best_epoch_ == int(np.argmin(losses)) + 1
    with torch.no_grad():
        kept = torch.nn.functional.cross_entropy(model.logits(TEST), TEST.y)
    assert float(kept) == pytest.approx(min(losses), rel=1e-4)
    with pytest.raises(InputError, match="test="):
        quick(recipe="authors").fit(TRAIN)
    with pytest.raises(InputError, match="authors"):
        quick().fit(TRAIN, test=TEST)


@pytest.mark.parametrize("recipe", ["default", "authors"])
def test_only_the_authors_draw_batches_anew_for_every_epoch(monkeypatch, recipe):
    seen = []

    def watched(model, batch, generator):
        if len(batch) == 25:
            seen.append(batch.edge_ptr)
        return loss(model, batch, generator)

    loss = Structure2VecClassifier._loss
    monkeypatch.setattr(Structure2VecClassifier, "_loss", watched)
    quick(recipe=recipe, epochs=2, validation=0.1).fit(
        TRAIN, test=TEST if recipe == "authors" else None
    )
    first, second = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    assert len(first) == (10 if recipe == "authors" else 9)  # of 270 and of 243 graphs
    same = [torch.equal(one, two) for one, two in zip(first, second, strict=True)]
    assert all(same) if recipe == "default" else not any(same)


def test_a_stopped_training_of_the_authors_goes_on_to_the_same_bits(tmp_path):
    class Authors(Structure2VecClassifier):
        def fit(self, X, y=None, **where):
            return super().fit(X, y, test=TEST, **where)

    def victim():
        return Authors(**{**QUICK, "recipe": "authors", "pretrain": True, "pretrain_epochs": 2})

    whole = victim().fit(TRAIN)
    rest = stopped_and_resumed(victim, TRAIN, tmp_path, 3)
    assert same_answers(whole, rest)
    assert without_seconds(rest.history_) == without_seconds(whole.history_)


@pytest.mark.parametrize("hardness", ["none", "progcl", "augcl", "dcl"])
def test_it_pretrains_with_any_hardness(hardness):
    if hardness == "augcl":
        hardness = AffinityUncertainty(warmup=1, passes=1, hidden=8, restarts=0, temper=0)
    model = quick(pretrain=True, hardness=hardness, pretrain_epochs=2).fit(TRAIN)
    phases = [entry["phase"] for entry in model.history_]
    assert phases == ["contrastive"] * 2 + ["supervised"] * 2
    assert all(math.isfinite(entry["loss"]) for entry in model.history_)
    if hardness == "progcl" or not isinstance(hardness, str):
        assert "hardness" in model.history_[1]  # it is fitted at half of the pre-training
        assert "weight_std" in model.history_[1]
        assert "weight_std" not in model.history_[0]


def test_the_published_share_of_the_epochs_pretrains():
    assert Structure2VecClassifier(pretrain=True, epochs=1000)._contrasted == 101
    assert Structure2VecClassifier(epochs=1000)._contrasted == 0
    assert [Structure2VecClassifier(pretrain=True, epochs=e)._contrasted for e in (1, 2, 4)] == [
        0,
        1,
        1,
    ]


def test_a_contrastive_loss_that_competes_does_no_harm():
    """With τ = 0.5 and 50 graphs the published loss stays above −0.11, and in fact far above."""
    least = -1 / 0.5 + math.log(49) - 1 / 0.5  # cosine 1 with the positive, −1 with all others
    assert least == pytest.approx(-0.108, abs=1e-3)
    model = quick(
        recipe="authors", pretrain=True, pretrain_epochs=2, epochs=8, batch_size=50, tau=0.5
    ).fit(TRAIN, test=TEST)
    losses = [entry["selection_loss"] for entry in model.history_]
    assert min(losses[:2]) > min(losses[2:])
    assert model.best_epoch_ > 2


def test_the_same_seed_gives_the_same_bits_and_another_one_others():
    one, two, other = (quick(random_state=seed).fit(TRAIN) for seed in (1, 1, 2))
    assert same_answers(one, two)
    assert not same_answers(one, other)


def test_a_saved_model_is_the_same(tmp_path):
    model = quick(pretrain=True, hardness="progcl", pretrain_epochs=2).fit(TRAIN)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert same_answers(model, again)
    assert again.get_params() == model.get_params()
    assert again.best_epoch_ == model.best_epoch_
    assert again.history_ == model.history_


@pytest.mark.parametrize("epochs", [1, 3])
def test_a_stopped_training_goes_on_to_the_same_bits(tmp_path, epochs):
    options = {"pretrain": True, "hardness": "progcl", "pretrain_epochs": 2}
    whole = quick(**options).fit(TRAIN)
    rest = stopped_and_resumed(lambda: quick(**options), TRAIN, tmp_path, epochs)
    assert same_answers(whole, rest)
    assert without_seconds(rest.history_) == without_seconds(whole.history_)
    assert rest.best_epoch_ == whole.best_epoch_


def test_a_grid_search_goes_over_its_settings():
    search = GridSearchCV(quick(epochs=1), {"depth": [2, 3]}, cv=2, error_score="raise")
    search.fit(list(TRAIN.select(range(0, 270, 9))), TRAIN.y.numpy()[::9])
    assert search.best_params_["depth"] in (2, 3)


def test_clone_copies_parameters_and_nothing_learned():
    copy = clone(quick().fit(TRAIN))
    assert copy.epochs == 4
    assert not hasattr(copy, "network_")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "depth"),
        ({"validation": 1}, "validation"),
        ({"recipe": "author"}, "recipe"),
        ({"pretrain": True, "pretrain_epochs": 9}, "pretrain_epochs"),
        ({"tau": 0}, "tau"),
        ({"hardness": "augcl"}, "pretrain=True"),
    ],
)
def test_settings_that_cannot_be_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        quick(**options).fit(TRAIN)


def test_wrong_data_are_refused_in_one_line(molecules):
    with pytest.raises(InputError, match="one class"):
        quick().fit(TRAIN, np.zeros(270))
    with pytest.raises(InputError, match="270 graphs"):
        quick().fit(TRAIN, [0, 1])
    with pytest.raises(InputError, match="node feature 'label=0'"):
        quick(epochs=1).fit(TRAIN).predict(molecules)
    wider = GraphSet(torch.ones(3, 2), torch.empty(2, 0).long(), *torch.tensor([[0, 3], [0, 0]]))
    with pytest.raises(InputError, match="2 node features"):
        quick(epochs=1).fit(TRAIN).predict(wider)
    with pytest.raises(NotFittedError):
        quick().predict(TRAIN)
