"""Is the uncertainty model alive? The numbers that tell."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, fields

import torch
from torch import Tensor

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
