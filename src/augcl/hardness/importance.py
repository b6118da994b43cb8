"""HCL: harder negatives count more, by importance sampling, and DCL's correction on top."""

from __future__ import annotations

import math

from torch import Tensor

from augcl.checks import number
from augcl.hardness.debiased import DCL


class HCL(DCL):
    """Contrastive learning with hard negative samples (Robinson et al., 2021).

    Negative j counts with the weight E_ij^β over its mean (with gradient, unlike AUGCL's), and a
    share τ⁺ is subtracted as in `DCL`:

        mass_i = max( (R_i − τ⁺ N E_ii) / (1 − τ⁺), N e^{−1/τ} )
        R_i = N Σ_j E_ij^{β+1} / Σ_j E_ij^β

    It needs no fit and sets in at the first epoch. As in the released code the tilt is β · s / τ,
    so that β acts more strongly at a lower temperature.

    Parameters
    ----------
    beta : float
        0 or more; 0 is `DCL`.
    tau_plus : float
        See `DCL`.

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

    def check(self) -> None:
        super().check()
        number("beta", self.beta, least=0)

    @property
    def powers(self) -> tuple[float, ...]:  # type: ignore[override]
        return (self.beta + 1, self.beta)

    def log_mass(self, log_sums: Tensor, positive: Tensor, *, count: int, tau: float) -> Tensor:
        log_r = log_sums[0] - log_sums[1] + math.log(count)
        return self._debiased(log_r, positive, count, tau)
