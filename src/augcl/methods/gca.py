"""GCA: GRACE whose views keep what matters, by a centrality of the nodes."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from augcl.errors import one_of
from augcl.hardness import Hardness
from augcl.methods.grace import GRACE
from augcl.views.adaptive import CENTRALITIES, drop_probability, importance
from augcl.views.nodes import NodeViews


class GCA(GRACE):
    """GRACE that drops important edges and feature columns more rarely.

    Parameters
    ----------
    centrality : {"degree", "pagerank", "eigenvector"}
        What makes a node important.
    recipe : {"default", "authors", "paper"}
        Also decides details of the probabilities, see `augcl.views.adaptive`: "authors" masks all
        columns at 70 % if one of them is empty; "paper" counts an edge by both its ends.
    hardness, preset, … :
        See `GRACE`.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> model = augcl.GCA(centrality="pagerank", epochs=2, width=16, random_state=0).fit(graph)
    >>> model.transform(graph).shape
    (1797, 16)
    """

    def __init__(
        self,
        *,
        centrality: str = "degree",
        hardness: Hardness | str | None = None,
        preset: str = "default",
        recipe: str = "default",
        epochs: int | None = None,
        warmup: int | None = None,
        width: int | None = None,
        projection: int | None = None,
        activation: str | None = None,
        edge_drop: tuple[float, float] | None = None,
        feature_drop: tuple[float, float] | None = None,
        tau: float | None = None,
        lr: float | None = None,
        weight_decay: float = 1e-5,
        weights: str = "frozen",
        weights_every: int = 10,
        sample: int = 256,
        candidates: int | None = None,
        encoder: nn.Module | None = None,
        normalize_features: bool = True,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
    ) -> None:
        super().__init__(
            hardness=hardness,
            preset=preset,
            recipe=recipe,
            epochs=epochs,
            warmup=warmup,
            width=width,
            projection=projection,
            activation=activation,
            edge_drop=edge_drop,
            feature_drop=feature_drop,
            tau=tau,
            lr=lr,
            weight_decay=weight_decay,
            weights=weights,
            weights_every=weights_every,
            sample=sample,
            candidates=candidates,
            encoder=encoder,
            normalize_features=normalize_features,
            random_state=random_state,
            device=device,
            progress=progress,
        )
        self.centrality = centrality

    def _start(self) -> None:
        super()._start()
        one_of(self.centrality, CENTRALITIES, "centrality")

    def _drop_probabilities(self, views: NodeViews) -> list[tuple[Tensor, Tensor]]:
        matter = importance(views, self.centrality, recipe=self.recipe)
        rates: Any = zip(self._setting("edge_drop"), self._setting("feature_drop"), strict=True)
        return [
            (
                drop_probability(matter.edges, of_edges, recipe=self.recipe),
                drop_probability(matter.columns, of_columns, recipe=self.recipe),
            )
            for of_edges, of_columns in rates
        ]
