"""Adam without the slow import that torch's version makes at its first step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.optim import Optimizer


def _undecorated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function inside all decorators."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


class Adam(torch.optim.Adam):
    """`torch.optim.Adam` without its hooks for torch's compiler.

    The hooks import the compiler at the first step, which takes longer than a training on small
    graphs.

    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> adam = Adam([x], lr=0.1)
    >>> (3 * x).sum().backward()
    >>> adam.step()
    >>> round(x.item(), 4)
    0.9
    """

    add_param_group = _undecorated(Optimizer.add_param_group)
    zero_grad = _undecorated(Optimizer.zero_grad)
    state_dict = _undecorated(Optimizer.state_dict)
    load_state_dict = _undecorated(Optimizer.load_state_dict)
    step = torch.no_grad()(_undecorated(torch.optim.Adam.step))
