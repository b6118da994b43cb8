"""All reproductions of `augcl reproduce`: each table and figure of the paper, and more.

`REPRODUCTIONS` at the end maps the names on the command line to what they compute and show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from augcl.paper import figure_one, hardness, headroom, improvement
from augcl.paper.attacks import LAPTOP, VICTIMS, attack_cells, attack_table
from augcl.paper.cells import CellLike, Failure, compute_missing
from augcl.paper.comparison import comparison
from augcl.paper.convergence import ROWS as CURVES
from augcl.paper.convergence import convergence, convergence_cells
from augcl.paper.grid import Outcome
from augcl.paper.hardness import hardness_cells, hardness_study
from augcl.paper.headroom import headroom_cells, headroom_map
from augcl.paper.improvement import improvement_cells, improvement_table
from augcl.paper.readings import reading_rows, readings
from augcl.paper.rows import (
    ABLATION,
    ALPHA,
    GRAPH_DATASETS,
    GRAPH_PAPER,
    GRAPHS,
    NODE_DATASETS,
    NODE_PAPER,
    NODES,
    REWARD,
)
from augcl.paper.sensitivity import sensitivity
from augcl.paper.study import PROTOCOL, Study
from augcl.paper.table import Table, unpublished
from augcl.paper.theorem import theorem, theorem_cells
from augcl.paper.training_time import TIMED, TURNS, measure_times, time_table
from augcl.runs.run import SECOND_PROTOCOL
from augcl.runs.workers import Workers


@dataclass(frozen=True)
class Reproduction:
    """What a reproduction computes and shows: a default size for a laptop, and the full size.

    `rows` are compared by default, `known` are all rows that can be requested; `takes` are the
    options that apply. `level` is what is embedded: "graph", "node" or "any"; `title` is the
    heading of the page.
    """

    compute: Callable[[Study, Workers], list[Failure]]
    outcome: Callable[[Study], Outcome]
    title: str
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


def compared(study: Study, table: Table, name: str | None = None) -> Outcome:
    """Return the rows of a table beside the published numbers; `name` is the name of the files."""
    notes = (PROTOCOL,) if study.select else ()
    found = comparison(study.named(name or table.name), study.results(table), table, notes=notes)
    found = replace(found, rows=study.measured(table))
    if table.level == "graph":
        return found
    second = judged_again(study, table, found.name)
    return replace(
        found,
        grids=[*found.grids, *second.grids],
        data={**found.data, SECOND_PROTOCOL: second.data},
    )


def judged_again(study: Study, table: Table, name: str) -> Outcome:
    """Return the same trainings by the second protocol, for which nothing is published."""
    results = replace(study, protocol=SECOND_PROTOCOL).results(table)
    results = {dataset: rows for dataset, rows in results.items() if rows}
    found = comparison(name, results, replace(table, published=unpublished))
    titled = [replace(grid, title=f"{grid.title}, {SECOND_PROTOCOL}") for grid in found.grids]
    return replace(found, grids=titled)


def _compute(cells: Sequence[CellLike], study: Study, workers: Workers) -> list[Failure]:
    return compute_missing(cells, study.out, data_dir=study.data_dir, jobs=workers)


def _of_table(
    title: str,
    table: Table,
    datasets: tuple[str, ...],
    all_datasets: tuple[str, ...],
    outcome: Callable[[Study, Table], Outcome] = compared,
    rows: tuple[str, ...] = (),
    seeds: int = 3,
    epochs: int | None = None,
    candidates: int | None = None,
) -> Reproduction:
    takes: tuple[str, ...] = ("datasets", "epochs", "recipe")
    takes += ("select",) if outcome is compared else ()
    takes += ("candidates",) if table.level == "node" else ()
    return Reproduction(
        compute=lambda study, workers: _compute(study.cells(table), study, workers),
        outcome=lambda study: outcome(study, table),
        title=title,
        rows=rows or table.compared,
        known=tuple(table.rows),
        datasets=datasets,
        all_datasets=all_datasets,
        seeds=seeds,
        all_seeds=5,
        epochs=epochs,
        candidates=candidates,
        takes=takes,
        level=table.level,
    )


def _readings(
    title: str, table: Table, datasets: tuple[str, ...], all_datasets: tuple[str, ...]
) -> Reproduction:
    nodes = table.level == "node"
    own = ("candidates",) if nodes else ()
    whole = _of_table(title, table, datasets, all_datasets, readings, reading_rows(table))
    return replace(
        whole,
        known=reading_rows(table),
        takes=("datasets", "epochs", *own),
        epochs=200 if nodes else None,
        candidates=512 if nodes else None,
        seeds=3,
    )


SMALL = ("MUTAG", "PROTEINS", "IMDB-BINARY")

REPRODUCTIONS = {
    "graph-classification": _of_table(
        "Graph classification: every method on the same folds",
        GRAPHS,
        SMALL,
        GRAPH_DATASETS,
        rows=GRAPH_PAPER,
        seeds=5,
    ),
    "node-classification": _of_table(
        "Node classification: every method on the same splits",
        NODES,
        ("Amazon-Photo",),
        NODE_DATASETS,
        rows=NODE_PAPER,
        seeds=2,
        epochs=200,
        candidates=512,
    ),
    "improvement": Reproduction(
        title="What AUGCL gains over its base",
        compute=lambda study, workers: _compute(improvement_cells(study), study, workers),
        outcome=improvement_table,
        rows=improvement.ROWS,
        known=improvement.KNOWN,
        datasets=(*SMALL, "Amazon-Photo"),
        all_datasets=improvement.DATASETS,
        seeds=3,
        all_seeds=5,
        candidates=512,
        takes=("datasets", "epochs", "candidates"),
        level="any",
    ),
    "readings": _readings(
        "Readings of AUGCL's text on graphs, each against its base", GRAPHS, SMALL, GRAPH_DATASETS
    ),
    "node-readings": _readings(
        "Readings of AUGCL's text on nodes, each against its base",
        NODES,
        ("digits-knn",),
        ("digits-knn", "Cora", "Amazon-Photo"),
    ),
    "ablation": _of_table(
        "Ablation: partition and uncertainty model", ABLATION, SMALL[:2], GRAPH_DATASETS
    ),
    "alpha": _of_table("Sensitivity to α", ALPHA, SMALL[1:], SMALL[1:], sensitivity),
    "reward": _of_table("Sensitivity to the reward", REWARD, SMALL[1:], SMALL[1:], sensitivity),
    "time": Reproduction(
        title="Processor seconds of a training",
        compute=lambda study, workers: measure_times(study, GRAPHS),
        outcome=lambda study: time_table(study, GRAPHS),
        rows=TIMED,
        known=tuple(GRAPHS.rows),
        datasets=SMALL[1:],
        all_datasets=SMALL[1:],
        seeds=TURNS,
        all_seeds=TURNS,
        takes=("datasets", "epochs", "recipe"),
    ),
    "convergence": Reproduction(
        title="Convergence: the loss by epoch",
        compute=lambda study, workers: _compute(convergence_cells(study, GRAPHS), study, workers),
        outcome=lambda study: convergence(study, GRAPHS),
        rows=CURVES,
        known=tuple(GRAPHS.rows),
        datasets=SMALL[1:],
        all_datasets=SMALL[1:],
        seeds=1,
        all_seeds=5,
    ),
    "figure-1": Reproduction(
        title="Figure 1: the weights of a toy",
        compute=lambda study, workers: _compute(figure_one.toy_cells(study), study, workers),
        outcome=figure_one.figure_one,
        rows=figure_one.ROWS,
        known=figure_one.ROWS,
        datasets=(),
        all_datasets=(),
        seeds=figure_one.DRAWS,
        all_seeds=figure_one.DRAWS,
        takes=(),
        level="any",
    ),
    "theorem": Reproduction(
        title="Theorem 1: the weighted loss as a triplet loss",
        compute=lambda study, workers: _compute(theorem_cells(study), study, workers),
        outcome=theorem,
        rows=figure_one.ROWS,
        known=figure_one.ROWS,
        datasets=(),
        all_datasets=(),
        seeds=1,
        all_seeds=1,
        takes=(),
        level="any",
    ),
    "attacks": Reproduction(
        title="Attacks on structure2vec",
        compute=lambda study, workers: _compute(attack_cells(study), study, workers),
        outcome=attack_table,
        rows=tuple(VICTIMS),
        known=tuple(VICTIMS),
        datasets=("components",),
        all_datasets=("components",),
        seeds=1,
        all_seeds=1,
        epochs=LAPTOP["epochs"],
        takes=("epochs", "recipe", "depth", "updates"),
    ),
    "hardness": Reproduction(
        title="Every hardness on a strong base",
        compute=lambda study, workers: _compute(hardness_cells(study), study, workers),
        outcome=hardness_study,
        rows=hardness.TABLE.compared,
        known=hardness.TABLE.compared,
        datasets=hardness.DATASETS[:2],
        all_datasets=hardness.DATASETS,
        seeds=5,
        all_seeds=5,
        level="node",
    ),
    "headroom": Reproduction(
        title="Where a weighting of negatives could help",
        compute=lambda study, workers: _compute(headroom_cells(study), study, workers),
        outcome=headroom_map,
        rows=(),
        known=("DCL", "HCL", "ProGCL", "AUGCL", "AUGCL-full", "ProGCL-mix"),
        datasets=("MUTAG",),
        all_datasets=headroom.DATASETS,
        seeds=5,
        all_seeds=5,
        takes=("datasets",),
        level="any",
    ),
}
