"""An attack that learns, and what it learned in a file."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from augcl.attacks.base import Attack
from augcl.attacks.semantics import Semantics
from augcl.errors import InputError
from augcl.training.checkpoint import Snapshot, load_module, prefixed
from augcl.training.method import plain_settings

FILE = "attack.safetensors"


class LearnedAttack(Attack):
    """A network that is trained against a model; a subclass says which one, and how.

    Attributes
    ----------
    network_ : Module
    history_ : list of dict
    """

    @abstractmethod
    def _network(self, generator: torch.Generator) -> nn.Module:
        """Untrained, for `n_features_in_` node features."""

    def settings(self) -> dict[str, Any]:
        """Hyper-parameters as plain JSON values."""
        return {
            name: type(value).__name__ if name == "semantics" and value else plain_settings(value)
            for name, value in self.get_params(deep=False).items()
            if name != "progress"
        }

    def save(self, path: str | Path) -> None:
        """Write what the agent learned to a folder: tensors and settings, never a pickle."""
        check_is_fitted(self, "network_")
        facts = {
            "settings": self.settings(),
            "features": self.n_features_in_,
            "history": self.history_,
        }
        tensors = prefixed("network", self.network_.state_dict())
        Snapshot(tensors, facts).write(Path(path) / FILE)

    @classmethod
    def load(cls, path: str | Path, *, semantics: Semantics | None = None) -> Self:
        """Read what `save` wrote; semantics of your own must be given again."""
        file = Path(path) / FILE
        if not file.exists():
            raise InputError(f"{path} holds no attack: {FILE} is missing")
        snapshot = Snapshot.read(file)
        attack = cls(**{**snapshot.facts["settings"], "semantics": semantics})
        attack.n_features_in_ = snapshot.facts["features"]
        attack.network_ = attack._network(torch.Generator())
        load_module(attack.network_, snapshot.part("network"))
        attack.history_ = snapshot.facts["history"]
        return attack
