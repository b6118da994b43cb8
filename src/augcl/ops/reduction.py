"""Principal directions of a matrix that is known by its products: a randomised truncated SVD."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

EXTRA = 10
"""Directions beside those wanted, which make the last of these exact sooner."""

ROUNDING = 1e-12
"""Squared singular values below this share of the largest are errors of single precision."""


def leading_directions(
    times: Callable[[Tensor], Tensor],
    transposed_times: Callable[[Tensor], Tensor],
    columns: int,
    width: int,
    generator: torch.Generator,
    *,
    device: torch.device | None = None,
    passes: int = 4,
) -> Tensor:
    """Return (C, width) the right singular vectors of a (R, C) matrix with the largest values.

    Subspace iteration from a random start (Halko, Martinsson and Tropp: "Finding Structure with
    Randomness", SIAM Review 53(2), 2011): a few products with narrow matrices, whatever the size.
    There are fewer directions (but one at least) if the matrix has a lower rank. The largest entry
    of each is positive, so that no sign hangs on the processor.

    Parameters
    ----------
    times, transposed_times : callable
        Products of the matrix with (C, k), and of its transpose with (R, k).
    columns : int
        C.
    width : int
    generator : torch.Generator
        Draws the start.
    passes : int
        Rounds of the iteration.

    Examples
    --------
    >>> matrix = torch.tensor([[3.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    >>> draw = torch.Generator().manual_seed(0)
    >>> found = leading_directions(matrix.matmul, matrix.t().matmul, 3, 1, draw)
    >>> (1e3 * found.squeeze()).round()
    tensor([600., 800.,   0.])
    """
    wide = min(width + EXTRA, columns)
    basis = torch.randn(columns, wide, generator=generator).to(device)
    for _ in range(passes):
        basis = torch.linalg.qr(transposed_times(times(basis)))[0]
    # The eigenvectors of the small Gram matrix: in double precision, because it squares the values.
    image = times(basis).double()
    values, vectors = torch.linalg.eigh(image.t() @ image)
    values, vectors = values.flip(0)[:width], vectors.flip(1)[:, :width]
    rank = max(1, int((values > values[0] * ROUNDING).sum()))
    found: Tensor = basis @ vectors[:, :rank].to(basis.dtype)
    largest = found.gather(0, found.abs().argmax(0, keepdim=True))
    found *= largest.sign()
    return found
