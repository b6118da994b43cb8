"""GraphSet: many graphs in flat tensors, the format of the whole library."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import torch
from torch import Tensor

from augcl.data.edges import Cleaned, simple_undirected
from augcl.errors import InputError
from augcl.ops.csr import Adjacency, FeaturedEdges
from augcl.ops.segments import pointer, ranges, segment_ids

if TYPE_CHECKING:
    from torch_geometric.data import Data

MANY_EDGES = 1000
"""Edge entries of a graph from which on they are copied as one piece."""


@dataclass(frozen=True, eq=False)
class GraphSet:
    """G graphs with V nodes and E edge entries in all, without a Python object per graph.

    Parameters
    ----------
    x : (V, F) float32
        Node features, graph after graph.
    edge_index : (2, E) int64
        Edges, numbered over all nodes, grouped by graph and ordered by their first row.
    node_ptr, edge_ptr : (G+1,) int64
        Graph g has the nodes ``node_ptr[g]:node_ptr[g+1]`` and the edge entries
        ``edge_ptr[g]:edge_ptr[g+1]``.
    y : (G,) int64, (G,) float32 or (G, T) float32, optional
        Class of each graph, 0 … C − 1, −1 where it is not known; or a number to predict; or T
        targets, NaN where one is not known. `task` says which.
    names : sequence of str, optional
        What the user calls each graph; comes back in exported embeddings.
    node_attr : (V, A) float32, optional
        Attributes that came with the data and are not part of `x`.
    edge_attr : (E, K) float32, optional
        Edge attributes and one-hot edge labels.
    edge_columns : sequence of str, optional
        What each of the K columns of `edge_attr` means.
    columns : sequence of str, optional
        What each of the F features means, such as "label=6"; lets a model trained on one file
        read another one whose columns stand elsewhere.
    symmetric : bool
        Every edge stands in both directions (True for data, False for some views).
    name : str
        Name of the data set.
    classes : sequence of str, optional
        What the user calls each class, where labels are words.
    cleaned : Cleaned, optional
        How much of the edges had to be put right, of the whole set as it was read.
    targets : sequence of str, optional
        What the user calls each target.
    smiles : sequence of str, optional
        The molecule that each graph is, as text.
    attr_columns : sequence of str, optional
        What each of the A columns of `node_attr` means.

    Examples
    --------
    >>> two = GraphSet(
    ...     x=torch.ones(5, 1),
    ...     edge_index=torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]]),
    ...     node_ptr=torch.tensor([0, 2, 5]),
    ...     edge_ptr=torch.tensor([0, 2, 6]),
    ... )
    >>> len(two), two.select([1]).edge_index.tolist()
    (2, [[0, 1, 1, 2], [1, 0, 2, 1]])
    """

    x: Tensor
    edge_index: Tensor
    node_ptr: Tensor
    edge_ptr: Tensor
    y: Tensor | None = None
    names: Sequence[str] | None = None
    node_attr: Tensor | None = None
    edge_attr: Tensor | None = None
    columns: Sequence[str] | None = None
    symmetric: bool = True
    name: str = "graphs"
    classes: Sequence[str] | None = None
    cleaned: Cleaned | None = None
    edge_columns: Sequence[str] | None = None
    targets: Sequence[str] | None = None
    smiles: Sequence[str] | None = None
    attr_columns: Sequence[str] | None = None

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    @property
    def num_nodes(self) -> int:
        return len(self.x)

    @property
    def num_edges(self) -> int:
        """Edge entries; an undirected edge counts twice."""
        return self.edge_index.shape[1]

    @property
    def num_features(self) -> int:
        return self.x.shape[1]

    @property
    def num_classes(self) -> int:
        labels = self.labels
        return 0 if labels is None else len(labels[labels >= 0].unique())

    @property
    def labels(self) -> Tensor | None:
        """(G,) int64 the classes, −1 where one is not known; None unless `y` holds classes."""
        return self.y if self.task == "classification" else None

    @property
    def task(self) -> str | None:
        """What `y` asks for, see `task_of`; None without `y`."""
        return task_of(self.y)

    @property
    def device(self) -> torch.device:
        return self.x.device

    @cached_property
    def graph_of_node(self) -> Tensor:
        """(V,) the graph of each node; PyG calls it ``batch``."""
        return segment_ids(self.node_ptr)

    @cached_property
    def edge_keys(self) -> Tensor:
        """(E,) one number for each edge entry, source · V + target, in ascending order."""
        keys = self.edge_index[0] * self.num_nodes + self.edge_index[1]
        return keys if bool((keys[1:] >= keys[:-1]).all()) else keys.sort().values

    @cached_property
    def adjacency(self) -> Adjacency:
        """The edges as a fast sparse product."""
        return Adjacency.from_edges(
            self.edge_index, self.num_nodes, symmetric=self.symmetric, ordered=True
        )

    @cached_property
    def featured_edges(self) -> FeaturedEdges:
        """The edges with their features, ordered by target."""
        if self.edge_attr is None:
            raise InputError(f"{self.name} has no edge features: give every edge some")
        return FeaturedEdges.from_edges(self.edge_index, self.edge_attr, self.num_nodes)

    def select(self, ids: Sequence[int] | Tensor | np.ndarray[Any, Any]) -> GraphSet:
        """Return the graphs `ids`, in that order, or those where a mask is True, as a new set.

        As in a list, −1 is the last graph.
        """
        ids = self._indices(ids)
        node_count, edge_count = self.node_ptr.diff()[ids], self.edge_ptr.diff()[ids]
        first_node = self.node_ptr[:-1][ids]
        nodes = ranges(first_node, node_count)
        first_edge, node_ptr = self.edge_ptr[:-1][ids], pointer(node_count)
        shift = node_ptr[:-1] - first_node
        return replace(
            self,
            x=self.x[nodes],
            edge_index=_shifted_edges(self.edge_index, first_edge, edge_count, shift),
            node_ptr=node_ptr,
            edge_ptr=pointer(edge_count),
            y=None if self.y is None else self.y[ids],
            names=None if self.names is None else [self.names[i] for i in ids.tolist()],
            smiles=None if self.smiles is None else [self.smiles[i] for i in ids.tolist()],
            node_attr=None if self.node_attr is None else self.node_attr[nodes],
            edge_attr=None
            if self.edge_attr is None
            else self.edge_attr[ranges(first_edge, edge_count)],
        )

    def to(self, device: torch.device | str) -> GraphSet:
        """The same graphs on another device."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        moved: dict[str, Any] = {k: v.to(device) for k, v in parts.items() if isinstance(v, Tensor)}
        return replace(self, **moved)

    @overload
    def __getitem__(self, index: int) -> Data: ...
    @overload
    def __getitem__(
        self, index: slice | Sequence[int] | Tensor | np.ndarray[Any, Any]
    ) -> GraphSet: ...
    def __getitem__(self, index: Any) -> Data | GraphSet:
        """Return one graph as a PyG ``Data``; for a slice, numbers or a mask, a `GraphSet`.

        >>> import augcl
        >>> graphs = augcl.load("MUTAG")
        >>> len(graphs[:10]), len(graphs[graphs.y == 1]), graphs[0].num_nodes
        (10, 125, 17)
        """
        from torch_geometric.data import Data

        if isinstance(index, slice):
            return self.select(range(len(self))[index])
        if np.ndim(index) > 0:
            return self.select(index)
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"graph {index} of {len(self)}")
        one = self.select([index])
        return Data(x=one.x, edge_index=one.edge_index, edge_attr=one.edge_attr, y=one.y)

    def _indices(self, ids: Any) -> Tensor:
        """Return numbers of graphs from numbers or a mask, of NumPy, torch or Python."""
        if not isinstance(ids, Tensor):
            ids = np.ascontiguousarray(ids)  # torch takes no negative strides
            ids = ids if ids.size else ids.astype(np.int64)  # of an empty list NumPy makes floats
        numbers = torch.as_tensor(ids, device=self.device)
        if numbers.ndim != 1:
            raise IndexError(f"expected one dimension of graph numbers, got {numbers.ndim}")
        if numbers.dtype == torch.bool:
            if len(numbers) != len(self):
                raise IndexError(f"the mask has {len(numbers)} entries, the set {len(self)} graphs")
            return numbers.nonzero().squeeze(1)
        if numbers.is_floating_point():
            raise IndexError("graphs are chosen by whole numbers or by a mask of booleans")
        return numbers.long()

    def __iter__(self) -> Iterator[Data]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        classes = described_targets(self.y, self.num_classes)
        return (
            f"GraphSet({self.name!r}: {len(self)} graphs, {self.num_nodes} nodes, "
            f"{self.num_edges} edge entries, {self.num_features} features, {classes})"
        )

    @classmethod
    def from_arrays(
        cls,
        *,
        pairs: Tensor,
        graph_of_node: Tensor,
        num_graphs: int,
        x: Tensor | None = None,
        edge_attr: Tensor | None = None,
        **more: Any,
    ) -> GraphSet:
        """Build a set from loose parts: edges in any order, once or in both directions.

        Self-loops and duplicates are removed, the missing directions added. Nodes must be grouped
        by graph; an edge stays within its graph.

        Parameters
        ----------
        pairs : (2, P) int64
            Edges over all nodes.
        graph_of_node : (V,) int64
            Non-decreasing.
        num_graphs : int
            G; graphs without nodes are refused.
        x : (V, F) float, optional
            Features; constant 1 if absent.
        edge_attr : (P, K), optional
            One row per pair; of duplicates the first counts.

        Examples
        --------
        >>> g = GraphSet.from_arrays(
        ...     pairs=torch.tensor([[1, 0, 1, 2], [0, 1, 1, 0]]),
        ...     graph_of_node=torch.tensor([0, 0, 0]),
        ...     num_graphs=1,
        ... )
        >>> g.edge_index.tolist()
        [[0, 0, 1, 2], [1, 2, 0, 0]]
        """
        counts = torch.bincount(graph_of_node, minlength=num_graphs)
        if num_graphs == 0 or bool((counts == 0).any()):
            empty = int((counts == 0).nonzero()[0]) if num_graphs else 0
            raise InputError(
                f"graph number {empty + 1} has no nodes: remove it or give it at least one node"
            )
        num_nodes = len(graph_of_node)
        if x is None:
            x = torch.ones(num_nodes, 1)
            more["columns"] = more.get("columns") or ["constant"]
        x = x.to(torch.float32)
        if not bool(torch.isfinite(x).all()):
            row = int((~torch.isfinite(x)).any(1).nonzero()[0])
            raise InputError(f"node features hold NaN or infinity, first at node {row + 1}")
        edge_index, edge_attr, cleaned = simple_undirected(pairs, num_nodes, edge_attr)
        node_ptr = pointer(counts)
        edge_ptr = torch.searchsorted(edge_index[0].contiguous(), node_ptr)
        _check_within(edge_index[1], node_ptr, edge_ptr)
        return cls(
            x=x,
            edge_index=edge_index,
            node_ptr=node_ptr,
            edge_ptr=edge_ptr,
            edge_attr=edge_attr,
            cleaned=cleaned,
            **more,
        )


def _shifted_edges(edge_index: Tensor, starts: Tensor, counts: Tensor, shift: Tensor) -> Tensor:
    """Return the edges of some graphs, one after the other, with each graph's `shift` added."""
    total = int(counts.sum())
    if total < MANY_EDGES * len(counts):
        edges = ranges(starts, counts)
        shift = torch.repeat_interleave(shift, counts, output_size=total)
        return edge_index.index_select(1, edges).add_(shift)
    out = edge_index.new_empty(2, total)  # a copy per graph is faster than single numbers
    place = 0
    for start, count, by in torch.stack([starts, counts, shift], dim=1).tolist():
        own = out[:, place : place + count]
        torch.add(edge_index[:, start : start + count], by, out=own)
        place += count
    return out


def task_of(y: Tensor | None) -> str | None:
    """Name what targets ask for, by their type and shape.

    Whole numbers are classes ("classification"), a column of fractions is "regression", several
    columns are "multilabel" if they hold nothing but 0, 1 and NaN (unknown), else "regression".

    >>> task_of(torch.tensor([0, 1])), task_of(torch.tensor([0.5, 1.0]))
    ('classification', 'regression')
    >>> task_of(torch.tensor([[0.0, 1.0], [1.0, float("nan")]]))
    'multilabel'
    """
    if y is None:
        return None
    if not y.is_floating_point():
        return "classification"
    if y.dim() == 1:
        return "regression"
    known = y[~y.isnan()]
    return "multilabel" if bool(((known == 0) | (known == 1)).all()) else "regression"


def described_targets(y: Tensor | None, num_classes: int) -> str:
    """Say in a few words what there is to predict, for a repr."""
    if y is None:
        return "no labels"
    if not y.is_floating_point():
        return f"{num_classes} classes"
    return "a number to predict" if y.dim() == 1 else f"{y.shape[1]} targets"


def _check_within(target: Tensor, node_ptr: Tensor, edge_ptr: Tensor) -> None:
    """Refuse edges between two graphs: the targets of graph g must be its nodes."""
    graph = edge_ptr.diff().nonzero().squeeze(1)
    if not len(graph):
        return
    starts = edge_ptr[graph].numpy()
    lowest = torch.from_numpy(np.minimum.reduceat(target.numpy(), starts))
    highest = torch.from_numpy(np.maximum.reduceat(target.numpy(), starts))
    leaves = (lowest < node_ptr[graph]) | (highest >= node_ptr[graph + 1])
    if bool(leaves.any()):
        first = int(graph[leaves.nonzero()[0]])
        raise InputError(f"an edge connects graph number {first + 1} with another graph")


def is_networkx(graph: Any) -> bool:
    """Return whether it is a networkx graph; without importing networkx, which is slow."""
    return "networkx" in sys.modules and isinstance(graph, sys.modules["networkx"].Graph)
