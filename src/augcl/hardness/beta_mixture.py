"""A mixture of two beta distributions on similarities: true negatives and false ones."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from augcl.ops.two_means import two_means

EDGE = 1e-6
"""Data are kept so far from 0 and 1, where the densities may be infinite."""

NARROWEST = 1e-6
"""Smallest variance: a component on a single point would have none."""

RAREST = 1e-6
"""Smallest weight: a component that lost all its points does not take its logarithm to −∞."""


@dataclass(frozen=True)
class BetaMixture:
    """Density Σ_k weight_k · Beta(x; alpha_k, beta_k), k = 0 (lower mean), 1.

    Parameters
    ----------
    alpha, beta, weight : (2,) float64

    Examples
    --------
    >>> x = torch.cat([torch.linspace(0.1, 0.3, 50), torch.linspace(0.7, 0.9, 50)])
    >>> mixture = BetaMixture.fit(x)
    >>> mixture.mean.round(decimals=2).tolist()
    [0.2, 0.8]
    >>> mixture.log_probability_low(torch.tensor([0.2, 0.8])).exp().round().tolist()
    [1.0, 0.0]
    """

    alpha: Tensor
    beta: Tensor
    weight: Tensor

    @classmethod
    def fit(cls, x: Tensor, *, weight_high: float = 0.05, iterations: int = 10) -> BetaMixture:
        """Expectation maximisation by weighted moments, finite for any data in [0, 1].

        From ProGCL's starting point it often ends where one component covers everything; so it
        also starts from the best split of the data in two, and the likelier mixture is kept.
        """
        x = x.double().clamp(EDGE, 1 - EDGE).flatten()
        log_x, log_rest = x.log(), (-x).log1p()
        published = torch.tensor([[1.0, 2.0], [2.0, 1.0], [1 - weight_high, weight_high]])
        high = two_means(x[None])[0].to(x)
        starts = [cls(*published.to(x)), cls._from_moments(x, _shares(1 - high))]
        found = []
        for mixture in starts:
            for _ in range(iterations):
                low = mixture._log_odds(log_x, log_rest).sigmoid()
                mixture = cls._from_moments(x, _shares(low))
            found.append(mixture)
        best = max(found, key=lambda m: float(m._log_densities(log_x, log_rest).logsumexp(0).sum()))
        return best._low_first()

    @property
    def mean(self) -> Tensor:
        """(2,) means of the components."""
        return self.alpha / (self.alpha + self.beta)

    def log_probability_low(self, x: Tensor) -> Tensor:
        """log P(component 0 | x), in the shape and type of x."""
        x = x.clamp(EDGE, 1 - EDGE)
        return logsigmoid(self._log_odds(x.log(), (-x).log1p()))

    def _log_odds(self, log_x: Tensor, log_rest: Tensor) -> Tensor:
        """log of P(component 0 | x) / P(component 1 | x), from log x and log(1 − x)."""
        slope_x, slope_rest, shift = (float(v[0] - v[1]) for v in self._coefficients())
        return slope_x * log_x + slope_rest * log_rest + shift

    def _log_densities(self, log_x: Tensor, log_rest: Tensor) -> Tensor:
        """(2, n) log of weight times density, from log x and log(1 − x)."""
        slope_x, slope_rest, shift = (v[:, None] for v in self._coefficients())
        return slope_x * log_x + slope_rest * log_rest + shift

    def _coefficients(self) -> tuple[Tensor, Tensor, Tensor]:
        """(2,) each: what log x, log(1 − x) and 1 are multiplied by in the log-densities."""
        a, b = self.alpha, self.beta
        return a - 1, b - 1, self.weight.log() + (a + b).lgamma() - a.lgamma() - b.lgamma()

    @classmethod
    def _from_moments(cls, x: Tensor, share: Tensor) -> BetaMixture:
        """The betas with the mean and variance of the data, by each component's (2, n) share."""
        total = share.sum(1)
        mean = share @ x / total
        variance = (share * (x - mean[:, None]).square()).sum(1) / total
        possible = mean * (1 - mean)  # the variance of a beta is below that
        variance = variance.clamp_min(NARROWEST).minimum(0.999 * possible)
        precision = possible / variance - 1
        alpha, beta = mean * precision, (1 - mean) * precision
        # As published: else the density of the upper component is infinite at 1.
        beta[1] = 1.01 if beta[1] < 1 else beta[1]
        return cls(alpha, beta, (total / len(x)).clamp_min(RAREST))

    def _low_first(self) -> BetaMixture:
        order = self.mean.argsort(stable=True)
        return BetaMixture(self.alpha[order], self.beta[order], self.weight[order])


def _shares(low: Tensor) -> Tensor:
    """(n,) shares of the lower component to the (2, n) of both, none of them 0."""
    return torch.stack([low, 1 - low]).clamp_min(1e-12)
