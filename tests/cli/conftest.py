"""The command line, run inside the test process: importing torch anew would cost seconds a test."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from augcl.cli.main import main


@dataclass(frozen=True)
class Answer:
    """What a command said, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def augcl(monkeypatch, capfd) -> Callable[..., Answer]:
    """``augcl("train", "--epochs", 2)`` is what the shell command of that name does."""

    def run(*arguments: object) -> Answer:
        with monkeypatch.context() as patch, warnings.catch_warnings():
            patch.setattr(sys, "argv", ["augcl", *map(str, arguments)])
            patch.setattr(warnings, "showwarning", warnings.showwarning)
            capfd.readouterr()
            with pytest.raises(SystemExit) as stop:
                main()
        said = capfd.readouterr()
        return Answer(stop.value.code, said.out, said.err)

    return run


@pytest.fixture
def refused(augcl) -> Callable[..., str]:
    """Run a command that must be refused: exit code 2 and one line, which is given back."""

    def run(*arguments: object) -> str:
        answer = augcl(*arguments)
        assert (answer.code, answer.out) == (2, "")
        lines = answer.err.splitlines()
        assert len(lines) == 1, lines
        assert lines[0].startswith("augcl: ")
        assert "Traceback" not in lines[0]
        return lines[0]

    return run
