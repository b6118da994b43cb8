"""Sub2vec: doc2vec with graphs as documents and the steps of one long random walk as words."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from augcl.checks import whole_number
from augcl.data.features import degrees
from augcl.data.graph import GraphSet
from augcl.errors import need, one_of
from augcl.ops.csr import Rows
from augcl.ops.segments import random_element
from augcl.rivals.gensim_models import LONGEST, FittedOnly, Texts, trained
from augcl.rivals.walks import WeightedGraphReader, random_walks, weights_of

VARIANTS = ("neighborhood", "structural")
BIN_EDGES = (0.05, 0.1, 0.15, 0.2, 0.25, 0.5, 0.75, 1.0)
RECIPES: dict[str, dict[str, Any]] = {
    "default": {"dimensions": 128, "walk_length": 1_000},
    "paper": {"dimensions": 512, "walk_length": 100_000},
    "authors": {"dimensions": 512, "walk_length": 100_000},
}


class Sub2Vec(WeightedGraphReader, FittedOnly):
    """Embed a graph from one long random walk in it, by doc2vec.

    The vector of a graph and the neighbouring steps of the walk predict a step (PV-DM). Labels and
    features of the nodes are ignored. Walks follow an edge in proportion to its feature ``weight``,
    if there is one. Only the graphs of the fit have an embedding. A walk that begins at a node
    without neighbours stays there.

    Parameters
    ----------
    variant : {"neighborhood", "structural"}
        The word of a step: the node itself (no two graphs share a node, hence no word), or the bin
        of its degree divided by the size of the graph.
    walk_length : int, optional
        Nodes in the walk; 1,000 by default, which takes seconds on MUTAG. Published: 100,000.
    dimensions : int, optional
        Width of the embedding; 128 by default. Published: 512.
    window : int
        Steps before and after a step that help to predict it.
    negatives : int
        Random words that each step is contrasted with.
    passes : int
        Passes over the walks, in a new random order each time; 10 is gensim's default.
    recipe : {"default", "paper", "authors"}
        Sets every option that is None: "paper" and "authors" use the published sizes; "authors"
        reads only the first 10,000 steps, because gensim reads no more of a document.
    random_state : int or None
    progress : bool

    Attributes
    ----------
    vectors_ : (G, dimensions) float32
        Vectors of the graphs of the fit.

    References
    ----------
    B. Adhikari, Y. Zhang, N. Ramakrishnan and B. A. Prakash. "Sub2Vec: Feature Learning for
    Subgraphs". PAKDD 2018. doi:10.1007/978-3-319-93037-4_14.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> augcl.Sub2Vec(dimensions=8, walk_length=50, passes=1).fit_transform(graphs).shape
    (188, 8)
    """

    year = 2018
    revision = 2

    def __init__(
        self,
        *,
        variant: str = "neighborhood",
        walk_length: int | None = None,
        dimensions: int | None = None,
        window: int = 2,
        negatives: int = 5,
        passes: int = 10,
        recipe: str = "default",
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        self.variant = variant
        self.walk_length = walk_length
        self.dimensions = dimensions
        self.window = window
        self.negatives = negatives
        self.passes = passes
        self.recipe = recipe
        self.random_state = random_state
        self.progress = progress

    def _left_open(self) -> dict[str, Any]:
        return RECIPES[one_of(self.recipe, RECIPES, "recipe")]

    def _start(self) -> None:
        need("gensim", "Sub2Vec")
        one_of(self.recipe, RECIPES, "recipe")
        one_of(self.variant, VARIANTS, "variant")
        for name in ("dimensions", "window", "negatives", "passes"):
            whole_number(name, self._setting(name), least=1)
        whole_number("walk_length", self._setting("walk_length"), least=2)

    def _learn(self, data: GraphSet, generator: torch.Generator) -> None:
        data = data.to("cpu")
        words = self._word_of_node(data)[self._walks(data, generator)]
        ptr = torch.arange(len(data) + 1) * words.shape[1]
        model = trained(
            Texts(words.flatten(), ptr),
            generator,
            passes=int(self.passes),
            title=f"Sub2Vec on {data.name}",
            progress=self.progress,
            vector_size=int(self._setting("dimensions")),
            window=int(self.window),
            negative=int(self.negatives),
            dm=1,
        )
        self._keep(data, torch.from_numpy(model.dv.vectors.copy()))

    def _walks(self, data: GraphSet, generator: torch.Generator) -> Tensor:
        """Draw one walk per graph: (G, length) nodes."""
        length = int(self._setting("walk_length"))
        if self.recipe == "authors":
            length = min(length, LONGEST)
        source, target = data.edge_index
        weight = weights_of(data)
        neighbours = Rows.from_pairs(source, target, data.num_nodes, values=weight, ordered=True)
        return random_walks(neighbours, random_element(data.node_ptr, generator), length, generator)

    def _word_of_node(self, data: GraphSet) -> Tensor:
        """Return (V,) the word of a step to each node."""
        if self.variant == "neighborhood":
            return torch.arange(data.num_nodes)
        sizes = data.node_ptr.diff()[data.graph_of_node]
        return torch.bucketize(degrees(data) / sizes, torch.tensor(BIN_EDGES))
