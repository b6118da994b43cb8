"""Node features mixed with those of the neighbours, before any training (HSAN)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from augcl.ops.gcn import propagate
from augcl.views.nodes import NodeView


class SmoothedFeatures:
    """Mixes features, or if fitted their principal components, with those of the neighbours.

    Attributes
    ----------
    axes : dict
        The mean (F,) of the features and their first principal axes (F, count) by name; empty if
        the features are taken as they are.
    """

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.axes: dict[str, Tensor] = {}

    @torch.no_grad()
    def fit(self, view: NodeView, count: int) -> None:
        """Find so many principal axes."""
        from sklearn.decomposition import PCA  # slow to import

        with np.errstate(invalid="ignore"):  # the share of constant features in no variance
            found = PCA(count, svd_solver="covariance_eigh").fit(view.x().cpu().numpy())
        mean, axes = torch.from_numpy(found.mean_), torch.from_numpy(found.components_)
        self.axes = {"mean": mean.float(), "axes": axes.float().t().contiguous()}

    def __call__(self, view: NodeView) -> Tensor:
        """(N, F) smoothed features, or (N, count)."""
        if self.axes:
            axes = self.axes["axes"].to(view.edge_index.device)
            x = view.times(axes) - self.axes["mean"].to(axes.device) @ axes
        else:
            x = view.x()
        for _ in range(self.steps):
            x = propagate(x, view.edges)
        return x
