import torch
from hypothesis import given
from hypothesis import strategies as st

from augcl.data import NodeGraph
from augcl.data.sparse import compact
from augcl.views.nodes import NodeViews, draw


def random_graph(nodes, seed, *, width=3):
    generator = torch.Generator().manual_seed(seed)
    return NodeGraph.from_arrays(
        pairs=torch.randint(nodes, (2, 2 * nodes), generator=generator),
        num_nodes=nodes,
        x=torch.rand(nodes, width, generator=generator),
    )


@given(st.integers(2, 12), st.integers(0, 1000), st.floats(0, 1))
def test_a_view_has_the_edges_that_were_kept(nodes, seed, rate):
    graph = random_graph(nodes, seed)
    kept = draw(torch.full((graph.edge_index.shape[1],), rate), torch.Generator().manual_seed(seed))
    view = NodeViews(graph).view(edges=kept)
    assert torch.equal(view.edge_index, graph.edge_index[:, kept])
    matrix = torch.zeros(nodes, nodes)  # row v: where its messages come from
    matrix[view.edge_index[1], view.edge_index[0]] = 1
    assert torch.equal(view.edges.incoming.times(torch.eye(nodes)), matrix)
    assert torch.equal(view.edges.outgoing.times(torch.eye(nodes)), matrix.t())


def test_the_clean_view_has_everything():
    graph = random_graph(9, 0)
    clean = NodeViews(graph).clean
    assert torch.equal(clean.edge_index, graph.edge_index)
    assert torch.equal(clean.x(), graph.x)


def test_masked_columns_are_zero_for_all_nodes_dense_or_sparse():
    x = torch.zeros(6, 150)
    x[torch.arange(6), torch.arange(6) * 20] = 2.0
    columns = torch.arange(150) % 40 != 0
    weight = torch.arange(300.0).reshape(150, 2)
    for features in (x, compact(x)):
        graph = NodeGraph(features, torch.empty(2, 0, dtype=torch.long))
        view = NodeViews(graph).view(columns=columns)
        assert torch.equal(view.x(), x * columns)
        assert torch.equal(view.times(weight), (x * columns) @ weight)
    assert compact(x).layout == torch.sparse_csr


def test_what_is_drawn_is_dropped_as_often_as_it_should():
    drop = torch.tensor([0.0, 0.25, 0.7, 1.0]).repeat_interleave(4000)
    kept = draw(drop, torch.Generator().manual_seed(0)).float().reshape(4, -1).mean(1)
    assert torch.allclose(kept, torch.tensor([1.0, 0.75, 0.3, 0.0]), atol=0.03)
