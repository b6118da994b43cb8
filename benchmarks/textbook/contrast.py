"""Encoder and contrastive loss, written like the formulae."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from benchmarks.textbook.views import Graph


def collate(graphs: Sequence[Graph]) -> tuple[Tensor, Tensor, Tensor]:
    """Return the disjoint union of the graphs: features, edges and the graph of each node."""
    x, edges, batch, offset = [], [], [], 0
    for number, graph in enumerate(graphs):
        x.append(graph.x)
        edges.append(graph.edge_index + offset)
        batch.append(torch.full((len(graph.x),), number))
        offset += len(graph.x)
    return torch.cat(x), torch.cat(edges, dim=1), torch.cat(batch)


class Encoder(nn.Module):
    """GIN by gather and scatter, sum pooling of all layers, projection head."""

    def __init__(self, in_features: int, width: int = 32, layers: int = 3) -> None:
        super().__init__()
        self.mlps, self.norms = nn.ModuleList(), nn.ModuleList()
        for layer in range(layers):
            inputs = in_features if layer == 0 else width
            self.mlps.append(
                nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width))
            )
            self.norms.append(nn.BatchNorm1d(width))
        total = width * layers
        self.head = nn.Sequential(nn.Linear(total, total), nn.ReLU(), nn.Linear(total, total))
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)

    def embed(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        """Return (G, L·d) sums of the node embeddings of every layer."""
        source, target = edge_index
        graphs = int(batch.max()) + 1
        pooled = []
        for mlp, norm in zip(self.mlps, self.norms, strict=True):
            messages = x[source]
            x = x + torch.zeros_like(x).index_add(0, target, messages)
            x = norm(torch.relu(mlp(x)))
            pooled.append(x.new_zeros(graphs, x.shape[1]).index_add(0, batch, x))
        return torch.cat(pooled, dim=1)

    def forward(self, graphs: Sequence[Graph]) -> Tensor:
        """Return (G, L·d) projections."""
        projections: Tensor = self.head(self.embed(*collate(graphs)))
        return projections


def cosines(a: Tensor, b: Tensor) -> Tensor:
    """Return cosines (N, M) of rows (N, D) and (M, D)."""
    lengths: Tensor = torch.linalg.norm(a, dim=1)[:, None] * torch.linalg.norm(b, dim=1)[None, :]
    return (a @ b.T) / lengths


def info_nce(a: Tensor, b: Tensor, tau: float = 0.2) -> Tensor:
    """Return mean_i −log( E_ii / Σ_j E_ij ) with E = exp(cos / τ)."""
    return weighted_info_nce(a, b, torch.ones(len(a), len(b)), tau)


def weighted_info_nce(a: Tensor, b: Tensor, weights: Tensor, tau: float = 0.2) -> Tensor:
    """Return mean_i −log( E_ii / Σ_j w_ij E_ij ); the diagonal of `weights` is 1."""
    E = torch.exp(cosines(a, b) / tau)
    return -torch.log(E.diag() / (weights * E).sum(dim=1)).mean()
