"""The fuzzer itself: the same damage for the same seed, and failures that are seen."""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from robustness.fuzz import TARGETS, in_child, judged
from robustness.mutations import KINDS, mutated

from augcl import InputError

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("ending", KINDS)
def test_a_seed_gives_the_same_damage_again(ending):
    content = b'{"a": [1, 2.5, "x"]}\n1,2\n'
    first, again = (mutated(content, f"a.{ending}", random.Random(3)) for _ in range(2))
    assert first == again
    other = {mutated(content, f"a.{ending}", random.Random(seed)) for seed in range(20)}
    assert len(other) > 10


def crash(path, rng):
    import faulthandler

    faulthandler._sigsegv()


def wait(path, rng):
    import time

    time.sleep(60)


def take(path, rng):
    np.ones(3 * 2**30, dtype=np.uint8)


def trip(path, rng):
    raise KeyError("features")


def refuse(path, rng):
    raise InputError(f"{path} is damaged")


def refuse_without_a_name(path, rng):
    raise InputError("something is damaged")


ENDS = {
    crash: "signal 11",
    wait: "time-out",
    take: "failed",
    trip: "failed",
    refuse: "refused",
    refuse_without_a_name: "nameless message",
}


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("use", ENDS)
def test_every_bad_end_is_seen(use, tmp_path, monkeypatch):
    monkeypatch.setattr("robustness.fuzz.SECONDS", 2.0)
    target = TARGETS["TU zip"].__class__(lambda folder: None, "MINE.zip", use)
    monkeypatch.setitem(TARGETS, "TU zip", target)
    place = tmp_path / "MINE.zip"
    if use is refuse:
        assert judged("TU zip", place, random.Random(0)) == {"end": "refused"}
    found = in_child("TU zip", place, random.Random(0), tmp_path / "log")
    assert found["end"].startswith(ENDS[use])


def test_a_few_damaged_inputs_are_read_or_refused(tmp_path):
    given = ("--only", "wiki", "--inputs", "4", "--out", tmp_path / "failures")
    done = subprocess.run(
        [sys.executable, "-m", "robustness", "fuzz", *given],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 inputs in" in done.stdout
    assert not (tmp_path / "failures").exists()
