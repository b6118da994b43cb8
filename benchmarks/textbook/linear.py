"""The linear protocol for nodes in its usual form: one split after the other."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augcl.evaluation.splits import TEST, TRAIN, VALIDATION


def linear_evaluation(
    Z: Tensor, y: Tensor, parts: Tensor, start: Tensor, *, steps: int
) -> tuple[float, Tensor]:
    """Return the test accuracy at the first step with the best validation accuracy, and the layer.

    `start` (C, D) are the initial weights, `parts` (N,) is the part of each node.
    """
    layer = nn.Linear(Z.shape[1], len(start), dtype=Z.dtype)
    with torch.no_grad():
        layer.weight.copy_(start)
        layer.bias.zero_()
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.01, weight_decay=0.0)
    train, val, test = (parts == part for part in (TRAIN, VALIDATION, TEST))
    X, target = Z[train], y[train]
    best_val, best_test = -1.0, 0.0
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        nn.functional.cross_entropy(layer(X), target).backward()
        optimizer.step()
        if step % 20 == 0:
            with torch.no_grad():
                right = layer(Z).argmax(1) == y
            accuracy = right[val].double().mean().item()
            if accuracy > best_val:
                best_val = accuracy
                best_test = right[test].sum().item() / int(test.sum())
    weights = torch.cat([layer.weight, layer.bias[:, None]], dim=1)
    return best_test, weights.detach()
