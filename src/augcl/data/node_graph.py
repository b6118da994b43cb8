"""One graph whose nodes are what is embedded."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor, device


@dataclass(frozen=True)
class Splits:
    """S fixed ways to divide the nodes, each (S, N) bool: Wiki-CS has 20 of them."""

    train: Tensor
    val: Tensor
    test: Tensor


@dataclass(frozen=True)
class NodeGraph:
    """A single undirected graph, clean: what every node method works on.

    Parameters
    ----------
    x : (N, F) float32
        Features, dense or (when most are 0) ``torch.sparse_csr``.
    edge_index : (2, E) int64
        Both directions of every edge, sorted by source, then target; no loops, no duplicates.
    y : (N,) int64, optional
        Class of each node.
    splits : Splits, optional
    names : list of str, optional
        Of the nodes.
    name : str
    """

    x: Tensor
    edge_index: Tensor
    y: Tensor | None = None
    splits: Splits | None = None
    names: list[str] | None = None
    name: str = "graph"

    @property
    def num_nodes(self) -> int:
        return self.x.shape[0]

    @property
    def num_features(self) -> int:
        return self.x.shape[1]

    def to(self, where: str | device) -> NodeGraph:
        """The same on another device; labels and splits stay, no training looks at them."""
        return replace(self, x=self.x.to(where), edge_index=self.edge_index.to(where))
