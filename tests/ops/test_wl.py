from itertools import chain

import torch

import references
from augcl.ops.wl import rooted_subgraphs


def test_names_tell_apart_exactly_what_weisfeiler_and_lehman_tell_apart():
    graphs = references.random_graphs([1, 6, 9, 12, 12], density=0.3, seed=3)
    labels = torch.arange(graphs.num_nodes) % 2
    names = rooted_subgraphs(labels, graphs.edge_index, 3)
    slow = references.weisfeiler_lehman(labels.tolist(), graphs.edge_index.t().tolist(), 3)
    pairs = set(zip(names.flatten().tolist(), chain(*slow), strict=True))
    assert len(pairs) == len({name for name, _ in pairs}) == len({text for _, text in pairs})


def test_names_do_not_depend_on_the_order_of_nodes_or_on_other_graphs():
    graphs = references.random_graphs([7, 9], density=0.4, seed=1)
    labels = torch.arange(16) % 3
    whole = rooted_subgraphs(labels, graphs.edge_index, 2)
    second = graphs.select([1])
    assert torch.equal(rooted_subgraphs(labels[7:], second.edge_index, 2), whole[:, 7:])
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    moved = rooted_subgraphs(labels[7:][order], torch.argsort(order)[second.edge_index], 2)
    assert torch.equal(moved, whole[:, 7:][:, order])


def test_without_edges_only_labels_count():
    names = rooted_subgraphs(torch.tensor([0, 1, 0]), torch.empty(2, 0, dtype=torch.long), 2)
    assert names.shape == (3, 3)
    assert torch.equal(names[:, 0], names[:, 2])
    assert (names[:, 0] != names[:, 1]).all()
