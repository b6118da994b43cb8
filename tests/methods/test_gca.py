import networkx as nx
import numpy as np
import pytest
import torch

from augcl import GCA, GRACE, InputError
from augcl.data import NodeGraph
from augcl.training.batches import NodeBatch
from augcl.views.nodes import CENTRALITIES, drop_probability, importance
from quick_nodes import losses

QUICK = {"epochs": 3, "width": 8, "projection": 8, "lr": 0.01, "tau": 0.5}


@pytest.mark.parametrize("centrality", CENTRALITIES)
def test_where_all_nodes_are_alike_it_is_grace_bit_for_bit(centrality):
    ring = nx.circulant_graph(30, [1, 3, 7])
    plain, adaptive = (
        method.fit(ring) for method in (GRACE(**QUICK), GCA(centrality=centrality, **QUICK))
    )
    assert losses(plain) == losses(adaptive)
    assert np.array_equal(plain.transform(ring), adaptive.transform(ring))


def test_every_centrality_trains_and_makes_a_difference(graph):
    # With restart: the walk without it is the degree, and drops the same edges here.
    found = [losses(GCA(centrality=c, recipe="paper", **QUICK).fit(graph)) for c in CENTRALITIES]
    found.append(losses(GRACE(**QUICK).fit(graph)))
    assert np.isfinite(found).all()
    assert len({tuple(history) for history in found}) == 4


@pytest.mark.parametrize("recipe", ["default", "authors", "paper"])
def test_both_views_have_probabilities_of_their_own(graph, recipe):
    rates = {"edge_drop": (0.1, 0.5), "feature_drop": (0.4, 0.0)}
    model = GCA(recipe=recipe, **rates, **{**QUICK, "epochs": 0}).fit(graph)
    (batch,) = model._batches(model.read(graph), torch.Generator())
    matter = importance(batch.views, "degree", edge_ends="both" if recipe == "paper" else "target")
    drop = model._two_views(batch).drop
    for view in range(2):
        for found, part, rate in zip(drop[view], matter, rates.values(), strict=True):
            assert found.equal(drop_probability(part, rate[view]))
    assert not drop[1][1].any()
    assert drop[0][0].mean() == pytest.approx(0.1, rel=0.05)


def test_an_empty_column_makes_the_released_code_mask_all_of_them_at_70_percent(graph):
    wide = NodeGraph(torch.cat([graph.x, torch.zeros(90, 1)], dim=1), graph.edge_index)
    options = {"feature_drop": (0.1, 0.1), **QUICK}
    default, authors = (GCA(recipe=r, **options).fit(wide) for r in ("default", "authors"))
    of_default, of_authors = (
        model._two_views(NodeBatch(model.read(wide))).drop[0][1] for model in (default, authors)
    )
    assert of_authors.tolist() == pytest.approx([0.7] * 25)
    assert of_default[:24].max() < 0.7
    assert losses(default) != losses(authors)


def test_an_unknown_centrality_is_told(graph):
    with pytest.raises(InputError, match="choose from degree, pagerank, eigenvector"):
        GCA(centrality="betweenness", **QUICK).fit(graph)


@pytest.mark.parametrize(
    ("given", "norm", "epochs"),
    [
        ({}, "batch", 50),
        ({"recipe": "paper"}, "none", 200),
        ({"recipe": "authors"}, "none", 200),
        ({"recipe": "paper", "preset": "default"}, "batch", 50),
        ({"preset": "published"}, "none", 200),
    ],
    ids=str,
)
def test_a_published_recipe_takes_published_settings(given, norm, epochs):
    settings = GCA(**given).settings()
    assert (settings["norm"], settings["epochs"]) == (norm, epochs)
