"""Deep graph kernels: P M Pᵀ with counts that are right and similarities that are learned."""

import networkx as nx
import numpy as np
import pytest
import torch

from augcl import DeepGraphKernel, InputError, WLKernel
from augcl.data import as_graphset
from augcl.rivals.deep_graph_kernel import path_sentences, shortest_paths
from grakel_kernels import grakel_graphs, same, shortest_path

QUICK = {"dimension": 16, "passes": 2, "n_samples": 10, "size": 4}
KINDS = ["wl", "shortest-path", "graphlet"]


def test_shortest_paths_without_similarity_are_the_kernel_of_grakel(molecules):
    model = DeepGraphKernel(substructures="shortest-path", similarity="none")
    theirs = shortest_path().fit_transform(grakel_graphs(molecules))
    same(model.fit_transform(molecules), theirs)


def test_wl_labels_without_similarity_are_the_wl_kernel(molecules):
    model = DeepGraphKernel(substructures="wl", similarity="none", height=3)
    assert np.array_equal(
        model.fit_transform(molecules),
        WLKernel(height=3, edge_labels=False).fit_transform(molecules),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_kernel_is_counts_times_similarities_times_counts(molecules, kind):
    model = DeepGraphKernel(substructures=kind, normalize=False, **QUICK).fit(molecules)
    P, E = model.counts_.toarray(), model.vectors_.astype(float)
    np.testing.assert_allclose(model.transform(molecules), P @ (E @ E.T) @ P.T, rtol=1e-5)
    model.set_params(similarity="lengths")
    lengths = np.diag((E**2).sum(1))
    np.testing.assert_allclose(model.transform(molecules), P @ lengths @ P.T, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_normalised_graphs_are_1_similar_to_themselves(molecules, kind):
    for similarity in ("vectors", "lengths", "none"):
        model = DeepGraphKernel(substructures=kind, similarity=similarity, **QUICK)
        K = model.fit_transform(molecules)
        np.testing.assert_allclose(np.diag(K), 1, rtol=1e-6)
        assert np.linalg.eigvalsh(K.astype(float)).min() > -1e-5


def test_what_occurs_together_becomes_similar():
    """Even cycles carry labels 0 and 1, the others 2 and 3: labels of one graph are alike."""
    graphs = []
    for number in range(40):
        graph = nx.cycle_graph(12)
        low = 2 * (number % 2)
        nx.set_node_attributes(graph, {v: 1 + low + v % 2 for v in graph}, "label")
        graphs.append(graph)
    model = DeepGraphKernel(height=0, dimension=8, passes=30).fit(as_graphset(graphs))
    assert len(model.vocabulary_) == 4
    first, second = (model.counts_[[i]].toarray()[0] > 0 for i in (0, 1))
    unit = model.vectors_ / np.linalg.norm(model.vectors_, axis=1, keepdims=True)
    cosine = unit @ unit.T
    within = min(cosine[first][:, first].min(), cosine[second][:, second].min())
    assert within > cosine[first][:, second].max() + 0.3


def test_the_authors_recipe_learns_nothing_and_scales_nothing(molecules):
    model = DeepGraphKernel(recipe="authors").fit(molecules)
    assert model.vectors_.shape[1] == 0
    settings = model.settings()
    assert (settings["substructures"], settings["similarity"]) == ("shortest-path", "none")
    assert model.transform(molecules).max() > 100


def test_substructures_never_seen_in_training_have_no_vector(molecules):
    model = DeepGraphKernel(height=1, **QUICK).fit(molecules)
    star = as_graphset([nx.star_graph(9)])
    x = torch.zeros(10, molecules.num_features)
    x[:, 0] = 1
    rows = model.transform([torch_data(star, x)])
    assert rows.shape == (1, 40)
    assert np.isfinite(rows).all()


def torch_data(graphs, x):
    data = graphs[0]
    data.x = x
    return data


def test_paths_are_counted_by_the_labels_of_their_ends():
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: 1, 1: 2, 2: 1}, "label")
    found = shortest_paths(as_graphset([graph]))
    # From end to middle and back, twice each; from end to end, both ways.
    assert sorted(found.count.tolist()) == [2, 2, 2]
    assert len(set(found.key.tolist())) == 3


def test_a_sentence_is_a_path_with_its_beginnings():
    graphs = as_graphset([nx.path_graph(6), nx.empty_graph(2)])
    known = set(shortest_paths(graphs).key.tolist())
    sentences = path_sentences(graphs, 50, np.random.default_rng(0))
    assert {len(s) for s in sentences} == {1, 2, 3, 4, 5}
    longest = next(s for s in sentences if len(s) == 5)
    assert all(np.array_equal(s, longest[: len(s)]) for s in sentences)
    assert set(longest.tolist()) == known


def test_graphs_without_any_path_are_similar_to_nothing():
    graphs = [nx.empty_graph(2), nx.path_graph(3)]
    for similarity in ("none", "vectors"):
        model = DeepGraphKernel(substructures="shortest-path", similarity=similarity, **QUICK)
        np.testing.assert_allclose(model.fit_transform(graphs), np.diag([0, 1]), atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"substructures": "wls"}, "unknown substructures 'wls': did you mean wl"),
        ({"similarity": "cosine"}, "unknown similarity"),
        ({"recipe": "none"}, "unknown recipe"),
        ({"dimension": 0}, "dimension is 0"),
        ({"size": 12}, "at most 9"),
    ],
)
def test_settings_that_make_no_sense_are_refused(molecules, options, message):
    with pytest.raises(InputError, match=message):
        DeepGraphKernel(**options).fit(molecules)
