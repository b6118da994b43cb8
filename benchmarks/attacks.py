"""Attack all graphs of the test set at once, against one graph after the other."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
from torch_geometric.utils import to_networkx

from augcl.attacks import RLS2V, GradArgmax, RandSampling
from augcl.attacks.classifier import Structure2VecClassifier
from augcl.data import GraphSet
from augcl.data.generators import component_sets
from benchmarks.measure import Row, faster, in_turns
from benchmarks.textbook import attacks as textbook

OFTEN = 10
"""Our calls in one measurement: on a busy machine, short and long work are slowed unequally."""


def attacks(full: bool) -> list[Row]:
    """Attack 1,500 graphs of 15 to 20 nodes; the victim has depth 2 and is trained briefly."""
    train, test = component_sets("15-20", per_class=5000)
    victim = Structure2VecClassifier(epochs=20, progress=False)
    victim.fit(train.select(range(0, len(train), 10)))
    single = [to_networkx(graph, to_undirected=True) for graph in test]
    rng = np.random.default_rng(0)
    repeats = 7 if full else 3

    def random_one_by_one() -> list[nx.Graph]:
        return [textbook.random_edge(graph, rng) for graph in single]

    def random_at_once() -> GraphSet:
        return RandSampling().perturb(victim, test)

    def gradient_one_by_one() -> list[nx.Graph]:
        assert test.y is not None
        pairs = zip(single, test.y.tolist(), strict=True)
        return [textbook.gradient_edge(victim.network_, g, y, 3) for g, y in pairs]

    def gradient_at_once() -> GraphSet:
        return GradArgmax().perturb(victim, test)

    changed = gradient_at_once().edge_ptr.diff().numpy() // 2
    theirs = np.array([graph.number_of_edges() for graph in gradient_one_by_one()])
    agree = float(np.mean(changed == theirs))
    random_at_once()  # the first call is slower
    rows = []
    slow, fast = in_turns(random_one_by_one, _often(random_at_once), repeats=repeats)
    rows.append(faster("RandSampling on 1,500 graphs", slow, fast / OFTEN, 20))
    slow, fast = in_turns(gradient_one_by_one, _often(gradient_at_once), repeats=repeats)
    note = f"same verdict on {100 * agree:.1f} %"
    fast, same = fast / OFTEN, agree > 0.99
    rows.append(faster("GradArgmax on 1,500 graphs", slow, fast, 20, same=same, note=note))
    rows.append(_learning(victim, train.select(range(0, len(train), 30))))
    return rows


def _learning(victim: Structure2VecClassifier, graphs: GraphSet) -> Row:
    """Time updates of RL-S2V: 50 games at once, against 50 updates of one game each."""
    at_once = _seconds_an_update(victim, graphs, games=50, updates=40)
    one_by_one = 50 * _seconds_an_update(victim, graphs, games=1, updates=200)
    rates = [f"{1 / seconds:.2g} updates/s" for seconds in (one_by_one, at_once)]
    return Row("RL-S2V, 50 games an update", *rates, ratio=f"{one_by_one / at_once:.1f}×")


def _seconds_an_update(
    victim: Structure2VecClassifier, graphs: GraphSet, *, games: int, updates: int
) -> float:
    """Time an update by the difference of two trainings, which removes set-up and evaluation."""

    def learn(count: int) -> None:
        RLS2V(updates=count, batch_size=games, burn_in=5, progress=False).fit(victim, graphs)

    few, many = in_turns(lambda: learn(updates // 4), lambda: learn(updates), repeats=3)
    return (many - few) / (updates - updates // 4)


def _often(work: Callable[[], object]) -> Callable[[], None]:
    def several_times() -> None:
        for _ in range(OFTEN):
            work()

    return several_times
