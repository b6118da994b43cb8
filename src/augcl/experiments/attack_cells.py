"""Cells of the table of attacks: a victim by depth and pre-training, and what attacks leave."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from augcl.experiments.attacks import ATTACKS, AttackSpec, attack_table_cell
from augcl.experiments.cells import FOLDER, clear_work, digest, work_folder
from augcl.experiments.run import decisive_settings, one_thread, versions
from augcl.files import write_json
from augcl.training.method import plain_settings

DEPTHS = (2, 3, 4)
VICTIMS = {"Original": "none", "GraphCL": "graphcl", "ProGCL": "progcl", "AUGCL": "augcl"}
"""The paper's columns, by our names of the pre-training."""


@dataclass(frozen=True)
class AttackCell:
    """One victim with one seed, attacked in all three ways; a file like any other cell."""

    spec: AttackSpec
    seed: int

    @property
    def name(self) -> str:
        return f"victim of depth {self.spec.depth}, {self.spec.pretraining}, seed {self.seed}"

    @property
    def order(self) -> tuple[Any, ...]:
        return (-self.spec.epochs, -self.spec.depth, self.seed)

    def path(self, out: Path) -> Path:
        victim = self.spec.victim(0)
        victim._start()
        decides = digest(
            {
                **asdict(self.spec),
                "victim": victim.settings(),
                "hardness": decisive_settings(victim.hardness_),
                "attacks": [plain_settings(self.spec.attack(name, 0)) for name in ATTACKS],
            }
        )
        label = f"depth-{self.spec.depth}+{self.spec.pretraining}-{decides}"
        return out / FOLDER / f"components-{self.spec.size}" / label / f"seed-{self.seed}.json"

    def compute(self, out: Path, data_dir: str | None) -> None:
        """Train and attack on one thread; a stopped cell goes on where it was."""
        one_thread()
        path = self.path(out)
        record = attack_table_cell(self.spec, self.seed, folder=work_folder(path), progress=False)
        write_json(path, {**record, "versions": versions()})
        clear_work(path)
