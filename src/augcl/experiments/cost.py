"""How long a training with AUGCL takes, and how much memory: a rule of thumb from the sizes."""

from __future__ import annotations

from dataclasses import dataclass

from augcl.data import GraphSet, NodeGraph
from augcl.data.sparse import share_filled
from augcl.evaluation.svm import LARGEST_MATRIX
from augcl.experiments.run import Spec

BATCH = 128
SVM_CACHE = 200e6  # bytes that libsvm takes at most to remember kernel rows


@dataclass(frozen=True)
class Plan:
    """What `augcl train` will do: epochs, those of them without weights, width of an embedding."""

    epochs: int
    warmup: int
    width: int

    @classmethod
    def of(cls, spec: Spec, data: GraphSet | NodeGraph) -> Plan:
        """As the method itself decides."""
        model = spec.estimator(data, 0)
        model._start()
        return cls(model._setting("epochs"), model._onset.epoch, model._setting("width"))


@dataclass(frozen=True)
class Cost:
    """Of one seed: seconds of each part, and the peak of memory in bytes.

    Memory is what comes on top of Python, torch and the data set itself.
    """

    plain_epoch: float
    weighted_epoch: float
    fit: float
    evaluation: float
    memory: float

    def seconds(self, plan: Plan) -> float:
        """Of training and evaluation.

        >>> Cost(1.0, 2.0, 5.0, 10.0, memory=0.0).seconds(Plan(epochs=40, warmup=20, width=32))
        75.0
        """
        training = plan.warmup * self.plain_epoch
        training += (plan.epochs - plan.warmup) * self.weighted_epoch
        return training + self.fit + self.evaluation


def estimate(data: GraphSet | NodeGraph, plan: Plan) -> Cost:
    """What the sizes of the data let expect; the constants are those of one core of a server.

    Only as good as a rule of thumb: machines differ by a factor of three and more.
    """
    if isinstance(data, GraphSet):
        return _of_set(data, plan.width)
    return _of_graph(data, plan.width)


def _of_set(graphs: GraphSet, width: int) -> Cost:
    N, V, E = len(graphs), graphs.num_nodes, graphs.num_edges
    batches = max(1.0, N / BATCH)
    epoch = 3e-6 * V + 1e-7 * E + 5e-3 * batches
    data = 4.0 * V * graphs.num_features + 40.0 * E  # the batches hold it once more, with a CSR
    layers, kept_per_layer, views = 3, 6, 2
    activations = (4 * width * layers * kept_per_layer * views * V + 100 * E) / batches
    matrices = 8 * 1.9 * N**2 if N <= LARGEST_MATRIX else 0.0  # distances, and one kernel
    kernels = min(SVM_CACHE, 8.0 * N**2)
    judging = 0.0 if graphs.y is None else matrices + kernels
    return Cost(
        plain_epoch=epoch,
        weighted_epoch=1.2 * epoch,
        fit=0.5 * batches,
        evaluation=0.0 if graphs.y is None else 0.3 + 7e-6 * N**2,
        memory=data + max(activations, judging),
    )


def _of_graph(graph: NodeGraph, width: int) -> Cost:
    N, E = graph.num_nodes, graph.num_edges
    filled = share_filled(graph.x) * N * graph.num_features
    epoch = 5e-10 * N**2 * width + 1e-9 * (filled + E) * 2 * width
    activations = 4.0 * 2 * N * 20 * width  # both views, with their gradients
    features = 3 * (12.0 * filled + 40.0 * E)
    rows = 40.0 * 256 * N  # of the weights, while they are looked at
    return Cost(
        plain_epoch=epoch,
        weighted_epoch=1.2 * epoch,
        fit=1 + 7e-7 * N**2,
        evaluation=0.0 if graph.y is None else 1 + 2e-3 * N,
        memory=N**2 + activations + features + rows,  # a byte for the weight of each pair
    )
