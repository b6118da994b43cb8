"""Check a finished run: its weights, its loss, its seeds, its embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from augcl.errors import ours
from augcl.evaluation.scoring import floor_text, written
from augcl.runs.cost import Finding
from augcl.runs.embedding_file import read_embeddings
from augcl.runs.seeds import collapses, read_metrics, read_result
from augcl.training.collapse import all_alike

Metrics = list[dict[str, Any]]
Curve = np.ndarray[Any, Any]

FEWEST = 4  # epochs that a straight line is fitted to
SURE = 3.0  # standard errors
WORTH = 0.01  # share of the loss; a smaller change does not count


def look_at_loss(metrics: Metrics) -> list[Finding]:
    """Report findings from metrics.jsonl, which holds the epochs of all seeds."""
    seeds = sorted({m["seed"] for m in metrics})
    if not seeds:
        what = "no epochs: nothing was trained"
        return [Finding("note", "loss", what, "right for a training-free method or --epochs 0")]
    curves = [[m for m in metrics if m["seed"] == seed] for seed in seeds]
    ends = [last_quarter(curve) for curve in curves]
    still = [seed for seed, end in zip(seeds, ends, strict=True) if trend(end) < 0]
    rising = [seed for seed, end in zip(seeds, ends, strict=True) if trend(end) > 0]
    findings = [] if all(fell(start(curve)) for curve in curves) else [_never_fell(curves)]
    if min(len(end) for end in ends) < FEWEST:
        what = f"{len(curves[0])} epochs are too few to see whether it has settled"
        return [*findings, Finding("note", "loss", what, "train for 20 epochs or more")]
    if rising:
        cure = "lower --lr; the embeddings are those of the last epoch"
        findings.append(Finding("warning", "loss", f"rises at the end{_of(rising, seeds)}", cure))
    if still:
        what = f"still falls in the last {len(ends[0])} epochs{_of(still, seeds)}"
        findings.append(Finding("note", "loss", what, "more --epochs may help"))
    if not findings:
        what = f"has settled: flat within its noise in the last {len(ends[0])} epochs"
        findings.append(Finding("ok", "loss", what))
    return findings


def last_quarter(curve: Metrics) -> Curve:
    """Return the losses of the last quarter of the epochs, or since the last fit of the weights.

    Other weights make another loss, so no line is fitted through both.

    >>> last_quarter([{"loss": float(i)} for i in range(16)]).tolist()
    [12.0, 13.0, 14.0, 15.0]
    """
    fits = [i for i, m in enumerate(curve) if "hardness" in m]
    first = max(len(curve) - max(len(curve) // 4, FEWEST), fits[-1] if fits else 0, 0)
    return np.array([m["loss"] for m in curve[first:]])


def start(curve: Metrics) -> Curve:
    """Return the losses of the epochs before the first weights."""
    fits = [i for i, m in enumerate(curve) if "hardness" in m]
    return np.array([m["loss"] for m in curve[: fits[0] if fits else len(curve)]])


def trend(losses: Curve) -> int:
    """Return -1 for falling, 1 for rising, 0 for neither: a fitted line's change against the noise.

    >>> trend(np.array([4.0, 3.0, 2.0, 1.0])), trend(np.array([1.0, 2.0, 1.0, 2.0, 1.0]))
    (-1, 0)
    """
    n = len(losses)
    if n < FEWEST:
        return 0
    steps = np.arange(n) - (n - 1) / 2
    slope = float(steps @ losses / (steps @ steps))
    noise = float(np.sqrt(np.sum((losses - losses.mean() - slope * steps) ** 2) / (n - 2)))
    change, error = slope * (n - 1), noise * (n - 1) / float(np.sqrt(steps @ steps))
    level = WORTH * float(np.abs(losses).mean())
    return int(np.sign(change)) if abs(change) > max(SURE * error, level) else 0


def fell(losses: Curve) -> bool:
    """Return whether the last loss is below the first; True for fewer than `FEWEST` epochs."""
    return len(losses) < FEWEST or losses[-1] < (1 - WORTH) * losses[0]


def _never_fell(curves: list[Metrics]) -> Finding:
    flat = next(start(curve) for curve in curves if not fell(start(curve)))
    what = f"never fell: {flat[0]:.3f} at first, {flat[-1]:.3f} before any weights"
    cure = "another --lr, or other --features: perhaps the data have nothing to separate"
    return Finding("warning", "loss", what, cure)


def _of(some: list[int], seeds: list[int]) -> str:
    if len(some) == len(seeds):
        return ""
    return f" for seed{'s' * (len(some) > 1)} {', '.join(map(str, some))}"


Weights = list[dict[str, Any] | None]

NEAR_ONE, SPREAD = 0.9, 0.01  # beyond these, the weights carry no information
LEARNED = 0.01  # least advantage over guessing the larger group
CURES = {
    "collapsed": "the loss is then the unweighted one: use --recipe default, or --hardness none, "
    "which costs less",
    "unlearned": "the uncertainty model has learned nothing: train for more --epochs, or set "
    "another reward, for instance --set hardness.reward=1.5",
}
GAP = 0.01  # smallest difference of mean weights that counts
FAR_OUT = 0.03  # accuracy; a seed nearer to the median is never an outlier


def look_at_run(folder: Path) -> list[Finding]:
    """Report findings on a folder that `augcl train` wrote."""
    with ours(folder, "train again"):
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
    """Report the seeds that learned nothing."""
    cure = "lower --lr, or train for more --epochs if the loss still falls"
    return [
        Finding("warning", "training", f"seed {seed} learned nothing: {why}", cure)
        for seed, why in collapsed.items()
    ]


def look_at_weights(hardness: str, weights: Weights) -> list[Finding]:
    """Report whether the weights of the negatives differ, and whether they follow the classes."""
    known = [w for w in weights if w]
    if hardness == "none":
        what = "none: every negative counts the same (--hardness none)"
        return [Finding("ok", "weights", what), *_mass(known)]
    if not any("weight_std" in w for w in known):
        if hardness != "augcl":
            what = f"{hardness} has no weights to check"
            return [Finding("ok", "weights", what), *_mass(known)]
        cure = "train for more epochs: the first half of them is a warm-up"
        return [Finding("note", "weights", "the weights were never used", cure)]
    return [*_alive(known), *_agreement(known), *_class_gap(known), *_mass(known)]


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
    few = "fit_left_out" in w  # most weights are 1 on purpose
    spread = w.get("weight_std", 1.0) > SPREAD and (few or w.get("near_one", 0.0) < NEAR_ONE)
    return str(w.get("fit_state", "alive")) if spread else "collapsed"


def _agreement(known: list[dict[str, Any]]) -> list[Finding]:
    both = [w for w in known if "fit_agreement" in w and "fit_majority" in w]
    if not both:
        return []
    agreement, guess = _mean(both, "fit_agreement"), _mean(both, "fit_majority")
    what = (
        f"the uncertainty model names the group of {100 * agreement:.1f} % of the pairs correctly; "
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


def _mass(known: list[dict[str, Any]]) -> list[Finding]:
    """Report how much of the mass of the negatives is false: it decides, not their number."""
    plain = [w for w in known if "false_mass" in w]
    if not plain:
        return []
    share = _mean(plain, "false_mass")
    what = f"{100 * share:.1f} % of the mass of the negatives comes from false ones"
    both = [w for w in plain if "false_mass_weighted" in w]
    if not both:
        return [Finding("ok", "mass", what)]
    weighted = _mean(both, "false_mass_weighted")
    what += f", {100 * weighted:.1f} % with the weights"
    if share - weighted > GAP * share:
        return [Finding("ok", "mass", what)]
    cure = "compare with --hardness none: the weights do not lower it"
    return [Finding("note" if weighted <= share else "warning", "mass", what, cure)]


def look_at_accuracy(
    seeds: list[int], accuracy: dict[str, Any] | None, y: Any = None
) -> list[Finding]:
    """Report whether the accuracy beats guessing, and whether a seed is an outlier."""
    if accuracy is None:
        cure = "augcl evaluate on its embeddings.npz gives a score, if there are labels"
        return [Finding("note", "accuracy", "not evaluated", cure)]
    scoring = accuracy.get("scoring", "accuracy")
    if scoring != "accuracy":
        what = f"{written(scoring, accuracy['mean'])}; {floor_text(scoring, accuracy['floor'])}"
        return [Finding("ok", "score", what)]
    runs = np.array(accuracy["runs"])
    findings = []
    guess = _guess(y)
    what = f"{100 * runs.mean():.1f} %"
    if guess is not None:
        what += f"; guessing the largest class: {100 * guess:.1f} %"
    if guess is not None and runs.mean() <= guess + LEARNED:
        cure = "the embeddings do not separate the classes: try other --features or --augmentation"
        findings.append(Finding("warning", "accuracy", what, cure))
    else:
        findings.append(Finding("ok", "accuracy", what))
    return findings + look_at_seeds(seeds, runs)


def look_at_seeds(seeds: list[int], runs: np.ndarray[Any, Any]) -> list[Finding]:
    """Report seeds whose accuracy is far from the median."""
    if len(runs) < 3:
        what = f"only {len(runs)}: too few to estimate the spread"
        return [Finding("note", "seeds", what, "--seeds 5 shows the spread")]
    off = np.abs(runs - np.median(runs))
    far = off > max(FAR_OUT, 5 * float(np.median(off)))
    if not far.any():
        low, high = 100 * runs.min(), 100 * runs.max()
        return [Finding("ok", "seeds", f"none stands out: {low:.1f} to {high:.1f} %")]
    out = ", ".join(f"seed {seeds[i]} has {100 * runs[i]:.1f} %" for i in np.flatnonzero(far))
    what = f"{out}; the median is {100 * np.median(runs):.1f} %"
    cure = "look at its loss in report.html; more --seeds show how rare it is; do not drop it"
    return [Finding("warning", "seeds", what, cure)]


def look_at_embeddings(Z: np.ndarray[Any, Any]) -> list[Finding]:
    """Report embeddings that are all the same."""
    if not all_alike(torch.from_numpy(Z)):
        return []
    cure = "lower --lr, or give the nodes features that differ"
    return [Finding("warning", "embeddings", "all the same: the encoder collapsed", cure)]


def _guess(y: Any) -> float | None:
    if y is None or y.ndim > 1 or (y.dtype.kind == "f" and not np.all(y == np.round(y))):
        return None  # not classes
    known = y[y >= 0] if y.dtype.kind in "if" else y
    counts = np.unique(known, return_counts=True)[1]
    return float(counts.max() / counts.sum()) if len(counts) else None


def _mean(records: list[dict[str, Any]], key: str) -> float:
    return float(np.mean([record[key] for record in records if key in record]))
