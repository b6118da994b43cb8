"""The paper's table of attacks: accuracy of victims by depth and pre-training, with intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from augcl.evaluation.statistics import wilson_interval
from augcl.experiments.attack_cells import DEPTHS, VICTIMS, AttackCell
from augcl.experiments.attacks import AttackSpec
from augcl.experiments.published import attack_accuracy
from augcl.report.findings import Findings
from augcl.report.grid import Grid
from augcl.report.request import Request

ROWS = {
    "clean": "Unattack",
    "RandSampling": "RandSampling",
    "GradArgmax": "GradArgmax",
    "RLS2V": "RL-S2V",
}
"""Our names of the rows, and the paper's."""
SHOWN = {**ROWS, "clean": "clean"}
"""What a reader sees of them."""

LAPTOP = {"epochs": 100, "updates": 3000}
FULL = {"epochs": 1000, "updates": 100_000}


def attack_cells(request: Request) -> list[AttackCell]:
    """All victims; the published schedule if the request leaves the epochs open."""
    return [
        AttackCell(_spec(request, depth, victim), seed)
        for depth in DEPTHS
        for victim in request.rows
        for seed in range(request.seeds or 1)
    ]


def attack_table(request: Request) -> Findings:
    """One table per depth, and whether hardness-aware pre-training helps beyond noise."""
    found = {depth: _found(request, depth) for depth in DEPTHS}
    found = {depth: victims for depth, victims in found.items() if victims}
    grids = [_grid(depth, victims) for depth, victims in found.items()]
    schedule = _schedule(request)
    if grids:
        seeds = {rows["clean"].seeds for victims in found.values() for rows in victims.values()}
        note = (
            "Accuracy in percent with its 95 % interval (Wilson, of the distinct test graphs: what "
            "other graphs would change, not what another training would), "
            f"{_count(seeds)}; in parentheses the paper's, single runs. Victims trained for "
            f"{schedule['epochs']} epochs at most, the agent of RL-S2V with {schedule['updates']} "
            "updates (published: 1000 and 100,000)."
        )
        grids[-1] = replace(grids[-1], notes=(note,))
    data = {
        str(depth): {
            victim: {row: asdict(one) for row, one in rows.items()}
            for victim, rows in victims.items()
        }
        for depth, victims in found.items()
    }
    name = request.named("attacks")
    return Findings(name, grids, {"depths": data, "schedule": schedule}, {}, _sentences(found))


@dataclass(frozen=True)
class Share:
    """Right answers out of the distinct test graphs, the mean of some victims."""

    right: float
    graphs: int
    seeds: int

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.right, self.graphs)


def _count(seeds: set[int]) -> str:
    if seeds == {1}:
        return "one trained victim each"
    return f"mean of {'–'.join(map(str, sorted({min(seeds), max(seeds)})))} trained victims"


def _schedule(request: Request) -> dict[str, Any]:
    if request.epochs is None:
        return FULL
    return {**LAPTOP, "epochs": request.epochs}


def _spec(request: Request, depth: int, victim: str) -> AttackSpec:
    # The text says nothing of victims without AUGCL: those of the default serve both.
    shared = request.recipe == "paper" and victim != "AUGCL"
    recipe = "default" if shared else request.recipe
    return AttackSpec(depth=depth, pretraining=VICTIMS[victim], recipe=recipe, **_schedule(request))


def _found(request: Request, depth: int) -> dict[str, dict[str, Share]]:
    """Of each victim that was measured, by row."""
    found = {}
    for victim in request.rows:
        every = request.records(AttackCell(_spec(request, depth, victim), 0)).values()
        if every:
            found[victim] = {row: _share(row, every) for row in ROWS}
    return found


def _share(row: str, found: Iterable[dict[str, Any]]) -> Share:
    every = [r["clean"] if row == "clean" else r["attacks"][row] for r in found]
    right = sum(one["right"] for one in every) / len(every)
    return Share(right, every[0]["graphs"], len(every))


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
    mean = 100 * share.right / share.graphs
    return f"{mean:.2f} [{100 * low:.1f}, {100 * high:.1f}]{beside}"


def _sentences(found: dict[int, dict[str, dict[str, Share]]]) -> list[str]:
    """Does hardness-aware pre-training help? Intervals that do not overlap tell."""
    sentences = []
    for base, victim in product(("Original", "GraphCL"), ("ProGCL", "AUGCL")):
        pairs = [
            (
                f"{SHOWN[row]} at depth {depth}",
                victims[victim][row].interval,
                victims[base][row].interval,
            )
            for depth, victims in found.items()
            if base in victims and victim in victims
            for row in ROWS
        ]
        better = [where for where, ours, theirs in pairs if ours[0] > theirs[1]]
        worse = [where for where, ours, theirs in pairs if ours[1] < theirs[0]]
        parts = [f"better in {', '.join(better)}"] if better else []
        parts += [f"worse in {', '.join(worse)}"] if worse else []
        verdict = " and ".join(parts) + ", else" if parts else "all"
        if pairs:
            sentences.append(
                f"{victim} against {base}, {len(pairs)} comparisons: {verdict} within noise."
            )
    return sentences
