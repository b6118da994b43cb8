"""The command line, run inside the test process: importing torch anew would cost seconds a test."""

from __future__ import annotations

import io
import re
import sys
import warnings
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import typer.main

from augcl.cli.main import main

# Three triangles with tails: as small as a TU data set with every check can be.
TU = {
    "A": "1, 2\n2, 3\n3, 1\n3, 4\n5, 6\n6, 7\n7, 5\n8, 9\n9, 10\n10, 8\n",
    "graph_indicator": "1\n1\n1\n1\n2\n2\n2\n3\n3\n3\n",
    "graph_labels": "1\n-1\n1\n",
    "node_labels": "0\n1\n2\n0\n0\n1\n2\n0\n1\n2\n",
    "node_attributes": "".join(f"{i}.5, {i}\n" for i in range(10)),
}
get_command = cache(typer.main.get_command)  # reads the signatures of all commands
PROGRESS = re.compile(r"[\w ]+: \d+ of \d+(, .*)?, \d+ s$")


@dataclass(frozen=True)
class Answer:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def complaints(self) -> list[str]:
        """Lines of stderr, without those that a slow machine prints to show its progress."""
        return [line for line in self.err.splitlines() if not PROGRESS.match(line)]


def augcl(*arguments: object) -> Answer:
    """``augcl("train", "--epochs", 2)`` does what the shell command of that name does."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["augcl", *map(str, arguments)])
        patch.setattr(warnings, "showwarning", warnings.showwarning)  # main sets its own
        patch.setattr(typer.main, "get_command", get_command)
        with pytest.raises(SystemExit) as stop:
            main()
    return Answer(stop.value.code, out.getvalue(), err.getvalue())


@pytest.fixture(name="augcl", scope="session")
def augcl_() -> Callable[..., Answer]:
    return augcl


@pytest.fixture(scope="session")
def succeeds() -> Callable[..., str]:
    """Run a command that must succeed, without a word on the error stream; gives its output."""

    def run(*arguments: object) -> str:
        answer = augcl(*arguments)
        assert (answer.code, answer.complaints) == (0, [])
        return answer.out

    return run


@pytest.fixture(scope="session")
def refused() -> Callable[..., str]:
    """Run a command that must be refused: exit code 2 and one line, which is given back."""

    def run(*arguments: object) -> str:
        answer = augcl(*arguments)
        assert (answer.code, answer.out) == (2, "")
        (line,) = answer.err.splitlines()
        assert line.startswith("augcl: ")
        return line.removeprefix("augcl: ")

    return run


@pytest.fixture(scope="session")
def run(tmp_path_factory, succeeds) -> Path:
    """The folder of a finished run; tests only read it."""
    folder = tmp_path_factory.mktemp("runs") / "first"
    given = (
        "--preset",
        "published",
        "--hardness",
        "augcl",
        "--epochs",
        2,
        "--seeds",
        2,
        "--jobs",
        1,
    )
    succeeds("train", "MUTAG", *given, "--out", folder)
    return folder


@pytest.fixture
def tu_set(tmp_path) -> Callable[..., Path]:
    """``tu_set(A="…")`` writes a small TU zip with some files changed (None: left out)."""

    def write(**changes: str | None) -> Path:
        path = tmp_path / "mine.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for part, text in (TU | changes).items():
                if text is not None:
                    archive.writestr(f"MINE/MINE_{part}.txt", text)
        return path

    return write
