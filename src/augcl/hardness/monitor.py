"""Watches the weights that a hardness gives while it trains; changes nothing."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.hardness.base import Hardness


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
