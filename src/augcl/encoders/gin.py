"""The graph isomorphism network of GraphCL and AUGCL."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, linear, relu

from augcl.checks import whole_number
from augcl.encoders.heads import glorot_linear
from augcl.ops.csr import Adjacency
from augcl.ops.gin_layer import gin_layer


class GIN(nn.Module):
    """L layers h_v ← BN(ReLU(W2 · ReLU(W1 · (h_v + Σ_{u → v} h_u) + b1) + b2)), all of them kept.

    Parameters
    ----------
    in_features : int
        F, width of the node features.
    width : int
        Width d of every layer.
    layers : int
        L.
    generator : torch.Generator, optional
        Draws the weights.

    Examples
    --------
    >>> gin = GIN(3, width=8, layers=2, generator=torch.Generator().manual_seed(0))
    >>> edges = torch.tensor([[0, 1], [1, 0]])
    >>> gin(torch.ones(2, 3), edges).shape
    torch.Size([2, 16])
    """

    def __init__(
        self,
        in_features: int,
        *,
        width: int = 32,
        layers: int = 3,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        whole_number("width", width, least=1)
        whole_number("layers", layers, least=1)
        generator = generator or torch.Generator()
        inputs = [in_features] + [width] * (layers - 1)
        self.layers = nn.ModuleList([GINLayer(n, width, generator) for n in inputs])
        self.out_features = width * layers

    def forward(self, x: Tensor, edges: Tensor | Adjacency) -> Tensor:
        """(V, F) features and (2, E) edges, or an Adjacency, to (V, L·d), layers side by side."""
        return torch.cat(self.outputs(x, edges), dim=1)

    def outputs(self, x: Tensor, edges: Tensor | Adjacency) -> list[Tensor]:
        """The (V, d) output of every layer."""
        if not isinstance(edges, Adjacency):
            edges = Adjacency.from_edges(edges, len(x))
        outputs = []
        for layer in self.layers:
            x = layer(x, edges)
            outputs.append(x)
        return outputs


class GINLayer(nn.Module):
    """One layer; in training in one piece (see `ops.gin_layer`), else from torch's own."""

    def __init__(self, inputs: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = glorot_linear(inputs, width, generator)
        self.second = glorot_linear(width, width, generator)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x: Tensor, edges: Adjacency) -> Tensor:
        if not self.training or len(x) < 2:  # one node has no variance
            return self._with_running_averages(x, edges)
        first, second, norm = (
            (part.weight, part.bias) for part in (self.first, self.second, self.norm)
        )
        out, mean, scale = gin_layer(x, edges, first, second, norm, self.norm.eps)
        self._track(mean, scale.pow(-2) - self.norm.eps, len(x))
        return out

    def _with_running_averages(self, x: Tensor, edges: Adjacency) -> Tensor:
        if self.first.in_features > self.first.out_features:  # sum where it is narrower
            narrow = linear(x, self.first.weight)
            hidden = narrow + edges.sum_neighbours(narrow) + self.first.bias
        else:
            hidden = self.first(x + edges.sum_neighbours(x))
        norm = self.norm
        return batch_norm(
            relu(self.second(relu(hidden))),
            norm.running_mean,
            norm.running_var,
            norm.weight,
            norm.bias,
            eps=norm.eps,
        )

    @torch.no_grad()
    def _track(self, mean: Tensor, var: Tensor, nodes: int) -> None:
        """Update the running averages as torch's batch norm does."""
        norm = self.norm
        assert norm.running_mean is not None
        assert norm.running_var is not None
        norm.running_mean.lerp_(mean, norm.momentum or 0.0)
        norm.running_var.lerp_(var * (nodes / (nodes - 1)), norm.momentum or 0.0)
