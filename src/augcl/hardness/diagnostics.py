"""Watches the weights that a hardness gives while it trains; changes nothing."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, fields

import torch
from torch import Tensor

from augcl.hardness.base import Hardness

LEARNED = 0.2
"""Share of the errors of "always the larger group" that a model which has learned corrects.

A network with random weights corrects up to a tenth of them by chance.
"""


@dataclass(frozen=True)
class Vitals:
    """Means over batches.

    Parameters
    ----------
    uncertainty_mean, uncertainty_std : float
        Of u over all pairs.
    weight_std : float
        Of u over its row mean: the weights before `temper` and another `alpha` soften them.
    near_one : float
        Share of these within 1 % of 1.
    agreement : float
        Share of pairs whose group the model names rightly.
    majority : float
        Share of the larger group: the agreement of a model that has learned nothing.
    """

    uncertainty_mean: float
    uncertainty_std: float
    weight_std: float
    near_one: float
    agreement: float
    majority: float

    @property
    def state(self) -> str:
        """What became of the model.

        "collapsed": all weights are (almost) equal. "unlearned": they differ, but the model names
        the groups hardly better than one that always names the larger group. "alive": neither.
        """
        if self.near_one >= 0.9 or self.weight_std <= 0.01:
            return "collapsed"
        corrected = (self.agreement - self.majority) / max(1 - self.majority, 1e-12)
        return "alive" if corrected >= LEARNED else "unlearned"

    @property
    def alive(self) -> bool:
        """The weights differ, and the model has learned the groups."""
        return self.state == "alive"

    @classmethod
    def of_batch(cls, log_u: Tensor, guess: Tensor | None, group: Tensor) -> Vitals:
        """From log u, the groups that the model names (if any) and the true groups, all (N, M)."""
        u = log_u.exp()
        w = torch.softmax(log_u, dim=1) * log_u.shape[1]
        right = 1.0 if guess is None else (guess == group).float().mean()
        similar = float(group.float().mean())
        return cls(
            uncertainty_mean=float(u.mean()),
            uncertainty_std=float(u.std(correction=0)),
            weight_std=float(w.std(correction=0)),
            near_one=float(((w - 1).abs() < 0.01).float().mean()),
            agreement=float(right),
            majority=max(similar, 1 - similar),
        )

    @classmethod
    def mean(cls, several: list[Vitals]) -> Vitals:
        """Average of several batches' vitals."""
        return cls.from_tensor(torch.stack([v.to_tensor() for v in several]).mean(0))

    def to_dict(self) -> dict[str, float | str]:
        return {**asdict(self), "state": self.state}

    def to_tensor(self) -> Tensor:
        return torch.tensor(astuple(self), dtype=torch.float64)

    @classmethod
    def from_tensor(cls, values: Tensor) -> Vitals:
        return cls(*values.tolist())

    def __str__(self) -> str:
        return ", ".join(f"{f.name} {getattr(self, f.name):.3g}" for f in fields(self))


class WeightSums:
    """Running sums over the weights of negatives, for their spread.

    With labels also the mean weight of true negatives (another class) and of false ones (the same
    class); a node of unknown class (−1) is neither. Labels are only looked at, never used for
    training.
    """

    def __init__(self) -> None:
        self._sums: dict[str, Tensor | float] = {}

    def add(self, w: Tensor, labels: Tensor | None = None, *, first: int = 0) -> None:
        """Rows `first`, `first` + 1, … of a square matrix of weights; sets its diagonal to 0."""
        own = w.diagonal(first)
        own.zero_()  # counts in none of the sums
        self._add("count", w.numel() - len(own))
        self._add("total", w.sum(dtype=torch.float64))
        self._add("squares", w.square().sum(dtype=torch.float64))
        self._add("near_one", ((w - 1).abs() < 0.01).sum())
        if labels is None or len(labels) != w.shape[1]:
            return
        of_rows = labels[first : first + len(w), None]
        known = (of_rows >= 0) & (labels >= 0)
        same = of_rows == labels
        false, true = known & same, known & ~same
        false.diagonal(first).zero_()
        for name, pairs in (("false", false), ("true", true)):
            self._add(f"{name}_count", pairs.sum())
            self._add(f"{name}_total", (w * pairs).sum(dtype=torch.float64))

    def read(self) -> dict[str, float]:
        """Statistics of the off-diagonal weights since the last reading."""
        sums = {name: float(value) for name, value in self._sums.items()}
        self._sums = {}
        if not sums.get("count"):
            return {}
        mean = sums["total"] / sums["count"]
        found = {
            "weight_mean": mean,
            "weight_std": max(0.0, sums["squares"] / sums["count"] - mean**2) ** 0.5,
            "near_one": sums["near_one"] / sums["count"],
        }
        for kind in ("false", "true"):
            if sums.get(f"{kind}_count"):
                found[f"weight_{kind}_negatives"] = sums[f"{kind}_total"] / sums[f"{kind}_count"]
        return found

    def _add(self, name: str, value: Tensor | float) -> None:
        self._sums[name] = self._sums.get(name, 0.0) + value


class Monitor(Hardness):
    """A hardness that hands everything to another one and keeps statistics of its weights."""

    def __init__(self, inner: Hardness) -> None:
        self.inner = inner
        self._labels: Tensor | None = None
        self._sums = WeightSums()

    @property
    def powers(self) -> tuple[float, ...]:  # type: ignore[override]
        return self.inner.powers

    @property
    def mixed(self) -> int:  # type: ignore[override]
        return self.inner.mixed

    @property
    def weighs(self) -> bool:
        return self.inner.weighs

    def begin_batch(self, labels: Tensor | None, generator: torch.Generator | None = None) -> None:
        self._labels = labels
        self.inner.begin_batch(labels, generator)

    def permutation(self, count: int) -> Tensor:
        return self.inner.permutation(count)

    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor | None:
        log_w = self.inner.log_weights(anchors, candidates, affinity)
        if log_w is not None:
            self._sums.add(log_w.exp(), self._labels)
        return log_w

    def log_mass(self, log_sums: Tensor, positive: Tensor, *, count: int, tau: float) -> Tensor:
        return self.inner.log_mass(log_sums, positive, count=count, tau=tau)

    def read(self) -> dict[str, float]:
        """Statistics of the off-diagonal weights since the last reading."""
        return self._sums.read()
