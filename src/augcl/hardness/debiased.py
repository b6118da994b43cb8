"""DCL and HCL: subtract the expected mass of the false negatives, given their share."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from augcl.checks import number
from augcl.hardness.base import Hardness


class DCL(Hardness):
    """Subtract the expected mass of false negatives from the loss: debiased contrastive learning.

    Assume that a share τ⁺ of the N negatives has the anchor's class and is as similar as the
    positive. Their mass is subtracted from the sum, which cannot fall below the mass of N negatives
    at cosine −1:

        mass_i = max( (Σ_j E_ij − τ⁺ N E_ii) / (1 − τ⁺), N e^{−1/τ} ),   E = exp(s / τ)

    Nothing is learned, so `fit` is not needed.

    Parameters
    ----------
    tau_plus : float
        Prior probability that a negative is false, at least 0 (plain InfoNCE) and below 1.

    References
    ----------
    C.-Y. Chuang, J. Robinson, Y.-C. Lin, A. Torralba and S. Jegelka. "Debiased Contrastive
    Learning". NeurIPS 2020. arXiv:2007.00224,
    doi:10.48550/arXiv.2007.00224.

    Examples
    --------
    >>> import augcl
    >>> z = torch.eye(4)
    >>> plain, debiased = (augcl.info_nce(z, z, hardness=h).item() for h in (None, DCL(0.01)))
    >>> debiased < plain
    True
    """

    def __init__(self, tau_plus: float = 0.1) -> None:
        self.tau_plus = tau_plus

    def log_mass(self, log_sums: Tensor, positive: Tensor, *, count: int, tau: float) -> Tensor:
        return self._debiased(log_sums[0], positive, count, tau)

    def _debiased(self, log_sum: Tensor, positive: Tensor, count: int, tau: float) -> Tensor:
        """Return log max( (sum − τ⁺ N e^positive) / (1 − τ⁺), N e^{−1/τ} ), (N,).

        Anchors at the lower bound get no gradient.
        """
        if self.tau_plus == 0:
            return log_sum
        log_share = math.log(self.tau_plus * count) + positive - log_sum
        some_left = log_share < 0
        # If the share is 1 or more, the difference is not positive: keep it out of the logarithm.
        left = torch.where(some_left, log_share, -1.0).expm1().neg().log()
        log_mass = log_sum + left - math.log1p(-self.tau_plus)
        least = math.log(count) - 1 / tau
        return torch.where(some_left & (log_mass > least), log_mass, least)

    def _check(self) -> None:
        number("tau_plus", self.tau_plus, least=0, below=1)


class HCL(DCL):
    """Weight negatives by their similarity, and debias as `DCL` does (hard negative sampling).

    The weight of negative j is E_ij^β divided by its mean over the negatives (with gradient, unlike
    AUGCL's weight); a share τ⁺ is subtracted as in `DCL`:

        mass_i = max( (R_i − τ⁺ N E_ii) / (1 − τ⁺), N e^{−1/τ} )
        R_i = N Σ_j E_ij^{β+1} / Σ_j E_ij^β

    Nothing is learned, so `fit` is not needed. As in the released code the exponent is β · s / τ,
    so that a lower temperature makes β stronger.

    Parameters
    ----------
    beta : float
        Concentration on similar negatives, at least 0; 0 is `DCL`.
    tau_plus : float
        See `DCL`.

    References
    ----------
    J. Robinson, C.-Y. Chuang, S. Sra and S. Jegelka. "Contrastive Learning with Hard Negative
    Samples". ICLR 2021. arXiv:2010.04592,
    doi:10.48550/arXiv.2010.04592.

    Examples
    --------
    >>> import augcl, torch
    >>> z = torch.randn(8, 4, generator=torch.Generator().manual_seed(0))
    >>> soft, hard = (augcl.info_nce(z, z, hardness=HCL(beta, 0)).item() for beta in (0, 1))
    >>> soft < hard
    True
    """

    def __init__(self, beta: float = 1.0, tau_plus: float = 0.1) -> None:
        self.beta = beta
        self.tau_plus = tau_plus

    @property
    def powers(self) -> tuple[float, ...]:  # type: ignore[override]
        return (self.beta + 1, self.beta)

    def log_mass(self, log_sums: Tensor, positive: Tensor, *, count: int, tau: float) -> Tensor:
        log_r = log_sums[0] - log_sums[1] + math.log(count)
        return self._debiased(log_r, positive, count, tau)

    def _check(self) -> None:
        super()._check()
        number("beta", self.beta, least=0)
