"""What `augcl reproduce` knows: each table and figure of the paper, and the map of headroom."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from augcl.experiments import ablation, graph_classification, headroom, node_classification
from augcl.experiments.attack_cells import VICTIMS
from augcl.experiments.fanout import Failure, Work, compute_missing
from augcl.experiments.selection import PROTOCOL
from augcl.experiments.sensitivity import TABLES
from augcl.experiments.table import Table
from augcl.report.attack_table import LAPTOP, attack_cells, attack_table
from augcl.report.comparison import comparison
from augcl.report.convergence import convergence
from augcl.report.findings import Findings
from augcl.report.headroom import headroom_cells, headroom_map
from augcl.report.request import Request
from augcl.report.sensitivity import sensitivity
from augcl.report.time_table import TIMED, TURNS, measure_times, time_table


@dataclass(frozen=True)
class Reproduction:
    """What is computed and shown, by default on a laptop and in full.

    `rows` are those compared, `known` all that may be asked for; `takes` are the options that mean
    something here. `level` is what is embedded, "graph" or "node", or "any".
    """

    title: str
    compute: Callable[[Request, int], list[Failure]]
    findings: Callable[[Request], Findings]
    rows: tuple[str, ...]
    known: tuple[str, ...]
    datasets: tuple[str, ...]
    all_datasets: tuple[str, ...]
    seeds: int
    all_seeds: int
    epochs: int | None = None
    candidates: int | None = None
    takes: tuple[str, ...] = ("datasets", "epochs")
    level: str = "graph"


def compared(request: Request, table: Table, name: str | None = None) -> Findings:
    """The rows of a table beside the published numbers; `name` is that of the files."""
    notes = (PROTOCOL,) if request.select else ()
    return comparison(name or table.name, request.results(table), table, notes=notes)


def _compute(cells: Sequence[Work], request: Request, jobs: int) -> list[Failure]:
    return compute_missing(cells, request.out, data_dir=request.data_dir, jobs=jobs)


def _of_table(
    title: str,
    table: Table,
    datasets: tuple[str, ...],
    all_datasets: tuple[str, ...],
    findings: Callable[[Request, Table], Findings] = compared,
    rows: tuple[str, ...] = (),
    seeds: int = 3,
    all_seeds: int = 5,
    epochs: int | None = None,
    candidates: int | None = None,
) -> Reproduction:
    takes: tuple[str, ...] = ("datasets", "epochs")
    takes += ("select",) if findings is compared else ()
    takes += ("candidates",) if table.level == "node" else ()
    return Reproduction(
        title,
        lambda request, jobs: _compute(request.cells(table), request, jobs),
        lambda request: findings(request, table),
        rows or table.compared,
        tuple(table.rows),
        datasets,
        all_datasets,
        seeds,
        all_seeds,
        epochs,
        candidates,
        takes,
        table.level,
    )


GRAPHS = graph_classification.TABLE
SMALL = ("MUTAG", "PROTEINS", "IMDB-BINARY")

REPRODUCTIONS = {
    "graph-classification": _of_table(
        "the paper's table of graph classification",
        GRAPHS,
        SMALL,
        graph_classification.DATASETS,
        rows=graph_classification.PAPER,
        seeds=5,
    ),
    "node-classification": _of_table(
        "the paper's table of node classification",
        node_classification.TABLE,
        ("Amazon-Photo",),
        node_classification.DATASETS,
        rows=node_classification.PAPER,
        seeds=2,
        epochs=200,
        candidates=512,
    ),
    "ablation": _of_table(
        "AUGCL with its parts exchanged: partition and estimator",
        ablation.TABLE,
        SMALL[:2],
        graph_classification.DATASETS,
    ),
    "alpha": _of_table(
        "accuracy over α, which scales all weights",
        TABLES["alpha"],
        SMALL[1:],
        SMALL[1:],
        sensitivity,
    ),
    "reward": _of_table(
        "accuracy over the reward o",
        TABLES["reward"],
        SMALL[1:],
        SMALL[1:],
        sensitivity,
    ),
    "time": Reproduction(
        "training time relative to GraphCL",
        lambda request, jobs: measure_times(request, GRAPHS),
        lambda request: time_table(request, GRAPHS),
        TIMED,
        tuple(GRAPHS.rows),
        SMALL[1:],
        SMALL[1:],
        seeds=TURNS,
        all_seeds=TURNS,
    ),
    "convergence": _of_table(
        "the loss over the epochs",
        GRAPHS,
        SMALL[1:],
        SMALL[1:],
        convergence,
        rows=TIMED,
        seeds=1,
    ),
    "attacks": Reproduction(
        "the paper's table of attacks on structure2vec",
        lambda request, jobs: _compute(attack_cells(request), request, jobs),
        attack_table,
        tuple(VICTIMS),
        tuple(VICTIMS),
        ("components",),
        ("components",),
        seeds=1,
        all_seeds=1,
        epochs=LAPTOP["epochs"],
        takes=("epochs",),
    ),
    "headroom": Reproduction(
        "where a weighting of negatives could help at all: oracle − base in many settings",
        lambda request, jobs: _compute(headroom_cells(request), request, jobs),
        headroom_map,
        (),
        ("DCL", "HCL", "ProGCL", "AUGCL", "AUGCL-full", "ProGCL-mix"),
        ("MUTAG",),
        headroom.GRAPHS + headroom.NODES,
        seeds=5,
        all_seeds=5,
        takes=("datasets",),
        level="any",
    ),
}
