"""The losses as modules that store temperature and hardness, for your own training loops."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augcl.hardness.base import Hardness, gives_weights
from augcl.losses.info_nce import info_nce
from augcl.losses.node_info_nce import PairWeights, node_info_nce


class InfoNCE(nn.Module):
    """Compute `info_nce` as a module that stores the temperature and the hardness.

    Parameters
    ----------
    tau, hardness, positive_in_denominator, symmetric, intra :
        See `info_nce`.

    Examples
    --------
    >>> import augcl
    >>> z1, z2 = torch.randn(2, 32, 8, generator=torch.Generator().manual_seed(0))
    >>> loss = InfoNCE(tau=0.5, hardness=augcl.DCL(), symmetric=True)
    >>> loss(z1, z2).equal(augcl.info_nce(z1, z2, tau=0.5, hardness=augcl.DCL(), symmetric=True))
    True
    """

    def __init__(
        self,
        tau: float = 0.2,
        hardness: Hardness | None = None,
        *,
        positive_in_denominator: bool = True,
        symmetric: bool = False,
        intra: bool = False,
    ) -> None:
        super().__init__()
        self.tau = tau
        self.hardness = hardness
        self.positive_in_denominator = positive_in_denominator
        self.symmetric = symmetric
        self.intra = intra

    def forward(
        self,
        anchors: Tensor,
        candidates: Tensor,
        *,
        generator: torch.Generator | None = None,
        vectors: tuple[Tensor, Tensor] | None = None,
    ) -> Tensor:
        """Return the loss (scalar) of two views (N, D); `vectors` as in `info_nce`."""
        return info_nce(
            anchors,
            candidates,
            tau=self.tau,
            hardness=self.hardness,
            positive_in_denominator=self.positive_in_denominator,
            symmetric=self.symmetric,
            intra=self.intra,
            generator=generator,
            vectors=vectors,
        )

    def extra_repr(self) -> str:
        return f"tau={self.tau}, hardness={self.hardness}"


class NodeInfoNCE(nn.Module):
    """Compute `node_info_nce` as a module that stores the temperature and the hardness.

    For a hardness that weights single pairs, call `weigh` after its fit to compute the weights of
    all pairs; they are used until the next call.

    Parameters
    ----------
    tau, hardness, positive_in_denominator :
        See `node_info_nce`.

    Examples
    --------
    >>> import augcl
    >>> z1, z2 = torch.randn(2, 32, 8, generator=torch.Generator().manual_seed(0))
    >>> loss = NodeInfoNCE(tau=0.5, hardness=augcl.ProGCL().fit([(z1, z2)]))
    >>> plain = loss(z1, z2)
    >>> bool(loss.weigh(z1)(z1, z2) != plain)
    True
    """

    def __init__(
        self,
        tau: float = 0.4,
        hardness: Hardness | None = None,
        *,
        positive_in_denominator: bool = True,
    ) -> None:
        super().__init__()
        self.tau = tau
        self.hardness = hardness
        self.positive_in_denominator = positive_in_denominator
        self.weights: PairWeights | None = None

    def weigh(self, z: Tensor) -> NodeInfoNCE:
        """Store the weights of the fitted hardness for the vectors (N, D) that it compares."""
        if self.hardness is not None and gives_weights(self.hardness):
            self.weights = PairWeights.of(self.hardness, z.detach())
        return self

    def forward(
        self,
        anchors: Tensor,
        candidates: Tensor,
        *,
        columns: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return the loss (scalar) of two views (N, D)."""
        return node_info_nce(
            anchors,
            candidates,
            tau=self.tau,
            hardness=self.hardness,
            weights=self.weights,
            positive_in_denominator=self.positive_in_denominator,
            columns=columns,
            generator=generator,
        )

    def extra_repr(self) -> str:
        return f"tau={self.tau}, hardness={self.hardness}"
