"""What to use on one's data: the rows of `augcl compare`, their costs, and a recommendation.

A row is a method with its settings. Rows are computed in the order in which they usually cost more.
The recommended row is the cheapest one, by measured seconds, whose score is not worse than the best
beyond noise.
"""

from __future__ import annotations

import importlib.util
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from augcl.checks import parameters
from augcl.data import GraphSet, NodeGraph
from augcl.data.catalogue import known_name
from augcl.errors import InputError, did_you_mean
from augcl.evaluation.scoring import NAMES
from augcl.evaluation.statistics import LEVEL, PairedDifference, paired_difference
from augcl.hardness import HARDNESS
from augcl.runs.cost import Plan, duration, estimate, short_run
from augcl.runs.models import METHODS, method_name
from augcl.runs.run import Spec
from augcl.training.estimator import Estimator

Floats = NDArray[np.float64]

# The rows

UNTRAINED = "untrained"
BESIDE = {"wl": "WLFeatures", "propagation": "Propagation", "morgan": "MorganFingerprints"}
"""Training-free methods that often stand beside a trained one, by their short names."""
TRAINING_FREE = ("RawFeatures", "Propagation", "WLFeatures", "MorganFingerprints")
WEIGHTED = ("dcl", "hcl", "progcl", "augcl")


def usual_rows(data: GraphSet | NodeGraph, base: str) -> list[str]:
    """Return the rows that suit the data, the cheapest first.

    >>> import augcl
    >>> usual_rows(augcl.load("MUTAG"), "GraphCL")[-2:]
    ['GraphCL+progcl', 'GraphCL+augcl']
    """
    weighted = [f"{base}+{hardness}" for hardness in WEIGHTED]
    if isinstance(data, GraphSet):
        molecules = data.smiles is not None and importlib.util.find_spec("rdkit") is not None
        free = ["WLFeatures", *(["MorganFingerprints"] if molecules else [])]
        kernel = [] if data.task == "multilabel" else ["WLKernel"]  # no protocol takes a kernel
        beside = [f"{base}+wl", *([f"{base}+morgan"] if molecules else [])]
        rows = [*free, UNTRAINED, *kernel, base, *beside, *weighted]
    else:
        plain = without_features(data)
        walks = plain and importlib.util.find_spec("gensim") is not None
        rows = [
            *([] if plain else ["RawFeatures"]),
            *("Propagation", UNTRAINED, base, f"{base}+propagation"),
            *(["Node2Vec"] if walks else []),
            *weighted,
        ]
    return sorted((row for row in rows if exists(row)), key=cost_rank)


def cost_rank(row: str) -> int:
    """Return when to compute a row: the earlier, the less it costs as a rule.

    >>> sorted(["GraphCL+dcl", "GraphCL", "WLKernel", "untrained", "RawFeatures"], key=cost_rank)
    ['RawFeatures', 'untrained', 'WLKernel', 'GraphCL', 'GraphCL+dcl']
    """
    method, *parts = row.split("+")
    if method == UNTRAINED or method in TRAINING_FREE:
        return int(method == UNTRAINED)
    return {"seconds": 2, "minutes": 3}.get(METHODS[method].cost, 6) + len(parts)


def without_features(graph: NodeGraph) -> bool:
    """Return whether all nodes have the same features, as nodes without any have."""
    x = graph.x
    return x.layout != torch.sparse_csr and bool((x == x[:1]).all())


def exists(row: str) -> bool:
    """Return whether this version has what a row needs."""
    method, *parts = row.split("+")
    beside = [BESIDE[part] for part in parts if part in BESIDE]
    return all(name in METHODS for name in [method, *beside] if name != UNTRAINED)


def row_name(text: str, level: str) -> str:
    """Return the name of a row that the user asks for, in any case.

    >>> row_name("graphcl+AUGCL", "graph"), row_name("wl", "graph")
    ('GraphCL+augcl', 'WLKernel')
    """
    method, *parts = (part.strip() for part in text.split("+"))
    if method.lower() == UNTRAINED and not parts:
        return UNTRAINED
    name = method_name(method, level)
    if METHODS[name].level != level:
        raise InputError(
            f"{name} embeds {METHODS[name].level}s, but this data set is for embeddings of "
            f"{level}s: choose another of augcl methods"
        )
    known = [*(h for h in HARDNESS if h != "none"), *BESIDE]
    for part in parts:
        if part.lower() not in known:
            hint = did_you_mean(part, known)
            raise InputError(f"--methods {text}: unknown part {part!r}: {hint}{', '.join(known)}")
    for several in (HARDNESS, BESIDE):
        given = [part for part in parts if part.lower() in several]
        if len(given) > 1:
            raise InputError(f"--methods {text}: a row has one of {' and '.join(given)}, not both")
    chosen = sorted((part.lower() for part in parts), key=lambda part: part in BESIDE)
    row = "+".join([name, *chosen])
    if not exists(row):
        raise InputError(f"--methods {text}: this version has no such row")
    return row


def spec_of(row: str, common: Spec) -> Spec:
    """Return the settings of a row; `common` are those of the plain base method.

    >>> spec = spec_of("GraphCL+dcl", Spec("MUTAG", hardness="none"))
    >>> spec.method, spec.hardness
    ('GraphCL', 'dcl')
    """
    if row == UNTRAINED:
        return replace(common, epochs=0)
    method, *parts = row.split("+")
    weights = [part for part in parts if part in HARDNESS]
    changes: dict[str, Any] = {"method": method, "hardness": weights[0] if weights else "none"}
    for part in parts:
        if part in BESIDE:
            changes["beside"] = BESIDE[part]
    spec = replace(common, **changes)
    return spec if method == common.method else replace(spec, options={}, augmentation=None)


def train_command(spec: Spec, out: str, *, data_dir: str | None = None) -> str:
    """Return the command that trains a row.

    >>> train_command(Spec("my data", method="GraphCL", hardness="none", epochs=None), "runs/mine")
    "augcl train 'my data' --method GraphCL --hardness none --out runs/mine"
    """
    known = parameters(METHODS[spec.method])
    plain = Spec(spec.dataset)
    words = ["augcl", "train", spec.dataset, "--method", spec.method]
    words += ["--hardness", spec.hardness] if "hardness" in known else []
    words += ["--beside", spec.beside] if spec.beside is not None else []
    words += ["--epochs", str(spec.epochs)] if spec.epochs is not None and "epochs" in known else []
    for name, value in spec.options.items():
        text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        words += ["--set", f"method.{name}={text}"]
    for name in ("features", "target", "task", "missing", "smiles"):
        value = getattr(spec, name)
        words += [f"--{name}", str(value)] if value != getattr(plain, name) else []
    words += ["--skip-bad"] if spec.skip_bad else []
    words += ["--data-dir", data_dir] if data_dir is not None else []
    return shlex.join([*words, "--out", out])


# Their scores

FIXED_SPLITS = ("public-split", "wikics-20")
"""Protocols whose splits come with the data: all seeds have the same."""


@dataclass(frozen=True)
class Scores:
    """Scores of a row, (S, K): K splits for each of S seeds; NaN where one is not defined.

    `inner` are the scores inside the training parts, None if the protocol has none. `training` is
    the median of the seconds of a training, `embedding` those to embed a new graph (or all nodes),
    `memory` the peak of the process in bytes; None where they are not known.
    """

    outer: Floats
    inner: Floats | None = None
    level: str = "graph"
    protocol: str = "tu-svm-10fold"
    scoring: str = "accuracy"
    floor: float | None = None
    training: float | None = None
    embedding: float | None = None
    memory: float | None = None

    @classmethod
    def of(cls, records: Sequence[Mapping[str, Any]], level: str) -> Scores:
        """Read the scores from the records of `augcl.runs.run.run`, one per seed."""
        judged = [record["accuracy"] for record in records]
        scoring = judged[0].get("scoring", "accuracy")
        if scoring not in NAMES:
            raise ValueError(f"unknown scoring {scoring!r}")
        inner = [found.get("inner") or [] for found in judged]
        outer = _array([found["folds"] for found in judged])
        floors = _array([[found.get("floor") for found in judged]])
        used = [record.get("use", {}) for record in records]
        return cls(
            outer=outer,
            inner=_array(inner) if all(map(len, inner)) else None,
            level=level,
            protocol=judged[0].get("protocol", cls.protocol),
            scoring=scoring,
            floor=None if np.isnan(floors).all() else float(np.nanmean(floors)),
            training=_median([record.get("seconds", {}).get("training") for record in records]),
            embedding=_median([one.get("embedding") for one in used]),
            memory=max((one.get("memory") or 0.0 for one in used), default=0.0) or None,
        )

    @property
    def mean(self) -> float:
        known = self.outer[~np.isnan(self.outer)]
        return float(known.mean()) if known.size else math.nan

    @property
    def cost(self) -> float:
        """Return the seconds to train and to embed: a new graph, or all nodes."""
        return (self.training or 0.0) + (self.embedding or 0.0)

    def minus(self, other: Floats | Scores) -> PairedDifference | None:
        """Return the difference over the same splits with its interval; None if it has no noise.

        Folds of graphs: corrected resampled t-test over all folds of all seeds. Random splits of
        nodes: paired t-test over trainings. Splits of the data: paired t-test over the splits.
        """
        theirs = other.outer if isinstance(other, Scores) else other
        difference = self.outer - theirs
        if self.level == "graph" and self.protocol not in FIXED_SPLITS:
            return _tested(difference.ravel(), 1 / 9)
        by_split = self.protocol in FIXED_SPLITS and difference.shape[1] > 1
        found = _tested(_nanmean(difference, axis=0 if by_split else 1), 0.0)
        constant = found is not None and found.low == found.high and found.mean != 0
        return None if constant else found  # equal trainings on the same split show no noise

    def interval(self) -> tuple[float, float] | None:
        """Return the 95 % interval of the mean."""
        found = self.minus(np.zeros_like(self.outer))
        return None if found is None else (found.low, found.high)


BEYOND = 1e30
"""No score is as large: what a damaged file says would overflow later."""


def _array(rows: Sequence[Sequence[float | None]]) -> Floats:
    found = np.array([[np.nan if v is None else v for v in row] for row in rows], dtype=np.float64)
    if (np.abs(found) > BEYOND).any():
        raise ValueError(f"a score of {found[np.abs(found) > BEYOND][0]}")
    return found


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def _nanmean(values: Floats, axis: int) -> Floats:
    count = (~np.isnan(values)).sum(axis)
    total: Floats = np.nansum(values, axis)
    out: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return out


def _tested(difference: Floats, test_to_train: float) -> PairedDifference | None:
    known = difference[~np.isnan(difference)]
    if len(known) < 2:
        return None
    return paired_difference(known, np.zeros_like(known), test_to_train=test_to_train)


# The recommendation

ROUNDING = 1e-9
"""Scores closer than this are equal: a choice must not hang on the last bit."""


ALIKE = 0.25
"""Costs that differ by fewer seconds are alike, and the better score decides."""


def best_row(rows: Mapping[str, Scores]) -> str:
    """Return the row with the highest mean, the cheapest of equal ones."""
    highest = max(row.mean for row in rows.values())
    equal = [name for name, row in rows.items() if row.mean >= highest - ROUNDING]
    return min(equal, key=lambda name: rows[name].cost)


def recommended_row(rows: Mapping[str, Scores]) -> str:
    """Return the cheapest row that is not worse than the best beyond noise.

    Of several that cost alike, the one with the best score.

    >>> rows = {
    ...     "dear": Scores(np.array([[0.8, 0.8, 0.9]]), training=60.0),
    ...     "cheap": Scores(np.array([[0.7, 0.9, 0.8]]), training=1.0),
    ... }
    >>> recommended_row(rows)
    'cheap'
    """
    best = best_row(rows)
    good = {name: r for name, r in rows.items() if name == best or _as_good(r, rows[best])}
    return best_row(_cheapest(good))


def _cheapest(rows: Mapping[str, Scores]) -> dict[str, Scores]:
    """Return the rows that cost no more than the cheapest one, or about as much."""
    least = min(row.cost for row in rows.values())
    return {name: row for name, row in rows.items() if row.cost <= least + ALIKE}


def _as_good(row: Scores, best: Scores) -> bool:
    lost = best.minus(row)
    if lost is None:  # nothing is known of the noise
        return row.mean >= best.mean - ROUNDING
    return lost.p >= LEVEL or lost.mean <= 0


@dataclass(frozen=True)
class Nested:
    """The score of the recommendation, and in how many splits each row was recommended."""

    scores: Scores
    chosen: dict[str, int]


def nested_choice(rows: Mapping[str, Scores]) -> Nested | None:
    """Repeat the recommendation in every split without its test part, and score it there.

    The table recommends a row by its scores on the test parts, so that its own score there is
    optimistic. Here each split takes the cheapest row whose score inside the training part is
    within the noise of the best one there (the half width of the interval of their difference; of
    several that cost alike, the best one there); the score of that row on the test part counts.
    Protocols without inner scores choose by the other splits of the same seed. None if there is
    nothing to choose by.
    """
    every = list(rows.values())
    outer = np.stack([row.outer for row in every])  # (rows, S, K)
    inner = [row.inner for row in every if row.inner is not None]
    if len(inner) == len(every):
        evidence = np.stack(inner)
    elif outer.shape[2] > 1:
        known = ~np.isnan(outer)
        others = known.sum(2, keepdims=True) - known
        total = np.nansum(outer, 2, keepdims=True) - np.nan_to_num(outer)
        evidence = np.divide(total, others, out=np.full(outer.shape, np.nan), where=others > 0)
    else:
        return None
    best = rows[best_row(rows)]
    lost = [best.minus(row) for row in every]
    noise = np.array([0.0 if d is None else d.high - d.mean for d in lost])
    evidence = np.where(np.isnan(evidence), -np.inf, evidence)
    good_enough = evidence >= evidence.max(0) - noise[:, None, None] - ROUNDING
    cost = np.array([row.cost for row in every])[:, None, None]
    least = np.where(good_enough, cost, np.inf).min(0)
    cheap = np.where(good_enough & (cost <= least + ALIKE), evidence, -np.inf)
    equal = cheap >= cheap.max(0) - ROUNDING
    chosen = np.where(equal, cost, np.inf).argmin(0)
    scores = np.take_along_axis(outer, chosen[None], 0)[0]
    counts = np.bincount(chosen.ravel(), minlength=len(every)).tolist()
    return Nested(replace(best, outer=scores, inner=None), dict(zip(rows, counts, strict=True)))


def score_text(scoring: str, value: float, *, sign: bool = False) -> str:
    """Write a score, or with `sign` a difference: accuracy in percent, others as they are.

    >>> score_text("accuracy", 0.8712), score_text("r2", -0.02), score_text("r2", 0.1, sign=True)
    ('87.1', '-0.020', '+0.100')
    """
    plus = "+" if sign else ""
    return f"{100 * value:{plus}.1f}" if scoring == "accuracy" else f"{value:{plus}.3f}"


def with_interval(scoring: str, mean: float, interval: tuple[float, float] | None) -> str:
    """Write a score with half of its 95 % interval, if there is one.

    >>> with_interval("accuracy", 0.871, (0.841, 0.901))
    '87.1 ± 3.0'
    """
    text = score_text(scoring, mean)
    return text if interval is None else f"{text} ± {_half(scoring, *interval)}"


def difference_text(scoring: str, row: Scores, other: Scores) -> str:
    """Write the difference of two rows on the same splits, with half of its 95 % interval."""
    found = row.minus(other)
    if found is None:
        return score_text(scoring, row.mean - other.mean, sign=True)
    return f"{score_text(scoring, found.mean, sign=True)} ± {_half(scoring, found.low, found.high)}"


def _half(scoring: str, low: float, high: float) -> str:
    return score_text(scoring, (high - low) / 2)


def seconds_text(seconds: float | None) -> str:
    """Write a time in the unit that suits it.

    >>> seconds_text(0.00042), seconds_text(0.31), seconds_text(12.3), seconds_text(200)
    ('420 µs', '310 ms', '12.3 s', '3 min')
    """
    if seconds is None:
        return ""
    if seconds < 1:
        return f"{1e6 * seconds:.0f} µs" if seconds < 1e-3 else f"{1e3 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 90 else duration(seconds)


@dataclass(frozen=True)
class LeftOut:
    """A row that was not run: its estimate in seconds (None if that is not the reason), and why."""

    row: str
    seconds: float | None
    reason: str

    def __str__(self) -> str:
        return f"{self.row}: {self.reason}"


def recommendation(
    rows: Mapping[str, Scores], left_out: Sequence[LeftOut] = (), *, things: str = "graphs"
) -> list[str]:
    """Return two sentences: what to use, and what it would take to do better.

    A third one warns if even the recommended row does not beat the floor beyond noise.
    """
    best, chosen = best_row(rows), recommended_row(rows)
    scoring = rows[best].scoring
    unit = " %" if scoring == "accuracy" else ""
    called = "the untrained encoder" if chosen == UNTRAINED else chosen
    first = f"Use {called} ({NAMES[scoring]} {score_text(scoring, rows[chosen].mean)}{unit}): "
    if chosen != best:
        far = difference_text(scoring, rows[best], rows[chosen])
        first += (
            f"it is the cheapest row{_seconds_of(rows[chosen])} that is not worse than the best "
            f"one, {best}, beyond noise ({best} − {chosen}: {far})."
        )
    elif len(rows) == 1:
        first += "no other row was run."
    elif best in _cheapest(rows):
        first += "it has the best score and is the cheapest row."
    else:
        first += "it has the best score, and every cheaper row is worse beyond noise."
    untested = len(rows) > 1 and rows[best].interval() is None
    if untested:
        first = first.replace(", and every cheaper row is worse beyond noise", "")
    waiting = [out for out in left_out if out.seconds is not None]
    if untested and len(rows[best].outer) == 1:
        second = "One training cannot tell a difference from noise: repeat with --seeds 3 or more."
    elif untested:
        second = (
            f"All trainings of {best} have the same score, so that noise cannot be measured: "
            f"more labelled {things} could tell the rows apart."
        )
    elif chosen != best:
        second = (
            f"{best}{_seconds_of(rows[best])} may do better, but it takes more labelled {things} "
            "or more --seeds to show it."
        )
    elif waiting:
        cheapest = min(waiting, key=lambda out: out.seconds or 0.0)
        second = (
            f"To do better, give a larger --budget: {_listed([out.row for out in waiting])} did "
            f"not fit ({cheapest.row} takes about {duration(cheapest.seconds or 0.0)})."
        )
    else:
        second = (
            "No row that was run does better: other node features or further methods (augcl "
            "methods lists them, --methods adds them) might."
        )
    sentences = [first, second]
    if not above_floor(rows[chosen]):
        what = "the mean" if scoring == "r2" else "the largest class"
        sentences.append(
            f"Take care: {chosen} does not beat predicting {what} beyond noise, so that these "
            "embeddings may know nothing of the target."
        )
    return sentences


def _seconds_of(row: Scores) -> str:
    return "" if row.training is None else f" ({seconds_text(row.training)} to train)"


def above_floor(row: Scores) -> bool:
    """Return whether a row is above the floor (largest class, mean) beyond noise."""
    if row.floor is None:
        return True
    gain = row.minus(np.full_like(row.outer, row.floor))
    if gain is None:
        return row.mean > row.floor
    return gain.p < LEVEL and gain.mean > 0


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


# The budget

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def read_budget(text: str) -> float | None:
    """Return the seconds that a text such as 10m stands for; None for "none".

    >>> read_budget("10m"), read_budget("1.5h"), read_budget("none")
    (600.0, 5400.0, None)
    """
    if text.strip().lower() == "none":
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(s|min|m|h|)\s*", text.lower())
    if found is None or float(found[1]) == 0:
        raise InputError(f"--budget {text}: write a time such as 90s, 10m or 2h, or none")
    return float(found[1]) * UNITS[found[2]]


WORDS_PER_SECOND = 2e5
"""Steps of walks that skip-gram learns from in a second: a rule of thumb."""
ROUGH, RELATED = 10, 3
"""An estimate may be wrong by this factor: by a rule of thumb, and from other rows of the method.
Where that matters, a short run of the row itself decides."""


class Costs:
    """Estimate the seconds of one seed of a row: training and evaluation.

    What the row itself has taken counts first. Before its first seed there is a rule of thumb by
    the sizes of the data, corrected by what other rows have taken; where the budget is tight, a
    short run of the row replaces it.
    """

    def __init__(self, data: GraphSet | NodeGraph) -> None:
        self.data = data
        self.own: dict[str, float] = {}
        self.tried: dict[str, float] = {}
        self.ratio: dict[str, float] = {}
        """Measured training over the rule of thumb, by method, the last one last."""
        self.once: dict[str, float] = {}
        """Seconds of training by method, where there is no rule of thumb."""
        self.judging: dict[str, float] = {}
        """Seconds of evaluation by method: they depend on the width of the embedding."""

    def measured(self, row: str, spec: Spec, seconds: Mapping[str, float]) -> None:
        """Learn from a finished seed."""
        training, judging = seconds["training"], seconds.get("evaluation", 0.0)
        self.own[row] = training + judging
        if spec.beside is not None:
            return
        rule, _ = self._rule(spec)
        self.judging[spec.method] = judging
        if rule > 0:
            self.ratio.pop(spec.method, None)
            self.ratio[spec.method] = training / rule
        elif not _trains(spec):
            self.once[spec.method] = training

    def seconds(self, row: str, spec: Spec) -> float:
        """Return the estimate for one seed."""
        known = self.own.get(row, self.tried.get(row))
        return self._guess(spec)[0] if known is None else known

    def try_if_tight(self, row: str, spec: Spec, rounds: int, left: float) -> None:
        """Train a row for a few epochs on a part of the data if its seeds may not fit in `left`.

        `rounds` are the seeds that are computed one after the other.
        """
        if row in self.own or row in self.tried or left <= 0:
            return
        guess, margin = self._guess(spec)
        if rounds * guess * margin <= left:
            return
        if margin == RELATED and rounds * guess / margin > left:
            return  # it cannot fit
        with suppress(Exception):  # the row itself will tell what is wrong with it
            cost = short_run(spec, self.data, progress=False).cost
            self.tried[row] = cost.seconds(Plan.of(spec, self.data))

    def _guess(self, spec: Spec) -> tuple[float, int]:
        """Return an estimate from other rows, and the factor by which it may be wrong."""
        parts = [replace(spec, beside=None)]
        if spec.beside is not None:
            parts.append(Spec(spec.dataset, spec.beside, "none", features=spec.features))
        guess, margin = 0.0, RELATED
        for part in parts:
            method = part.method
            rule, evaluation = self._rule(part)
            known = method in self.judging
            last = next(reversed(self.ratio.values()), 1.0)
            if _trains(part):
                known = known and (rule == 0 or method in self.ratio)
                training = rule * self.ratio.get(method, last)
            else:
                training = self.once.get(method, rule * self.ratio.get(method, 1.0))
            judged = next(reversed(self.judging.values()), evaluation)
            guess += training + self.judging.get(method, judged)
            margin = margin if known else ROUGH
        return guess, margin

    def _rule(self, spec: Spec) -> tuple[float, float]:
        """Return seconds of training and evaluation by the sizes of the data."""
        model = spec.estimator(self.data, 0)
        settings = model.settings()
        plan = Plan.of(spec, self.data)
        cost = estimate(self.data, plan)
        training = 0.0
        if isinstance(model, Estimator):
            learns = spec.hardness in ("augcl", "progcl")
            weighted = plan.epochs - plan.warmup if learns else 0
            training = (plan.epochs - weighted) * cost.plain_epoch
            training += weighted * cost.weighted_epoch + (cost.fit if learns else 0.0)
        elif "walks" in settings and isinstance(self.data, NodeGraph):
            words = self.data.num_nodes * settings["walks"] * settings["length"]
            training = words * settings.get("passes", 1) / WORDS_PER_SECOND
        return training, cost.evaluation


def _trains(spec: Spec) -> bool:
    return issubclass(METHODS[spec.method], Estimator)


def file_name(spec: Spec) -> str:
    """Return the name of a data set, and of its target, for files that belong to them.

    >>> file_name(Spec("data/my set.csv", target="log P")), file_name(Spec("MUTAG"))
    ('my_set-log_P', 'MUTAG')
    """
    name = known_name(spec.dataset) or Path(spec.dataset).stem
    text = name if spec.target is None else f"{name}-{spec.target}"
    return re.sub(r"[^\w+-]+", "_", text)


def run_folder(spec: Spec, row: str) -> str:
    """Return the folder of a run that the command proposes.

    >>> run_folder(Spec("data/my.zip"), "GraphCL+wl")
    'runs/my-GraphCL-wl'
    """
    return f"runs/{Path(spec.dataset).stem}-{row.replace('+', '-')}"
