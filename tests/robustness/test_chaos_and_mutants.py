"""Chaos, soak and mutants themselves: that they see what they look for."""

import ast
import signal

import numpy as np
import pytest
from robustness.chaos import Ended, _said_wrong, contents, differences
from robustness.mutants import ROOT, draw, mutants

from robustness import mutants as core
from robustness import soak

STOPPED = "augcl: stopped; the same command continues\n"


@pytest.mark.parametrize(
    ("code", "said", "number", "fine"),
    [
        (143, STOPPED, signal.SIGTERM, True),
        (143, "trainings: 0 of 6, GCA, 30 s\n" + STOPPED, signal.SIGTERM, True),
        (143, "", signal.SIGTERM, False),
        (143, STOPPED + STOPPED, signal.SIGTERM, False),
        (143, "Traceback …\n" + STOPPED, signal.SIGTERM, False),
        (130, STOPPED, signal.SIGTERM, False),
        (130, STOPPED, signal.SIGINT, True),
        (1, "Traceback …\n", signal.SIGINT, False),
        (-9, "", signal.SIGKILL, True),
        (-9, "Traceback …\n", signal.SIGKILL, False),
        (0, "", signal.SIGINT, True),
    ],
)
def test_a_wrong_end_of_a_killed_command_is_seen(code, said, number, fine):
    assert (not _said_wrong(Ended(code, "", said, 1.0), number, "all")) == fine


def test_a_killed_worker_may_end_the_command_with_a_line_but_not_with_a_traceback():
    for code, said, fine in [(0, "", True), (2, "augcl: a worker", True), (2, "Traceback", False)]:
        assert (not _said_wrong(Ended(code, "", said, 1.0), signal.SIGKILL, "worker")) == fine


def test_two_runs_differ_by_a_bit_but_not_by_seconds(tmp_path):
    Z = np.arange(6, dtype=np.float32)
    found = []
    for name, seconds, bit in (("a", 1, 0), ("b", 2, 0), ("c", 1, 1e-6)):
        folder = tmp_path / name
        folder.mkdir()
        np.savez(folder / "z.npz", Z=Z + np.float32(bit))
        (folder / "r.json").write_text(f'{{"x": [{{"seconds": {seconds}, "loss": 3}}]}}')
        (folder / "m.jsonl").write_text(f'{{"epoch": 1, "seconds": {seconds}}}\n')
        found.append(contents(folder))
    assert differences(found[0], found[1]) == []
    assert differences(found[0], found[2]) == ["z.npz differs"]
    assert differences(found[0], {}) == ["m.jsonl differs", "r.json differs", "z.npz differs"]


def test_a_leak_is_seen_and_a_flat_line_is_none(monkeypatch):
    peaks = iter([100.0] * 10 + [104.0] * 10 + [100.0] * 10 + [106.0] * 10)
    monkeypatch.setattr(soak, "peak_memory", lambda: next(peaks))
    assert not soak._grows("flat", lambda number: None, 20)
    assert soak._grows("leak", lambda number: None, 20)


CODE = '''
def f(x, dim=0):
    """Return 1 + 1."""
    total = x.sum(dim=1) + 2.5
    if x > 3 and not dim:
        total += x[1:]
    raise ValueError(f"{1 + 1}")
'''


def test_every_kind_of_mutant_is_found_but_not_in_texts(tmp_path):
    file = tmp_path / "a" / "b" / "c.py"
    file.parent.mkdir(parents=True)
    file.write_text(CODE)
    found = mutants(file)
    changed = {mutant.text().decode().splitlines()[mutant.line - 1].strip() for mutant in found}
    assert changed == {
        "def f(x, dim=1):",
        "total = x.mean(dim=1) + 2.5",
        "total = x.sum(dim=0) + 2.5",
        "total = x.sum(dim=2) + 2.5",
        "total = x.sum(dim=1) - 2.5",
        "total = x.sum(dim=1) + 5.0",
        "if x > 3 or not dim:",
        "if x >= 3 and not dim:",
        "if x > 4 and not dim:",
        "if x > 3 and dim:",
        "if (not (x > 3 and not dim)):",
        "total += x[2:]",
        "total += x[:]",
        "pass",
    }
    for mutant in found:
        ast.parse(mutant.text())


def test_a_seed_draws_the_same_mutants_again_and_their_own_tests_come_first():
    first, again, other = (draw(ROOT, 5, seed, ("losses",)) for seed in (0, 0, 1))
    assert first == again != other
    stages = core.tests_of(ROOT, ROOT / "src/augcl/losses/info_nce.py")
    assert stages[0][:2] == ["src/augcl/losses/info_nce.py", "tests/losses/test_info_nce.py"]
    assert "tests/losses/test_modules.py" in stages[0] + stages[1]
    assert any(path.startswith("tests/rivals") for path in stages[2])
