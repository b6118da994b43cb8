"""Build a network again for the weights of a file, which may come from a stranger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import torch
from torch import Tensor, nn

from augcl.errors import InputError

Network = TypeVar("Network", bound=nn.Module)


def rebuilt(build: Callable[[], Network], weights: Mapping[str, Tensor]) -> Network:
    """Return the network that `build` makes, with the weights of a file.

    Shapes are compared before the network takes memory, so that it is never larger than the file.

    >>> rebuilt(lambda: nn.Linear(10**9, 10**9), {"weight": torch.ones(1, 1)})
    Traceback (most recent call last):
    augcl.errors.InputError: the saved weights are of another network: bias is missing
    """
    with torch.device("meta"):
        wanted = build().state_dict()
    for name in sorted(wanted.keys() | weights.keys()):
        if name not in weights or name not in wanted:
            what = "missing" if name not in weights else "unknown"
            raise InputError(f"the saved weights are of another network: {name} is {what}")
        there, here = weights[name], wanted[name]
        if there.shape != here.shape or there.is_floating_point() != here.is_floating_point():
            raise InputError(
                f"the saved weights are of another network: {name} is {_described(there)} "
                f"instead of {_described(here)}"
            )
    network = build()
    network.load_state_dict(dict(weights))
    return network


def _described(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"
