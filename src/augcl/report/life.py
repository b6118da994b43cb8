"""Is the uncertainty model alive? The part of docs/RESULTS.md that tells."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from augcl.experiments import collapse, liveness
from augcl.experiments.cells import read_record
from augcl.experiments.collapse import Fit
from augcl.experiments.graph_classification import DATASETS
from augcl.experiments.published import REWARDS
from augcl.report.grid import Grid
from augcl.report.readings import STATES

COLLAPSE = """\
## When does the uncertainty model learn?

Plain GraphCL for 20 epochs with several seeds; after each training one fit for every combination
of settings, with 128 units, ten passes over all pairs, learning rate 0.01, no warm-up and no
restart, as published. *Batch norm*: the encoder uses the statistics of each batch, or its running
averages, while the pairs of the fit are embedded."""
TEXT = """\
## Is the uncertainty model alive?

After 20 epochs of GraphCL, one fit per reward with the default settings. *Agreement*: share of
pairs whose group the model names rightly; in parentheses the share of the larger group. *w*: mean
weight of candidates with another label (true negatives) and with the anchor's label (false ones);
the paper's first figure claims the former to be larger."""


def life_section(folder: Path) -> str:
    """Vital signs by reward, and which settings let the model learn."""
    vital = _vital_signs(folder)
    parts = [TEXT, vital.markdown()] if vital.rows else []
    tables = [table for dataset in DATASETS if (table := _collapse(folder, dataset))]
    return "\n\n".join([*parts, *([COLLAPSE, *tables] if tables else [])])


def _vital_signs(folder: Path) -> Grid:
    rows = [
        (
            dataset,
            f"{fit['reward']:.1f}",
            fit["state"],
            f"{fit['uncertainty_mean']:.3f} ± {fit['uncertainty_std']:.3f}",
            f"{fit['weight_std']:.2f}",
            f"{100 * fit['near_one']:.1f} %",
            f"{100 * fit['agreement']:.1f} % ({100 * fit['majority']:.1f} %)",
            f"{fit['weight_true_negatives']:.3f}",
            f"{fit['weight_false_negatives']:.3f}",
        )
        for dataset in DATASETS
        for fit in _fits(folder, dataset)
    ]
    header = (
        "",
        "reward o",
        "state",
        "u",
        "std of w",
        "w within 1 % of 1",
        "agreement (majority)",
        "w, true",
        "w, false",
    )
    return Grid("One fit per reward", header, tuple(rows))


def _fits(folder: Path, dataset: str) -> list[dict[str, Any]]:
    found = read_record(folder / liveness.FOLDER / f"{dataset}.json")
    return [] if found is None else found["fits"]


def _collapse(folder: Path, dataset: str) -> str:
    """How many fits of each combination were alive, by reward, and what the inputs decide."""
    counts, trainings = collapse.counts(folder, dataset)
    fits = [fit for fit in collapse.every_fit() if fit.name in counts]
    if not fits:
        return ""
    rows = []
    for alike in zip(*[iter(fits)] * len(REWARDS), strict=True):  # they differ in the reward only
        found = [counts[fit.name] for fit in alike]
        rows.append(
            (
                ", ".join(alike[0][:-1]),
                *(" / ".join(str(count[state]) for state in STATES) for count in found),
            )
        )
    notes = (
        f"{trainings} trainings; fits that are {', '.join(STATES)}.",
        *_by_inputs(fits, counts),
    )
    header = ("inputs, clusters of, optimiser, loss, batch norm", *(f"o = {o}" for o in REWARDS))
    return Grid(f"{dataset}: states by settings", header, tuple(rows), notes).markdown()


def _by_inputs(fits: list[Fit], counts: dict[str, Counter[str]]) -> list[str]:
    sentences = []
    for rewards in (REWARDS[:1], REWARDS[2:]):
        shares = []
        for inputs in ("unit", "raw"):
            those = [counts[f.name] for f in fits if f.inputs == inputs and f.reward in rewards]
            alive, every = sum(c["alive"] for c in those), sum(c.total() for c in those)
            shares.append(f"{alive} of {every} fits with {inputs} inputs")
        span = f"{rewards[0]}" if len(rewards) == 1 else f"{rewards[0]} to {rewards[-1]}"
        sentences.append(f"At o = {span}, {' and '.join(shares)} are alive.")
    return sentences
