"""Node dropping for victims: what is meant, and the star that the released code computes."""

import numpy as np
import pytest
import torch

from augcl.attacks.classifier import VictimDrop
from augcl.data import components
from augcl.errors import InputError

GRAPHS = components(20, seed=4)


def draw(form, seed=0):
    return VictimDrop(form=form)(GRAPHS, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("form", ["self-loops", "star", "plain"])
def test_a_fifth_of_the_nodes_is_dropped(form):
    nodes = GRAPHS.node_ptr.diff()
    assert torch.equal(draw(form).node_ptr.diff(), nodes - nodes // 5)


def test_the_intended_view_is_the_plain_one_and_a_loop_at_every_node():
    plain, intended = draw("plain"), draw("self-loops")
    entries = {tuple(e) for e in plain.edge_index.t().tolist()}
    entries |= {(v, v) for v in range(plain.num_nodes)}
    assert sorted(entries) == sorted(map(tuple, intended.edge_index.t().tolist()))
    assert len(entries) == intended.num_edges


def test_every_edge_of_the_authors_view_touches_node_0():
    view = draw("star")
    zero = view.node_ptr[view.graph_of_node]
    source, target = view.edge_index
    assert ((source == zero[source]) | (target == zero[source])).all()
    assert torch.equal(view.graph_of_node[source], view.graph_of_node[target])


def test_the_authors_view_has_as_many_edges_as_the_original():
    assert torch.equal(draw("star").edge_ptr.diff(), GRAPHS.edge_ptr.diff())


def test_the_authors_view_is_what_64_bit_numbers_are_when_read_as_32_bit_ones():
    plain, view = draw("plain"), draw("star")
    for g in range(len(GRAPHS)):
        one, star = plain.select([g]), view.select([g])
        matrix = np.eye(one.num_nodes, dtype=int)
        matrix[tuple(one.edge_index.numpy())] = 1
        stored = np.stack(np.triu(matrix).nonzero(), 1).astype("<i8")
        count = int(GRAPHS.edge_ptr[g + 1] - GRAPHS.edge_ptr[g]) // 2
        read = stored.reshape(-1).view("<i4").reshape(-1, 2)[:count]
        expected = sorted([(a, b) for a, b in read.tolist()] + [(b, a) for a, b in read.tolist()])
        assert expected == sorted(map(tuple, star.edge_index.t().tolist()))


def test_an_unknown_form_is_refused():
    with pytest.raises(InputError, match="form of the view"):
        draw("meant")
