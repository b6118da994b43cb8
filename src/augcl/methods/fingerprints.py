"""MorganFingerprints: the training-free floor for embeddings of molecules."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from augcl.checks import whole_number
from augcl.data.graph import GraphSet
from augcl.data.molecules import morgan_counts
from augcl.errors import InputError
from augcl.training.method import GraphReader, PlainMethod


class MorganFingerprints(GraphReader, PlainMethod):
    """Embed a molecule as the square roots of the counts of its circular substructures.

    Nothing is trained: show it as the floor beside embeddings of molecules. It reads the SMILES of
    the graphs (`augcl.from_smiles`), not their node features.

    Parameters
    ----------
    radius : int
        Number of bonds from the centre of a substructure to its border.
    width : int
        Number of columns; each substructure is hashed to one of them.
    random_state, progress :
        Not used; every method has them.

    References
    ----------
    D. Rogers and M. Hahn. "Extended-Connectivity Fingerprints". Journal of Chemical Information
    and Modeling 50(5), 2010. doi:10.1021/ci100050t.

    Examples
    --------
    >>> import augcl
    >>> augcl.MorganFingerprints().fit_transform(augcl.from_smiles(["CCO", "c1ccccc1"])).shape
    (2, 2048)
    """

    year = 2010
    cost = "seconds"
    needs = "smiles"
    edge_cure = None  # bonds are read from the SMILES

    def __init__(
        self,
        *,
        radius: int = 2,
        width: int = 2048,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.radius = radius
        self.width = width
        self.random_state = random_state
        self.progress = progress

    def _start(self) -> None:
        super()._start()
        whole_number("radius", self.radius, least=0)
        whole_number("width", self.width, least=1)

    def read(self, X: Any) -> GraphSet:
        """Return the molecules as a GraphSet; refuse graphs without SMILES."""
        graphs = super().read(X)
        if graphs.smiles is None:
            raise InputError(
                f"{graphs.name} holds no SMILES: MorganFingerprints reads molecules, from "
                "augcl.from_smiles or a table with a column of SMILES"
            )
        return graphs

    def _width(self) -> int:
        return self.width

    def _learn(self, data: GraphSet, generator: torch.Generator) -> None:
        """Nothing to learn."""

    def _embedded(self, data: GraphSet) -> Tensor:
        assert data.smiles is not None
        return torch.from_numpy(morgan_counts(data.smiles, self.radius, self.width)).sqrt()
