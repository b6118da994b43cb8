"""How the defaults of GRACE and GCA were chosen: one setting at a time, on graphs of no table.

    python -m benchmarks.defaults

prints accuracy (linear-10-10-80, four splits) and seconds of each setting on each graph.
"""

import time
from collections.abc import Callable
from typing import Any

import augcl
from augcl.data.generators import digits_knn, planted
from augcl.data.node_graph import NodeGraph

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
}


def main() -> None:
    print("set", *GRAPHS, sep=" | ")
    for name, changes in OTHERS.items():
        cells = []
        for graph in (make() for make in GRAPHS.values()):
            started = time.perf_counter()
            model = augcl.GCA(**{**CENTRE, **changes}, progress=False).fit(graph)
            seconds = time.perf_counter() - started
            score = augcl.evaluate(model.transform(graph), graph, repeats=4, progress=False)
            cells.append(f"{100 * score.mean:.1f} ({seconds:.0f} s)")
        print(name, *cells, sep=" | ", flush=True)


if __name__ == "__main__":
    main()
