"""The order of the file tells no method the class.

Many benchmarks are sorted by class. Here the first half of a file is class 0, the second class 1,
and nothing but the place tells them apart. In one file everything comes as twins, one in each half,
and folds hold both or none: whoever embeds what is there, and not where it stands, is right about
one of two twins. In the other file all are strangers, drawn alike, whose words and shapes a method
could remember together with their place.
"""

import warnings
from functools import cache

import numpy as np
import pytest
import torch
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from augcl.data import GraphSet, NodeGraph
from augcl.rivals.gensim_models import Texts
from augcl.runs.models import METHODS

PAIRS = 150
NOISE = 0.5 / np.sqrt(2 * PAIRS)  # of the accuracy by chance
SMALL = {
    "batch_size": 32,
    "dimension": 16,
    "dimensions": 32,
    "epochs": 2,
    "layers": 2,
    "length": 10,
    "n_samples": 10,
    "passes": 1,
    "progress": False,
    "projection": 8,
    "size": 4,
    "walk_length": 200,
    "walks": 1,
    "width": 8,
    "window": 2,
}
STRUCTURAL = ("Sub2Vec", {"variant": "structural"})
ANY_GRAPH = [name for name, kind in METHODS.items() if kind.needs is None]
CASES = [*((name, {}) for name in ANY_GRAPH), STRUCTURAL]
BY_DRAWS = {
    "DeepWalk",
    "DeepWalkFeatures",
    "Graph2Vec",
    "GraphletKernel",
    "Node2Vec",
    "Node2VecGraphs",
    "Sub2Vec",
}
"""What each graph or node gets of its own random draws differs between twins."""
either_file = pytest.mark.parametrize("twins", [True, False], ids=["twins", "strangers"])


def small(name, **options):
    kind = METHODS[name]
    known = kind().get_params(deep=False)
    return kind(**{k: v for k, v in SMALL.items() if k in known}, **options)


@cache
def graphs(*, twins):
    """Rings with few chords and random labels."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(36, 44, size=PAIRS if twins else 2 * PAIRS)
    pairs, start = [], 0
    for n in sizes:
        ring = np.arange(n)
        chords = rng.integers(n, size=(2, rng.poisson(1)))
        pairs.append(start + np.concatenate([[ring, (ring + 1) % n], chords], 1))
        start += n
    drawn = GraphSet.from_arrays(
        pairs=torch.from_numpy(np.concatenate(pairs, 1)),
        graph_of_node=torch.repeat_interleave(torch.from_numpy(sizes)),
        num_graphs=len(sizes),
        x=torch.eye(2)[torch.from_numpy(rng.integers(2, size=start))],
    )
    return drawn.select([*range(PAIRS), *range(PAIRS)]) if twins else drawn


@cache
def nodes(*, twins):
    """A random graph with random words; twins are two sheets over one of half the size.

    Each edge stays in both sheets or crosses between them. To swap all twins changes nothing but
    names, so that they are alike, and no walk keeps to its sheet.
    """
    rng = np.random.default_rng(0)
    drawn = PAIRS if twins else 2 * PAIRS
    source, target = np.triu(rng.random((drawn, drawn)) < 6 / drawn, 1).nonzero()
    words = (rng.random((drawn, 16)) < 0.3).astype(np.float32)
    pairs = np.stack([source, target])
    if twins:
        crosses = PAIRS * rng.integers(2, size=len(source))
        one, other = [source, target + crosses], [source + PAIRS, target + PAIRS - crosses]
        pairs, words = np.concatenate([one, other], 1), np.concatenate([words, words])
    return NodeGraph.from_arrays(
        pairs=torch.from_numpy(pairs), num_nodes=2 * PAIRS, x=torch.from_numpy(words)
    )


def in_order(data, order):
    """The graphs, or nodes, in another order."""
    if isinstance(data, GraphSet):
        return data.select(order.tolist())
    place = torch.empty_like(order)
    place[order] = torch.arange(len(order))
    source, target = data.edge_index
    return NodeGraph.from_arrays(
        pairs=place[data.edge_index[:, source < target]],
        num_nodes=data.num_nodes,
        x=data.x[order],
    )


def embedding(model, order, *, twins):
    """Of the file in this order."""
    data = {"graph": graphs, "node": nodes}[model.level](twins=twins)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # so short a training may learn nothing
        return model.fit_transform(in_order(data, order)).astype(float)


def accuracy(model, order, *, twins):
    """How well its embedding tells the halves of the file, if the file is in this order."""
    z = embedding(model, order, twins=twins)
    half, pair = (order // PAIRS).numpy(), (order % PAIRS).numpy()
    machine = SVC(kernel="precomputed")
    if not model.gives_kernel:
        machine = make_pipeline(StandardScaler(), SVC())
    return cross_val_score(machine, z, half, groups=pair, cv=GroupKFold(5)).mean()


@either_file
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_the_order_of_the_file_does_not_tell_the_class(name, options, twins):
    model = small(name, **options)
    sorted_by_class = torch.arange(2 * PAIRS)
    at_random = torch.randperm(2 * PAIRS, generator=torch.Generator().manual_seed(0))
    scores = [accuracy(model, order, twins=twins) for order in (sorted_by_class, at_random)]
    assert scores == pytest.approx([0.5, 0.5], abs=4 * NOISE)


@pytest.mark.parametrize("name", sorted(set(ANY_GRAPH) - BY_DRAWS))
def test_twins_have_the_same_embedding_wherever_they_stand(name):
    """Nothing of a batch with other members, or of a place in the file, is in it."""
    z = embedding(small(name), torch.arange(2 * PAIRS), twins=True)
    one, other = z[:PAIRS], z[PAIRS:]
    assert np.abs(one - other).max() < 1e-4 * np.abs(z).max()
    assert np.abs(one - one[::-1]).max() > 1e-2 * np.abs(z).max()


@either_file
@pytest.mark.parametrize(("name", "options"), [("Graph2Vec", {}), STRUCTURAL], ids=str)
def test_texts_read_in_the_order_of_the_file_would_tell_it(name, options, twins, monkeypatch):
    monkeypatch.setattr(Texts, "shuffled", lambda texts, generator: iter(range(len(texts))))
    score = accuracy(small(name, **options), torch.arange(2 * PAIRS), twins=twins)
    assert score > 0.5 + 4 * NOISE
