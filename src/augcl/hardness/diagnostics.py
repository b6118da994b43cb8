"""Measure a hardness: its uncertainty model after a fit (`Vitals`), its weights in every epoch."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, fields

import torch
from torch import Tensor

LEARNED = 0.2
"""Smallest share of the errors of "always the larger group" that a model must correct to be alive.

A network with random weights corrects up to a tenth of them by chance.
"""


LEAST = -1e30
"""Logit of a pair that has no mass."""

MASSES = ("false_mass", "false_mass_weighted")
"""Share of the mass of the negatives that comes from false ones, without and with weights."""


@dataclass(frozen=True)
class Vitals:
    """Measures that show whether AUGCL's uncertainty model has learned; means over its batches.

    Parameters
    ----------
    uncertainty_mean, uncertainty_std : float
        Mean and standard deviation of u over all pairs.
    weight_std : float
        Standard deviation of u divided by its row mean: the weights with ``temper=1, alpha="row"``.
    near_one : float
        Share of these weights within 1 % of 1.
    agreement : float
        Share of pairs whose group the model predicts correctly.
    majority : float
        Share of the larger group: the agreement of a model that has learned nothing.

    Examples
    --------
    >>> vitals = Vitals(0.3, 0.2, 0.7, 0.01, agreement=0.95, majority=0.6)
    >>> vitals.state
    'alive'
    """

    uncertainty_mean: float
    uncertainty_std: float
    weight_std: float
    near_one: float
    agreement: float
    majority: float

    @property
    def state(self) -> str:
        """Return "collapsed", "unlearned" or "alive".

        "collapsed": all weights are (almost) equal. "unlearned": they differ, but the model
        predicts the groups hardly better than always naming the larger group. "alive": neither.
        """
        if self.near_one >= 0.9 or self.weight_std <= 0.01:
            return "collapsed"
        corrected = (self.agreement - self.majority) / max(1 - self.majority, 1e-12)
        return "alive" if corrected >= LEARNED else "unlearned"

    @property
    def alive(self) -> bool:
        """Return whether the weights differ and the model has learned the groups."""
        return self.state == "alive"

    @classmethod
    def of_batch(cls, log_u: Tensor, guess: Tensor | None, group: Tensor) -> Vitals:
        """Compute the vitals of one batch.

        All are (N, M): log u, the predicted groups (None if no model predicts them), the groups of
        the partition.
        """
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
        """Average the vitals of several batches."""
        return cls.from_tensor(torch.stack([v.to_tensor() for v in several]).mean(0))

    def to_dict(self) -> dict[str, float | str]:
        """Return all measures and the state by name, for JSON files."""
        return {**asdict(self), "state": self.state}

    def to_tensor(self) -> Tensor:
        """Return the measures as a tensor (6,), for a model file."""
        return torch.tensor(astuple(self), dtype=torch.float64)

    @classmethod
    def from_tensor(cls, values: Tensor) -> Vitals:
        """Restore the vitals from `to_tensor`."""
        return cls(*values.tolist())

    def __str__(self) -> str:
        return ", ".join(f"{f.name} {getattr(self, f.name):.3g}" for f in fields(self))


class WeightStatistics:
    """Accumulate mean and spread of the weights of negatives over many batches.

    With labels, also the mean weight of true negatives (another class) and of false negatives (the
    same class), and the share of the mass Σ_j w_ij exp(s_ij/τ) that comes from false negatives,
    with weights (`false_mass_weighted`) and without (`false_mass`). A pair with an unknown class
    (−1) is neither. Labels are never used for training.

    Examples
    --------
    >>> statistics = WeightStatistics()
    >>> statistics.add(torch.tensor([[1.0, 0.5], [1.5, 1.0]]))
    >>> statistics.read()["weight_mean"]
    1.0
    """

    def __init__(self) -> None:
        self._sums: dict[str, Tensor | float] = {}

    def add(self, w: Tensor, labels: Tensor | None = None, *, first: int = 0) -> None:
        """Add rows `first`, `first` + 1, … of a square matrix of weights; set its diagonal to 0."""
        own = w.diagonal(first)
        own.zero_()  # the anchor itself is no negative: leave it out of all sums
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

    def add_mass(
        self,
        logits: Tensor,
        weighted: Tensor | None,
        of_anchors: Tensor,
        of_candidates: Tensor,
        own: Tensor,
    ) -> None:
        """Add the shares of the false negatives in the masses of some anchors.

        Parameters
        ----------
        logits : (N, M)
            s_ij/τ.
        weighted : (N, M), optional
            s_ij/τ + log w_ij; None if all weights are 1.
        of_anchors, of_candidates : (N,), (M,)
            Classes; −1: unknown.
        own : (N, M) bool
            Candidates that are the anchor itself.
        """
        known = (of_anchors[:, None] >= 0) & (of_candidates >= 0) & ~own
        false = known & (of_anchors[:, None] == of_candidates)
        self._add("anchors", known.any(1).sum())
        for name, mass in zip(MASSES, (logits, weighted), strict=True):
            if mass is not None:
                shares = mass.masked_fill(~known, LEAST).softmax(1)
                self._add(name, (shares * false).sum(dtype=torch.float64))

    def read(self) -> dict[str, float]:
        """Return the statistics since the last call."""
        sums = {name: float(value) for name, value in self._sums.items()}
        self._sums = {}
        anchors = sums.pop("anchors", 0)
        mass = {name: sums[name] / anchors for name in MASSES if anchors and name in sums}
        if not sums.get("count"):
            return mass
        mean = sums["total"] / sums["count"]
        found = {
            "weight_mean": mean,
            "weight_std": max(0.0, sums["squares"] / sums["count"] - mean**2) ** 0.5,
            "near_one": sums["near_one"] / sums["count"],
        }
        for kind in ("false", "true"):
            if sums.get(f"{kind}_count"):
                found[f"weight_{kind}_negatives"] = sums[f"{kind}_total"] / sums[f"{kind}_count"]
        return {**found, **mass}

    def _add(self, name: str, value: Tensor | float) -> None:
        self._sums[name] = self._sums.get(name, 0.0) + value
