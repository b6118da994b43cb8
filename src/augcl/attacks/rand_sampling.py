"""The blind attack: edges at random."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.attacks.base import Attack
from augcl.attacks.semantics import Semantics
from augcl.data.flips import flip_edges
from augcl.data.graph import GraphSet
from augcl.ops.blocks import least_of_each
from augcl.ops.segments import uniform


class RandSampling(Attack):
    """Joins two nodes that may be joined, uniformly at random; it never asks the model.

    Parameters
    ----------
    budget : int
        Edges changed in each graph, at most.
    changes : {"add", "delete", "both"}
        Published is "add".
    semantics : Semantics, optional
        What must not change; the number of components if None.
    recipe : {"default", "authors"}
        "authors": pairs that are joined already are drawn too, which changes nothing.
    batch_size : int
        Graphs at a time; decides memory only.
    random_state : int or None

    Examples
    --------
    >>> from augcl.data import components
    >>> graphs = components(per_class=4)
    >>> changed = RandSampling(random_state=0).perturb(None, graphs)
    >>> (changed.num_edges - graphs.num_edges) // 2
    12
    """

    def __init__(
        self,
        *,
        budget: int = 1,
        changes: str = "add",
        semantics: Semantics | None = None,
        recipe: str = "default",
        batch_size: int = 500,
        random_state: int | None = 0,
    ) -> None:
        self.budget = budget
        self.changes = changes
        self.semantics = semantics
        self.recipe = recipe
        self.batch_size = batch_size
        self.random_state = random_state

    def _labels(self, model: Any, graphs: GraphSet, y: Any) -> NDArray[Any]:
        return graphs.node_ptr[1:].numpy()  # nobody looks at them

    def _flips(
        self, model: Any, graphs: GraphSet, labels: NDArray[Any], generator: torch.Generator
    ) -> Tensor:
        flips = graphs.edge_index.new_empty(2, 0)
        for step in range(self.budget):
            found = self._rules.candidates(graphs, flips)
            chance = uniform(found.pairs.shape[1], generator, graphs.device)
            graph = graphs.graph_of_node[found.pairs[0]]
            drawn = least_of_each(chance, graph, len(graphs))
            drawn = drawn[drawn >= 0]
            if self.changes == "add":
                drawn = drawn[~found.joined[drawn]]
            new = found.pairs[:, drawn]
            flips = torch.cat([flips, new], 1)
            if step + 1 < self.budget:
                graphs = flip_edges(graphs, new)
        return flips
