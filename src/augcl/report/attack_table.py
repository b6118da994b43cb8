"""The paper's table of attacks: accuracy of victims by depth and pre-training, with intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from augcl.evaluation.statistics import wilson_interval
from augcl.experiments.attack_cells import DEPTHS, VICTIMS, AttackCell
from augcl.experiments.attacks import AttackSpec
from augcl.experiments.published import attack_accuracy
from augcl.report.findings import Findings
from augcl.report.grid import Grid
from augcl.report.request import Request

ROWS = {"clean": "Unattack", "RandSampling": "RandSampling"}
ROWS |= {"GradArgmax": "GradArgmax", "RLS2V": "RL-S2V"}
"""Our names of the rows, and the paper's."""

LAPTOP = {"epochs": 50, "updates": 1000}
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
    """One table per depth."""
    grids, sentences, data = [], [], {}
    for depth in DEPTHS:
        found = {victim: _counts(request, depth, victim) for victim in request.rows}
        found = {victim: rows for victim, rows in found.items() if rows}
        if not found:
            continue
        lines = [
            (row, *(_text(rows[row], _published(depth, row, v)) for v, rows in found.items()))
            for row in ROWS
            if all(row in rows for rows in found.values())
        ]
        grids.append(Grid(f"structure2vec of depth {depth}", ("", *found), tuple(lines)))
        sentences += _sentences(depth, found)
        data[str(depth)] = found
    if grids:
        schedule = _schedule(request)
        note = (
            "Accuracy in percent with its 95 % interval (Wilson), over all test graphs of all "
            "seeds; in parentheses the paper's, single runs. Victims trained for "
            f"{schedule['epochs']} epochs at most, the agent of RL-S2V with {schedule['updates']} "
            "updates (published: 1000 and 100,000)."
        )
        grids[-1] = replace(grids[-1], notes=(note,))
    return Findings(
        "attacks", grids, {"depths": data, "schedule": _schedule(request)}, {}, sentences
    )


def _schedule(request: Request) -> dict[str, int]:
    if request.epochs is None:
        return FULL
    return {**LAPTOP, "epochs": request.epochs}


def _spec(request: Request, depth: int, victim: str) -> AttackSpec:
    schedule = _schedule(request)
    return AttackSpec(
        depth=depth,
        pretraining=VICTIMS[victim],
        epochs=schedule["epochs"],
        updates=schedule["updates"],
    )


def _counts(request: Request, depth: int, victim: str) -> dict[str, dict[str, int]]:
    """Right answers of all test graphs of all seeds, by row."""
    cells = [AttackCell(_spec(request, depth, victim), s) for s in range(request.seeds or 20)]
    records = [record for cell in cells if (record := cell.read(request.out)) is not None]
    counts: dict[str, dict[str, int]] = {}
    for record in records:
        for row, one in {"clean": record["clean"], **record["attacks"]}.items():
            total = counts.setdefault(row, {"right": 0, "graphs": 0})
            total["right"] += one["right"]
            total["graphs"] += one["graphs"]
    return counts


def _published(depth: int, row: str, victim: str) -> float | None:
    return attack_accuracy(depth, ROWS[row], victim)


def _text(counts: dict[str, int], paper: float | None) -> str:
    low, high = wilson_interval(counts["right"], counts["graphs"])
    mean = 100 * counts["right"] / counts["graphs"]
    beside = "" if paper is None else f" ({paper:.2f})"
    return f"{mean:.2f} [{100 * low:.1f}, {100 * high:.1f}]{beside}"


def _sentences(depth: int, found: dict[str, Any]) -> list[str]:
    """Does hardness-aware pre-training help beyond noise? Intervals that do not overlap tell."""
    sentences = []
    for base in ("Original", "GraphCL"):
        for victim in ("ProGCL", "AUGCL"):
            if base not in found or victim not in found:
                continue
            better, worse = [], []
            for row in ROWS:
                if row not in found[base] or row not in found[victim]:
                    continue
                ours, theirs = (
                    wilson_interval(found[v][row]["right"], found[v][row]["graphs"])
                    for v in (victim, base)
                )
                better += [row] if ours[0] > theirs[1] else []
                worse += [row] if ours[1] < theirs[0] else []
            verdict = "not told apart from" if not better and not worse else "different from"
            parts = [f"better: {', '.join(better)}"] if better else []
            parts += [f"worse: {', '.join(worse)}"] if worse else []
            details = f" ({'; '.join(parts)})" if parts else ", within noise"
            sentences.append(f"Depth {depth}: {victim} is {verdict} {base}{details}.")
    return sentences
