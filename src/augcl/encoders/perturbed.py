"""A network with weights moved at random, beside the one that is trained."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn


@torch.no_grad()
def perturbed(network: nn.Module, eta: float, generator: torch.Generator) -> nn.Module:
    """A copy with θ + η ε for every weight tensor θ, where ε ~ N(0, std(θ)²).

    A tensor whose entries are all alike, such as a bias at the start, stays as it is. The copy has
    running averages of its own and takes no part in training.

    >>> layer = nn.Linear(2, 2)
    >>> other = perturbed(layer, 0.1, torch.Generator().manual_seed(0))
    >>> bool((other.weight != layer.weight).all()), other.weight.requires_grad
    (True, False)
    """
    other = copy.deepcopy(network).requires_grad_(False)
    for theta in other.parameters():
        theta.add_(_spread(theta) * _normal(theta, generator), alpha=eta)
    return other


def _spread(theta: Tensor) -> Tensor:
    return theta.std() if theta.numel() > 1 else theta.new_zeros(())


def _normal(like: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(like.shape, generator=generator, device=generator.device).to(like)
