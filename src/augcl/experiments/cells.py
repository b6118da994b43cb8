"""Cells of tables: one training with one seed, kept in one small file, computed once.

The file's place is a digest of everything that decides its content, so that tables share cells,
and a changed setting is another cell.
"""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from augcl.data.catalogue import known_name
from augcl.errors import InputError
from augcl.experiments.run import Spec, one_thread, run
from augcl.files import remove_temporary, write_json
from augcl.hardness import UndefinedAlphaError
from augcl.training.method import plain_settings

FOLDER = "cells"


@dataclass(frozen=True)
class Cell:
    """What is trained and judged; `data` is a hash of data that have no published name."""

    spec: Spec
    seed: int
    data: str | None = None

    @property
    def name(self) -> str:
        """Short, for people: GraphCL+dcl on MUTAG, seed 0."""
        return f"{_label(self.spec)} on {Path(self.spec.dataset).name}, seed {self.seed}"

    @property
    def order(self) -> tuple[Any, ...]:
        """The costliest first."""
        spec = self.spec
        return (spec.hardness == "none", -spec.all_epochs, spec.hardness, self.seed)

    def path(self, out: Path) -> Path:
        label = f"{_label(self.spec)}-{digest({**self.spec.decides(), 'data': self.data})}"
        name = known_name(self.spec.dataset) or Path(self.spec.dataset).name
        dataset = re.sub(r"[^\w.-]+", "_", name)
        return out / FOLDER / dataset / label / f"seed-{self.seed}.json"

    def compute(self, out: Path, data_dir: str | None) -> None:
        """Train and judge on one thread.

        A training of nodes, which may take an hour, goes on where a stopped one was.
        """
        one_thread()
        work = work_folder(self.path(out)) if self.spec.level == "node" else None
        try:
            record = run(
                self.spec, self.seed, data_dir=data_dir, progress=False, folder=work, resume=True
            ).record
        except UndefinedAlphaError as error:  # a finding, and computing it again would not help
            facts = {"spec": asdict(self.spec), "seed": self.seed, "accuracy": None}
            hardness = plain_settings(self.spec.hardness_object())
            record = {**facts, "hardness_settings": hardness, "undefined": str(error)}
        write_json(self.path(out), record)
        clear_work(self.path(out))

    def with_seed(self, seed: int) -> Cell:
        return replace(self, seed=seed)


def work_folder(path: Path) -> Path:
    """Where the training of the cell with that file keeps what it needs to go on."""
    return path.with_suffix("")


def clear_work(path: Path) -> None:
    """Remove the work folder of a finished cell, unless a file of somebody else is in it."""
    work = work_folder(path)
    for folder in (*work.glob("*/"), work):
        remove_temporary(folder)
        for name in ("checkpoint.safetensors", "metrics.jsonl"):
            (folder / name).unlink(missing_ok=True)
        with suppress(OSError):  # not there, or somebody else's file is in it
            folder.rmdir()


def digest(decides: Any) -> str:
    """A short hash of plain JSON values."""
    text = json.dumps(decides, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def read_record(path: Path, cure: str = "run this again") -> dict[str, Any] | None:
    """What a file of results holds, if it is there; `cure` is what to do if it is damaged."""
    if not path.exists():
        return None
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}): delete it and {cure}") from None
    return record


def records(path: Path) -> dict[int, dict[str, Any]]:
    """The finished records beside `path`, the file of any seed, by seed."""
    files = path.parent.glob("seed-*.json")
    found = {int(file.stem.removeprefix("seed-")): read_record(file) for file in files}
    return {seed: record for seed, record in sorted(found.items()) if record is not None}


def _label(spec: Spec) -> str:
    hardness = "" if spec.hardness == "none" else f"+{spec.hardness}"
    return f"{spec.method}{hardness}"
