"""A second fit goes on where the first one ended."""

import numpy as np
import pytest
import torch

import references
from augcl import (
    DGI,
    GAE,
    GRACE,
    HSAN,
    JOAO,
    AffinityUncertainty,
    GraphCL,
    InputError,
    Structure2VecClassifier,
)
from augcl.training.callbacks import Callback
from stopping import without_seconds

WEIGHTED = {"hardness": AffinityUncertainty(passes=2), "warmup": 2}
SMALL = {"width": 8, "projection": 8}


@pytest.fixture(scope="module")
def graphs(mutag):
    return mutag.select(torch.arange(60))


@pytest.fixture(scope="module")
def graph():
    return references.communities(40)


def outputs(model, data):
    return (model.predict_proba if hasattr(model, "predict_proba") else model.transform)(data)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (GraphCL, {}),
        (GraphCL, WEIGHTED),
        (GraphCL, {"hardness": AffinityUncertainty(passes=2, refresh=1), "warmup": 2}),
        (GraphCL, {"hardness": AffinityUncertainty(passes=2), "warmup": 4}),
        (GraphCL, {"patience": 3}),
        (JOAO, {}),
        (Structure2VecClassifier, {}),
        (Structure2VecClassifier, {"pretrain": True, "pretrain_epochs": 4}),
        (GRACE, SMALL),
        (GRACE, {**SMALL, **WEIGHTED}),
        (GRACE, {**SMALL, **WEIGHTED, "weights": "live", "weights_every": 3}),
        (DGI, {"width": 8, "lr": 0.01}),
        (GAE, {}),
        (HSAN, {"width": 8, "components": 8}),
    ],
)
def test_four_epochs_and_four_more_are_eight(graphs, graph, kind, settings):
    data = graph if kind.level == "node" else graphs
    settings = {
        "progress": False,
        **({"batch_size": 20} if kind.level == "graph" else {}),
    } | settings
    whole = kind(epochs=8, **settings).fit(data)
    model = kind(epochs=4, warm_start=True, **settings).fit(data)
    assert len(model.history_) == 4
    first = outputs(model, data)
    model.set_params(epochs=8).fit(data)
    assert np.array_equal(outputs(model, data), outputs(whole, data))
    assert "patience" in settings or not np.array_equal(first, outputs(model, data))
    assert without_seconds(model.history_) == without_seconds(whole.history_)
    assert model.best_epoch_ == whole.best_epoch_


def test_the_first_epochs_are_not_trained_again(graphs):
    seen = []

    class Watch(Callback):
        def on_epoch_end(self, estimator, metrics):
            seen.append(metrics["epoch"])

    model = GraphCL(epochs=2, warm_start=True, callbacks=[Watch()], progress=False).fit(graphs)
    model.set_params(epochs=3).fit(graphs)
    model.fit(graphs)
    assert seen == [1, 2, 3]


def test_without_it_a_second_fit_begins_again(graphs):
    model = GraphCL(epochs=2, progress=False).fit(graphs)
    before = model.transform(graphs)
    assert np.array_equal(model.fit(graphs).transform(graphs), before)
    assert len(model.history_) == 2


def test_a_callback_may_have_ended_the_first_fit(graphs):
    class Stop(Callback):
        def on_epoch_end(self, estimator, metrics):
            return True

    model = GraphCL(epochs=4, warm_start=True, callbacks=[Stop()], progress=False).fit(graphs)
    model.set_params(callbacks=()).fit(graphs)
    whole = GraphCL(epochs=4, progress=False).fit(graphs)
    assert np.array_equal(model.transform(graphs), whole.transform(graphs))


def test_the_onset_follows_the_new_number_of_epochs_if_it_depends_on_it(graphs):
    hardness = AffinityUncertainty(passes=2)
    model = GraphCL(hardness=hardness, epochs=4, warm_start=True, progress=False).fit(graphs)
    model.set_params(epochs=12).fit(graphs)
    fitted = [metrics["epoch"] for metrics in model.history_ if "hardness" in metrics]
    weighted = [metrics["epoch"] for metrics in model.history_ if "weight_std" in metrics]
    assert fitted == [3, 7]
    assert weighted == [3, 4, *range(7, 13)]


def test_the_learning_rate_may_change(graphs):
    model = GraphCL(epochs=2, warm_start=True, progress=False).fit(graphs)
    model.set_params(epochs=3, lr=1e-12).fit(graphs)
    still = GraphCL(epochs=2, progress=False).fit(graphs)
    weights = (m.network_.projector[0].weight for m in (model, still))
    assert torch.allclose(*weights, rtol=0, atol=1e-9)
    assert len(model.history_) == 3


def test_another_setting_other_graphs_or_fewer_epochs_are_refused(mutag, graphs):
    model = GraphCL(epochs=2, tau=0.2, warm_start=True, progress=False).fit(graphs)
    told = "cannot resume the last fit: .*tau = 0.2, now it is 0.5; .*or warm_start=False"
    with pytest.raises(InputError, match=told):
        model.set_params(tau=0.5).fit(graphs)
    model.set_params(tau=0.2)
    with pytest.raises(InputError, match=r"graphs are not those .*old ones or warm_start"):
        model.fit(mutag.select(torch.arange(1, 61)))
    with pytest.raises(InputError, match="epochs is 1, but the last fit did 2 of them"):
        model.set_params(epochs=1).fit(graphs)


def test_a_folder_gets_all_epochs(graphs, tmp_path):
    model = GraphCL(epochs=2, warm_start=True, progress=False).fit(graphs)
    model.set_params(epochs=4).fit(graphs, folder=tmp_path)
    assert len((tmp_path / "metrics.jsonl").read_text().splitlines()) == 4
    again = GraphCL(epochs=4, progress=False).fit(graphs, folder=tmp_path, resume=True)
    assert np.array_equal(again.transform(graphs), model.transform(graphs))
