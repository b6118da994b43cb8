"""Adam as in code that forgets to set gradients to zero."""

from __future__ import annotations

from typing import Any

import torch


class SummingAdam(torch.optim.Adam):
    """Adam whose gradients are never set to zero: each step uses the sum of all so far."""

    def step(self, closure: Any = None) -> Any:
        """One step; the sums are kept with the running averages, in checkpoints, too."""
        parameters = [p for group in self.param_groups for p in group["params"]]
        for p in parameters:
            if "sum" in self.state[p]:
                p.grad += self.state[p]["sum"]
        result = super().step(closure)
        for p in parameters:
            self.state[p]["sum"] = p.grad.clone()
        return result
