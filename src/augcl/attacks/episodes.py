"""Games of RL-S2V: nodes chosen in turn, two for each edge; many graphs play at once."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from augcl.attacks.q_network import QNetwork
from augcl.attacks.rules import Rules
from augcl.data.flips import flip_edges, is_edge
from augcl.data.graph import GraphSet
from augcl.ops.blocks import least_of_each
from augcl.ops.segments import uniform

NOTHING = -1
"""No choice was possible."""


@dataclass(frozen=True)
class Game:
    """The rules on some graphs.

    A state is what was chosen so far: (G, t) nodes, counted within their graph. Choices 2s and
    2s + 1 are the ends of edge s.
    """

    graphs: GraphSet
    rules: Rules

    def flips(self, choices: Tensor) -> Tensor:
        """(2, P) the pairs to join or part that the choices mean."""
        pairs = choices[:, : choices.shape[1] // 2 * 2].reshape(len(choices), -1, 2)
        complete = (pairs >= 0).all(2)
        found = (pairs + self.graphs.node_ptr[:-1, None, None])[complete].t()
        if self.rules.changes == "add" and self.rules.idle:
            found = found[:, ~is_edge(self.graphs, found)]
        return found

    def after(self, choices: Tensor) -> tuple[GraphSet, Tensor]:
        """The graphs as they are then, and the (G,) node that waits for its partner, or −1."""
        graphs, flips = self.graphs, self.flips(choices)
        if flips.shape[1]:
            graphs = flip_edges(graphs, flips)
        picked = torch.full_like(graphs.node_ptr[1:], NOTHING)
        if choices.shape[1] % 2:
            last = choices[:, -1]
            picked = torch.where(last >= 0, last + graphs.node_ptr[:-1], NOTHING)
        return graphs, picked

    def legal(self, choices: Tensor, graphs: GraphSet, picked: Tensor) -> Tensor:
        """(V,) which nodes may be chosen next."""
        if choices.shape[1] % 2 == 0:
            return torch.ones(graphs.num_nodes, dtype=torch.bool, device=graphs.device)
        return self.rules.partners(graphs, picked, self.flips(choices))

    def best(self, network: QNetwork, choices: Tensor) -> tuple[Tensor, Tensor]:
        """(G,) the node of most worth in each graph, and its worth; −1 and 0 if none is legal."""
        graphs, picked = self.after(choices)
        worth = network(graphs, picked, choices.shape[1])
        legal = self.legal(choices, graphs, picked).nonzero().squeeze(1)
        return self._pick(-worth, legal, worth)

    def _pick(self, score: Tensor, legal: Tensor, worth: Tensor) -> tuple[Tensor, Tensor]:
        graph = self.graphs.graph_of_node[legal]
        place = least_of_each(score[legal].detach(), graph, len(self.graphs))
        any_ = place >= 0
        node = legal[place.clamp_min(0)] if len(legal) else torch.zeros_like(place)
        chosen = torch.where(any_, node - self.graphs.node_ptr[:-1], NOTHING)
        return chosen, torch.where(any_, worth[node], torch.zeros_like(worth[node]))

    @torch.no_grad()
    def play(
        self,
        network: QNetwork,
        decisions: int,
        *,
        epsilon: float = 0.0,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """(G, T) choices: the best, or with probability `epsilon` any that is legal."""
        choices = self.graphs.node_ptr.new_empty(len(self.graphs), 0)
        for _ in range(decisions):
            if epsilon < 1 or generator is None:
                node, _worth = self.best(network, choices)
            if generator is not None and epsilon > 0:
                drawn = self._random(choices, generator)
                curious = uniform(len(drawn), generator, drawn.device) < epsilon
                node = drawn if epsilon >= 1 else torch.where(curious, drawn, node)
            choices = torch.cat([choices, node[:, None]], 1)
        return choices

    def _random(self, choices: Tensor, generator: torch.Generator) -> Tensor:
        graphs, picked = self.after(choices)
        legal = self.legal(choices, graphs, picked).nonzero().squeeze(1)
        chance = uniform(graphs.num_nodes, generator, graphs.device)
        return self._pick(chance, legal, chance)[0]
