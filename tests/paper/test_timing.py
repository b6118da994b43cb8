"""Training times: measured once, turn by turn, and read back."""

import time
from dataclasses import replace

import pytest

from augcl.paper.rows import GRAPHS
from augcl.paper.study import Study
from augcl.paper.training_time import Timing, measure_times, ratio, seconds_in_turn, time_table
from augcl.training.estimator import Estimator


def busy(name, steps, done, *, fails=False):
    for number in range(steps):
        if name == "slow":
            spent = time.thread_time()
            while time.thread_time() < spent + 0.02:
                pass
        done.append(f"{name}{number}")
        yield
    if fails:
        raise ValueError(name)


def test_each_goes_a_step_in_turn_and_the_last_ones_end_alone():
    done = []
    seconds_in_turn([busy("a", 1, done), busy("b", 3, done), busy("c", 2, done)])
    assert done == ["a0", "b0", "c0", "b1", "c1", "b2"]
    assert seconds_in_turn([]) == []


def test_each_is_charged_with_its_own_seconds_only():
    quick, slow = seconds_in_turn([busy("quick", 5, []), busy("slow", 5, [])])
    assert slow >= 0.1
    assert quick < 0.1


def test_one_that_fails_ends_all():
    done = []
    with pytest.raises(ValueError, match="b"):
        seconds_in_turn([busy("a", 9, done), busy("b", 1, done, fails=True)])
    assert done == ["a0", "b0", "a1"]


def test_methods_are_timed_an_epoch_of_each_in_turn(tmp_path, monkeypatch):
    epochs, train = [], Estimator.fit_epochs

    def noted(model, *given):
        for metrics in train(model, *given):
            epochs.append((type(model.hardness_).__name__, metrics["epoch"]))
            yield metrics

    monkeypatch.setattr(Estimator, "fit_epochs", noted)
    replace(PAIR, turns=1, epochs=2).measure(tmp_path)
    assert epochs == [("Uniform", 1), ("DCL", 1), ("Uniform", 2), ("DCL", 2)]


PAIR = Timing(GRAPHS, "MUTAG", ("GraphCL", "DCL"), turns=2, epochs=1)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A folder with one measurement."""
    out = tmp_path_factory.mktemp("time")
    PAIR.measure(out)
    return out


def test_every_row_has_one_time_a_turn(out):
    seconds = PAIR.read(out)
    assert list(seconds) == ["GraphCL", "DCL"]
    assert all(len(times) == 2 and min(times) > 0 for times in seconds.values())


def test_what_was_measured_is_read_and_not_measured_again(out, monkeypatch):
    study = Study(out, ("MUTAG",), PAIR.rows, seeds=2, epochs=1)
    monkeypatch.setattr(Timing, "measure", None)  # measuring anew would need it
    assert measure_times(study, GRAPHS) == []
    found = time_table(study, GRAPHS)
    assert [(row.name, row.dataset) for row in found.rows] == [
        ("GraphCL", "MUTAG"),
        ("DCL", "MUTAG"),
    ]
    assert found.rows[0].scores.outer.ravel().tolist() == PAIR.read(out)["GraphCL"]
    page = found.write(out)[3].read_text()
    assert '"links": [[-1, 0, 0, -1], [-1, 1, 1, -1]]' in page
    seconds = PAIR.read(out)
    assert found.data["MUTAG"]["DCL"]["seconds"] == seconds["DCL"]
    assert found.data["MUTAG"]["DCL"]["ratio"] == ratio(seconds, "DCL", "GraphCL")
    assert found.data["MUTAG"]["GraphCL"]["ratio"] == 1
    assert [row[0] for row in found.grids[0].rows] == ["MUTAG, GraphCL", "MUTAG, DCL"]


def test_rows_without_their_base_are_measured_with_it(out, monkeypatch):
    measured = []
    monkeypatch.setattr(Timing, "measure", lambda timing, out: measured.append(timing.rows))
    measure_times(Study(out, ("PROTEINS",), ("DCL",), seeds=2, epochs=1), GRAPHS)
    assert measured == [("GraphCL", "DCL")]
    found = time_table(Study(out, ("MUTAG",), ("DCL",), seeds=2, epochs=1), GRAPHS)
    assert [row[0] for row in found.grids[0].rows] == ["MUTAG, DCL"]


@pytest.mark.parametrize(
    "other",
    [
        {"rows": ("GraphCL",)},
        {"rows": ("GraphCL", "HCL")},
        {"turns": 3},
        {"epochs": 2},
        {"dataset": "PROTEINS"},
    ],
    ids=str,
)
def test_another_question_has_another_file(out, other):
    timing = replace(PAIR, **other)
    assert timing.path(out) != PAIR.path(out)
    assert timing.read(out) is None


def test_the_ratio_is_the_median_of_those_of_the_turns():
    seconds = {"slow": [2.0, 90.0, 3.0, 8.0], "fast": [1.0, 30.0, 2.0, 2.0]}
    assert ratio(seconds, "slow", "fast") == 2.5  # of 2, 3, 1.5, 4


def test_published_ratios_stand_beside_ours(tmp_path, monkeypatch):
    seconds = {"GraphCL": [1.0, 1.0], "AUGCL": [1.5, 1.7]}
    monkeypatch.setattr(Timing, "read", lambda timing, out: seconds)
    study = Study(tmp_path, ("PROTEINS",), ("GraphCL", "AUGCL"), seeds=2)
    (_, (label, median, ours, theirs)) = time_table(study, GRAPHS).grids[0].rows
    assert (label, median, ours) == ("PROTEINS, AUGCL", "1.6", "1.60")
    assert float(theirs) > 1
