"""Training that ends when the loss falls no more, and keeps the best weights."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn

import references
from augcl import DGI, GraphCL, InputError, Structure2VecClassifier, load_model
from augcl.training.callbacks import KeepBest
from augcl.training.loop import Run
from quick_nodes import losses, same
from stopping import StopError, stop_after, without_seconds

SETTINGS = {"epochs": 12, "patience": 3, "width": 8, "progress": False}


@pytest.fixture(scope="module")
def graph():
    return references.communities(40)


def trained(graph, told, *, folder=None, resume=False, **settings):
    """Train with the losses `told` for the epochs; the weights before every epoch come along."""
    real, before = DGI._loss, []

    class Told(DGI):
        def _before_epoch(self, epoch, batches, generator):
            self.now = epoch
            before.append(self.network_.encoder.weight.detach().clone())
            return {}

        def _loss(self, batch, generator):
            found = real(self, batch, generator)
            return found - found.detach() + told[self.now]

    model = Told(**{**SETTINGS, **settings})
    model.fit(graph, folder=folder, resume=resume)
    return model, before


def test_it_ends_after_so_many_epochs_without_a_lower_loss(graph):
    model, before = trained(graph, [5, 3, 1, 2, 1, 4, 0.5, 6])
    assert losses(model) == [5, 3, 1, 2, 1, 4]  # an equal loss is not a lower one
    assert model.network_.encoder.weight.equal(before[2])


def test_a_lower_loss_in_time_starts_the_count_anew(graph):
    model, before = trained(graph, [5, 3, 1, 2, 4, 0.5, 6, 6, 6, 0])
    assert losses(model) == [5, 3, 1, 2, 4, 0.5, 6, 6, 6]
    assert model.network_.encoder.weight.equal(before[5])


def test_also_after_all_epochs_the_best_weights_are_kept(graph):
    model, before = trained(graph, [5, 1, 2], epochs=3)
    assert len(losses(model)) == 3
    assert model.network_.encoder.weight.equal(before[1])


@pytest.mark.parametrize("told", [[1, 2, 3, 4, 5], [1, 1, 1, 1]])
def test_weights_from_before_the_first_step_are_told_of(graph, told):
    with pytest.warns(UserWarning, match="Told on .*untrained weights are kept; lower") as warned:
        model, before = trained(graph, told)
    assert len(losses(model)) == 4
    assert model.network_.encoder.weight.equal(before[0])
    assert len(warned) == 1
    assert "\n" not in str(warned[0].message)
    assert warned[0].filename == __file__  # where fit was called


def test_without_patience_the_last_weights_stay(graph):
    model, before = trained(graph, [1, 2, 3, 4, 5, 6], epochs=6, patience=None)
    assert len(losses(model)) == 6
    assert not any(model.network_.encoder.weight.equal(weights) for weights in before)


@pytest.mark.parametrize("epochs", [1, 2, 3, 4, 5, 6])
def test_a_resumed_run_waits_as_long_and_keeps_the_same_weights(
    graph, tmp_path, monkeypatch, epochs
):
    told = [5, 3, 1, 2, 1, 4, 0.5, 6]
    monkeypatch.setattr(DGI, "checkpoint_seconds", 0.0)
    calm, _ = trained(graph, told)
    with monkeypatch.context() as patch:
        stop_after(patch, epochs)
        with pytest.raises(StopError):
            trained(graph, told, folder=tmp_path)
    resumed, _ = trained(graph, told, folder=tmp_path, resume=True)
    assert same(resumed, calm, graph)
    assert without_seconds(resumed.history_) == without_seconds(calm.history_)


def test_the_epoch_in_which_patience_ends_has_a_checkpoint(graph, tmp_path):
    first, _ = trained(graph, [2, 1, 3, 4, 5], folder=tmp_path)
    before = (tmp_path / "checkpoint.safetensors").stat().st_mtime_ns
    again, _ = trained(graph, [2, 1, 3, 4, 5], folder=tmp_path, resume=True)
    assert (tmp_path / "checkpoint.safetensors").stat().st_mtime_ns == before
    assert again.history_ == first.history_
    assert np.array_equal(again.transform(graph), first.transform(graph))


@pytest.mark.parametrize("first", [0, 7])
@pytest.mark.parametrize("patience", [1, 3, 8, 40])
def test_it_ends_where_a_look_at_all_losses_says(patience, first):
    draws = np.random.default_rng(patience).integers(0, 8, size=40) / 7  # with many equal ones
    network = nn.Linear(2, 2)
    run = Run(network, torch.optim.Adam(network.parameters()), torch.Generator())
    keep = KeepBest(run, patience=patience, first=first)
    for done in range(1, len(draws) + 1):
        metrics = {"epoch": done, "loss": float(draws[done - 1])}
        keep.on_epoch_begin(None, metrics)
        run.history.append(metrics)
        over = keep.on_epoch_end(None, metrics)
        counted = draws[first:done]
        if not len(counted):
            assert not over
            assert run.best.epoch == 0
            continue
        best = first + int(np.argmin(counted)) + 1
        assert (run.best.epoch, run.best.loss) == (best, counted.min())
        assert over == (done - best >= patience)
    again = Run(nn.Linear(2, 2), run.optimizer, torch.Generator())
    again.restore(run.snapshot({}))
    assert (again.best.epoch, again.best.loss) == (run.best.epoch, run.best.loss)
    assert again.history == run.history


@pytest.mark.parametrize("patience", [0, 1.5, -3])
def test_patience_is_a_whole_number(graph, patience):
    with pytest.raises(InputError, match=f"patience is {patience}"):
        DGI(**{**SETTINGS, "patience": patience}).fit(graph)


class Told(GraphCL):
    """GraphCL that has the losses of a list."""

    losses = ()

    def _before_epoch(self, epoch, batches, generator):
        self.now = epoch
        return super()._before_epoch(epoch, batches, generator)

    def _loss(self, batch, generator):
        found = super()._loss(batch, generator)
        return found - found.detach() + self.losses[self.now]


@pytest.mark.parametrize(
    ("hardness", "done", "best"), [("none", 4, 1), ("dcl", 4, 1), ("augcl", 9, 6)]
)
def test_with_a_hardness_the_epochs_count_from_where_it_sets_in(
    molecules, monkeypatch, hardness, done, best
):
    monkeypatch.setattr(Told, "losses", [1, 2, 2, 2, 5, 4, 6, 6, 6, 6])
    model = Told(hardness=hardness, epochs=10, patience=3, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing was learned
        model.fit(molecules)
    assert (len(model.history_), model.best_epoch_) == (done, best)
    assert model.warmup_epochs() == (5 if hardness == "augcl" else 0)


def test_a_training_that_ends_before_the_hardness_sets_in_keeps_its_last_weights(molecules):
    settings = {"hardness": "augcl", "epochs": 3, "warmup": 3, "progress": False}
    patient = GraphCL(patience=1, **settings).fit(molecules)
    assert len(patient.history_) == 3
    assert patient.best_epoch_ is None
    assert same(patient, GraphCL(**settings).fit(molecules), molecules)


def test_a_classifier_waits_for_the_loss_on_graphs_held_out(molecules):
    settings = {"epochs": 60, "lr": 0.05, "progress": False}
    whole = Structure2VecClassifier(**settings).fit(molecules)
    seen = [metrics["selection_loss"] for metrics in whole.history_]
    ends = next(e for e in range(1, 61) if e - 1 - int(np.argmin(seen[:e])) >= 2)
    assert ends < 60
    model = Structure2VecClassifier(patience=2, **settings).fit(molecules)
    assert len(model.history_) == ends
    assert model.best_epoch_ == int(np.argmin(seen[:ends])) + 1
    shorter = Structure2VecClassifier(**{**settings, "epochs": model.best_epoch_}).fit(molecules)
    assert np.array_equal(model.predict_proba(molecules), shorter.predict_proba(molecules))


def test_the_best_epoch_is_saved(molecules, tmp_path):
    model = Structure2VecClassifier(epochs=3, progress=False).fit(molecules)
    model.save(tmp_path)
    assert load_model(tmp_path).best_epoch_ == model.best_epoch_ > 0
