"""The graphlet sampling kernel, through grakel."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from augcl.baselines.graphlets import LARGEST, Isomorphism, graph_hashes
from augcl.baselines.kernel import GraphKernel, Occurrences
from augcl.checks import number, whole_number
from augcl.data import GraphSet
from augcl.errors import one_of
from augcl.ops.hashing import combined
from augcl.training.progress import progress_bar

SAMPLES = {"default": 100, "paper": 100, "authors": 5}


class GraphletKernel(GraphKernel):
    """Compares graphs by small subgraphs drawn at random (graphlets); sees no node features.

    Of each graph, sets of 3 … `size` nodes are drawn and counted up to isomorphism, by grakel; the
    kernel is the product of two graphs' counts, divided by their lengths. What is drawn of a
    graph depends on the seed and on that graph alone, so that a graph always has the same row.

    Parameters
    ----------
    size : int
        Nodes of the largest graphlets, 3 … 9.
    n_samples : int, optional
        Graphlets drawn of each graph; by the recipe if not given.
    normalize : bool
        Every graph is 1 similar to itself.
    recipe : {"default", "authors", "paper"}
        "authors": 5 graphlets of each graph, as in the published comparison; 100 otherwise.
    random_state : int, optional
        Seed of the draws.
    progress : bool
        Show a progress bar.

    Attributes
    ----------
    vocabulary_, counts_ :
        See `GraphKernel`.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG").select(range(20))
    >>> augcl.GraphletKernel(size=4, n_samples=20).fit_transform(graphs).shape
    (20, 20)
    """

    year = 2009
    cost = "minutes"

    def __init__(
        self,
        *,
        size: int = 5,
        n_samples: int | None = None,
        normalize: bool = True,
        recipe: str = "default",
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.size = size
        self.n_samples = n_samples
        self.normalize = normalize
        self.recipe = recipe
        self.random_state = random_state
        self.progress = progress

    def _start(self) -> None:
        one_of(self.recipe, SAMPLES, "recipe")
        whole_number("size", self.size, least=3)
        number("size", self.size, most=LARGEST)
        whole_number("n_samples", self._setting("n_samples"), least=1)

    def _left_open(self) -> dict[str, Any]:
        return {"n_samples": SAMPLES[one_of(self.recipe, SAMPLES, "recipe")]}

    def _occurrences(self, data: GraphSet) -> Occurrences:
        from grakel.kernels.graphlet_sampling import sample_graphlets_probabilistic as draw

        samples, isomorphism = int(self._setting("n_samples")), Isomorphism()
        seeds = combined(np.array([self.seed_]), graph_hashes(data)) >> np.uint64(32)
        names = np.empty((len(data), samples), dtype=np.uint64)
        title = f"GraphletKernel on {data.name}"
        with progress_bar(title, len(data), show=self.progress, stay=False) as report:
            for graph, seed in enumerate(seeds.tolist()):
                state = check_random_state(seed)
                graphlets = draw(_adjacency(data, graph), int(self.size), samples, state)
                names[graph] = [isomorphism.name(graphlet) for graphlet in graphlets]
                report(graph + 1)
        return Occurrences.single(np.repeat(np.arange(len(data)), samples), names.ravel())


def _adjacency(graphs: GraphSet, number: int) -> np.ndarray[Any, Any]:
    """(n, n) of 0 and 1 of one graph."""
    first, last = graphs.node_ptr[number : number + 2].tolist()
    edges = slice(*graphs.edge_ptr[number : number + 2].tolist())
    out = np.zeros((last - first, last - first), dtype=np.uint8)
    source, target = graphs.edge_index[:, edges].cpu().numpy() - first
    out[source, target] = 1
    return out
