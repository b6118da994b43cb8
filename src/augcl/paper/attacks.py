"""The paper's table of attacks: train a victim, attack it, compare the accuracies."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from augcl.attacks import RLS2V, Attack, GradArgmax, RandSampling
from augcl.attacks.classifier import Structure2VecClassifier
from augcl.attacks.graph_attack import predicted
from augcl.data.generators import component_sets
from augcl.data.graph import GraphSet
from augcl.errors import one_of
from augcl.evaluation.statistics import paired_difference, wilson_interval
from augcl.files import write_json
from augcl.methods.recipes import chosen_hardness, get_recipe, left_to_recipe
from augcl.paper.cells import clear_work, digest, work_folder
from augcl.paper.grid import Grid, Outcome
from augcl.paper.published import attack_accuracy
from augcl.paper.records import cell_file
from augcl.paper.study import Study
from augcl.runs.recommend import Scores
from augcl.runs.rows_page import KINDS, Row
from augcl.runs.run import hardness_settings, one_thread, versions
from augcl.training.method import plain_settings

PRETRAININGS: dict[str, dict[str, Any]] = {
    "none": {},
    "graphcl": {"pretrain": True, "hardness": "none"},
    "progcl": {"pretrain": True, "hardness": "progcl"},
    "augcl": {"pretrain": True, "hardness": "augcl"},
}
"""Settings of the victim for each column of the paper's table."""

ATTACKS: dict[str, type[Attack]] = {
    "RandSampling": RandSampling,
    "GradArgmax": GradArgmax,
    "RLS2V": RLS2V,
}


@dataclass(frozen=True)
class AttackSpec:
    """Settings of a cell, without the seed.

    Parameters
    ----------
    size : {"15-20", "40-50", "90-100"}
        Range of the number of nodes of a graph.
    depth : int
        Depth of the victim.
    pretraining : {"none", "graphcl", "progcl", "augcl"}
    recipe : {"default", "authors", "paper"}
        Settings of victim and attacks; "paper" changes only the hardness of the pre-training.
    epochs : int
        Training epochs of the victim; published: up to 1000.
    per_class : int
        Graphs of each class, a tenth of them for testing; published: 5000.
    budget : int
        Largest number of edges changed in each graph.
    changes : {"add", "delete", "both"}
    updates : int
        Updates of the agent of RL-S2V; published: 100,000.
    agent_graphs : int
        Number of training graphs on which the agent learns (with "authors", the test graphs).
    data_seed : int
        Seed of the graphs, which all cells of a table share.
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
        """Return the untrained classifier."""
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
        """Return the attack `name`."""
        kind = ATTACKS[one_of(name, ATTACKS, "attack")]
        own: dict[str, Any] = {"updates": self.updates, "progress": progress}
        recipe = "default" if self.recipe == "paper" else self.recipe  # "paper": only victims
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
    """Train the victim, evaluate it, attack it; return plain JSON values.

    Parameters
    ----------
    spec : AttackSpec
    seed : int
        Seed of the victim and of the attacks.
    attacks : names of attacks
    folder : path, optional
        Folder for the checkpoints of victim and agent; a stopped cell continues from them.

    Returns
    -------
    dict
        ``spec``, ``seed``, ``victim`` (settings, best epoch), ``clean``, ``attacks`` by name and
        ``seconds``. Each accuracy is a dict of ``accuracy``, ``right``, ``graphs`` and the 95 %
        interval ``low`` to ``high``; for an attack also the total number of changed ``edges``.

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
        test=test if victim.selects_on_test else None,
        folder=place and place / "victim",
        resume=place is not None,
    )
    clock.lap("victim")
    found = {}
    for name in attacks:
        attack = spec.attack(name, seed, progress=progress)
        if isinstance(attack, RLS2V):
            own = attack.learns_on_attacked
            graphs = test if own else _some(train, spec.agent_graphs, seed)
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
    """Return the accuracy with its 95 % interval, correct predictions and number of graphs."""
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


DEPTHS = (2, 3, 4)
VICTIMS = {"Original": "none", "GraphCL": "graphcl", "ProGCL": "progcl", "AUGCL": "augcl"}
"""The paper's name of each column, by our name of the pre-training."""


@dataclass(frozen=True)
class AttackCell:
    """One victim with one seed under all three attacks; stored like any other cell."""

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
        victim.check()
        hardness = chosen_hardness(victim.hardness, get_recipe(victim.recipe))
        decides = digest(
            {
                **asdict(self.spec),
                "victim": _given(victim, victim.settings()) | {"view": victim.view},
                "hardness": hardness_settings(hardness),
                "attacks": [_attack_settings(self.spec.attack(name, 0)) for name in ATTACKS],
            }
        )
        label = f"depth-{self.spec.depth}+{self.spec.pretraining}-{decides}"
        return cell_file(out, f"components-{self.spec.size}", label, self.seed)

    def compute(self, out: Path, data_dir: str | None) -> None:
        """Train and attack on one thread; continue a stopped cell from its checkpoints."""
        one_thread()
        path = self.path(out)
        record = attack_table_cell(self.spec, self.seed, folder=work_folder(path), progress=False)
        write_json(path, {**record, "versions": versions()})
        clear_work(path)


def _attack_settings(attack: Attack) -> dict[str, Any]:
    settings: dict[str, Any] = plain_settings(attack)
    return {**settings, "params": _given(attack, settings["params"])}


def _given(method: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings without those that the recipe decides."""
    left = left_to_recipe(method)
    return {name: value for name, value in settings.items() if name not in left}


ROWS = {
    "clean": "Unattack",
    "RandSampling": "RandSampling",
    "GradArgmax": "GradArgmax",
    "RLS2V": "RL-S2V",
}
"""The paper's name of each row, by our name."""
SHOWN = {**ROWS, "clean": "clean"}
"""Names of the rows in the printed table."""

LAPTOP = {"epochs": 100, "updates": 3000}
FULL = {"epochs": 1000, "updates": 100_000}


def attack_cells(study: Study) -> list[AttackCell]:
    """Return the cells of all victims; published schedule if the study has no epochs.

    The study's `options` are the "depth" of the victims (all three if there is none) and the
    "updates" of the agent of RL-S2V.
    """
    return [
        AttackCell(_spec(study, depth, victim), seed)
        for depth in _depths(study)
        for victim in study.rows
        for seed in range(study.seeds or 1)
    ]


def attack_table(study: Study) -> Outcome:
    """Return one table per depth, and whether hardness-aware pre-training helps beyond noise."""
    found = {depth: _found(study, depth) for depth in _depths(study)}
    found = {depth: victims for depth, victims in found.items() if victims}
    grids = [_grid(depth, victims) for depth, victims in found.items()]
    schedule = _schedule(study)
    if grids:
        seeds = {rows["clean"].seeds for victims in found.values() for rows in victims.values()}
        note = (
            "Accuracy in percent with its 95 % interval (Wilson, over the distinct test graphs: it "
            "covers the choice of the test graphs, not the randomness of the training), "
            f"{_count(seeds)}; in parentheses the paper's accuracy, from single runs. Victims with "
            "two trainings or more are compared by a paired t-test over trainings, which covers "
            "that randomness, others by these intervals. Victims were "
            f"trained for at most {schedule['epochs']} epochs, the agent of RL-S2V with "
            f"{schedule['updates']} updates (published: 1000 and 100,000)."
        )
        grids[-1] = replace(grids[-1], notes=(note,))
    data = {
        str(depth): {
            victim: {row: asdict(one) for row, one in rows.items()}
            for victim, rows in victims.items()
        }
        for depth, victims in found.items()
    }
    comparisons = _comparisons(found)
    return Outcome(
        study.named("attacks"),
        grids,
        {"depths": data, "schedule": schedule, "comparisons": comparisons},
        {},
        [_sentence(name, one) for name, one in comparisons.items()],
        [row for depth in found for row in measured_victims(study, depth)],
    )


def measured_victims(study: Study, depth: int) -> list[Row]:
    """Return every victim without an attack and under each, for the page."""
    rows = []
    for attack, victim in product(ROWS, study.rows):
        records = study.records(AttackCell(_spec(study, depth, victim), 0))
        if not records:
            continue
        share = _share(attack, records)
        seconds = [r["seconds"]["victim"] for r in records.values() if "seconds" in r]
        scores = Scores(
            np.array(list(share.accuracies.values()))[:, None],
            level="node",  # compared over trainings, which have the test graphs in common
            protocol=f"{share.graphs} test graphs; bars: Wilson intervals over these graphs",
            training=float(np.median(seconds)) if seconds else None,
        )
        first = next(iter(records.values()))
        paper = attack_accuracy(depth, ROWS[attack], victim)
        row = Row(
            victim,
            f"structure2vec of depth {depth}, {SHOWN[attack]}",
            scores,
            None,
            settings={part: first[part] for part in ("spec", "victim") if part in first},
            published=None if paper is None else (paper, None),
            kind=KINDS[3] if VICTIMS[victim] in ("progcl", "augcl") else KINDS[2],
            interval=share.interval,
        )
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Share:
    """The accuracy of every trained victim, by seed, on the same test graphs."""

    accuracies: dict[int, float]
    graphs: int

    @property
    def seeds(self) -> int:
        return len(self.accuracies)

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.accuracies.values())))

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.mean * self.graphs, self.graphs)

    def against(self, other: Share) -> str:
        """Return "better", "worse", or "" if the difference is within noise."""
        common = sorted(self.accuracies.keys() & other.accuracies.keys())
        if len(common) > 1:
            ours, theirs = ([one.accuracies[seed] for seed in common] for one in (self, other))
            tested = paired_difference(ours, theirs, test_to_train=0)
            low, high = tested.low, tested.high
        else:
            low = self.interval[0] - other.interval[1]
            high = self.interval[1] - other.interval[0]
        return "better" if low > 0 else "worse" if high < 0 else ""


def _count(seeds: set[int]) -> str:
    if seeds == {1}:
        return "one trained victim each"
    return f"mean of {'–'.join(map(str, sorted({min(seeds), max(seeds)})))} trained victims"


def _depths(study: Study) -> tuple[int, ...]:
    return (study.options["depth"],) if "depth" in study.options else DEPTHS


def _schedule(study: Study) -> dict[str, Any]:
    usual = FULL if study.epochs is None else {**LAPTOP, "epochs": study.epochs}
    return {**usual, "updates": study.options.get("updates", usual["updates"])}


def _spec(study: Study, depth: int, victim: str) -> AttackSpec:
    # The paper's text says nothing about victims without AUGCL: share those of the default.
    shared = study.recipe == "paper" and victim != "AUGCL"
    recipe = "default" if shared else study.recipe
    return AttackSpec(depth=depth, pretraining=VICTIMS[victim], recipe=recipe, **_schedule(study))


def _found(study: Study, depth: int) -> dict[str, dict[str, Share]]:
    """Return the measured accuracies by victim and row."""
    found = {}
    for victim in study.rows:
        every = study.records(AttackCell(_spec(study, depth, victim), 0))
        if every:
            found[victim] = {row: _share(row, every) for row in ROWS}
    return found


def _share(row: str, found: dict[int, dict[str, Any]]) -> Share:
    every = {seed: r["clean"] if row == "clean" else r["attacks"][row] for seed, r in found.items()}
    graphs = next(iter(every.values()))["graphs"]
    return Share({seed: one["right"] / graphs for seed, one in every.items()}, graphs)


def _grid(depth: int, victims: dict[str, dict[str, Share]]) -> Grid:
    lines = [
        (
            SHOWN[row],
            *(_text(rows[row], attack_accuracy(depth, paper, v)) for v, rows in victims.items()),
        )
        for row, paper in ROWS.items()
    ]
    return Grid(f"structure2vec of depth {depth}", ("", *victims), tuple(lines))


def _text(share: Share, paper: float | None) -> str:
    low, high = share.interval
    beside = "" if paper is None else f" ({paper:.2f})"
    return f"{100 * share.mean:.2f} [{100 * low:.1f}, {100 * high:.1f}]{beside}"


def _comparisons(found: dict[int, dict[str, dict[str, Share]]]) -> dict[str, dict[str, Any]]:
    """List where hardness-aware pre-training is better or worse beyond noise."""
    comparisons = {}
    for base, victim in product(("Original", "GraphCL"), ("ProGCL", "AUGCL")):
        outcomes = {
            f"{SHOWN[row]} at depth {depth}": victims[victim][row].against(victims[base][row])
            for depth, victims in found.items()
            if base in victims and victim in victims
            for row in ROWS
        }
        if outcomes:
            comparisons[f"{victim} against {base}"] = {
                "pairs": len(outcomes),
                **{
                    kind: [which for which, outcome in outcomes.items() if outcome == kind]
                    for kind in ("better", "worse")
                },
            }
    return comparisons


def _sentence(name: str, found: dict[str, Any]) -> str:
    """Return a sentence that says whether this pre-training helps."""
    parts = [f"{kind} in {', '.join(found[kind])}" for kind in ("better", "worse") if found[kind]]
    verdict = " and ".join(parts) + ", else" if parts else "all"
    return f"{name}, {found['pairs']} comparisons: {verdict} within noise."
