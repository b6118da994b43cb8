"""How the default for nodes was chosen, on graphs of no table.

    python -m benchmarks.defaults            settings of GCA, one at a time
    python -m benchmarks.defaults methods    GCA against other methods, alone and beside Propagation

prints accuracy (linear-10-10-80, four splits) and seconds of each row on each graph.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import augcl
from augcl.data.generators import digits_knn, planted
from augcl.data.node_graph import NodeGraph
from augcl.training.method import Method

GRAPHS: dict[str, Callable[[], NodeGraph]] = {
    "digits-knn": digits_knn,
    "words": lambda: planted(
        3000, classes=8, degree=8, homophily=0.75, features=800, noise=1.5, words=True, seed=1
    ),
    "words, dense": lambda: planted(
        4000, classes=8, degree=30, homophily=0.6, features=600, noise=3, words=True, seed=2
    ),
    "numbers": lambda: planted(
        3000, classes=6, degree=10, homophily=0.6, features=64, noise=4, seed=3
    ),
    "heterophilous": lambda: planted(
        3000, classes=5, degree=12, homophily=0.1, features=500, noise=1, words=True, seed=4
    ),
}

CENTRE: dict[str, Any] = {
    "norm": "batch",
    "activation": "prelu",
    "lr": 0.01,
    "tau": 0.4,
    "epochs": 50,
    "candidates": 512,
}
OTHERS: dict[str, dict[str, Any]] = {
    "centre": {},
    "published": {"norm": "none", "activation": "relu", "lr": 0.001},
    "layer norm": {"norm": "layer"},
    "lr 0.001": {"lr": 0.001},
    "τ 0.2": {"tau": 0.2},
    "τ 0.7": {"tau": 0.7},
    "width 256": {"width": 256, "projection": 256},
    "256 candidates": {"candidates": 256},
    "100 epochs": {"epochs": 100},
    "milder views": {"edge_drop": (0.1, 0.1), "feature_drop": (0.1, 0.1)},
    "stronger views": {"edge_drop": (0.5, 0.5), "feature_drop": (0.5, 0.5)},
    "200 epochs, patience 10": {"epochs": 200, "patience": 10},
}

Make = Callable[[], Method]
METHODS: dict[str, Make] = {
    "GCA": lambda: augcl.GCA(progress=False),
    "CCASSG": lambda: augcl.CCASSG(progress=False),
    "DGI": lambda: augcl.DGI(progress=False),
    "BGRL, 500 epochs": lambda: augcl.BGRL(epochs=500, progress=False),
}


def settings() -> dict[str, Make]:
    """Return GCA with each setting."""

    def gca(changes: dict[str, Any]) -> Make:
        return lambda: augcl.GCA(**{**CENTRE, **changes}, progress=False)

    return {name: gca(changes) for name, changes in OTHERS.items()}


def methods() -> dict[str, Make]:
    """Return each method with its default settings, alone and beside Propagation."""

    def beside(make: Make) -> Make:
        return lambda: augcl.Beside(make(), augcl.Propagation())

    both = {f"{name} beside Propagation": beside(make) for name, make in METHODS.items()}
    return {"Propagation": augcl.Propagation, **METHODS, **both}


def main() -> None:
    print("set", *GRAPHS, sep=" | ")
    graphs = [make() for make in GRAPHS.values()]
    for name, make in (methods() if sys.argv[1:] == ["methods"] else settings()).items():
        cells = []
        for graph in graphs:
            started = time.process_time()
            model = make().fit(graph)
            seconds = time.process_time() - started
            score = augcl.evaluate(model.transform(graph), graph, repeats=4, progress=False)
            cells.append(f"{100 * score.mean:.1f} ({seconds:.0f} s)")
        print(name, *cells, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
