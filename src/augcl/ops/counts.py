"""Counts of named substructures in graphs, as sparse matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from augcl.ops.hashing import Hashes


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


def columns_of(counts: csr_array, names: Hashes, vocabulary: Hashes) -> csr_array:
    """Return the counts of the substructures in `vocabulary` (sorted); drop all others."""
    entries = counts.tocoo()
    place = np.searchsorted(vocabulary, names).clip(max=max(len(vocabulary) - 1, 0))
    known = vocabulary[place] == names if len(vocabulary) else np.zeros(len(names), dtype=bool)
    row, column = entries.coords
    kept = known[column]
    cells = (row[kept], place[column[kept]])
    return csr_array((entries.data[kept], cells), shape=(counts.shape[0], len(vocabulary)))
