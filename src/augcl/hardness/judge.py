"""Partition and estimator together: how unsure one is about the group of every pair."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from augcl.errors import InputError
from augcl.hardness.fitting import Pairs
from augcl.hardness.partition import PARTITIONS, embedding_groups
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
    partition_of: str
    similar: str
    normalize: bool
    affinity_input: bool
    estimator: Estimator | None = None
    network: PairNetwork | None = None

    def groups(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor:
        """(N, M) 1 for the similar candidates of each anchor, else 0."""
        if self.partition_of == "embedding":
            group = embedding_groups(*self._embeddings(anchors, candidates), self.partition)
        else:
            group = PARTITIONS[self.partition](affinity)
        if self.similar == "positive":
            group = group ^ ~group.diagonal()[:, None]
        return group.long()

    def _embeddings(self, anchors: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor]:
        anchors, candidates = anchors.detach(), candidates.detach()
        if self.normalize:
            anchors, candidates = unit_rows(anchors), unit_rows(candidates)
        return anchors.float(), candidates.float()

    def inputs(
        self, anchors: Tensor, candidates: Tensor, affinity: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """What the network sees: float32, by default unit vectors and standardised affinities."""
        anchors, candidates = self._embeddings(anchors, candidates)
        if not self.affinity_input:
            return anchors, candidates, None
        centred = affinity.detach() - affinity.detach().mean(1, keepdim=True)
        spread = centred.square().mean(1, keepdim=True).sqrt()
        return anchors, candidates, (centred / spread.clamp_min(1e-6)).float()

    @torch.no_grad()
    def pairs(self, anchors: Tensor, candidates: Tensor) -> Pairs:
        """What the network learns from."""
        affinity = cosine(anchors, candidates)
        return Pairs(
            *self.inputs(anchors, candidates, affinity), self.groups(anchors, candidates, affinity)
        )

    def verdict(
        self, anchors: Tensor, candidates: Tensor, affinity: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """(N, M) log u, and the groups that the network would name."""
        if self.network is None or self.estimator is None:
            nearness = -(1 - affinity).clamp_min(1e-6).log()
            similar = self.groups(anchors, candidates, affinity) == 1
            return torch.where(similar, EXCLUDED, nearness), None
        network = self.network.to(affinity.device)  # a loaded one lies on the CPU
        logits = network.blocked(*self.inputs(anchors, candidates, affinity))
        return self.estimator.log_uncertainty(logits), (logits[..., 1] > logits[..., 0]).long()
