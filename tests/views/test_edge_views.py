"""Views of graphs whose edges have features, against loops over the edges."""

from dataclasses import replace

import pytest
import torch

from augcl.data import GraphSet
from augcl.errors import InputError
from augcl.views import AttributeMask, EdgePerturb, Edit, Identity, NodeDrop, OneOf, Subgraph
from augcl.views.graphs import OwnView

VIEWS = [
    Identity(),
    NodeDrop(0.3),
    EdgePerturb(0.3),
    EdgePerturb(0.3, add=False),
    AttributeMask(0.4),
    AttributeMask(0.4, fill="noise"),
    Subgraph(0.5),
    Subgraph(0.5, growth="walk", self_loops=False),
    OneOf(NodeDrop(0.3), EdgePerturb(0.3), Subgraph(0.5), AttributeMask(0.4)),
]


def seeded():
    return torch.Generator().manual_seed(0)


@pytest.fixture(scope="module")
def numbered(molecules):
    """Molecules whose edge entries have their number, from 1 on, and its double as features."""
    numbers = torch.arange(1.0, molecules.num_edges + 1)[:, None]
    return replace(molecules, edge_attr=torch.cat([numbers, 2 * numbers], 1), edge_columns=None)


def slow(edit: Edit, graphs: GraphSet) -> list[tuple[int, int, list[float]]]:
    """The edges of the changed batch with their features, one after the other."""
    keep = [True] * graphs.num_nodes if edit.keep_node is None else edit.keep_node.tolist()
    new = [sum(keep[:node]) for node in range(graphs.num_nodes)]
    masked = [False] * graphs.num_nodes if edit.masked is None else edit.masked.tolist()
    found = []
    for e, (u, v) in enumerate(graphs.edge_index.t().tolist()):
        if keep[u] and keep[v] and (edit.keep_edge is None or edit.keep_edge[e]):
            row = graphs.edge_attr[e].tolist()
            found.append((new[u], new[v], [0.0, 0.0] if masked[u] or masked[v] else row))
    for u, v in [] if edit.added is None else edit.added.t().tolist():
        found.append((new[u], new[v], [0.0, 0.0]))
    return sorted(found, key=lambda edge: edge[0])


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: type(view).__name__)
def test_the_edges_of_a_view_have_the_features_of_a_loop(view, numbered):
    some = numbered.select(range(8))
    everywhere = torch.ones(len(some), dtype=torch.bool)
    edit = view.edit(some, everywhere, seeded())
    changed = edit.apply(some)
    ends = changed.edge_index.t().tolist()
    found = [(u, v, row) for (u, v), row in zip(ends, changed.edge_attr.tolist(), strict=True)]
    assert found == slow(edit, some)


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: type(view).__name__)
def test_edge_features_change_nothing_else(view, numbered):
    with_edges = view(numbered, seeded())
    without = view(replace(numbered, edge_attr=None), seeded())
    assert without.edge_attr is None
    for name in ("x", "edge_index", "node_ptr", "edge_ptr"):
        assert torch.equal(getattr(with_edges, name), getattr(without, name))


@pytest.mark.parametrize(
    "forget",
    [lambda g: replace(g, edge_attr=None), lambda g: replace(g, edge_attr=g.edge_attr[1:])],
)
def test_an_augmentation_of_the_user_must_keep_them(forget, numbered):
    view = OwnView(lambda graphs, _: forget(graphs))
    with pytest.raises(InputError, match="returned 0 edge features, expected 2: give every edge"):
        view(numbered, seeded())
    assert OwnView(lambda graphs, _: graphs)(numbered, seeded()) is numbered
