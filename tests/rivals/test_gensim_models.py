"""What gensim makes of our words: negatives and Huffman codes belong to the counts of their words.

The models are caught where the methods make them, and the counts are taken from what they read.
"""

from collections import Counter
from itertools import pairwise

import gensim.models
import numpy as np
import pytest
import torch

import references
from augcl import (
    DeepGraphKernel,
    DeepWalk,
    DeepWalkFeatures,
    Graph2Vec,
    Node2Vec,
    Node2VecGraphs,
    Sub2Vec,
)
from augcl.rivals.deep_graph_kernel import SUBSTRUCTURES
from augcl.rivals.gensim_models import FrozenBags

WALKS = {"dimensions": 4, "walks": 2, "length": 12, "progress": False}
TEXTS = {"dimensions": 4, "passes": 2, "progress": False}
KERNEL = {"dimension": 4, "passes": 2, "n_samples": 5, "size": 4, "progress": False}


def name(method):
    return type(method).__name__


BY_NEGATIVES = [
    Graph2Vec(**TEXTS),
    Graph2Vec(**TEXTS, recipe="authors"),
    Sub2Vec(**TEXTS, walk_length=30),
    Sub2Vec(**TEXTS, walk_length=30, variant="structural"),
    Node2Vec(**WALKS),
    Node2Vec(**WALKS, passes=2, p=0.5),
    Node2VecGraphs(**WALKS),
    DeepWalk(**WALKS, negatives=5),
]
BY_TREE = [
    DeepWalk(**WALKS),
    DeepWalkFeatures(**WALKS),
    Node2Vec(**WALKS, negatives=0),
    *(DeepGraphKernel(**KERNEL, substructures=kind) for kind in SUBSTRUCTURES),
]


class Recorded:
    """Texts that remember in which order each pass read them."""

    def __init__(self, texts):
        self.texts, self.passes = texts, []

    def __iter__(self):
        self.passes.append([])
        for text in self.texts:
            self.passes[-1].append(tuple(getattr(text, "words", text)))
            yield text


@pytest.fixture
def caught(monkeypatch):
    """Every model of gensim that is trained, with the texts that each pass read."""
    models = []

    def watched(kind):
        class Watched(kind):
            def train(self, corpus_iterable, **options):
                texts = Recorded(corpus_iterable)
                models.append((self, texts.passes))
                return super().train(texts, **options)

        return Watched

    for name in ("Word2Vec", "Doc2Vec"):
        monkeypatch.setattr(gensim.models, name, watched(getattr(gensim.models, name)))
    return models


@pytest.fixture
def trained(caught, molecules):
    """``trained(method)``: the model of gensim in it, and how often the word at each index came."""

    def model_of(method):
        method.fit({"graph": molecules, "node": references.communities()}[method.level])
        ((model, passes),) = caught
        read = Counter(word for text in passes[0] for word in text)
        counts = [read[word] for word in model.wv.index_to_key]
        assert sum(counts) == read.total()
        assert len(set(counts)) > 3
        return model, counts

    return model_of


def shares(table):
    """What part of all draws each index of a cumulative table gets."""
    return np.diff(table.astype(float), prepend=0) / float(table[-1])


def expected_shares(counts):
    powers = np.asarray(counts, dtype=float) ** 0.75
    return powers / powers.sum()


@pytest.mark.parametrize("method", BY_NEGATIVES, ids=name)
def test_negatives_are_drawn_by_the_counts_of_their_words(method, trained):
    model, counts = trained(method)
    np.testing.assert_allclose(shares(model.cum_table), expected_shares(counts), atol=1e-8)


def test_negatives_of_new_graphs_are_drawn_by_the_counts_of_their_words(molecules):
    fitted = Graph2Vec(**TEXTS).fit(molecules)
    frozen = FrozenBags(fitted.weights_, fitted.counts_, negatives=5, passes=1).model
    at = torch.tensor([int(word) for word in frozen.wv.index_to_key])
    np.testing.assert_allclose(
        shares(frozen.cum_table), expected_shares(fitted.counts_[at]), atol=1e-8
    )
    assert np.array_equal(frozen.syn1neg, fitted.weights_[at].numpy())


@pytest.mark.parametrize("method", BY_TREE, ids=name)
def test_huffman_codes_belong_to_the_counts_of_their_words(method, trained):
    model, counts = trained(method)
    codes = [tuple(code) for code in model.wv.expandos["code"]]  # where the training looks
    lengths = [len(code) for code in codes]
    assert sum(c * n for c, n in zip(counts, lengths, strict=True)) == shortest_total(counts)
    assert sum(2.0**-n for n in lengths) == 1  # and no code begins another one:
    assert all(one != other[: len(one)] for one, other in pairwise(sorted(codes)))


@pytest.mark.parametrize("method", BY_TREE, ids=name)
def test_codes_with_the_same_beginning_pass_the_same_inner_nodes(method, trained):
    model, _ = trained(method)
    steps = set()
    for code, point in zip(model.wv.expandos["code"], model.wv.expandos["point"], strict=True):
        steps.update((tuple(code[:i]), int(node)) for i, node in enumerate(point))
    beginnings, nodes = zip(*steps, strict=True)
    assert len(set(beginnings)) == len(set(nodes)) == len(steps) == len(model.wv) - 1


def shortest_total(counts):
    """Steps of the best binary code for all words read: join the two rarest until one is left."""
    rest, total = sorted(counts), 0
    while len(rest) > 1:
        joined = rest[0] + rest[1]
        rest, total = sorted([*rest[2:], joined]), total + joined
    return total


@pytest.mark.parametrize(
    "method",
    [Graph2Vec(**TEXTS), Sub2Vec(**TEXTS, walk_length=30), Node2VecGraphs(**WALKS, passes=2)]
    + [DeepGraphKernel(**KERNEL, substructures=kind) for kind in SUBSTRUCTURES],
    ids=name,
)
def test_every_pass_reads_the_same_texts_in_another_order(method, molecules, caught):
    method.fit(molecules)
    ((_, passes),) = caught
    first, second = passes
    assert sorted(first) == sorted(second)
    assert sum(a == b for a, b in zip(first, second, strict=True)) < 0.2 * len(first)
    method.set_params(random_state=1).fit(molecules)
    _, (other, _) = caught[1]
    assert first[: len(other)] != other
