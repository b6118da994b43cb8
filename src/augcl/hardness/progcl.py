"""ProGCL: weight a negative by its similarity times the probability that it is a true negative."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid
from torch.utils.checkpoint import checkpoint

from augcl.checks import number, whole_number
from augcl.contract import check_fitted
from augcl.errors import InputError, one_of
from augcl.hardness.base import Batches, Hardness
from augcl.hardness.partition import two_means
from augcl.ops.cosine import cosine

EDGE = 1e-6
"""Distance of the data from 0 and 1, where the densities may be infinite."""

NARROWEST = 1e-6
"""Smallest variance of a component; on a single point it would be 0."""

RAREST = 1e-6
"""Smallest weight of a component; without points it would be 0, and its logarithm −∞."""

LEFT_OUT = -1e30
"""Log-weight of a candidate that is no negative of the anchor."""

ROWS = 256
"""Nodes whose negatives are mixed at a time."""

WeightBlock = Callable[[slice, slice | Tensor], Tensor]
"""Returns the weights of a block of pairs of nodes: `augcl.losses.PairWeights.block`."""


class ProGCL(Hardness):
    """Weight or mix negatives by a beta mixture of the similarities (ProGCL).

    A mixture of two beta distributions is fitted to the similarities x = (s + 1) / 2 of sampled
    negatives; the lower component stands for true negatives. The hardness of a negative is
    B_ij = P(lower component | x_ij) · x_ij, without gradient.

    Parameters
    ----------
    mode : {"weight", "mix"}
        "weight": the weight of a negative is B divided by its row mean. "mix": all weights are 1,
        and synthetic negatives, mixed from the hardest ones, are added.
    start : int, optional
        Number of epochs after which a contrastive method fits the mixture, once; its usual warm-up
        if None (half of the epochs, for nodes at most 400). Published: 400 of 2,500 epochs for
        nodes, 10 of 20 for graphs.
    init_weight : float
        Initial weight of the upper component (false negatives).
    iterations : int
        Iterations of expectation maximisation.
    columns : int
        Candidates drawn from each batch for the fit.
    hardest : int
        Number of hardest negatives of each anchor that mode "mix" mixes, in random order.
    random_state : int
        Seed that is used if no generator is given.

    Attributes
    ----------
    mixture_ : BetaMixture

    References
    ----------
    J. Xia, L. Wu, G. Wang, J. Chen and S. Z. Li. "ProGCL: Rethinking Hard Negative Mining in
    Graph Contrastive Learning". ICML 2022. arXiv:2110.02027,
    doi:10.48550/arXiv.2110.02027.

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> z1 = torch.randn(32, 8, generator=generator)
    >>> z2 = z1 + 0.5 * torch.randn(32, 8, generator=generator)
    >>> hardness = ProGCL().fit([(z1, z2)])
    >>> weights = hardness.log_weights(z1, z2, cosine(z1, z2)).exp()
    >>> off_diagonal = weights.sum(1) - weights.diagonal()
    >>> bool((off_diagonal / 31 - 1).abs().max() < 1e-5)
    True
    """

    def __init__(
        self,
        mode: str = "weight",
        start: int | None = None,
        init_weight: float = 0.05,
        iterations: int = 10,
        *,
        columns: int = 100,
        hardest: int = 1000,
        random_state: int = 0,
    ) -> None:
        self.mode = mode
        self.start = start
        self.init_weight = init_weight
        self.iterations = iterations
        self.columns = columns
        self.hardest = hardest
        self.random_state = random_state

    @torch.no_grad()
    def fit(self, batches: Batches, *, generator: torch.Generator | None = None) -> ProGCL:
        """Fit the mixture to the similarities of the batches, without the positive pairs."""
        self._check()
        if generator is None:
            generator = torch.Generator().manual_seed(int(self.random_state))
        found = [self._sample(*batch, generator) for batch in batches if len(batch[0]) > 1]
        if not found:
            raise InputError("ProGCL got no batches: train on two graphs or more")
        self.mixture_ = BetaMixture.fit(
            torch.cat(found), weight_high=self.init_weight, iterations=self.iterations
        )
        return self

    def _sample(self, anchors: Tensor, candidates: Tensor, generator: torch.Generator) -> Tensor:
        """Return similarities in [0, 1] of all anchors to random candidates, without positives."""
        chosen = torch.randperm(len(candidates), generator=generator)[: self.columns]
        chosen = chosen.to(anchors.device)
        own = torch.arange(len(anchors), device=anchors.device)[:, None] == chosen
        return _similarity(cosine(anchors, candidates[chosen]))[~own]

    @torch.no_grad()
    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor:
        """Return the log of B_ij divided by its row mean without the positive, (N, M); finite."""
        check_fitted(self, "mixture_", "ProGCL has no weights yet: call fit first")
        x = _similarity(affinity)
        log_b = self.mixture_.log_probability_low(x) + x.log()
        others = log_b.clone()
        others.fill_diagonal_(-1e30)  # row i of both is one positive pair
        count = max(others.shape[1] - 1, 1)
        return log_b - (others.logsumexp(1, keepdim=True) - math.log(count)).clamp_min(-1e29)

    @property
    def mixes(self) -> bool:
        """Return whether synthetic negatives are added and none is weighted (mode "mix")."""
        return self.mode == "mix"

    def synthetic_log_mass(
        self, logits: Tensor, log_weights: Tensor, generator: torch.Generator | None = None
    ) -> Tensor:
        """Return the log-mass (N,) of the synthetic negatives of a batch.

        Parameters
        ----------
        logits, log_weights : (N, N)
            s_ij / τ, and the output of `log_weights`.
        generator : Generator, optional
            Draws which negatives are mixed with which; seeded by `random_state` if None.
        """
        own = torch.eye(len(logits), dtype=torch.bool, device=logits.device)
        order = self._order(min(self.hardest, len(logits) - 1), generator).to(logits.device)
        return mixed_log_mass(logits, log_weights.masked_fill(own, LEFT_OUT), order)

    def synthetic_node_log_mass(
        self,
        u: Tensor,
        v: Tensor,
        tau: float,
        weights: WeightBlock,
        *,
        columns: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return the log-mass (2N,) of the synthetic negatives of nodes with unit rows u, v (N, D).

        If only the nodes in `columns` are negatives, the number of mixed negatives is reduced by
        their share of all nodes, and the mass is scaled up by the inverse.
        """
        hardest = drawn = min(self.hardest, len(u) - 1)
        if columns is not None:
            drawn = max(1, round(hardest * (len(columns) - 1) / (len(u) - 1)))
        order = self._order(drawn, generator).to(u.device)
        ways = ((u, v), (v, u))
        masses = [mixed_node_log_mass(a, b, tau, weights, order, columns) for a, b in ways]
        return torch.cat(masses) + math.log(hardest / drawn)

    def _order(self, count: int, generator: torch.Generator | None) -> Tensor:
        if generator is None:
            generator = torch.Generator().manual_seed(int(self.random_state))
        return torch.randperm(count, generator=generator)

    def state(self) -> dict[str, Tensor]:
        if not hasattr(self, "mixture_"):
            return {}
        mixture = self.mixture_
        return {"mixture": torch.stack([mixture.alpha, mixture.beta, mixture.weight]).cpu()}

    def load_state(self, state: dict[str, Tensor]) -> None:
        if state:
            self.mixture_ = BetaMixture(*state["mixture"])

    def diagnose(self) -> dict[str, Any]:
        """Return the means of both components, the weight of the upper one, and the state.

        The state is "collapsed" if one component has practically no weight, else "alive".
        """
        if not hasattr(self, "mixture_"):
            return {}
        low, high = self.mixture_.mean.tolist()
        share = float(self.mixture_.weight[1])
        state = "alive" if 1e-3 < share < 1 - 1e-3 else "collapsed"
        return {"mean_low": low, "mean_high": high, "share_high": share, "state": state}

    def _check(self) -> None:
        one_of(self.mode, ("weight", "mix"), "mode")
        number("init_weight", self.init_weight, above=0, below=1)
        for name, least in {"iterations": 1, "columns": 1, "hardest": 2}.items():
            whole_number(name, getattr(self, name), least=least)


def _similarity(cosines: Tensor) -> Tensor:
    return ((cosines + 1) / 2).clamp(EDGE, 1 - EDGE)


def mixed_log_mass(logits: Tensor, log_weights: Tensor, order: Tensor) -> Tensor:
    """Return log Σ_k exp(m_k), (N,), where m_k is the weighted mean logit of two hard negatives.

    Parameters
    ----------
    logits : (N, M)
        s_ij / τ.
    log_weights : (N, M)
        Without gradient; `LEFT_OUT` where j is no negative of i.
    order : (K,) int64
        A permutation, shared by all anchors: the negative with the k-th largest weight is mixed
        with the order[k]-th.

    Examples
    --------
    >>> logits = torch.tensor([[1.0, 3.0, 9.0]])
    >>> weights = torch.tensor([[2.0, 2.0, 1.0]]).log()
    >>> mixed_log_mass(logits, weights, torch.tensor([1, 0])).exp()  # twice exp((1 + 3) / 2)
    tensor([14.7781])
    """
    log_b, heaviest = log_weights.topk(len(order), dim=1)
    chosen = logits.gather(1, heaviest)
    share = (log_b - log_b[:, order]).sigmoid()
    return (share * chosen + (1 - share) * chosen[:, order]).logsumexp(1)


def mixed_node_log_mass(
    u: Tensor, v: Tensor, tau: float, weights: WeightBlock, order: Tensor, columns: Tensor | None
) -> Tensor:
    """Return `mixed_log_mass` (N,) of unit rows u against v (N, D), `ROWS` anchors at a time."""
    nodes = torch.arange(len(v), device=v.device) if columns is None else columns
    of_columns = slice(None) if columns is None else columns
    smallest = torch.finfo(torch.float32).tiny

    def part(rows: Tensor, candidates: Tensor, start: int) -> Tensor:
        own = torch.arange(start, start + len(rows), device=v.device)[:, None] == nodes
        log_b = weights(slice(start, start + len(rows)), of_columns).clamp_min(smallest).log()
        logits = rows @ candidates.t() / tau
        return mixed_log_mass(logits, log_b.masked_fill(own, LEFT_OUT).to(logits.dtype), order)

    candidates = v if columns is None else v[columns]
    parts = [
        checkpoint(part, rows, candidates, start, use_reentrant=False)
        for start, rows in zip(range(0, len(u), ROWS), u.split(ROWS), strict=True)
    ]
    return torch.cat(parts)


@dataclass(frozen=True)
class BetaMixture:
    """A mixture with density Σ_k weight_k · Beta(x; alpha_k, beta_k); k = 0 has the lower mean.

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
        """Fit by expectation maximisation with weighted moments; finite for any data in [0, 1].

        From ProGCL's starting point one component often ends up covering all data. A second run
        therefore starts from the 2-means split of the data, and the likelier mixture is kept.

        Parameters
        ----------
        x : any shape
            Data in [0, 1].
        weight_high : float
            Initial weight of the upper component.
        iterations : int
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
        """Return the means of the components, (2,)."""
        return self.alpha / (self.alpha + self.beta)

    def log_probability_low(self, x: Tensor) -> Tensor:
        """Return log P(component 0 | x), in the shape and type of x."""
        x = x.clamp(EDGE, 1 - EDGE)
        return logsigmoid(self._log_odds(x.log(), (-x).log1p()))

    def _log_odds(self, log_x: Tensor, log_rest: Tensor) -> Tensor:
        """Return log( P(component 0 | x) / P(component 1 | x) ) from log x and log(1 − x)."""
        slope_x, slope_rest, shift = (float(v[0] - v[1]) for v in self._coefficients())
        return slope_x * log_x + slope_rest * log_rest + shift

    def _log_densities(self, log_x: Tensor, log_rest: Tensor) -> Tensor:
        """Return log(weight · density) (2, n) from log x and log(1 − x)."""
        slope_x, slope_rest, shift = (v[:, None] for v in self._coefficients())
        return slope_x * log_x + slope_rest * log_rest + shift

    def _coefficients(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the coefficients of log x, log(1 − x) and 1 in the log-densities, (2,) each."""
        a, b = self.alpha, self.beta
        return a - 1, b - 1, self.weight.log() + (a + b).lgamma() - a.lgamma() - b.lgamma()

    @classmethod
    def _from_moments(cls, x: Tensor, share: Tensor) -> BetaMixture:
        """Return betas with the mean and variance of the data, weighted by `share` (2, n)."""
        total = share.sum(1)
        mean = share @ x / total
        variance = (share * (x - mean[:, None]).square()).sum(1) / total
        possible = mean * (1 - mean)  # upper bound of the variance of a beta distribution
        variance = variance.clamp_min(NARROWEST).minimum(0.999 * possible)
        precision = possible / variance - 1
        alpha, beta = mean * precision, (1 - mean) * precision
        # As published: with beta < 1 the density of the upper component would be infinite at 1.
        beta[1] = 1.01 if beta[1] < 1 else beta[1]
        return cls(alpha, beta, (total / len(x)).clamp_min(RAREST))

    def _low_first(self) -> BetaMixture:
        order = self.mean.argsort(stable=True)
        return BetaMixture(self.alpha[order], self.beta[order], self.weight[order])


def _shares(low: Tensor) -> Tensor:
    """Return the shares of both components (2, n) from those of the lower one (n,), all above 0."""
    return torch.stack([low, 1 - low]).clamp_min(1e-12)
