"""The agent of RL-S2V: what each node is worth as the next choice."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from augcl.data.graph import GraphSet
from augcl.encoders.heads import glorot_linear
from augcl.encoders.structure2vec import Structure2Vec
from augcl.ops.segments import segment_sum


class QNetwork(nn.Module):
    """Q_t(s, a) = v_tᵀ ReLU(U_t [μ_a ; g]) for node a, with one structure2vec for all decisions t.

    A node's input says whether it is picked, and its features if there is more than a constant.

    Parameters
    ----------
    features : int
        Of the graphs' nodes.
    decisions : int
        T: two for each edge.
    width, depth : int
        Of structure2vec and of the hidden layer.
    generator : torch.Generator
        Draws the weights.
    """

    def __init__(
        self,
        features: int,
        decisions: int,
        *,
        width: int,
        depth: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        inputs = 2 + (features if features > 1 else 0)
        self.encoder = Structure2Vec(inputs, width=width, depth=depth, generator=generator)
        self.hidden = nn.ModuleList(
            [glorot_linear(2 * width, width, generator) for _ in range(decisions)]
        )
        self.out = nn.ModuleList([glorot_linear(width, 1, generator) for _ in range(decisions)])

    def forward(self, graphs: GraphSet, picked: Tensor, decision: int) -> Tensor:
        """(V,) worth of every node; `picked` (G,) is the node chosen before, −1 for none."""
        chosen = torch.zeros(graphs.num_nodes, device=graphs.device)
        chosen[picked[picked >= 0]] = 1
        parts = [torch.stack([1 - chosen, chosen], 1)]
        if graphs.num_features > 1:
            parts.append(graphs.x)
        nodes = self.encoder(torch.cat(parts, 1), graphs.adjacency)
        whole = segment_sum(nodes, graphs.node_ptr)
        hidden = self.hidden[decision]
        assert isinstance(hidden, nn.Linear)
        # U [μ_a ; g] = U₁ μ_a + U₂ g, the second once a graph.
        of_node, of_graph = hidden.weight.chunk(2, dim=1)
        shared = linear(whole, of_graph, hidden.bias)
        worth = relu(linear(nodes, of_node) + shared[graphs.graph_of_node])
        return self.out[decision](worth).squeeze(1)  # type: ignore[no-any-return]
