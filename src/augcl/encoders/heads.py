"""Linear layers with the field's initialisation, drawn from a generator that is passed in."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class _Unset(nn.Linear):
    """A linear layer that draws no weights, least of all from torch's global generator."""

    def reset_parameters(self) -> None:
        pass


def glorot_linear(inputs: int, outputs: int, generator: torch.Generator) -> nn.Linear:
    """A linear layer with Xavier-uniform weights and zero bias."""
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
    """The head between embedding and loss: z = P2 · act(P1 h), as wide as the embedding."""
    hidden = hidden or width
    return nn.Sequential(
        glorot_linear(width, hidden, generator),
        activation(),
        glorot_linear(hidden, width, generator),
    )


def output_basis(head: nn.Sequential) -> Tensor | None:
    """(D, K) orthonormal columns that span whatever a head with a linear end can give.

    A last layer from p to D > p + 1 numbers fills p + 1 dimensions: those of its weights and its
    bias. Outputs times this basis have the products and lengths of the outputs, in fewer numbers.
    None where all D are needed.

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
        """(N, inputs) to (N, outputs)."""
        return self.layers(x) + self.shortcut(x)  # type: ignore[no-any-return]


class ManyHeads(nn.Module):
    """Several projectors, of which each row says which one it goes through."""

    def __init__(self, count: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.heads = nn.ModuleList([projector(width, generator) for _ in range(count)])

    def forward(self, x: Tensor, which: Tensor) -> Tensor:
        """(N, D) rows and (N,) numbers of heads to (N, D)."""
        every = torch.stack([head(x) for head in self.heads])
        return every[which, torch.arange(len(x), device=x.device)]


def discriminator(width: int, generator: torch.Generator) -> nn.Sequential:
    """Three layers from (N, width) to (N, 1), the logit of being real."""
    return nn.Sequential(
        glorot_linear(width, width, generator),
        nn.ReLU(),
        glorot_linear(width, width, generator),
        nn.ReLU(),
        glorot_linear(width, 1, generator),
    )
