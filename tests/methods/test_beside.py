"""Two methods side by side: scales, persistence, scikit-learn's contract, and what is refused."""

import numpy as np
import pytest
from sklearn.base import clone

import augcl
import references
from augcl import Beside, InputError, load_model


@pytest.fixture(scope="module")
def graph():
    return references.communities(60)


def both(**more):
    given = {"epochs": 2, "width": 8, "projection": 8, "random_state": 0, "progress": False, **more}
    return Beside(augcl.GCA(**given), augcl.Propagation(width=12))


def test_every_block_has_rows_of_mean_length_one(graph):
    model = both().fit(graph)
    Z = model.transform(graph)
    for block, part in ((Z[:, :8], model.first), (Z[:, 8:], model.second)):
        assert np.linalg.norm(block, axis=1).mean() == pytest.approx(1, rel=1e-5)
        alone = part.transform(graph)
        scale = np.linalg.norm(alone, axis=1).mean()
        np.testing.assert_allclose(block * scale, alone, rtol=1e-4, atol=1e-6)
    assert len(model.get_feature_names_out()) == Z.shape[1]
    assert len(model.history_) == 2


def test_the_scales_are_those_of_the_fit(graph):
    other = references.communities(40, seed=5)
    model = both().fit(graph)
    expected = [
        s * p.transform(other) for s, p in zip(model.scales_.numpy(), model._parts, strict=True)
    ]
    assert np.array_equal(model.transform(other), np.hstack(expected))


@pytest.mark.parametrize("hardness", [None, "augcl"])
def test_a_model_is_saved_in_one_file_and_loaded_to_the_last_bit(graph, tmp_path, hardness):
    model = both(hardness=hardness).fit(graph)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert np.array_equal(again.transform(graph), model.transform(graph))
    assert again.settings() == model.settings()
    assert again.first.history_ == model.first.history_


def test_a_stopped_fit_goes_on(graph, tmp_path):
    class Stop(augcl.callbacks.Callback):
        def on_epoch_end(self, estimator, metrics):
            return metrics["epoch"] == 2

    both(epochs=4, callbacks=[Stop()]).fit(graph, folder=tmp_path)
    resumed = both(epochs=4).fit(graph, folder=tmp_path, resume=True)
    assert len(resumed.history_) == 4
    assert np.array_equal(resumed.transform(graph), both(epochs=4).fit_transform(graph))


def test_parameters_of_both_have_names_of_their_own(graph):
    model = both().set_params(first__width=4, second__width=8)
    copy = clone(model.fit(graph))
    assert (copy.first.width, copy.second.width) == (4, 8)
    assert not hasattr(copy, "scales_")
    assert model.transform(graph).shape == (60, 12)
    assert model.settings()["beside"]["params"]["width"] == 8
    assert model.settings()["width"] == 4


def test_three_methods_are_two_beside_one(graph):
    model = Beside(both(), augcl.RawFeatures()).fit(graph)
    parts = both().fit_transform(graph).shape[1] + graph.num_features
    assert model.transform(graph).shape == (60, parts)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (augcl.GraphCL(), augcl.WLKernel(), "WLKernel gives similarities, not embeddings"),
        (augcl.GraphCL(), augcl.Propagation(), "GraphCL embeds graphs and Propagation embeds node"),
        (augcl.GraphCL(), "wl", "Beside takes two methods, not 'wl'"),
        (augcl.GraphCL(tau=-1), augcl.MorganFingerprints(), "tau is -1"),
    ],
)
def test_what_cannot_stand_side_by_side_is_named(first, second, told):
    with pytest.raises(InputError, match=told):
        Beside(first, second).check()


def test_it_must_be_fitted_before_it_embeds(graph):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        both().transform(graph)


def test_a_part_that_is_zero_stays_as_it_is(graph):
    class Zero(augcl.RawFeatures):
        def _embeddings(self, X):
            return np.zeros_like(super()._embeddings(X))

    model = Beside(augcl.RawFeatures(), Zero()).fit(graph)
    assert model.scales_[1] == 1
