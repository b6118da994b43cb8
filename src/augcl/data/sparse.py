"""Feature matrices that are stored sparse when nearly all entries are 0."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from augcl.errors import InputError

DENSEST = 0.05  # with a larger share of non-zero entries, a dense product is as fast
MOST_COLUMNS = 10_000_000  # of a matrix in a file
NARROWEST = 100  # with fewer columns, a dense matrix is small anyway


def compact(x: Any) -> Tensor:
    """Return (N, F) numbers as float32, dense or ``torch.sparse_csr``.

    The result is sparse if it has more than 100 columns and fewer than 5 % non-zero entries.

    Parameters
    ----------
    x : Tensor (dense or sparse), array, or scipy sparse matrix
        (N, F), or (N,) for one feature.

    Examples
    --------
    >>> compact(torch.eye(200)).layout, compact(torch.eye(3)).layout
    (torch.sparse_csr, torch.strided)
    """
    matrix = _scipy(x)
    if matrix is None:
        dense = _dense(x)
        filled = int(torch.count_nonzero(dense))
        if not _pays(filled, dense.shape):
            return dense
        matrix = csr_array(dense.numpy())
    elif not _pays(matrix.nnz, matrix.shape):
        return torch.from_numpy(matrix.toarray())
    return torch_csr(
        torch.from_numpy(matrix.indptr.astype(np.int64)),
        torch.from_numpy(matrix.indices.astype(np.int64)),
        torch.from_numpy(matrix.data.astype(np.float32)),
        matrix.shape[1],
    )


def share_filled(x: Tensor) -> float:
    """Return the share of entries that are not 0.

    >>> share_filled(torch.tensor([[0.0, 2.0]]))
    0.5
    """
    filled = x.values() if x.layout == torch.sparse_csr else x
    return int(torch.count_nonzero(filled)) / max(1, x.shape[0] * x.shape[1])


def first_bad_row(x: Tensor) -> int | None:
    """Return the first row with NaN or infinity, None if all are finite."""
    if x.layout != torch.sparse_csr:
        bad = ~torch.isfinite(x).all(dim=1)
        return int(bad.nonzero()[0]) if bool(bad.any()) else None
    bad = ~torch.isfinite(x.values())
    if not bool(bad.any()):
        return None
    return int(torch.searchsorted(x.crow_indices(), bad.nonzero()[0], right=True)) - 1


def csr_from_parts(parts: Sequence[Any], shape: Any, what: str) -> Any:
    """Build a scipy matrix from unchecked (data, indices, indptr); refuse invalid indices."""
    data, indices, indptr = (np.asarray(part) for part in parts)
    try:
        data = data.astype(np.float32) if data.dtype == np.float16 else data  # scipy has no halves
        if data.dtype.kind not in "iufb":
            raise ValueError(f"{data.dtype} is not a type of numbers")
        if indices.dtype.kind not in "iu" or indptr.dtype.kind not in "iu":
            raise ValueError("its indices are not whole numbers")
        rows, columns = (int(size) for size in shape)
        if columns > max(MOST_COLUMNS, rows):
            raise ValueError(f"{columns} columns")
        matrix = csr_array((data, indices, indptr), shape=(rows, columns))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{what} is a damaged sparse matrix ({reason}): get it again") from None
    return matrix


def _pays(filled: int, shape: tuple[int, ...]) -> bool:
    return shape[1] > NARROWEST and filled < DENSEST * shape[0] * shape[1]


def _scipy(x: Any) -> Any:
    """Return sparse `x` as a scipy matrix without stored zeros; None if `x` is dense."""
    matrix: Any
    if isinstance(x, Tensor) and x.layout != torch.strided:
        x = x.detach().cpu().to_sparse_coo().coalesce()
        row, column = x.indices().numpy()
        values = x.values().to(torch.float32).numpy()
        matrix = csr_array((values, (row, column)), shape=tuple(x.shape))
    elif hasattr(x, "tocsr"):
        matrix = csr_array(x.tocsr().astype(np.float32, copy=True))
    else:
        return None
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _dense(x: Any) -> Tensor:
    if isinstance(x, Tensor):
        dense = x.detach().cpu().to(torch.float32)
    else:
        try:
            with np.errstate(over="ignore"):  # becomes infinity, which the caller checks
                dense = torch.from_numpy(np.array(x, np.float32))
        except (TypeError, ValueError):
            raise InputError("node features must be numbers, the same count per node") from None
    dense = dense.unsqueeze(1) if dense.dim() == 1 else dense
    if dense.dim() != 2:
        raise InputError(
            f"node features have shape {tuple(dense.shape)}: give one row of numbers per node"
        )
    return dense


def torch_csr(crow: Tensor, column: Tensor, values: Tensor, width: int) -> Tensor:
    """Build a ``torch.sparse_csr`` tensor without torch's warning about their beta state."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")
        return torch.sparse_csr_tensor(
            crow,
            column,
            values,
            size=(len(crow) - 1, width),
            check_invariants=True,  # torch warns without it
        )
