"""Base of the graph kernels: counts of substructures, and their products."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.data.sparse import csr_from_parts
from augcl.data.wl import whole_numbers
from augcl.ops.hashing import Hashes
from augcl.training.method import GraphReader, PlainMethod, fingerprint

ROWS = 512
"""Rows of the kernel that are dense in double precision at a time."""

LARGEST_SEED = 2**62


class EdgeLabelReader(GraphReader):
    """Reads edge labels, unless `edge_labels` is False; if None, where all are whole numbers."""

    edge_switch = "edge_labels"
    edge_cure = "edge labels are whole numbers or words"
    edge_labels: bool | None

    def _finds_edges(self, graphs: GraphSet) -> bool:
        found = super()._finds_edges(graphs)
        return found and graphs.edge_attr is not None and whole_numbers(graphs.edge_attr)


@dataclass(frozen=True)
class Occurrences:
    """Substructures of graphs: (P,) the graph, a hash that names the substructure, its count."""

    graph: NDArray[np.int64]
    key: Hashes
    count: NDArray[np.float64]

    @classmethod
    def single(cls, graph: NDArray[np.int64], key: Hashes) -> Occurrences:
        """Count every entry once; equal entries add up."""
        return cls(graph, key, np.ones(len(key)))

    @classmethod
    def joined(cls, parts: list[Occurrences]) -> Occurrences:
        """Concatenate several lists."""
        fields = ("graph", "key", "count")
        return cls(*(np.concatenate([getattr(part, f) for part in parts]) for f in fields))

    def counts(self, graphs: int) -> tuple[csr_array, Hashes]:
        """Return the counts (graphs × substructures) and the sorted names of the columns."""
        names, column = np.unique(self.key, return_inverse=True)
        shape = (graphs, len(names))
        return csr_array((self.count, (self.graph, column)), shape=shape), names


class GraphKernel(GraphReader, PlainMethod):
    """Compute the similarity of a graph to every training graph from shared substructures.

    The kernel is K = P M Pᵀ for counts P of substructures. The model keeps the counts of the
    training graphs and the names of the substructures, which are hashes: equal in every data set.

    Attributes
    ----------
    vocabulary_ : (S,) uint64
        Names of the substructures of the training graphs.
    counts_ : (n_train, S) sparse
        How often each training graph has each of them.
    """

    gives_kernel = True
    cost = "seconds"
    _counted: str | None = None

    @abstractmethod
    def _occurrences(self, data: GraphSet) -> Occurrences:
        """Return the substructures of the graphs; those of one graph do not depend on others."""

    def _weighted(self, counts: csr_array) -> Any:
        """Return P M½ for counts P (n, S); the kernel is a product of two of these."""
        return counts

    def _self_similarity(self, every: csr_array, weighted: Any) -> NDArray[np.float64]:
        """Return the diagonal of the kernel; `every` also counts substructures new to the model."""
        return np.asarray(every.power(2).sum(axis=1), dtype=np.float64)

    def _learn(self, data: GraphSet, generator: torch.Generator) -> None:
        self.seed_ = int(torch.randint(LARGEST_SEED, (), generator=generator))
        self.counts_, self.vocabulary_ = self._occurrences(data).counts(len(data))
        self._counted = fingerprint(data, edge_features=True)

    def _counts_of(self, data: GraphSet) -> tuple[csr_array, Hashes]:
        """Return counts and names of the substructures; those of the training graphs are stored."""
        if fingerprint(data, edge_features=True) == self._counted:
            return self.counts_, self.vocabulary_
        return self._occurrences(data).counts(len(data))

    def _width(self) -> int:
        return int(self.counts_.shape[0])

    def _embedded(self, data: GraphSet) -> Tensor:
        every, names = self._counts_of(data)
        rows = self._weighted(columns_of(every, names, self.vocabulary_))
        columns = self._weighted(self.counts_)
        normalize = self._setting("normalize")
        if normalize:
            left = self._self_similarity(every, rows)
            right = self._self_similarity(self.counts_, columns)
        kernel = np.empty((len(data), self.counts_.shape[0]), dtype=np.float32)
        for start in range(0, len(data), ROWS):
            block = slice(start, start + ROWS)
            product = rows[block] @ columns.T
            product = product.toarray() if hasattr(product, "toarray") else product
            if normalize:
                scale = np.sqrt(left[block])[:, None] * np.sqrt(right)
                product = product / np.where(scale > 0, scale, 1.0)
            kernel[block] = product
        return torch.from_numpy(kernel)

    def _learned(self) -> dict[str, Tensor]:
        counts = self.counts_
        return {
            "seed": torch.tensor(self.seed_),
            "vocabulary": torch.from_numpy(self.vocabulary_.view(np.int64)),
            "count_ptr": torch.from_numpy(counts.indptr.astype(np.int64)),
            "count_column": torch.from_numpy(counts.indices.astype(np.int64)),
            "count": torch.from_numpy(counts.data),
        }

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.seed_ = int(tensors["seed"])
        self.vocabulary_ = tensors["vocabulary"].numpy().view(np.uint64)
        parts = [tensors[name].numpy() for name in ("count", "count_column", "count_ptr")]
        shape = (len(tensors["count_ptr"]) - 1, len(self.vocabulary_))
        self.counts_ = csr_from_parts(parts, shape, "count")
        if not (self.vocabulary_[1:] > self.vocabulary_[:-1]).all():
            raise ValueError("the names of the substructures are not in order")


def columns_of(counts: csr_array, names: Hashes, vocabulary: Hashes) -> csr_array:
    """Return the counts of the substructures in `vocabulary` (sorted); drop all others."""
    entries = counts.tocoo()
    place = np.searchsorted(vocabulary, names).clip(max=max(len(vocabulary) - 1, 0))
    known = vocabulary[place] == names if len(vocabulary) else np.zeros(len(names), dtype=bool)
    row, column = entries.coords
    kept = known[column]
    cells = (row[kept], place[column[kept]])
    return csr_array((entries.data[kept], cells), shape=(counts.shape[0], len(vocabulary)))
