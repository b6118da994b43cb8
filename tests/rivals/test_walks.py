import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

import references
from augcl.ops.csr import Rows
from augcl.rivals import walks
from augcl.rivals.walks import random_walks

# a square with one diagonal, a tail, and a node for itself
EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4)]
ALONE = 5
PQ = [(1, 1), (0.25, 4), (4, 0.25), (0.5, 1), (1, 3), (1e-3, 1), (1, 1e-3), (1, 1e3), (50, 20)]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def rows(pairs, num_nodes):
    both = sorted({(u, v) for u, v in pairs} | {(v, u) for u, v in pairs})
    source, target = torch.tensor(both, dtype=torch.long).reshape(-1, 2).t()
    return Rows.from_pairs(source, target, num_nodes, ordered=True)


def steps(walked):
    return set(
        zip(walked[:, :-1].flatten().tolist(), walked[:, 1:].flatten().tolist(), strict=True)
    )


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)))
        )
    ),
    st.integers(1, 9),
    st.sampled_from(PQ),
)
def test_every_step_follows_an_edge_and_only_a_node_without_any_stays(graph, length, pq):
    n, pairs = graph
    pairs = [(u, v) for u, v in pairs if u != v]
    starts = torch.arange(n).repeat(3)
    walked = random_walks(rows(pairs, n), starts, length, generator(), p=pq[0], q=pq[1])
    assert walked.shape == (3 * n, length)
    assert torch.equal(walked[:, 0], starts)
    linked = {v for pair in pairs for v in pair}
    allowed = {*pairs, *((v, u) for u, v in pairs), *((v, v) for v in range(n) if v not in linked)}
    assert steps(walked) <= allowed


@pytest.mark.parametrize(
    ("rounds", "listed"), [(walks.ROUNDS, walks.LISTED), (0, walks.LISTED), (1, 700)]
)
@pytest.mark.parametrize("pq", PQ)
def test_the_third_node_has_the_distribution_of_node2vec(pq, rounds, listed, monkeypatch):
    monkeypatch.setattr(walks, "ROUNDS", rounds)
    monkeypatch.setattr(walks, "LISTED", listed)
    neighbours = references.neighbour_lists(EDGES)
    starts = torch.arange(6).repeat_interleave(6_000)
    walked = random_walks(rows(EDGES, 6), starts, 3, generator(), p=pq[0], q=pq[1])
    for before in range(5):
        for here in neighbours[before]:
            there = walked[(walked[:, 0] == before) & (walked[:, 1] == here), 2].numpy()
            chance = references.node2vec_step(neighbours, before, here, *pq)
            seen = np.bincount(there, minlength=6)[list(chance)]
            assert seen.sum() == len(there)
            likely = np.array(list(chance.values())) * len(there)
            enough = likely >= 5  # of what the test of frequencies can judge
            if enough.sum() > 1:
                part = seen[enough] * (likely[enough].sum() / max(seen[enough].sum(), 1))
                assert chisquare(part, likely[enough]).pvalue > 1e-5
            assert seen[~enough].sum() <= likely[~enough].sum() + 20
    assert (walked[starts == ALONE] == ALONE).all()


def test_a_long_walk_visits_nodes_as_often_as_they_have_edges():
    walked = random_walks(rows(EDGES, 6), torch.zeros(2_000, dtype=torch.long), 60, generator())
    share = torch.bincount(walked[:, 20:].flatten(), minlength=6) / walked[:, 20:].numel()
    assert torch.allclose(share, torch.tensor([3, 2, 3, 3, 1, 0]) / 12, atol=0.01)


@pytest.mark.parametrize("pq", [(1, 1), (0.5, 2)])
def test_the_same_seed_walks_the_same_way_and_another_one_another(pq):
    def walked(seed):
        starts = torch.arange(5).repeat(20)
        return random_walks(rows(EDGES, 6), starts, 12, generator(seed), p=pq[0], q=pq[1])

    assert torch.equal(walked(1), walked(1))
    assert not torch.equal(walked(1), walked(2))


def test_no_walkers_and_no_edges_are_no_trouble():
    bare = rows([], 3)
    assert random_walks(bare, torch.tensor([2, 0]), 3, generator(), p=2).tolist() == [
        [2] * 3,
        [0] * 3,
    ]
    none = torch.empty(0, dtype=torch.long)
    assert random_walks(rows(EDGES, 6), none, 4, generator(), q=2).shape == (0, 4)


WEIGHTS = {(0, 1): 5.0, (1, 2): 0.5, (2, 3): 1.0, (0, 3): 2.0, (0, 2): 0.0, (3, 4): 8.0}


def weighted_rows(num_nodes=6):
    both = sorted(
        [(u, v, w) for (u, v), w in WEIGHTS.items()] + [(v, u, w) for (u, v), w in WEIGHTS.items()]
    )
    source, target = torch.tensor([edge[:2] for edge in both]).t()
    values = torch.tensor([edge[2] for edge in both])
    return Rows.from_pairs(source, target, num_nodes, values=values, ordered=True)


def weighted_step(before, here, p, q):
    """Chances of the next node, by the definition; an edge of weight 0 is none."""
    weight = {pair: w for (u, v), w in WEIGHTS.items() if w for pair in ((u, v), (v, u))}
    wanted = {}
    for x in range(6):
        if (here, x) in weight:
            alpha = 1 / p if x == before else 1 if (before, x) in weight else 1 / q
            wanted[x] = weight[here, x] * alpha
    return {x: w / sum(wanted.values()) for x, w in wanted.items()}


def agrees(seen, chance):
    """Frequencies of the nodes in `chance` are as likely as they should be."""
    counts = np.bincount(seen.numpy(), minlength=6)
    assert counts[list(chance)].sum() == len(seen)
    likely = np.array(list(chance.values())) * len(seen)
    enough = likely >= 5
    found = counts[list(chance)]
    if enough.sum() > 1:
        part = found[enough] * (likely[enough].sum() / max(found[enough].sum(), 1))
        assert chisquare(part, likely[enough]).pvalue > 1e-5
    assert found[~enough].sum() <= likely[~enough].sum() + 20


@pytest.mark.parametrize("rounds", [walks.ROUNDS, 0, 1])
@pytest.mark.parametrize("pq", PQ)
def test_steps_of_first_and_second_order_go_by_weight(pq, rounds, monkeypatch):
    monkeypatch.setattr(walks, "ROUNDS", rounds)
    starts = torch.arange(6).repeat_interleave(6_000)
    walked = random_walks(weighted_rows(), starts, 3, generator(), p=pq[0], q=pq[1])
    for before in range(5):
        from_here = walked[walked[:, 0] == before]
        first = weighted_step(None, before, 1, 1)
        agrees(from_here[:, 1], first)
        for here in first:
            there = from_here[from_here[:, 1] == here, 2]
            agrees(there, weighted_step(before, here, *pq))
    assert (walked[starts == ALONE] == ALONE).all()


@pytest.mark.parametrize("pq", [(1, 1), (0.3, 3)])
def test_a_node_whose_edges_weigh_nothing_stays(pq):
    nothing = rows([(0, 1), (1, 2)], 3)._replace(values=torch.tensor([0.0, 0.0, 1.0, 1.0]))
    walked = random_walks(nothing, torch.arange(3), 5, generator(), p=pq[0], q=pq[1])
    assert walked[0].tolist() == [0] * 5
    assert set(walked[1:].flatten().tolist()) == {1, 2}
