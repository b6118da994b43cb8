"""Propagation: features smoothed over the edges, the training-free floor for nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import accumulate

import torch
from torch import Tensor
from torch.nn.functional import normalize

from augcl.checks import number, whole_number
from augcl.data.features import structure_features
from augcl.data.node_graph import NodeGraph
from augcl.encoders.blocks import blocks_of
from augcl.errors import InputError
from augcl.ops.csr import SparseMatrix
from augcl.ops.diffusion import diffuse_in_steps
from augcl.ops.reduction import leading_directions
from augcl.training.method import NodeReader, PlainMethod
from augcl.training.parts import AUTOMATIC
from augcl.training.progress import Report, progress_bar
from augcl.views.nodes import NodeView, NodeViews

COLUMNS = 32
"""Columns of the features of a large graph that are worked on at a time."""


class Propagation(NodeReader, PlainMethod):
    """Embed a node as the features around it, smoothed over the edges; nothing is trained.

    z ← (1 − α) Â z + α x, from z = x, with Â = D̂^{-1/2} (A + I) D̂^{-1/2} and the features x minus
    their mean; A holds the weights of the edges, if they have any. The results after several
    numbers of steps stand side by side: a classifier then chooses how far it looks, also where
    neighbours differ. Show it as the floor beside trained embeddings. Where all nodes have the
    same features, their one-hot degrees are used instead. New nodes and other graphs are embedded
    with the means and directions of the fit.

    Parameters
    ----------
    steps : tuple of int, or int
        Numbers of products with Â, one block of columns for each.
    alpha : float
        Weight of the own features in each step, from 0 to 1: above 0 it is personalised PageRank
        (APPNP), 0 gives the features after that many convolutions (SGC), 1 the features.
    width : int, optional
        Number of columns in all. A block with more than its share is reduced to its principal
        directions, without computing the N × F matrix; None keeps all columns.
    normalize_features : bool
        Divide every row of the features by its sum (if above 1) first.
    center : bool
        Subtract the mean of the features before, and that of each block after the steps.
    unit_rows : bool
        Scale every row of a block to length 1.
    rotate : bool
        Rotate the embedding at random. Distances stay the same, but every column carries as much
        as any other: classifiers that treat columns alike, such as Adam's steps in
        ``linear-10-10-80``, do better.
    random_state : int, optional
        Seed of the rotation and of the search for the principal directions.
    progress : bool
        Show a progress bar when the error stream is a terminal.

    Attributes
    ----------
    mean_ : (F,) float32
        Mean of the features, 0 without `center`.
    directions_ : list of (F, D) float32
        Principal directions of each block; empty if all columns are kept.
    shifts_ : list of (D,) float32
        Mean of each block, 0 without `center`.
    rotation_ : (width, width) float32 or None

    References
    ----------
    F. Wu, T. Zhang, A. H. de Souza Jr., C. Fifty, T. Yu and K. Q. Weinberger. "Simplifying Graph
    Convolutional Networks". ICML 2019. arXiv:1902.07153,
    doi:10.48550/arXiv.1902.07153. With α above 0: J. Gasteiger, A. Bojchevski and S. Günnemann,
    "Predict then Propagate", ICLR 2019.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> z = augcl.Propagation().fit_transform(graph)
    >>> z.shape
    (1797, 256)
    >>> augcl.evaluate(z, graph, protocol="logistic-10-10-80", repeats=2).mean > 0.94
    True
    """

    year = 2019
    cost = "seconds"

    def __init__(
        self,
        *,
        steps: int | tuple[int, ...] = (0, 1, 2, 4),
        alpha: float = 0.0,
        width: int | None = 512,
        normalize_features: bool = False,
        center: bool = True,
        unit_rows: bool = True,
        rotate: bool = True,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.steps = steps
        self.alpha = alpha
        self.width = width
        self.normalize_features = normalize_features
        self.center = center
        self.unit_rows = unit_rows
        self.rotate = rotate
        self.random_state = random_state
        self.progress = progress

    def _start(self) -> None:
        super()._start()
        if not self._blocks:
            raise InputError("steps is empty: give at least one number")
        for steps in self._blocks:
            whole_number("steps", steps, least=0, most=1000)
        number("alpha", self.alpha, least=0, most=1)
        if self.width is not None:
            whole_number("width", self.width, least=len(self._blocks))

    @property
    def _blocks(self) -> Sequence[int]:
        return self.steps if isinstance(self.steps, tuple | list) else (self.steps,)

    def columns(self, features: int) -> int:
        """Return the columns of an embedding of data with so many features, at most.

        >>> Propagation().columns(64), Propagation().columns(2000)
        (256, 512)
        """
        every = features * len(self._blocks)
        return every if self.width is None else min(self.width, every)

    def _learn(self, data: NodeGraph, generator: torch.Generator) -> None:
        x = data.x
        self.by_degree_ = x.layout != torch.sparse_csr and _all_rows_equal(x)
        view = self._view(data)
        columns = view.width
        self.mean_ = torch.zeros(columns, device=x.device)
        if self.center:
            share = torch.full((data.num_nodes, 1), 1 / data.num_nodes, device=x.device)
            self.mean_ = _transposed_times(view.features, share)[:, 0]
        self.directions_: list[Tensor] = []
        reduced = self.width is not None and columns > self.width // len(self._blocks)
        with self._bar(data, "fit", view, before=len(self._blocks) * reduced) as report:
            for number, steps in enumerate(self._blocks if reduced else (), 1):
                assert self.width is not None
                found = leading_directions(
                    partial(self._block, view, steps),
                    partial(self._block_transposed, view, steps),
                    columns,
                    self.width // len(self._blocks),
                    generator,
                    device=x.device,
                )
                self.directions_.append(found)
                report(number, "directions")
            widths = [d.shape[1] for d in self.directions_] or [columns] * len(self._blocks)
            self.shifts_ = [torch.zeros(width, device=x.device) for width in widths]
            for number, (block, part, z) in enumerate(self._unshifted(view), 1):
                if self.center:
                    self.shifts_[block][part] = z.mean(0)
                report(len(self.directions_) + number)
        self.rotation_: Tensor | None = None
        if self.rotate:
            width = sum(map(len, self.shifts_))
            draw = torch.randn(width, width, generator=generator)
            # By rows, as a file gives it back: another order of the sums has other last bits.
            self.rotation_ = torch.linalg.qr(draw)[0].contiguous().to(x.device)

    def _bar(
        self, data: NodeGraph, doing: str, view: NodeView, before: int = 0
    ) -> AbstractContextManager[Report]:
        """Show the pieces done; `before` are steps before the first of them."""
        title = f"Propagation on {data.name}: {doing}"
        parts = 1 if before or self.directions_ else len(self._parts(view))
        total = before + len(self._blocks) * parts
        return progress_bar(title, total, show=self.progress, stay=False)

    def _view(self, data: NodeGraph) -> NodeView:
        return NodeViews(structure_features(data, "degree") if self.by_degree_ else data).clean

    def _block(self, view: NodeView, steps: int, right: Tensor) -> Tensor:
        """Return P (X − mean) right for features X.

        P, a polynomial of Â, stands for the steps; it is symmetric.
        """
        h = view.times(right) - self.mean_ @ right
        return diffuse_in_steps(h, view.edges, alpha=self.alpha, steps=steps)

    def _block_transposed(self, view: NodeView, steps: int, left: Tensor) -> Tensor:
        """Return (X − mean)ᵀ P left."""
        h = diffuse_in_steps(left, view.edges, alpha=self.alpha, steps=steps)
        return _transposed_times(view.features, h) - torch.outer(self.mean_, h.sum(0))

    def _unshifted(self, view: NodeView) -> Iterator[tuple[int, slice, Tensor]]:
        """Yield the blocks in pieces, each with the number of its block and its columns there.

        A large graph has no memory for all at once. Of features that are kept as they are, it does
        not even have enough for a second copy: they come some columns at a time.
        """
        if self.directions_:
            for block, (steps, right) in enumerate(
                zip(self._blocks, self.directions_, strict=True)
            ):
                yield block, slice(None), self._block(view, steps, right)
            return
        x = view.x()
        for part in self._parts(view):
            h = x[:, part] - self.mean_[part]
            z, done = h, 0
            for block, steps in enumerate(self._blocks):
                if steps < done:
                    z, done = h, 0
                further = steps - done
                z = diffuse_in_steps(z, view.edges, alpha=self.alpha, steps=further, start=h)
                done = steps
                yield block, part, z

    def _parts(self, view: NodeView) -> list[slice]:
        """Return which columns of the features are worked on at a time, without directions."""
        return list(blocks_of(view.width, COLUMNS if view.nodes > AUTOMATIC else view.width))

    def _embedded(self, data: NodeGraph) -> Tensor:
        view = self._view(data)
        z = torch.empty(data.num_nodes, sum(map(len, self.shifts_)), device=data.x.device)
        ends = list(accumulate(map(len, self.shifts_)))
        blocks = [z[:, end - len(s) : end] for end, s in zip(ends, self.shifts_, strict=True)]
        with self._bar(data, "embed", view) as report:
            for number, (block, part, found) in enumerate(self._unshifted(view), 1):
                torch.sub(found, self.shifts_[block][part], out=blocks[block][:, part])
                report(number)
            for rows in blocks_of(data.num_nodes):
                for whole in blocks if self.unit_rows else ():
                    whole[rows] = normalize(whole[rows], dim=1)
        if self.rotation_ is None:
            return z
        if data.num_nodes <= AUTOMATIC:
            return z @ self.rotation_
        for rows in blocks_of(data.num_nodes):
            z[rows] = z[rows] @ self.rotation_
        return z

    def _learned(self) -> dict[str, Tensor]:
        found = {"by_degree": torch.tensor(self.by_degree_), "mean": self.mean_}
        found |= {f"shift{i}": shift for i, shift in enumerate(self.shifts_)}
        found |= {f"directions{i}": right for i, right in enumerate(self.directions_)}
        return found if self.rotation_ is None else {**found, "rotation": self.rotation_}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.by_degree_ = bool(tensors["by_degree"])
        self.mean_, self.rotation_ = tensors["mean"], tensors.get("rotation")
        blocks = range(len(self._blocks))
        self.shifts_ = [tensors[f"shift{i}"] for i in blocks]
        self.directions_ = [
            tensors[f"directions{i}"] for i in blocks if f"directions{i}" in tensors
        ]


def _all_rows_equal(x: Tensor) -> bool:
    return all(bool((x[rows] == x[:1]).all()) for rows in blocks_of(len(x)))


def _transposed_times(features: Tensor | SparseMatrix, h: Tensor) -> Tensor:
    """Return Xᵀ h for node values h (N, D)."""
    if isinstance(features, SparseMatrix):
        return features.columns.times(h)
    return features.t() @ h
