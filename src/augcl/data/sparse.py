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
from augcl.ops.segments import pointer, ranges

DENSEST = 0.05  # with a larger share of non-zero entries, a dense product is as fast
MOST_COLUMNS = 10_000_000  # of a matrix in a file
LARGE, SOME, UNREAD = 2**25, 10_000, 2**28
"""Numbers from which on statistics take some rows only, these rows, and numbers from which on
features are not checked when they are loaded."""
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
        some = some_rows(dense)
        if dense.shape[1] <= NARROWEST or not _pays(int(torch.count_nonzero(some)), some.shape):
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


def some_rows(x: Tensor) -> Tensor:
    """Return the features themselves or, of a large dense matrix, 10,000 rows of it.

    >>> some_rows(torch.zeros(3, 2)).shape
    torch.Size([3, 2])
    """
    if x.layout == torch.sparse_csr or x.numel() <= LARGE:
        return x
    return x[_evenly(len(x))]


def _evenly(rows: int) -> Tensor:
    return torch.linspace(0, rows - 1, min(SOME, rows)).long()


def share_filled(x: Tensor) -> float:
    """Return the share of entries that are not 0, of `some_rows`.

    >>> share_filled(torch.tensor([[0.0, 2.0]]))
    0.5
    """
    x = some_rows(x)
    filled = x.values() if x.layout == torch.sparse_csr else x
    return int(torch.count_nonzero(filled)) / max(1, x.shape[0] * x.shape[1])


def rows_of(x: Tensor, ids: Tensor) -> Tensor:
    """Return rows of dense or ``torch.sparse_csr`` features as the same kind of tensor.

    >>> rows_of(torch.eye(3).to_sparse_csr(), torch.tensor([2])).to_dense().tolist()
    [[0.0, 0.0, 1.0]]
    """
    if x.layout != torch.sparse_csr:
        return x[ids]
    crow = x.crow_indices()
    lengths = crow[ids + 1] - crow[ids]
    entries = ranges(crow[ids], lengths)
    return torch_csr(pointer(lengths), x.col_indices()[entries], x.values()[entries], x.shape[1])


def row_scales(x: Tensor) -> Tensor:
    """Return (N,) what `normalised_features` multiplies each row by: 1 / its sum, where above 1.

    >>> row_scales(torch.tensor([[1.0, 3.0], [0.5, 0.0]])).tolist()
    [0.25, 1.0]
    """
    if x.layout == torch.sparse_csr:
        lengths = x.crow_indices().diff()
        sums = torch.zeros(len(lengths), device=x.device, dtype=x.dtype)
        sums.index_add_(0, torch.repeat_interleave(lengths.long()), x.values())
    else:
        sums = x.sum(1)
    return 1 / sums.clamp_min(1)


def first_bad_row(x: Tensor, *, mapped: bool = False) -> int | None:
    """Return the first row with NaN or infinity, None if all are finite.

    Of more numbers than `UNREAD`, or than `LARGE` in a memory map (`mapped`), only some rows are
    looked at, as `some_rows` does: the file is not read for it. Trainings in mini-batches
    look again.
    """
    if x.layout != torch.sparse_csr:
        some = x.numel() > (LARGE if mapped else UNREAD)
        rows = _evenly(len(x)) if some else torch.arange(len(x))
        for part in rows.split(SOME) if len(rows) else ():
            bad = ~torch.isfinite(x[part] if some else x[part[0] : part[-1] + 1]).all(dim=1)
            if bool(bad.any()):
                return int(part[int(bad.nonzero()[0])])
        return None
    bad = ~torch.isfinite(x.values())
    if not bool(bad.any()):
        return None
    return int(torch.searchsorted(x.crow_indices(), bad.nonzero()[0], right=True)) - 1


def csr_from_parts(parts: Sequence[Any], shape: Any, what: str) -> Any:
    """Build a scipy matrix from unchecked (data, indices, indptr); refuse invalid indices."""
    data, indices, indptr = (np.asarray(part) for part in parts)
    shape = np.asarray(shape)
    try:
        data = data.astype(np.float32) if data.dtype == np.float16 else data  # scipy has no halves
        if data.dtype.kind not in "iufb":
            raise ValueError(f"{data.dtype} is not a type of numbers")
        if any(whole.dtype.kind not in "iu" for whole in (indices, indptr, shape)):
            raise ValueError("its indices or its shape are not whole numbers")
        rows, columns = (int(size) for size in shape)
        if columns > max(MOST_COLUMNS, rows):
            raise ValueError(f"{columns} columns")
        # By ourselves: scipy believes the last pointer, and checks no order if it is 0 or less.
        if indptr.ndim != 1 or len(indptr) != rows + 1 or indptr[0] != 0:
            raise ValueError(f"its pointers are not {rows + 1} numbers from 0 on")
        if (indptr[1:] < indptr[:-1]).any() or not indptr[-1] == len(data) == len(indices):
            raise ValueError("its pointers do not rise to the number of its entries")
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
                own = isinstance(x, np.memmap) and x.dtype == np.float32  # stays where it is
                dense = torch.from_numpy(x if own else np.array(x, np.float32))
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
