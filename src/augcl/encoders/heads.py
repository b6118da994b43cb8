"""Linear layers and small heads, initialised (Xavier) from a given generator."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class _Unset(nn.Linear):
    """A linear layer that draws no weights from torch's global generator."""

    def reset_parameters(self) -> None:
        pass


def glorot_linear(inputs: int, outputs: int, generator: torch.Generator) -> nn.Linear:
    """Return a linear layer with Xavier-uniform weights and zero bias."""
    layer = _Unset(inputs, outputs)
    nn.init.xavier_uniform_(layer.weight, generator=generator)
    nn.init.zeros_(layer.bias)
    return layer


def projector(
    width: int,
    generator: torch.Generator,
    *,
    hidden: int | None = None,
    activation: type[nn.Module] = nn.ReLU,
) -> nn.Sequential:
    """Return the head between embedding and loss: z = P2 · act(P1 h), as wide as h."""
    hidden = hidden or width
    return nn.Sequential(
        glorot_linear(width, hidden, generator),
        activation(),
        glorot_linear(hidden, width, generator),
    )


def output_basis(head: nn.Sequential) -> Tensor | None:
    """Return (D, K) orthonormal columns that span all outputs of a head with a linear last layer.

    A last layer of shape (D, p) with D > p + 1 reaches only p + 1 dimensions: its weights and its
    bias. Outputs times this basis have the same inner products and lengths, in fewer numbers.
    Return None if all D dimensions are needed.

    >>> head = projector(4, torch.Generator())
    >>> output_basis(head) is None
    True
    >>> narrow = nn.Sequential(glorot_linear(8, 2, torch.Generator()))
    >>> wide = nn.Sequential(*narrow, nn.ReLU(), glorot_linear(2, 8, torch.Generator()))
    >>> output_basis(wide).shape
    torch.Size([8, 3])
    """
    last = head[-1]
    if not isinstance(last, nn.Linear) or last.in_features + 1 >= last.out_features:
        return None
    spanned = torch.cat([last.weight, last.bias[:, None]], dim=1)
    basis: Tensor = torch.linalg.qr(spanned.detach()).Q
    return basis


class FeedForward(nn.Module):
    """Three linear layers with an activation after each, and a linear shortcut beside them.

    Parameters
    ----------
    inputs, outputs : int
    generator : torch.Generator
        Draws the weights.
    activation : type of Module
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        generator: torch.Generator,
        *,
        activation: type[nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__()
        widths = [(inputs, outputs), (outputs, outputs), (outputs, outputs)]
        linear = [glorot_linear(*pair, generator) for pair in widths]
        self.layers = nn.Sequential(*[part for one in linear for part in (one, activation())])
        self.shortcut = glorot_linear(inputs, outputs, generator)

    def forward(self, x: Tensor) -> Tensor:
        """Map (N, inputs) to (N, outputs)."""
        return self.layers(x) + self.shortcut(x)  # type: ignore[no-any-return]


class ManyHeads(nn.Module):
    """Several projectors; every row chooses one."""

    def __init__(self, count: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.heads = nn.ModuleList([projector(width, generator) for _ in range(count)])

    def forward(self, x: Tensor, which: Tensor) -> Tensor:
        """Map rows (N, D) by the heads with the numbers `which` (N,)."""
        every = torch.stack([head(x) for head in self.heads])
        return every[which, torch.arange(len(x), device=x.device)]


def discriminator(width: int, generator: torch.Generator) -> nn.Sequential:
    """Return three layers that map (N, width) to (N, 1), the logit of "real"."""
    return nn.Sequential(
        glorot_linear(width, width, generator),
        nn.ReLU(),
        glorot_linear(width, width, generator),
        nn.ReLU(),
        glorot_linear(width, 1, generator),
    )
