"""Is a finished run what it claims to be? Its weights, its loss, its seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from augcl.experiments.embedding_file import read_embeddings
from augcl.experiments.finding import Finding
from augcl.experiments.loss_curve import look_at_loss
from augcl.experiments.seeds import collapses, read_metrics, read_result
from augcl.training.collapse import all_alike

Weights = list[dict[str, Any] | None]

NEAR_ONE, SPREAD = 0.9, 0.01  # weights like this are those of a model that says nothing
LEARNED = 0.01  # by how much the agreement must beat the larger group
CURES = {
    "collapsed": "the loss is the plain one there: use --recipe default, or --hardness none at "
    "less cost",
    "unlearned": "it has learned nothing: train for more epochs, or with another --reward between "
    "1.5 and 1.9",
}
GAP = 0.01  # between mean weights, below which they are alike
FAR_OUT = 0.03  # of accuracy; nearer is no outlier, however alike the other seeds are


def look_at_run(folder: Path) -> list[Finding]:
    """Findings of the folder that `augcl train` wrote."""
    result = read_result(folder)
    stored = read_embeddings(folder / "embeddings.npz")
    return [
        *look_at_training(collapses(result)),
        *look_at_weights(result["hardness"], result["weights"]),
        *look_at_loss(read_metrics(folder)),
        *look_at_accuracy(result["seeds"], result["accuracy"], stored.y),
        *look_at_embeddings(stored.Z),
    ]


def look_at_training(collapsed: dict[int, str]) -> list[Finding]:
    """Which seeds learned nothing?"""
    cure = "lower --lr, or train for more --epochs if the loss still falls"
    return [
        Finding("warning", "training", f"seed {seed} learned nothing: {why}", cure)
        for seed, why in collapsed.items()
    ]


def look_at_weights(hardness: str, weights: Weights) -> list[Finding]:
    """Do the weights of the negatives say anything, and is it right?"""
    if hardness == "none":
        return [Finding("ok", "weights", "none: every negative counts the same (--hardness none)")]
    known = [w for w in weights if w]
    if not any("weight_std" in w for w in known):
        if hardness != "augcl":
            return [Finding("ok", "weights", f"{hardness} gives no weights to look at")]
        cure = "train for more epochs: the first half of them is a warm-up"
        return [Finding("note", "weights", "the weights never set in", cure)]
    return [*_alive(known), *_agreement(known), *_class_gap(known)]


def _alive(known: list[dict[str, Any]]) -> list[Finding]:
    seen = f"spread {_mean(known, 'weight_std'):.2f}"
    if any("near_one" in w for w in known):
        seen += f", {100 * _mean(known, 'near_one'):.0f} % of them within 1 % of 1"
    states = [_state(w) for w in known]
    if all(state == "alive" for state in states):
        return [Finding("ok", "weights", f"alive: {seen}")]
    counts = {state: states.count(state) for state in ("collapsed", "unlearned") if state in states}
    what = " and ".join(f"{state} in {n} of {len(known)} seeds" for state, n in counts.items())
    return [Finding("warning", "weights", f"{what}: {seen}", CURES[next(iter(counts))])]


def _state(w: dict[str, Any]) -> str:
    spread = w.get("weight_std", 1.0) > SPREAD and w.get("near_one", 0.0) < NEAR_ONE
    return str(w.get("fit_state", "alive")) if spread else "collapsed"


def _agreement(known: list[dict[str, Any]]) -> list[Finding]:
    both = [w for w in known if "fit_agreement" in w and "fit_majority" in w]
    if not both:
        return []
    agreement, guess = _mean(both, "fit_agreement"), _mean(both, "fit_majority")
    what = (
        f"the uncertainty model names the group of {100 * agreement:.1f} % of the pairs rightly; "
        f"guessing the larger group: {100 * guess:.1f} %"
    )
    if agreement > guess + LEARNED:
        return [Finding("ok", "partition", what)]
    return [Finding("warning", "partition", what, CURES["unlearned"])]


def _class_gap(known: list[dict[str, Any]]) -> list[Finding]:
    keys = ("weight_true_negatives", "weight_false_negatives")
    both = [w for w in known if all(key in w for key in keys)]
    if not both:
        return []
    true, false = (_mean(both, key) for key in keys)
    what = f"mean weight of true negatives {true:.3f}, of false ones {false:.3f}"
    if true - false > GAP:
        return [Finding("ok", "false negatives", f"they weigh less: {what}")]
    cure = "compare with --hardness none: these weights do not follow the classes"
    if false - true > GAP:
        return [Finding("warning", "false negatives", f"they weigh more: {what}", cure)]
    return [Finding("note", "false negatives", f"they weigh the same: {what}", cure)]


def look_at_accuracy(
    seeds: list[int], accuracy: dict[str, Any] | None, y: Any = None
) -> list[Finding]:
    """Is it better than a guess, and does a seed stand far out?"""
    if accuracy is None:
        cure = "augcl evaluate on its embeddings.npz gives a score, if there are labels"
        return [Finding("note", "accuracy", "not judged", cure)]
    runs = np.array(accuracy["runs"])
    findings = []
    guess = _guess(y)
    what = f"{100 * runs.mean():.1f} %"
    if guess is not None:
        what += f"; guessing the largest class: {100 * guess:.1f} %"
    if guess is not None and runs.mean() <= guess + LEARNED:
        cure = "nothing of the classes was learned: try other --features or --augmentation"
        findings.append(Finding("warning", "accuracy", what, cure))
    else:
        findings.append(Finding("ok", "accuracy", what))
    return findings + look_at_seeds(seeds, runs)


def look_at_seeds(seeds: list[int], runs: np.ndarray[Any, Any]) -> list[Finding]:
    """Seeds whose accuracy is far from the middle of all."""
    if len(runs) < 3:
        what = f"only {len(runs)}: no telling how far chance goes"
        return [Finding("note", "seeds", what, "--seeds 5 shows the spread")]
    off = np.abs(runs - np.median(runs))
    far = off > max(FAR_OUT, 5 * float(np.median(off)))
    if not far.any():
        low, high = 100 * runs.min(), 100 * runs.max()
        return [Finding("ok", "seeds", f"none stands out: {low:.1f} to {high:.1f} %")]
    out = ", ".join(f"seed {seeds[i]} has {100 * runs[i]:.1f} %" for i in np.flatnonzero(far))
    what = f"{out}; the middle of all is {100 * np.median(runs):.1f} %"
    cure = "look at its loss in report.html; more --seeds tell how rare it is; do not drop it"
    return [Finding("warning", "seeds", what, cure)]


def look_at_embeddings(Z: np.ndarray[Any, Any]) -> list[Finding]:
    """Do they differ at all?"""
    if not all_alike(torch.from_numpy(Z)):
        return []
    cure = "lower --lr, or give the nodes features that differ"
    return [Finding("warning", "embeddings", "all alike: the encoder collapsed", cure)]


def _guess(y: Any) -> float | None:
    if y is None:
        return None
    known = y[y >= 0] if y.dtype.kind in "if" else y
    counts = np.unique(known, return_counts=True)[1]
    return float(counts.max() / counts.sum()) if len(counts) else None


def _mean(records: list[dict[str, Any]], key: str) -> float:
    return float(np.mean([record[key] for record in records if key in record]))
