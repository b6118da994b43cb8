"""RandSampling: the blind attack, which changes random edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.attacks.graph_attack import Attack
from augcl.attacks.rules import flip_edges, is_edge, least_of_each
from augcl.data.graph import GraphSet
from augcl.ops.segments import random_below, uniform

TRIALS = (8, 32, 128)
"""Pairs drawn for each graph in each attempt; after the last attempt all legal pairs are listed."""


class RandSampling(Attack):
    """Change legal edges uniformly at random, without asking the model.

    Parameters
    ----------
    budget, changes, semantics :
        See `Attack`.
    recipe, idle :
        See `Attack`.
    random_state : int or None

    References
    ----------
    H. Dai, H. Li, T. Tian, X. Huang, L. Wang, J. Zhu and L. Song. "Adversarial Attack on Graph
    Structured Data". ICML 2018. arXiv:1806.02371,
    doi:10.48550/arXiv.1806.02371.

    Examples
    --------
    >>> from augcl.data import components
    >>> graphs = components(per_class=4)
    >>> changed = RandSampling(random_state=0).perturb(None, graphs)
    >>> (changed.num_edges - graphs.num_edges) // 2
    12
    """

    pairs_at_once = 1 << 20  # pairs are rarely listed

    def _labels(self, model: Any, graphs: GraphSet, y: Any) -> NDArray[Any]:
        return np.zeros(len(graphs))  # not used

    def _flips(
        self, model: Any, graphs: GraphSet, labels: NDArray[Any], generator: torch.Generator
    ) -> Tensor:
        flips = graphs.edge_index.new_empty(2, 0)
        for step in range(self.budget):
            new = self._draw(graphs, flips, generator)
            if self._rules.idle:
                new = new[:, ~is_edge(graphs, new)]
            flips = torch.cat([flips, new], 1)
            if step + 1 < self.budget:
                graphs = flip_edges(graphs, new)
        return flips

    def _draw(self, graphs: GraphSet, touched: Tensor, generator: torch.Generator) -> Tensor:
        """Draw (2, P) one legal pair of each graph, uniformly."""
        if self.changes != "add" or touched.shape[1]:
            return self._from_list(graphs, touched, generator)
        group = self._rules.semantics.groups(graphs)
        found, left = [], torch.arange(len(graphs), device=graphs.device)
        for trials in TRIALS:
            pairs, left = self._by_trial(graphs, group, left, trials, generator)
            found.append(pairs)
            if not len(left):
                break
        else:
            part = graphs.select(left)
            listed = self._from_list(part, touched, generator)
            shift = (graphs.node_ptr[left] - part.node_ptr[:-1])[part.graph_of_node[listed[0]]]
            found.append(listed + shift)
        return torch.cat(found, 1)

    def _by_trial(
        self,
        graphs: GraphSet,
        group: Tensor,
        ids: Tensor,
        trials: int,
        generator: torch.Generator,
    ) -> tuple[Tensor, Tensor]:
        """Draw random pairs of nodes; return the legal ones, and the graphs of `ids` without one.

        The first legal draw is uniform among all legal pairs, and needs no list of them.
        """
        size = graphs.node_ptr.diff()[ids].repeat_interleave(trials)
        code = random_below(size * size, generator)  # both nodes in one number
        row = code.div(size, rounding_mode="floor")
        start = graphs.node_ptr[ids].repeat_interleave(trials)
        one, other = start + row, start + code - row * size
        likely = ((one != other) & (group[one] == group[other])).nonzero().squeeze(1)
        one, other = one[likely], other[likely]
        pairs = torch.stack([torch.minimum(one, other), torch.maximum(one, other)])
        order = likely.to(torch.float64)
        order = order.where(self._rules.legal(graphs, pairs, group), torch.inf)
        first = least_of_each(order, likely.div(trials, rounding_mode="floor"), len(ids))
        return pairs[:, first[first >= 0]], ids[first < 0]

    def _from_list(self, graphs: GraphSet, touched: Tensor, generator: torch.Generator) -> Tensor:
        found = self._rules.candidates(graphs, touched)
        chance = uniform(len(found.legal), generator, graphs.device)
        chance = chance.where(found.legal, torch.inf)
        drawn = least_of_each(chance, graphs.graph_of_node[found.pairs[0]], len(graphs))
        return found.pairs[:, drawn[drawn >= 0]]
