"""The features themselves as embeddings: what any node method has to beat."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from augcl.hardness import Hardness
from augcl.training.node_estimator import NodeEstimator
from augcl.views.nodes import NodeView


class RawFeatures(NodeEstimator):
    """Embeds a node as its features; learns nothing.

    Parameters
    ----------
    normalize_features : bool
        Divide every row by its sum (where above 1), as the other node methods do.
    hardness, preset, recipe, epochs, random_state, device, progress :
        Not used; there so that it can stand in for any other method.

    Examples
    --------
    >>> import augcl
    >>> augcl.RawFeatures().fit_transform(augcl.load("digits-knn")).shape
    (1797, 64)
    """

    weight_decay = 0.0

    def __init__(
        self,
        *,
        normalize_features: bool = True,
        hardness: Hardness | str | None = None,
        preset: str = "default",
        recipe: str = "default",
        epochs: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
    ) -> None:
        self.normalize_features = normalize_features
        self.hardness = hardness
        self.preset = preset
        self.recipe = recipe
        self.epochs = epochs  # type: ignore[assignment]
        self.random_state = random_state
        self.device = device
        self.progress = progress

    def _setting(self, name: str) -> object:
        return {"epochs": 0, "lr": 1.0}[name] if name in ("epochs", "lr") else getattr(self, name)

    def _build(self, features: int, generator: torch.Generator) -> nn.Module:
        return _AsTheyAre()

    def _loss(self, batch: object, generator: torch.Generator) -> Tensor:
        raise AssertionError("raw features are not trained")


class _AsTheyAre(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.nothing = nn.Parameter(torch.empty(0))  # tells the device, as every network's do

    def embed(self, view: NodeView) -> Tensor:
        return view.x()
