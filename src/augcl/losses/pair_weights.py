"""The weights of all pairs of nodes in one byte each, readable a block at a time."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from augcl.hardness.base import Hardness
from augcl.hardness.diagnostics import WeightSums
from augcl.ops.cosine import cosine


class PairWeights(Hardness):
    """w_ij = (k_ij · r_i)⁴ with a byte k_ij: N² bytes for N nodes, and never N² floats.

    The fourth root keeps small weights apart from each other and from 0 while the largest of the
    row is exact. With r the weight over the row's largest, the relative error is at most about
    2 / (255 r^¼): 2.5 % for r above a hundredth, 8 % down to 10⁻⁴, 26 % down to 10⁻⁶; from
    1.5 · 10⁻¹¹ on a weight is 0.

    Parameters
    ----------
    codes : (N, N) uint8
    root : (N, 1) float32
        r_i: the fourth root of the row's largest weight, over 255.
    """

    def __init__(self, codes: Tensor, root: Tensor) -> None:
        self.codes = codes
        self.root = root

    @classmethod
    def of(
        cls, hardness: Hardness, z: Tensor, *, labels: Tensor | None = None, rows: int = 128
    ) -> PairWeights:
        """The weights that a fitted hardness gives to all pairs of embeddings z (N, D)."""
        codes = torch.empty(len(z), len(z), dtype=torch.uint8, device=z.device)
        root = torch.empty(len(z), 1, device=z.device)
        for start in range(0, len(z), rows):
            some = z[start : start + rows]
            every = z.roll(-start, 0)  # row i of both is one node, as a hardness may expect
            hardness.begin_batch(None if labels is None else labels.roll(-start, 0))
            log_w = hardness.log_weights(some, every, cosine(some, every))
            if log_w is None:
                log_w = torch.zeros(len(some), len(z), device=z.device)
            log_w = log_w.roll(start, 1)
            largest = log_w.amax(1, keepdim=True)
            codes[start : start + rows] = ((log_w - largest) / 4).exp_().mul_(255).round_()
            root[start : start + rows] = (largest / 4).exp() / 255
        return cls(codes, root)

    def block(self, rows: slice, columns: slice | Tensor) -> Tensor:
        """The weights of some rows and columns, float32, in memory of their own."""
        codes = self.codes[rows][:, columns]
        return codes.to(torch.float32).mul_(self.root[rows]).square_().square_()

    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor:
        """All of them: for tests and small graphs."""
        everything = slice(None)
        smallest = torch.finfo(torch.float32).tiny
        return self.block(everything, everything).clamp_min(smallest).log()

    def describe(self, labels: Tensor | None = None, *, rows: int = 256) -> dict[str, Any]:
        """Spread of the weights and, with labels, the mean of true and of false negatives."""
        sums = WeightSums()
        for start in range(0, len(self.codes), rows):
            sums.add(self.block(slice(start, start + rows), slice(None)), labels, first=start)
        return sums.read()
