"""What attacks need of a model: its answers, and for one of them its gradient."""

from __future__ import annotations

import inspect
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import nll_loss

from augcl.data.graph import GraphSet
from augcl.encoders.classifier import EdgeFactors
from augcl.errors import InputError


@runtime_checkable
class HasEdgeFactors(Protocol):
    """A classifier whose gradient by the adjacency is a product of two node matrices."""

    classes_: Any

    def predict(self, graphs: Any) -> Any: ...

    def edge_factors(self, graphs: GraphSet, targets: Tensor) -> list[EdgeFactors]:
        """For each row r of targets (R, G), of Σ_g −log P(class number targets[r, g]); −1: none."""
        ...


@runtime_checkable
class HasEdgeGradients(Protocol):
    """Any other classifier that can tell the gradient by the weights of given pairs."""

    classes_: Any

    def predict(self, graphs: Any) -> Any: ...

    def edge_gradients(self, graphs: GraphSet, pairs: Tensor, targets: Tensor) -> Tensor:
        """(2, P) for (2, P) pairs (i, j): by the weight of j → i and of i → j.

        Of Σ_g −log P(class number targets[g]), where that is not −1.
        """
        ...


def predicted(model: Any, graphs: GraphSet) -> NDArray[Any]:
    """(G,) classes, by ``model.predict``, or by ``model(graphs)``: classes or (G, C) scores."""
    if hasattr(model, "predict"):
        answer = model.predict(graphs)
    elif callable(model):
        _takes_graphs_alone(model, graphs)
        with torch.no_grad():
            answer = model(graphs)
    else:
        raise InputError(
            f"{type(model).__name__} cannot be attacked: give something with predict(graphs), or "
            "a function of graphs"
        )
    found = answer.cpu().numpy() if isinstance(answer, Tensor) else np.asarray(answer)
    if found.ndim == 2:
        found = found.argmax(1)
    if found.shape != (len(graphs),):
        raise InputError(
            f"the model gave shape {found.shape} for {len(graphs)} graphs: one class a graph"
        )
    return found


def _takes_graphs_alone(model: Any, graphs: GraphSet) -> None:
    """Raise `InputError` if the call would fail, as that of a PyG module does."""
    try:
        inspect.signature(getattr(model, "forward", model)).bind(graphs)
    except TypeError as error:
        raise InputError(
            f"{type(model).__name__} is called with the graphs alone ({error}): give a function "
            "of them, such as lambda g: model(g.x, g.edge_index, g.graph_of_node)"
        ) from None
    except ValueError:  # written in C: it does not tell
        return


class WeightedEdges:
    """A classifier whose message passing knows edge weights, made ready for `GradArgmax`.

    Parameters
    ----------
    module : callable
        ``module(x, edge_index, edge_weight, batch)`` gives (G, C) logits, as PyG's layers do; sums
        over edges must be linear in the weights.
    classes : int
        C.

    Examples
    --------
    >>> from torch_geometric.nn import GraphConv, global_add_pool
    >>> from augcl.attacks import GradArgmax
    >>> from augcl.data import components
    >>> conv = GraphConv(1, 3)
    >>> def module(x, edge_index, edge_weight, batch):
    ...     return global_add_pool(conv(x, edge_index, edge_weight), batch)
    >>> len(GradArgmax().perturb(WeightedEdges(module, classes=3), components(per_class=5)))
    15
    """

    def __init__(self, module: nn.Module, classes: int) -> None:
        self.module = module
        self.classes_ = np.arange(classes)

    @torch.no_grad()
    def predict(self, graphs: GraphSet) -> NDArray[Any]:
        """(G,) the most probable class."""
        weight = torch.ones(graphs.num_edges, device=graphs.device)
        logits: Tensor = self.module(graphs.x, graphs.edge_index, weight, graphs.graph_of_node)
        found: NDArray[Any] = logits.argmax(1).cpu().numpy()
        return found

    def edge_gradients(self, graphs: GraphSet, pairs: Tensor, targets: Tensor) -> Tensor:
        """By autograd: every pair becomes one more edge of weight 0, in each direction."""
        more = torch.zeros(2 * pairs.shape[1], device=graphs.device, requires_grad=True)
        there = torch.ones(graphs.num_edges, device=graphs.device)
        edges = torch.cat([graphs.edge_index, pairs.flip(0), pairs], 1)  # j → i, then i → j
        with torch.enable_grad():
            weight = torch.cat([there, more])
            logits = self.module(graphs.x, edges, weight, graphs.graph_of_node)
            loss = nll_loss(logits.log_softmax(1), targets, reduction="sum", ignore_index=-1)
            (slopes,) = torch.autograd.grad(loss, more)
        return slopes.view(2, -1)
