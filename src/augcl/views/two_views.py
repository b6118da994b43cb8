"""The two views of GRACE and GCA: edges and feature columns are dropped at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from augcl.views.adaptive import drop_probability, importance
from augcl.views.nodes import NodeView, NodeViews, draw


class TwoViews:
    """Draws two views of one graph at a time.

    Parameters
    ----------
    views : NodeViews
    edge_drop, feature_drop : (float, float)
        Share of the edges dropped and of the feature columns masked, in the two views.
    centrality, recipe :
        Important edges and columns are dropped more rarely, see `importance`; all alike if
        `centrality` is None.

    Attributes
    ----------
    drop : list of ((E,), (F,))
        For each view, the probabilities of the edges and of the feature columns.
    """

    def __init__(
        self,
        views: NodeViews,
        *,
        edge_drop: Sequence[float],
        feature_drop: Sequence[float],
        centrality: str | None,
        recipe: str,
    ) -> None:
        self.views = views
        rates = list(zip(edge_drop, feature_drop, strict=True))
        self.drop: list[tuple[Tensor, Tensor]]
        if centrality is None:
            edges = torch.ones(views.edge_index.shape[1], device=views.edge_index.device)
            columns = torch.ones(views.num_features, device=views.edge_index.device)
            self.drop = [(edges * of_edges, columns * of_columns) for of_edges, of_columns in rates]
            return
        matter = importance(views, centrality, recipe=recipe)
        self.drop = [
            (
                drop_probability(matter.edges, of_edges, recipe=recipe),
                drop_probability(matter.columns, of_columns, recipe=recipe),
            )
            for of_edges, of_columns in rates
        ]

    def draw(self, generator: torch.Generator) -> Iterator[NodeView]:
        """The first view and the second, each when it is asked for."""
        for of_edges, of_columns in self.drop:
            yield self.views.view(
                edges=draw(of_edges, generator), columns=draw(of_columns, generator)
            )
