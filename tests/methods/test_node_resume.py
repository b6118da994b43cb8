"""A training of nodes that was stopped goes on to the same bits; a saved model comes back."""

import json

import pytest

from augcl import GCA, GRACE, InputError, ProGCL, RawFeatures, load_model
from augcl.losses.node_info_nce import PairWeights
from augcl.training import loop
from quick_nodes import quick, same, uncertainty
from stopping import stopped_and_resumed, without_seconds

# Stopped and continued


@pytest.mark.parametrize("epochs", [1, 2, 3, 5])
@pytest.mark.parametrize(
    "options",
    [
        {"hardness": None, "edge_drop": (0.1, 0.2)},
        {"hardness": uncertainty(temper=0.25)},
        {"hardness": uncertainty(temper=0.25), "weights": "live", "weights_every": 2},
        {"hardness": uncertainty(temper=0.25), "candidates": 20},
        {"hardness": ProGCL("mix", hardest=9)},
    ],
    ids=["plain", "frozen", "live", "sampled", "mixed"],
)
def test_a_resumed_run_ends_in_the_same_bits(graph, tmp_path, epochs, options):
    options = {"epochs": 6, "warmup": 2, **options}
    calm = quick(GCA, **options).fit(graph)
    resumed = stopped_and_resumed(lambda: quick(GCA, **options), graph, tmp_path, epochs)
    assert same(resumed, calm, graph)
    assert without_seconds(resumed.history_) == without_seconds(calm.history_)
    for key, tensor in calm.network_.state_dict().items():
        assert resumed.network_.state_dict()[key].equal(tensor)
    assert (calm.weights_ is None) == (options["hardness"] is None)
    if calm.weights_ is not None:
        assert resumed.weights_.codes.equal(calm.weights_.codes)


def test_checkpoints_are_rare_and_the_last_epoch_has_one(graph, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        loop.Snapshot, "write", lambda s, path: written.append(len(s.facts["history"]))
    )
    model = quick(epochs=6).fit(graph, folder=tmp_path)
    assert written == [1, 6]
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert lines == model.history_


def test_resume_with_another_setting_names_it(graph, tmp_path):
    quick(epochs=1).fit(graph, folder=tmp_path)
    with pytest.raises(InputError, match=r"edge_drop = \[0\.2, 0\.4\], now it is \[0\.1, 0\.4\]"):
        quick(epochs=1, edge_drop=(0.1, 0.4)).fit(graph, folder=tmp_path, resume=True)
    quick(epochs=1, edge_drop=(0.2, 0.4)).fit(graph, folder=tmp_path, resume=True)


# Models in files


@pytest.mark.parametrize("kind", [GRACE, GCA])
def test_a_model_comes_back_with_embeddings_settings_history_and_weights(graph, kind, tmp_path):
    options = {"hardness": uncertainty(temper=0.25), "edge_drop": (0.1, 0.2)}
    model = quick(kind, activation="prelu", **options).fit(graph)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert type(again) is kind
    assert same(again, model, graph)
    assert again.history_ == model.history_
    assert again.settings() == model.settings()
    weights = PairWeights.of(again.hardness_, again._anchors)
    assert weights.codes.equal(model.weights_.codes)
    again.fit(graph)
    assert same(again, model, graph)


def test_raw_features_have_a_file_too(graph, tmp_path):
    model = RawFeatures().fit(graph)
    model.save(tmp_path)
    assert same(load_model(tmp_path), model, graph)
