"""The graph isomorphism network for edges that carry features (GINE)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.functional import batch_norm, relu

from augcl.encoders.gin import GIN
from augcl.encoders.heads import glorot_linear
from augcl.ops import processes
from augcl.ops.csr import FeaturedEdges
from augcl.ops.segments import segment_sum


class GINE(GIN):
    """GIN whose messages know the edge: h_v + Σ_{u → v} ReLU(h_u + U e_uv + c) in place of the sum.

    Hu et al., "Strategies for pre-training graph neural networks", ICLR 2020, arXiv:1905.12265,
    doi:10.48550/arXiv.1905.12265.

    Parameters
    ----------
    in_features : int
        F, width of the node features.
    edge_features : int
        K, width of the edge features.
    width, layers, generator :
        See `GIN`.

    References
    ----------
    W. Hu, B. Liu, J. Gomes, M. Zitnik, P. Liang, V. Pande and J. Leskovec. "Strategies for
    Pre-training Graph Neural Networks". ICLR 2020. arXiv:1905.12265,
    doi:10.48550/arXiv.1905.12265.

    Examples
    --------
    >>> gine = GINE(3, 1, width=8, layers=2, generator=torch.Generator().manual_seed(0))
    >>> gine(torch.ones(2, 3), torch.tensor([[0, 1], [1, 0]]), torch.ones(2, 1)).shape
    torch.Size([2, 16])
    """

    def __init__(
        self,
        in_features: int,
        edge_features: int,
        *,
        width: int = 32,
        layers: int = 3,
        generator: torch.Generator | None = None,
    ) -> None:
        generator = generator or torch.Generator()
        super().__init__(in_features, width=width, layers=layers, generator=generator)
        inputs = [in_features] + [width] * (layers - 1)
        self.layers = nn.ModuleList([GINELayer(n, edge_features, width, generator) for n in inputs])

    def forward(self, x: Tensor, edges: Any, edge_attr: Tensor | None = None) -> Tensor:
        """Return (V, L·d), all layers, from `FeaturedEdges`, or (2, E) and (E, K) as in PyG."""
        if edge_attr is not None:
            edges = FeaturedEdges.from_edges(edges, edge_attr, len(x))
        return super().forward(x, edges)

    def outputs(self, x: Tensor, edges: Any) -> list[Tensor]:
        """Return the (V, d) output of every layer, from (V, F) features and `FeaturedEdges`."""
        outputs = []
        for layer in self.layers:
            x = layer(x, edges)
            outputs.append(x)
        return outputs


class GINELayer(nn.Module):
    """One layer: messages, two linear maps, batch norm."""

    def __init__(self, inputs: int, edges: int, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.edge = glorot_linear(edges, inputs, generator)
        self.first = glorot_linear(inputs, width, generator)
        self.second = glorot_linear(width, width, generator)
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x: Tensor, edges: FeaturedEdges) -> Tensor:
        hidden = relu(self.second(relu(self.first(x + self.messages(x, edges)))))
        norm = self.norm
        if self.training and processes.is_shared():
            return processes.batch_norm(hidden, norm)
        return batch_norm(
            hidden,
            norm.running_mean,
            norm.running_var,
            norm.weight,
            norm.bias,
            training=self.training and len(x) > 1,  # one node has no variance
            momentum=norm.momentum or 0.0,
            eps=norm.eps,
        )

    def messages(self, x: Tensor, edges: FeaturedEdges) -> Tensor:
        """Return the (V, F) sums Σ_{u → v} ReLU(x_u + U e_uv + c)."""
        sent: Tensor = _Gather.apply(x, edges)  # type: ignore[no-untyped-call]
        return segment_sum(relu(sent + self.edge(edges.attr)), edges.ptr)


class _Gather(torch.autograd.Function):
    """x[source], with a gradient that is a sum over segments instead of a scatter."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, edges: FeaturedEdges) -> Tensor:
        ctx.edges = edges
        return x.index_select(0, edges.source)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        edges = ctx.edges
        return segment_sum(grad.index_select(0, edges.by_source), edges.source_ptr), None
