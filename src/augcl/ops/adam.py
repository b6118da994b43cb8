"""Adam and AdamW without the slow import that torch's versions make at their first step."""

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


class _Unhooked(Optimizer):
    """An optimiser without hooks for torch's compiler.

    The hooks import the compiler at the first step, which takes longer than a training on small
    graphs.
    """

    add_param_group = _undecorated(Optimizer.add_param_group)
    zero_grad = _undecorated(Optimizer.zero_grad)
    state_dict = _undecorated(Optimizer.state_dict)
    load_state_dict = _undecorated(Optimizer.load_state_dict)


class Adam(_Unhooked, torch.optim.Adam):
    """`torch.optim.Adam` without its hooks for torch's compiler.

    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> adam = Adam([x], lr=0.1)
    >>> (3 * x).sum().backward()
    >>> adam.step()
    >>> round(x.item(), 4)
    0.9
    """

    step = torch.no_grad()(_undecorated(torch.optim.Adam.step))


class AdamW(_Unhooked, torch.optim.AdamW):
    """`torch.optim.AdamW`, whose decay of the weights is not part of the gradient, without hooks.

    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> adam = AdamW([x], lr=0.1, weight_decay=1.0)
    >>> (0 * x).sum().backward()
    >>> adam.step()
    >>> round(x.item(), 4)
    0.9
    """

    step = torch.no_grad()(_undecorated(torch.optim.AdamW.step))
