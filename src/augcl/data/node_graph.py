"""NodeGraph: one graph whose nodes are embedded, and the splits of its nodes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, device

from augcl.data.edges import Cleaned, check_pairs, simple_undirected, undirected_weights
from augcl.data.graph import described_targets, task_of
from augcl.data.sparse import compact, first_bad_row, rows_of
from augcl.errors import InputError
from augcl.ops.segments import pointer, ranges, segment_ids

if TYPE_CHECKING:
    from torch_geometric.data import Data


@dataclass(frozen=True, eq=False)
class Splits:
    """S fixed splits of the nodes as masks (S, N) bool; Wiki-CS has 20.

    `stopping` is for early stopping before a choice by `val`; no protocol here uses it. A single
    split judges embeddings by default if it is the `usual` one of its data, as in OGB's folders;
    papers judge the planetoid files by random splits, although they have one.
    """

    train: Tensor
    val: Tensor
    test: Tensor
    stopping: Tensor | None = None
    usual: bool = field(default=False, kw_only=True)

    def masks(self) -> dict[str, Tensor]:
        """Return the parts that there are, by name."""
        parts = {part: getattr(self, part) for part in ("train", "val", "test", "stopping")}
        return {part: mask for part, mask in parts.items() if mask is not None}


@dataclass(frozen=True, eq=False)
class NodeGraph:
    """A single undirected graph, clean: what every node method works on.

    Parameters
    ----------
    x : (N, F) float32
        Features, dense or (when most are 0) ``torch.sparse_csr``.
    edge_index : (2, E) int64
        Both directions of every edge, sorted by source, then target; no loops, no duplicates.
    y : (N,) int64, (N,) float32 or (N, T) float32, optional
        Class of each node, 0 … C − 1, −1 for a node whose class is not known; or a number to
        predict; or T targets. NaN: not known. `task` says which.
    splits : Splits, optional
    names : list of str, optional
        Of the nodes.
    name : str
    classes : list of str, optional
        What the user calls each class, where labels are words.
    cleaned : Cleaned, optional
        How much of the edges had to be put right when the graph was read.
    columns : list of str, optional
        What each feature means, where the data tell; lets a model trained on one graph read
        another one whose columns stand elsewhere.
    edge_weight : (E,) float32, optional
        From 0 on, the same in both directions; every edge counts 1 if absent.
    edge_attr : (E, K) float32, optional
        What else is known of the edges.
    edge_columns : list of str, optional
        What each of the K columns of `edge_attr` means.
    targets : list of str, optional
        What the user calls each target.
    """

    x: Tensor
    edge_index: Tensor
    y: Tensor | None = None
    splits: Splits | None = None
    names: list[str] | None = None
    name: str = "graph"
    classes: list[str] | None = None
    cleaned: Cleaned | None = None
    columns: list[str] | None = None
    edge_weight: Tensor | None = None
    edge_attr: Tensor | None = None
    edge_columns: list[str] | None = None
    targets: list[str] | None = None

    @property
    def num_nodes(self) -> int:
        return self.x.shape[0]

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
        """(N,) int64 the classes, −1 where one is not known; None unless `y` holds classes."""
        return self.y if self.task == "classification" else None

    @property
    def task(self) -> str | None:
        """What `y` asks for, see `augcl.data.graph.task_of`; None without `y`."""
        return task_of(self.y)

    @cached_property
    def ptr(self) -> Tensor:
        """(N+1,) int64: the edge entries of source v are ``ptr[v]:ptr[v+1]``."""
        return pointer(torch.bincount(self.edge_index[0], minlength=self.num_nodes))

    def among(self, ids: Tensor) -> NodeGraph:
        """Return these nodes, (K,) in increasing order, with the edges among them.

        The cost depends on their number and their edges, not on the size of the graph. Splits and
        edge features are left out.

        >>> path = NodeGraph.from_arrays(pairs=torch.tensor([[0, 1, 2], [1, 2, 3]]), num_nodes=4)
        >>> path.among(torch.tensor([1, 2])).edge_index.tolist()
        [[0, 1], [1, 0]]
        """
        starts, ends = self.ptr[ids], self.ptr[ids + 1]
        entries = ranges(starts, ends - starts)
        source = segment_ids(pointer(ends - starts))
        target = self.edge_index[1][entries]
        place = torch.searchsorted(ids, target).clamp_(max=len(ids) - 1)
        inside = ids[place] == target
        weight = None if self.edge_weight is None else self.edge_weight[entries[inside]]
        return NodeGraph(
            x=rows_of(self.x, ids),
            edge_index=torch.stack([source[inside], place[inside]]),
            y=None if self.y is None else self.y[ids],
            name=self.name,
            classes=self.classes,
            columns=self.columns,
            edge_weight=weight,
            targets=self.targets,
        )

    def to(self, where: str | device) -> NodeGraph:
        """The same on another device; labels and splits stay, no training looks at them."""
        moved = {
            key: part.to(where)
            for key in ("x", "edge_index", "edge_weight", "edge_attr")
            if (part := getattr(self, key)) is not None
        }
        return replace(self, **moved)

    def to_data(self) -> Data:
        """As a PyG ``Data`` with ``train_mask`` … (N,) or (N, S), ``name`` and ``node_names``.

        The names of the classes are ``class_names``, of the features ``column_names``.
        `augcl.data.as_node_graph` gives back the same graph.

        >>> path = NodeGraph.from_arrays(pairs=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> path.to_data()
        Data(x=[3, 1], edge_index=[2, 4], name='graph', column_names=[1])
        """
        from torch_geometric.data import Data

        parts: dict[str, Any] = {"x": self.x, "edge_index": self.edge_index, "name": self.name}
        for key in ("y", "edge_weight", "edge_attr"):
            if getattr(self, key) is not None:
                parts[key] = getattr(self, key)
        if self.splits is not None:
            for part, mask in self.splits.masks().items():
                one = len(mask) == 1 or (part == "test" and bool((mask == mask[0]).all()))
                parts[f"{part}_mask"] = mask[0].clone() if one else mask.t().contiguous()
            if self.splits.usual:
                parts["usual_split"] = True
        if self.names is not None:
            parts["node_names"] = self.names
        if self.classes is not None:
            parts["class_names"] = self.classes
        if self.columns is not None:
            parts["column_names"] = self.columns
        if self.edge_columns is not None:
            parts["edge_column_names"] = self.edge_columns
        if self.targets is not None:
            parts["target_names"] = self.targets
        return Data(**parts)

    def __repr__(self) -> str:
        classes = described_targets(self.y, self.num_classes)
        return (
            f"NodeGraph({self.name!r}: {self.num_nodes} nodes, {self.num_edges} edge entries, "
            f"{self.num_features} features, {classes})"
        )

    @classmethod
    def from_arrays(
        cls,
        *,
        pairs: Tensor,
        num_nodes: int,
        x: Any = None,
        y: Tensor | None = None,
        names: list[str] | None = None,
        columns: list[str] | None = None,
        edge_weight: Tensor | None = None,
        edge_attr: Tensor | None = None,
        **more: Any,
    ) -> NodeGraph:
        """Build a graph from loose parts: edges in any order, once or in both directions.

        Self-loops and duplicates are removed, the missing directions added.

        Parameters
        ----------
        pairs : (2, P) int64
            Edges.
        num_nodes : int
            N.
        x : (N, F) numbers, optional
            Dense or sparse, of torch, NumPy or scipy; constant 1 if absent.
        y : (N,) int64, optional
            −1: not known.
        names, columns : list of str, optional
        edge_weight : (P,) float, optional
            Of duplicates the sum, of both directions the mean; 0 and more.
        edge_attr : (P, K) float, optional
            One row per pair; of duplicates the first counts.

        Examples
        --------
        >>> graph = NodeGraph.from_arrays(
        ...     pairs=torch.tensor([[1, 0, 1, 2], [0, 1, 1, 0]]), num_nodes=4
        ... )
        >>> graph.edge_index.tolist()
        [[0, 0, 1, 2], [1, 2, 0, 0]]
        """
        if num_nodes == 0:
            raise InputError("the graph has no nodes: give it at least one")
        if names is not None and len(names) != num_nodes:
            raise InputError(f"{len(names)} node names for {num_nodes} nodes: name all or none")
        check_pairs(pairs, num_nodes)
        mapped = isinstance(x, np.memmap)
        x = torch.ones(num_nodes, 0) if x is None else compact(x)
        if len(x) != num_nodes:
            raise InputError(
                f"{len(x)} rows of node features for {num_nodes} nodes: give one row a node"
            )
        if not x.shape[1]:
            x, columns = torch.ones(num_nodes, 1), ["constant"]
        if columns is not None and len(columns) != x.shape[1]:
            raise InputError(
                f"{len(columns)} column names for {x.shape[1]} node features: name all or none"
            )
        bad = first_bad_row(x, mapped=mapped)
        if bad is not None:
            called = "" if names is None else f" ({names[bad]!r})"
            raise InputError(
                f"node features hold NaN or infinity, first at node {bad}{called}, counted from 0: "
                "give finite numbers"
            )
        if y is not None and len(y) != num_nodes:
            raise InputError(f"y has length {len(y)} for {num_nodes} nodes: give one class a node")
        edge_index, edge_attr, cleaned = simple_undirected(pairs, num_nodes, edge_attr)
        edge_index = edge_index.contiguous()
        if edge_weight is not None:
            edge_weight = undirected_weights(pairs, edge_weight, edge_index, num_nodes)
        more |= {"names": names, "columns": columns, "cleaned": cleaned}
        more |= {"edge_weight": edge_weight, "edge_attr": edge_attr}
        return cls(x=x, edge_index=edge_index, y=y, **more)
