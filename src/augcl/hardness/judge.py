"""Partition and estimator together: how unsure one is about the group of every pair."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from augcl.errors import InputError
from augcl.hardness.fitting import Pairs
from augcl.hardness.partition import PARTITIONS
from augcl.hardness.uncertainty import Estimator, PairNetwork
from augcl.ops.cosine import cosine, unit_rows

EXCLUDED = -1e4
"""log u of a candidate that the distance estimator leaves out."""


def check_pair(batch: tuple[Tensor, Tensor]) -> None:
    """Raise `InputError` unless it is (anchors (N, D), candidates (M, D)), finite, with M ≥ N."""
    shapes = [tuple(part.shape) for part in batch]
    if not (
        len(shapes) == 2
        and all(len(shape) == 2 for shape in shapes)
        and shapes[0][1] == shapes[1][1]
        and shapes[0][0] <= shapes[1][0]
    ):
        raise InputError(
            f"a batch has the shapes {', '.join(map(str, shapes))}: give pairs of anchors (N, D) "
            "and candidates (N, D), as in fit([(z1, z2), …])"
        )
    if not all(bool(part.isfinite().all()) for part in batch):
        raise InputError(
            "the embeddings hold NaN or infinity: the training before has diverged, lower its "
            "learning rate"
        )


@dataclass
class Judge:
    """Groups, inputs and uncertainties of pairs; without a network, by distance alone."""

    partition: str
    similar: str
    normalize: bool
    affinity_input: bool
    estimator: Estimator | None = None
    network: PairNetwork | None = None

    def groups(self, affinity: Tensor) -> Tensor:
        """(N, M) affinities to groups: 1 for the similar candidates of each anchor, else 0."""
        group = PARTITIONS[self.partition](affinity)
        if self.similar == "positive":
            group = group ^ ~group.diagonal()[:, None]
        return group.long()

    def inputs(
        self, anchors: Tensor, candidates: Tensor, affinity: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """What the network sees: float32, by default unit vectors and standardised affinities."""
        anchors, candidates, affinity = anchors.detach(), candidates.detach(), affinity.detach()
        if self.normalize:
            anchors, candidates = unit_rows(anchors), unit_rows(candidates)
        if not self.affinity_input:
            return anchors.float(), candidates.float(), torch.zeros_like(affinity).float()
        centred = affinity - affinity.mean(1, keepdim=True)
        spread = centred.square().mean(1, keepdim=True).sqrt()
        standardised = centred / spread.clamp_min(1e-6)
        return anchors.float(), candidates.float(), standardised.float()

    @torch.no_grad()
    def pairs(self, anchors: Tensor, candidates: Tensor) -> Pairs:
        """What the network learns from."""
        affinity = cosine(anchors, candidates)
        return Pairs(*self.inputs(anchors, candidates, affinity), self.groups(affinity))

    def verdict(
        self, anchors: Tensor, candidates: Tensor, affinity: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """(N, M) log u, and the groups that the network would name."""
        if self.network is None or self.estimator is None:
            nearness = -(1 - affinity).clamp_min(1e-6).log()
            return torch.where(self.groups(affinity) == 1, EXCLUDED, nearness), None
        network = self.network.to(affinity.device)  # a loaded one lies on the CPU
        logits = network.blocked(*self.inputs(anchors, candidates, affinity))
        return self.estimator.log_uncertainty(logits), (logits[..., 1] > logits[..., 0]).long()
