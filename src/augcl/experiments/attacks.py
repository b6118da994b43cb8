"""A cell of the table of attacks: one victim, its accuracy, and what each attack leaves of it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from augcl.attacks import RLS2V, Attack, GradArgmax, RandSampling
from augcl.attacks.victim import predicted
from augcl.data import GraphSet
from augcl.data.component_sets import component_sets
from augcl.errors import one_of
from augcl.evaluation.statistics import wilson_interval
from augcl.methods import Structure2VecClassifier

PRETRAININGS: dict[str, dict[str, Any]] = {
    "none": {},
    "graphcl": {"pretrain": True, "hardness": "none"},
    "progcl": {"pretrain": True, "hardness": "progcl"},
    "augcl": {"pretrain": True, "hardness": "augcl"},
}
"""By the columns of the paper's table: settings of the victim."""

ATTACKS: dict[str, type[Attack]] = {
    "RandSampling": RandSampling,
    "GradArgmax": GradArgmax,
    "RLS2V": RLS2V,
}


@dataclass(frozen=True)
class AttackSpec:
    """Everything that decides a cell, except the seed.

    Parameters
    ----------
    size : {"15-20", "40-50", "90-100"}
        Nodes of a graph.
    depth : int
        Of the victim.
    pretraining : {"none", "graphcl", "progcl", "augcl"}
    recipe : {"default", "authors", "paper"}
        Settings of victim and attacks; "paper" changes the hardness of the pre-training only.
    epochs : int
        Of the victim; published are up to 1000.
    per_class : int
        Graphs of each class, a tenth of them for testing; published are 5000.
    budget : int
        Edges changed in each graph, at most.
    changes : {"add", "delete", "both"}
    updates : int
        Of the agent of RL-S2V; published are 100,000.
    agent_graphs : int
        Training graphs on which that agent learns (under "authors" it is the test graphs).
    data_seed : int
        All cells of a table share their graphs.
    """

    size: str = "15-20"
    depth: int = 2
    pretraining: str = "none"
    recipe: str = "default"
    epochs: int = 100
    per_class: int = 5000
    budget: int = 1
    changes: str = "add"
    updates: int = 3000
    agent_graphs: int = 1500
    data_seed: int = 0

    def victim(self, seed: int, *, progress: bool = True) -> Structure2VecClassifier:
        """The classifier, untrained."""
        settings = PRETRAININGS[one_of(self.pretraining, PRETRAININGS, "pre-training")]
        return Structure2VecClassifier(
            depth=self.depth,
            recipe=self.recipe,
            epochs=self.epochs,
            random_state=seed,
            progress=progress,
            **settings,
        )

    def attack(self, name: str, seed: int, *, progress: bool = True) -> Attack:
        """The attack of that name."""
        kind = ATTACKS[one_of(name, ATTACKS, "attack")]
        own: dict[str, Any] = {"updates": self.updates, "progress": progress}
        recipe = "default" if self.recipe == "paper" else self.recipe  # it is about victims alone
        return kind(
            budget=self.budget,
            changes=self.changes,
            recipe=recipe,
            random_state=seed,
            **(own if kind is RLS2V else {}),
        )


def attack_table_cell(
    spec: AttackSpec,
    seed: int,
    *,
    attacks: Iterable[str] = ATTACKS,
    folder: str | Path | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Train the victim, judge it, attack it; plain JSON values.

    Parameters
    ----------
    spec : AttackSpec
    seed : int
        Of the victim and of the attacks.
    attacks : names of attacks
    folder : path, optional
        Where victim and agent keep checkpoints; a stopped cell goes on from them.

    Returns
    -------
    dict
        ``spec``, ``seed``, ``victim`` (settings, best epoch), ``clean``, ``attacks`` by name and
        ``seconds``. Each accuracy is a dict of ``accuracy``, ``right``, ``graphs`` and the 95 %
        interval ``low`` to ``high``; that of an attack tells ``edges`` changed in all.

    Examples
    --------
    >>> spec = AttackSpec(per_class=50, epochs=2)
    >>> cell = attack_table_cell(spec, 0, attacks=["RandSampling"], progress=False)
    >>> cell["clean"]["graphs"], sorted(cell["attacks"])
    (15, ['RandSampling'])
    """
    train, test = component_sets(spec.size, per_class=spec.per_class, seed=spec.data_seed)
    place = None if folder is None else Path(folder)
    clock = _Clock()
    victim = spec.victim(seed, progress=progress)
    victim.fit(
        train,
        test=test if spec.recipe == "authors" else None,
        folder=place and place / "victim",
        resume=place is not None,
    )
    clock.lap("victim")
    found = {}
    for name in attacks:
        attack = spec.attack(name, seed, progress=progress)
        if isinstance(attack, RLS2V):
            graphs = test if spec.recipe == "authors" else _some(train, spec.agent_graphs, seed)
            agent = place and place / "agent"
            attack.fit(victim, graphs, folder=agent, resume=place is not None)
        changed = attack.perturb(victim, test)
        edges = abs(changed.num_edges - test.num_edges) // 2 if spec.changes != "both" else None
        found[name] = {**accuracy_of(victim, changed), "edges": edges}
        clock.lap(name)
    return {
        "spec": asdict(spec),
        "seed": seed,
        "victim": {"settings": victim.settings(), "best_epoch": victim.best_epoch_},
        "clean": accuracy_of(victim, test),
        "attacks": found,
        "seconds": clock.seconds,
    }


def accuracy_of(victim: Structure2VecClassifier, graphs: GraphSet) -> dict[str, Any]:
    """Accuracy with its 95 % interval, right answers and number of graphs."""
    assert graphs.y is not None
    right = int((predicted(victim, graphs) == graphs.y.cpu().numpy()).sum())
    low, high = wilson_interval(right, len(graphs))
    return {
        "accuracy": right / len(graphs),
        "right": right,
        "graphs": len(graphs),
        "low": low,
        "high": high,
    }


def _some(graphs: GraphSet, count: int, seed: int) -> GraphSet:
    order = np.random.default_rng(seed).permutation(len(graphs))[:count]
    return graphs.select(np.sort(order))


class _Clock:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._since = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.seconds[name], self._since = now - self._since, now
