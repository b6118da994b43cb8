import json
import math

import numpy as np
import pytest
import torch

from augcl import AffinityUncertainty, GraphCL, InputError
from augcl.training.checkpoint import same_settings
from augcl.training.loop import make_fabric
from stopping import StopError, stop_after, stopped_and_resumed, without_seconds


@pytest.fixture(scope="module")
def graphs(mutag):
    return mutag.select(torch.arange(60))


def method(**settings):
    quick = {"hardness": AffinityUncertainty(passes=2), "epochs": 4, "batch_size": 20}
    return GraphCL(**quick | settings)


def lines(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("epochs", [1, 2, 3])
@pytest.mark.parametrize("refresh", [None, 1])
def test_a_resumed_run_ends_in_the_same_bits(graphs, tmp_path, epochs, refresh):
    hardness = AffinityUncertainty(passes=2, refresh=refresh)
    calm = method(hardness=hardness).fit(graphs)
    resumed = stopped_and_resumed(lambda: method(hardness=hardness), graphs, tmp_path, epochs)
    assert np.array_equal(resumed.transform(graphs), calm.transform(graphs))
    for learned in ("network_", "hardness_"):
        found, expected = (
            part.state_dict() if learned == "network_" else part.state()
            for part in (getattr(resumed, learned), getattr(calm, learned))
        )
        assert found.keys() == expected.keys()
        assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert without_seconds(resumed.history_) == without_seconds(calm.history_)
    assert lines(tmp_path) == resumed.history_
    assert [m["epoch"] for m in resumed.history_] == [1, 2, 3, 4]


def test_watching_a_run_changes_none_of_its_bits(graphs, tmp_path):
    alone = method().fit(graphs).transform(graphs)
    written = method(progress=False).fit(graphs, folder=tmp_path).transform(graphs)
    assert np.array_equal(alone, written)


def test_resuming_a_finished_run_does_nothing(graphs, tmp_path):
    first = method(hardness=None).fit(graphs, folder=tmp_path)
    before = (tmp_path / "checkpoint.safetensors").stat().st_mtime_ns
    again = method(hardness=None).fit(graphs, folder=tmp_path, resume=True)
    assert np.array_equal(first.transform(graphs), again.transform(graphs))
    assert again.history_ == first.history_
    assert (tmp_path / "checkpoint.safetensors").stat().st_mtime_ns == before


def test_resume_with_nothing_to_resume_begins(graphs, tmp_path):
    model = method(hardness=None, epochs=1).fit(graphs, folder=tmp_path / "new", resume=True)
    assert lines(tmp_path / "new") == model.history_


def test_without_resume_a_run_begins_anew(graphs, tmp_path):
    for _ in range(2):
        model = method(hardness=None, epochs=2).fit(graphs, folder=tmp_path)
        assert lines(tmp_path) == model.history_


def test_what_a_killed_process_left_is_harmless_and_goes(graphs, tmp_path, monkeypatch):
    settings = {"hardness": None, "epochs": 3, "progress": False}
    calm = method(**settings).fit(graphs)
    with monkeypatch.context() as patch:
        stop_after(patch, 1)
        with pytest.raises(StopError):
            method(**settings).fit(graphs, folder=tmp_path)
    (tmp_path / ".checkpoint.safetensors.k1ll.tmp").write_bytes(b"half a check")
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"epoch": 2, "loss": 9.9}\n{"epoch": 3, "lo')
    resumed = method(**settings).fit(graphs, folder=tmp_path, resume=True)
    assert np.array_equal(resumed.transform(graphs), calm.transform(graphs))
    assert lines(tmp_path) == resumed.history_
    assert len(resumed.history_) == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "checkpoint.safetensors",
        "metrics.jsonl",
    ]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"epochs": 3}, "epochs = 1, now it is 3"),
        ({"tau": 0.5}, "tau = 0.2, now it is 0.5"),
        ({"random_state": 1}, "random_state = 0, now it is 1"),
        ({"hardness": AffinityUncertainty(reward=1.5)}, "hardness"),
    ],
)
def test_resume_with_another_setting_names_it(graphs, tmp_path, changed, named):
    settings = {"hardness": None, "epochs": 1, "tau": 0.2}
    method(**settings).fit(graphs, folder=tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(InputError, match=named):
        method(**settings | changed).fit(graphs, folder=tmp_path, resume=True)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_a_setting_inside_a_setting_is_named_alone(tmp_path):
    old = {"hardness": {"class": "AffinityUncertainty", "params": {"reward": 1.9, "alpha": "row"}}}
    new = {"hardness": {"class": "AffinityUncertainty", "params": {"reward": 1.5, "alpha": "row"}}}
    with pytest.raises(InputError, match=r"hardness\.params\.reward = 1\.9, now it is 1\.5;"):
        same_settings(old, new, tmp_path)
    same_settings(old, old, tmp_path)


def test_resume_with_other_graphs_is_refused(mutag, graphs, tmp_path):
    method(hardness=None, epochs=1).fit(graphs, folder=tmp_path)
    others = mutag.select(torch.arange(1, 61))
    with pytest.raises(InputError, match="graphs are not those"):
        method(hardness=None, epochs=1).fit(others, folder=tmp_path, resume=True)


def test_what_does_not_change_the_result_may_change(graphs, tmp_path):
    method(hardness=None, epochs=1).fit(graphs, folder=tmp_path)
    model = method(hardness=None, epochs=1, device="auto", progress=False)
    model.fit(graphs, folder=tmp_path, resume=True)


def test_a_damaged_checkpoint_is_named(graphs, tmp_path):
    settings = {"hardness": None, "epochs": 1}
    method(**settings).fit(graphs, folder=tmp_path)
    file = tmp_path / "checkpoint.safetensors"
    file.write_bytes(file.read_bytes()[:-7])
    with pytest.raises(InputError, match=r"checkpoint\.safetensors is damaged.*delete it"):
        method(**settings).fit(graphs, folder=tmp_path, resume=True)


def test_numpy_settings_are_written_as_numbers(graphs, tmp_path):
    model = method(hardness=None, epochs=np.int64(1), lr=np.float64(0.01))
    model.fit(graphs, folder=tmp_path).save(tmp_path / "model")
    method(hardness=None, epochs=1).fit(graphs, folder=tmp_path, resume=True)


def test_a_loss_that_is_not_a_number_stops_training(graphs, tmp_path, monkeypatch):
    model = method(hardness=None)
    loss = GraphCL._loss
    broken = iter([1, 1, 1, math.nan])
    monkeypatch.setattr(GraphCL, "_loss", lambda *given: loss(*given) * next(broken, 1))
    with pytest.raises(InputError, match=r"diverged in epoch 2 \(loss nan\).*learning rate"):
        model.fit(graphs, folder=tmp_path)
    assert [m["epoch"] for m in lines(tmp_path)] == [1]


def test_nothing_is_printed_where_nobody_looks(graphs, capfd):
    method().fit(graphs)
    assert capfd.readouterr() == ("", "")


def test_a_missing_gpu_is_told_in_our_words(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(InputError, match=r"cuda or cuda:1 \(torch finds no GPU\)$"):
        make_fabric("cuda")


@pytest.mark.parametrize("device", ["gpu7", "cpu:3", "cuda:x", ""])
def test_a_device_that_cannot_be_used_is_refused(device):
    with pytest.raises(InputError, match=f"device '{device}' cannot be used here: use cpu"):
        make_fabric(device)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("epochs", -1), ("epochs", 1.5), ("batch_size", 1), ("lr", 0.0), ("lr", math.inf)],
)
def test_a_setting_out_of_range_is_named(graphs, setting, value):
    with pytest.raises(InputError, match=f"{setting} is {value}"):
        GraphCL(**{setting: value}).fit(graphs)
