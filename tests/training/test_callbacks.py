"""Callbacks are called in order, with what they are promised, and can end a training."""

import csv
import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch
from sklearn.base import clone

import augcl
import references
from augcl import DGI, GraphCL, InputError, load_model
from augcl.checks import parameters
from augcl.runs.models import CLASSIFIERS, METHODS
from augcl.training.callbacks import Callback, CSVLogger, TensorBoardLogger
from augcl.training.checkpoint import Snapshot
from stopping import without_seconds

TRAINED = {name: kind for name, kind in (METHODS | CLASSIFIERS).items() if "lr" in parameters(kind)}
QUICK = {"epochs": 3, "batch_size": 20, "progress": False}


@pytest.fixture(scope="module")
def graphs(mutag):
    return mutag.select(torch.arange(60))


@pytest.fixture(scope="module")
def graph():
    return references.communities(40)


class Witness(Callback):
    """Writes down every call."""

    def __init__(self, calls=None, name="", stop_at=None):
        self.calls = [] if calls is None else calls
        self.name = name
        self.stop_at = stop_at

    def on_train_begin(self, estimator):
        self.calls.append((self.name, "train begin", len(estimator.history_)))

    def on_epoch_begin(self, estimator, metrics):
        self.calls.append((self.name, "epoch begin", dict(metrics)))

    def on_batch_end(self, estimator, metrics):
        self.calls.append((self.name, "batch end", dict(metrics)))

    def on_epoch_end(self, estimator, metrics):
        assert estimator.history_[-1] is metrics
        self.calls.append((self.name, "epoch end", dict(metrics)))
        return metrics["epoch"] == self.stop_at

    def on_train_end(self, estimator):
        self.calls.append((self.name, "train end", len(estimator.history_)))


def test_every_hook_is_called_in_order_with_what_it_is_promised(graphs):
    witness = Witness()
    model = GraphCL(callbacks=[witness], **QUICK).fit(graphs)
    epoch = ["epoch begin", *["batch end"] * 3, "epoch end"]
    assert [hook for _, hook, _ in witness.calls] == ["train begin", *3 * epoch, "train end"]
    assert witness.calls[0][2] == 0
    assert witness.calls[-1][2] == 3
    told = {hook: [m for _, h, m in witness.calls if h == hook] for hook in set(epoch)}
    assert told["epoch begin"] == [{"epoch": number} for number in (1, 2, 3)]
    assert told["epoch end"] == model.history_
    assert all(m["seconds"] > 0 for m in told["epoch end"])
    places = [(m["epoch"], m["batch"], m["batches"]) for m in told["batch end"]]
    assert places == [(e, b, 3) for e in (1, 2, 3) for b in (1, 2, 3)]
    for number, metrics in enumerate(model.history_, 1):  # three batches of 20 graphs
        losses = [m["loss"] for m in told["batch end"] if m["epoch"] == number]
        assert np.mean(losses) == pytest.approx(metrics["loss"], rel=1e-5)


def test_several_callbacks_are_called_in_their_order_and_end_in_the_opposite_one(graphs):
    calls = []
    both = [Witness(calls, "a"), Witness(calls, "b")]
    GraphCL(callbacks=both, **{**QUICK, "epochs": 1}).fit(graphs)
    assert [name for name, hook, _ in calls if hook != "train end"] == ["a", "b"] * 6
    assert [name for name, hook, _ in calls if hook == "train end"] == ["b", "a"]


def test_one_that_returns_true_ends_the_training_and_all_others_hear_of_the_epoch(graphs):
    calls = []
    both = [Witness(calls, "a", stop_at=2), Witness(calls, "b")]
    model = GraphCL(callbacks=both, **QUICK).fit(graphs)
    assert len(model.history_) == 2
    assert [(name, m["epoch"]) for name, hook, m in calls if hook == "epoch end"] == [
        ("a", 1),
        ("b", 1),
        ("a", 2),
        ("b", 2),
    ]
    shorter = GraphCL(**{**QUICK, "epochs": 2}).fit(graphs)
    assert np.array_equal(model.transform(graphs), shorter.transform(graphs))


@pytest.mark.parametrize("name", TRAINED)
def test_every_trained_method_has_them_and_can_be_ended(name, graph, molecules):
    data = graph if TRAINED[name].level == "node" else molecules
    small = {"width": 8, "patience": None}
    witness = Witness(stop_at=2)
    model = TRAINED[name](epochs=6, callbacks=[witness], progress=False, **small).fit(data)
    assert len(model.history_) == 2
    assert [m for _, hook, m in witness.calls if hook == "epoch end"] == model.history_


def test_watching_changes_no_bit_even_if_one_looks_at_embeddings(graphs):
    seen = []
    look = SimpleNamespace(
        on_batch_end=lambda model, metrics: seen.append(model.transform(graphs)),
        on_epoch_end=lambda model, metrics: seen.append(model.transform(graphs)),
    )
    watched = GraphCL(hardness="augcl", callbacks=[look], **QUICK).fit(graphs)
    alone = GraphCL(hardness="augcl", **QUICK).fit(graphs)
    assert len(seen) == 12
    assert np.array_equal(seen[-1], watched.transform(graphs))
    assert np.array_equal(alone.transform(graphs), watched.transform(graphs))


def test_what_a_callback_adds_to_the_metrics_is_kept(graphs, tmp_path):
    class Doubled(Callback):
        def on_epoch_end(self, estimator, metrics):
            metrics["twice"] = 2 * metrics["loss"]

    model = GraphCL(callbacks=[Doubled()], **QUICK).fit(graphs, folder=tmp_path)
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["twice"] for line in lines] == [
        2 * metrics["loss"] for metrics in model.history_
    ]


@pytest.mark.parametrize("seconds", [0.0, 1e9])
def test_a_run_that_a_callback_ended_can_be_resumed_with_others(
    graphs, tmp_path, monkeypatch, seconds
):
    monkeypatch.setattr(GraphCL, "checkpoint_seconds", seconds)  # the last epoch always has one
    calm = GraphCL(hardness="augcl", **QUICK).fit(graphs)
    stop, witness = Witness(stop_at=2), Witness()
    GraphCL(hardness="augcl", callbacks=[stop], **QUICK).fit(graphs, folder=tmp_path)
    again = GraphCL(hardness="augcl", callbacks=[witness], **QUICK)
    again.fit(graphs, folder=tmp_path, resume=True)
    assert np.array_equal(again.transform(graphs), calm.transform(graphs))
    assert without_seconds(again.history_) == without_seconds(calm.history_)
    assert witness.calls[0] == ("", "train begin", 2)
    assert [m["epoch"] for _, hook, m in witness.calls if hook == "epoch end"] == [3]


def test_all_that_began_are_ended_when_the_training_fails(graphs):
    witness = Witness()

    def fail(estimator, metrics):
        raise KeyboardInterrupt

    model = GraphCL(callbacks=[witness, SimpleNamespace(on_epoch_end=fail)], **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(graphs)
    assert witness.calls[-1] == ("", "train end", 1)
    assert len(model.transform(graphs)) == 60


def test_one_that_cannot_begin_is_not_ended(graphs):
    witness = Witness()

    class Broken(Witness):
        def on_train_begin(self, estimator):
            raise InputError("no")

    broken = Broken()
    with pytest.raises(InputError, match="no"):
        GraphCL(callbacks=[witness, broken], **QUICK).fit(graphs)
    assert [hook for _, hook, _ in witness.calls] == ["train begin", "train end"]
    assert broken.calls == []


@pytest.mark.parametrize(
    ("callbacks", "told"),
    [
        (3, "callbacks is 3: give a list"),
        ("log", "callbacks is 'log': give a list"),
        (iter([]), "callbacks is <.*>: give a list"),
        ([Witness], "Witness is a class"),
        ([42], "callback 42 has no hook: give it one of on_train_begin"),
    ],
)
def test_what_is_no_callback_is_refused(graphs, callbacks, told):
    with pytest.raises(InputError, match=told):
        GraphCL(callbacks=callbacks).fit(graphs)
    with pytest.raises(InputError, match=told):
        GraphCL(callbacks=callbacks).check()


def test_they_are_neither_settings_nor_saved(graphs, tmp_path):
    plain = GraphCL(**QUICK)
    watched = GraphCL(callbacks=[Witness()], warm_start=True, **QUICK).fit(graphs)
    assert watched.settings() == plain.settings()
    assert not plain.settings().keys() & {"callbacks", "warm_start", "progress", "patience"}
    watched.save(tmp_path)
    again = load_model(tmp_path)
    assert again.callbacks == ()
    assert again.warm_start is False
    facts = Snapshot.read(tmp_path / "model.safetensors").facts
    assert facts["settings"] == plain.settings()


def test_a_patience_counts_as_a_setting_where_it_changes_the_result():
    assert GraphCL(patience=3).settings()["patience"] == 3
    assert DGI().settings()["patience"] == 20
    assert DGI(patience=None).settings()["patience"] is None  # its own is 20


def test_a_clone_has_callbacks_of_its_own(graphs):
    model = GraphCL(callbacks=[Witness()], **QUICK).fit(graphs)
    copy = clone(model).set_params(callbacks=[Witness()])
    assert copy.callbacks[0].calls == []
    assert clone(model).callbacks[0] is not model.callbacks[0]


def test_epochs_can_be_trained_one_by_one(graphs):
    steps = GraphCL(hardness="augcl", **QUICK)
    seen = []
    for metrics in steps.fit_epochs(graphs):
        seen.append(metrics)
        assert steps.history_ == seen
    whole = GraphCL(hardness="augcl", **QUICK).fit(graphs)
    assert without_seconds(seen) == without_seconds(whole.history_)
    assert np.array_equal(steps.transform(graphs), whole.transform(graphs))


def test_between_the_epochs_the_caller_has_all_threads(graphs):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        epochs = GraphCL(**QUICK).fit_epochs(graphs)
        next(epochs)
        assert torch.get_num_threads() == 2
        epochs.close()
    finally:
        torch.set_num_threads(before)


def test_an_abandoned_training_leaves_a_network_that_can_be_used(graphs):
    witness = Witness()
    model = GraphCL(callbacks=[witness], **QUICK)
    epochs = model.fit_epochs(graphs)
    next(epochs)
    epochs.close()
    assert witness.calls[-1] == ("", "train end", 1)
    shorter = GraphCL(**{**QUICK, "epochs": 1}).fit(graphs)
    assert np.array_equal(model.transform(graphs), shorter.transform(graphs))


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_csv_logger_writes_a_row_for_each_epoch_and_a_column_for_each_metric(graphs, tmp_path):
    log = tmp_path / "logs" / "log.csv"
    model = GraphCL(hardness="augcl", callbacks=[CSVLogger(log)], **QUICK).fit(graphs)
    found = rows(log)
    assert [float(row["loss"]) for row in found] == [m["loss"] for m in model.history_]
    first, last = model.history_[0], model.history_[-1]
    assert "weight_std" in last  # a column that came later
    assert "weight_std" not in first
    assert found[0]["weight_std"] == ""
    assert float(found[-1]["weight_std"]) == last["weight_std"]
    assert found[1]["hardness.state"] == model.history_[1]["hardness"]["state"]


def test_the_csv_logger_of_a_resumed_run_has_all_epochs_once(graphs, tmp_path):
    log = tmp_path / "log.csv"
    stop = Witness(stop_at=2)
    GraphCL(callbacks=[CSVLogger(log), stop], **QUICK).fit(graphs, folder=tmp_path / "run")
    again = GraphCL(callbacks=[CSVLogger(log)], **QUICK)
    again.fit(graphs, folder=tmp_path / "run", resume=True)
    assert [row["epoch"] for row in rows(log)] == ["1", "2", "3"]
    assert [float(row["seconds"]) for row in rows(log)] == [m["seconds"] for m in again.history_]


def test_the_tensorboard_logger_writes_numbers_and_closes(graphs, tmp_path, monkeypatch):
    written, events = [], []

    class Writer:
        def __init__(self, folder, purge_step):
            events.append(("open", folder, purge_step))

        def add_scalar(self, name, value, step):
            written.append((name, value, step))

        def close(self):
            events.append("close")

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    logger = TensorBoardLogger(tmp_path)
    model = GraphCL(hardness="augcl", callbacks=[logger], **QUICK).fit(graphs)
    assert events == [("open", str(tmp_path), 1), "close"]
    losses = [(value, step) for name, value, step in written if name == "loss"]
    assert losses == [(m["loss"], m["epoch"]) for m in model.history_]
    names = {name for name, _, _ in written}
    assert {"seconds", "weight_std"} <= names
    assert not names & {"epoch", "hardness/state"}
    assert any(name.startswith("hardness/") for name in names)
    clone(model)


def test_without_the_package_the_tensorboard_logger_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match="pip install tensorboard"):
        TensorBoardLogger(tmp_path)


def test_they_are_there_after_import_augcl():
    assert augcl.callbacks.CSVLogger is CSVLogger
    assert "callbacks" in dir(augcl)
