"""Graph2vec and sub2vec: graphs as documents."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import references
from augcl import Graph2Vec, InputError, Sub2Vec, load_model
from augcl.data import GraphSet
from augcl.data.features import degrees, node_features
from augcl.rivals import gensim_models as words
from augcl.rivals.gensim_models import Documents, Texts
from augcl.rivals.graph2vec import labels_or_degrees

SMALL = {"dimensions": 16, "progress": False}


def accuracy(z, y):
    return cross_val_score(SVC(C=10), z / z.std(), y, cv=5).mean()


def test_a_text_too_long_for_gensim_comes_in_pieces(monkeypatch):
    monkeypatch.setattr(words, "LONGEST", 3)
    texts = Texts(torch.arange(9), torch.tensor([0, 7, 7, 9]))
    pieces = [list(texts.of(text)) for text in range(len(texts))]
    assert pieces == [[["0", "1", "2"], ["3", "4", "5"], ["6"]], [], [["7", "8"]]]


def test_every_pass_reads_all_documents_in_another_order():
    texts = Texts(torch.arange(50) % 7, torch.arange(51))
    documents = Documents(texts, torch.Generator().manual_seed(0), lambda done: None)
    passes = [[(d.tags[0], d.words) for d in documents] for _ in range(3)]
    for one in passes:
        assert sorted(one) == [(i, [str(i % 7)]) for i in range(50)]
    orders = [[tag for tag, _ in one] for one in (*passes, sorted(passes[0]))]
    assert len(set(map(tuple, orders))) == 4


# Graph2vec


def test_graph2vec_tells_mutagenic_molecules(mutag):
    z = Graph2Vec(passes=50, **SMALL).fit_transform(mutag)
    assert z.shape == (188, 16)
    assert accuracy(z, mutag.y) > 0.78  # the larger class has 0.665


def test_labels_are_the_columns_of_one_hot_features_and_else_degrees(mutag):
    assert torch.equal(labels_or_degrees(mutag), mutag.x.argmax(1))
    for kind in ("constant", "log-degree"):
        plain = node_features(mutag, kind)
        assert torch.equal(labels_or_degrees(plain), degrees(plain))
    noisy = replace(mutag, x=mutag.x + 0.5)
    assert torch.equal(labels_or_degrees(noisy), degrees(noisy))


def test_only_the_recipe_of_the_authors_looks_at_no_labels(molecules):
    shuffled = replace(molecules, x=molecules.x.roll(1, 1), columns=None)
    constant = node_features(molecules, "constant")
    blind = [
        Graph2Vec(recipe="authors", passes=2, **SMALL).fit_transform(graphs)
        for graphs in (molecules, shuffled, constant)
    ]
    assert np.array_equal(blind[0], blind[1])
    assert np.array_equal(blind[0], blind[2])
    assert np.square(blind[0]).mean() == pytest.approx(1, abs=1e-4)
    words = [
        len(Graph2Vec(passes=1, labels=labels, **SMALL).fit(molecules).words_)
        for labels in (True, False)
    ]
    assert words[0] > words[1]


def test_recipes_fill_in_what_is_not_given():
    settings = Graph2Vec(recipe="authors", dimensions=32).settings()
    assert (settings["dimensions"], settings["passes"], settings["labels"]) == (32, 1000, False)
    assert Sub2Vec(recipe="authors").settings()["walk_length"] == 100_000
    assert Sub2Vec().settings()["walk_length"] == 1_000
    for kind in (Graph2Vec, Sub2Vec):
        with pytest.raises(InputError, match="unknown recipe 'theirs'"):
            kind(recipe="theirs").fit(None)


def test_unseen_graphs_are_embedded_where_seen_ones_of_their_kind_lie(mutag, tmp_path):
    model = Graph2Vec(passes=50, **SMALL).fit(mutag)
    model.save(tmp_path)
    seen, some = model.transform(mutag), mutag.select(range(0, 188, 4))
    inferred = load_model(tmp_path).transform(some)
    assert np.array_equal(inferred, model.transform(some))
    assert np.array_equal(inferred[3:5], model.transform(some.select([3, 4])))
    near = np.linalg.norm(inferred[:, None] - seen[None, ::4], axis=2)
    ranks = (near < np.diag(near)[:, None]).sum(1)
    assert np.median(ranks) <= 2  # of 47: a graph comes out next to itself


def test_graph2vec_classifies_in_a_pipeline(mutag):
    y = mutag.y.numpy()
    order = np.random.default_rng(0).permutation(188)
    train, test = order[:140], order[140:]
    pipeline = make_pipeline(Graph2Vec(passes=50, **SMALL), SVC(C=10))
    pipeline.fit(mutag.select(train), y[train])
    assert pipeline.score(mutag.select(test), y[test]) > 0.7


def test_a_graph_of_unknown_words_only_is_zero_and_a_set_of_such_is_refused(molecules):
    model = Graph2Vec(passes=2, height=1, **SMALL).fit(molecules)
    foreign = GraphSet.from_arrays(
        pairs=torch.empty(2, 0, dtype=torch.long),
        graph_of_node=torch.tensor([0]),
        num_graphs=1,
        x=torch.eye(9)[8:],
    )
    with pytest.raises(InputError, match="node features"):
        model.transform(foreign)
    model = Graph2Vec(passes=2, height=0, **SMALL).fit(_with_label(molecules, 0))
    with pytest.raises(InputError, match="shares no rooted subgraph"):
        model.transform(_with_label(molecules, 1))
    mixed = _with_label(molecules, 0)
    mixed.x[: int(mixed.node_ptr[1])] = torch.eye(7)[1]
    z = model.transform(mixed)
    assert not z[0].any()
    assert z[1:].any(axis=1).all()


def _with_label(graphs, label):
    return replace(graphs, x=torch.eye(7)[label].repeat(graphs.num_nodes, 1))


# Sub2vec


def test_structural_sub2vec_tells_dense_graphs_from_sparse_ones():
    sizes = [12] * 20
    sparse = references.random_graphs(sizes, density=0.15, seed=0)
    dense = references.random_graphs(sizes, density=0.6, seed=1)
    graphs = [*sparse, *dense]
    model = Sub2Vec(variant="structural", walk_length=200, passes=20, window=2, **SMALL)
    assert accuracy(model.fit_transform(graphs), [0] * 20 + [1] * 20) > 0.9


def test_steps_say_the_node_or_the_bin_of_its_degree(molecules):
    ids = Sub2Vec()._word_of_node(molecules)
    assert ids.tolist() == list(range(molecules.num_nodes))
    path = GraphSet.from_arrays(
        pairs=torch.tensor([[0, 1, 2], [1, 2, 3]]),
        graph_of_node=torch.zeros(4, dtype=torch.long),
        num_graphs=1,
    )
    assert Sub2Vec(variant="structural")._word_of_node(path).tolist() == [4, 5, 5, 4]  # 1/4 and 2/4


def test_walks_stay_in_their_graph_and_authors_read_ten_thousand_steps(molecules):
    generator = torch.Generator().manual_seed(0)
    few = molecules.select(range(3))
    for recipe, length in (("default", 20_000), ("authors", 10_000)):
        walked = Sub2Vec(recipe=recipe, walk_length=20_000)._walks(few, generator)
        assert walked.shape == (3, length)
        assert (few.graph_of_node[walked] == torch.arange(3)[:, None]).all()


def test_sub2vec_embeds_only_the_graphs_of_its_fit(mutag, molecules):
    model = Sub2Vec(walk_length=30, passes=1, **SMALL).fit(molecules)
    with pytest.raises(InputError, match="MUTAG is not what this Sub2Vec was fitted on"):
        model.transform(mutag)
    with pytest.raises(InputError, match="unknown variant"):
        Sub2Vec(variant="structure").fit(molecules)
