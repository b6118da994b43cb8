"""Methods that learn a vector for each node or graph of the fit and know no other."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from augcl.errors import InputError
from augcl.training.method import PlainMethod, fingerprint


class FittedOnly(PlainMethod):
    """Embeds what it was fitted on, and refuses all else; a reader stands before it."""

    vectors_: Tensor
    fitted_on_: Tensor

    def _keep(self, data: Any, vectors: Tensor) -> None:
        self.vectors_, self.fitted_on_ = vectors, mark(data)

    def _read_as_fitted(self, X: Any) -> Any:
        data = self._read(X)
        if not torch.equal(mark(data), self.fitted_on_):
            raise InputError(
                f"{data.name} is not what this {type(self).__name__} was fitted on, and it can "
                f"embed nothing else: fit it on all {self.level}s together"
            )
        return data

    def _embedded(self, data: Any) -> Tensor:
        return self.vectors_.clone()  # the user may write into it

    def _learned(self) -> dict[str, Tensor]:
        return {"vectors": self.vectors_, "fitted_on": self.fitted_on_}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.vectors_, self.fitted_on_ = tensors["vectors"], tensors["fitted_on"]


def mark(data: Any) -> Tensor:
    """The fingerprint of the data as a tensor, to be kept in a model file."""
    return torch.tensor(list(bytes.fromhex(fingerprint(data))), dtype=torch.uint8)
