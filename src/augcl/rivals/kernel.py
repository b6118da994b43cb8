"""Base of the graph kernels: counts of substructures, and their products."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.data.sparse import csr_from_parts
from augcl.ops.counts import Occurrences, columns_of
from augcl.ops.hashing import Hashes
from augcl.training.method import GraphReader, PlainMethod, fingerprint

ROWS = 512
"""Rows of the kernel that are dense in double precision at a time."""

LARGEST_SEED = 2**62

MOST = 2.0**53
"""Occurrences of a substructure in a graph; double precision counts no further."""


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
        if not ((self.counts_.data >= 0) & (self.counts_.data <= MOST)).all():
            raise ValueError("the counts of the substructures are no counts")
