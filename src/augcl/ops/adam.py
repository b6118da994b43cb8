"""Adam without the machinery around it: torch's own step, bit for bit.

The first use of an optimizer of torch imports its compiler, which takes longer than a training on
small graphs, and each of its steps looks up again what never changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8

State = dict[str, Tensor]


class Adam:
    """The steps of `torch.optim.Adam`.

    Parameters
    ----------
    parameters : tensors
        What is changed in place, by the gradients that they have.
    lr, weight_decay : float
    fused : bool
        The arithmetic of ``fused=True``, which is faster and rounds differently, or of the default.

    Examples
    --------
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> adam = Adam([x], lr=0.1)
    >>> (3 * x).sum().backward()
    >>> adam.step()
    >>> round(x.item(), 4)
    0.9
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        *,
        lr: float,
        weight_decay: float = 0.0,
        fused: bool = True,
    ) -> None:
        self.parameters = list(parameters)
        self.lr, self.weight_decay, self.fused = lr, weight_decay, fused
        self.state: dict[int, State] = {}

    def zero_grad(self) -> None:
        for p in self.parameters:
            p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Change the parameters that have a gradient."""
        some = [(i, p) for i, p in enumerate(self.parameters) if p.grad is not None]
        if not some:
            return
        for i, p in some:
            if i not in self.state:
                self.state[i] = self._start(p)
        states = [self.state[i] for i, _ in some]
        parameters = [p for _, p in some]
        gradients = [p.grad for _, p in some]
        steps, means, squares = (
            [s[name] for s in states] for name in ("step", "exp_avg", "exp_avg_sq")
        )
        torch._foreach_add_(steps, 1)
        update = self._fused if self.fused else self._plain
        update(parameters, gradients, means, squares, steps)

    def _fused(self, *tensors: Any) -> None:
        parameters, gradients, means, squares, steps = tensors
        torch._fused_adam_(
            parameters,
            gradients,
            means,
            squares,
            [],
            steps,
            lr=self.lr,
            beta1=BETA1,
            beta2=BETA2,
            weight_decay=self.weight_decay,
            eps=EPS,
            amsgrad=False,
            maximize=False,
        )

    def _plain(self, *tensors: Any) -> None:
        parameters, gradients, means, squares, steps = tensors
        done = steps[0].item()  # all have been there from the first step on
        if self.weight_decay:
            gradients = torch._foreach_add(gradients, parameters, alpha=self.weight_decay)
        torch._foreach_lerp_(means, gradients, 1 - BETA1)
        torch._foreach_mul_(squares, BETA2)
        torch._foreach_addcmul_(squares, gradients, gradients, 1 - BETA2)
        size = torch._foreach_sqrt(squares)
        torch._foreach_div_(size, (1 - BETA2**done) ** 0.5)
        torch._foreach_add_(size, EPS)
        torch._foreach_addcdiv_(parameters, means, size, -self.lr / (1 - BETA1**done))

    def _start(self, p: Tensor) -> State:
        device = p.device if self.fused else torch.device("cpu")
        return {
            "step": torch.zeros((), device=device),
            "exp_avg": torch.zeros_like(p),
            "exp_avg_sq": torch.zeros_like(p),
        }

    def state_dict(self) -> dict[str, Any]:
        """The running averages by number of parameter, as torch's optimizers give them."""
        return {"state": self.state}

    def load_state_dict(self, found: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        self.state = {
            i: {name: value.to(self.parameters[i].device) for name, value in entry.items()}
            for i, entry in found["state"].items()
        }
