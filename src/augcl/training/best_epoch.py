"""The weights of the epoch with the least loss on graphs that are held out."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from augcl.training.checkpoint import Snapshot, load_module, prefixed


class BestEpoch:
    """Remembers the best epoch of a training and its weights.

    Attributes
    ----------
    loss : float
    epoch : int
        Counted from 1; 0 while there is none.
    """

    def __init__(self) -> None:
        self.loss = math.inf
        self.epoch = 0
        self._weights: dict[str, Tensor] = {}

    def see(self, loss: float, epoch: int, network: nn.Module) -> None:
        """Tell of an epoch; of equals the first counts."""
        if loss < self.loss:
            self.loss, self.epoch = loss, epoch
            self._weights = {k: v.detach().clone() for k, v in network.state_dict().items()}

    def put_back(self, network: nn.Module) -> None:
        """Give the network the best weights, if there are some, and forget them."""
        if self._weights:
            load_module(network, self._weights)
        self._weights = {}

    def tensors(self) -> dict[str, Tensor]:
        """All of it, for a checkpoint."""
        facts = torch.tensor([self.loss, self.epoch], dtype=torch.float64)
        return {"facts": facts, **prefixed("weights", self._weights)}

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Take back what `tensors` gave."""
        self.loss, epoch = tensors["facts"].tolist()
        self.epoch = int(epoch)
        self._weights = Snapshot(tensors, {}).part("weights")
