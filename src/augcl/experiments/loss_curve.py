"""Does the loss still fall at the end of a training, has it settled, or does it rise?"""

from __future__ import annotations

from typing import Any

import numpy as np

from augcl.experiments.finding import Finding

Metrics = list[dict[str, Any]]
Curve = np.ndarray[Any, Any]

FEWEST = 4  # epochs that make a line
SURE = 3.0  # standard errors
WORTH = 0.01  # share of the loss, below which a change is none


def look_at_loss(metrics: Metrics) -> list[Finding]:
    """Findings from the lines of metrics.jsonl, of all seeds."""
    seeds = sorted({m["seed"] for m in metrics})
    if not seeds:
        what = "no epochs: this is the untrained encoder"
        return [Finding("note", "loss", what, "train for one epoch or more")]
    curves = [[m for m in metrics if m["seed"] == seed] for seed in seeds]
    ends = [last_quarter(curve) for curve in curves]
    still = [seed for seed, end in zip(seeds, ends, strict=True) if trend(end) < 0]
    rising = [seed for seed, end in zip(seeds, ends, strict=True) if trend(end) > 0]
    findings = [] if all(fell(start(curve)) for curve in curves) else [_never_fell(curves)]
    if min(len(end) for end in ends) < FEWEST:
        what = f"{len(curves[0])} epochs are too few to tell whether it has settled"
        return [*findings, Finding("note", "loss", what, "train for 20 epochs or more")]
    if rising:
        cure = "lower --lr; what is kept is the last epoch"
        findings.append(Finding("warning", "loss", f"rises at the end{_of(rising, seeds)}", cure))
    if still:
        what = f"still falls in the last {len(ends[0])} epochs{_of(still, seeds)}"
        findings.append(Finding("note", "loss", what, "more --epochs may help"))
    if not findings:
        what = f"has settled: flat within its noise in the last {len(ends[0])} epochs"
        findings.append(Finding("ok", "loss", what))
    return findings


def last_quarter(curve: Metrics) -> Curve:
    """The losses of the last quarter of the epochs, or since the weights were last fitted.

    With other weights it is another loss: one line through both would mean nothing.

    >>> last_quarter([{"loss": float(i)} for i in range(16)]).tolist()
    [12.0, 13.0, 14.0, 15.0]
    """
    fits = [i for i, m in enumerate(curve) if "hardness" in m]
    first = max(len(curve) - max(len(curve) // 4, FEWEST), fits[-1] if fits else 0, 0)
    return np.array([m["loss"] for m in curve[first:]])


def start(curve: Metrics) -> Curve:
    """The losses until the weights set in."""
    fits = [i for i, m in enumerate(curve) if "hardness" in m]
    return np.array([m["loss"] for m in curve[: fits[0] if fits else len(curve)]])


def trend(losses: Curve) -> int:
    """-1 falling, 1 rising, 0 neither: the change along a straight line, against the noise.

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
    """Whether it ends below where it began; of a few epochs nothing is said."""
    return len(losses) < FEWEST or losses[-1] < (1 - WORTH) * losses[0]


def _never_fell(curves: list[Metrics]) -> Finding:
    flat = next(start(curve) for curve in curves if not fell(start(curve)))
    what = f"never fell: {flat[0]:.3f} at first, {flat[-1]:.3f} before any weights"
    cure = "another --lr, or other --features: perhaps there is nothing to tell apart"
    return Finding("warning", "loss", what, cure)


def _of(some: list[int], seeds: list[int]) -> str:
    if len(some) == len(seeds):
        return ""
    return f" for seed{'s' * (len(some) > 1)} {', '.join(map(str, some))}"
