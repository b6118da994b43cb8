"""`augcl compare`: does a weighting of negatives help on your data?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from augcl.cli.options import Candidates, Cells, DataDir, Features, Json, Select
from augcl.cli.reproduce import show
from augcl.errors import InputError, one_of


def compare(
    dataset: Annotated[
        str, typer.Argument(help="A name or a path, as for augcl train; with labels.")
    ] = "MUTAG",
    method: Annotated[
        str | None, typer.Option(help="The base: GraphCL for graphs; GCA or GRACE for nodes.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Seeds 0, 1, … of each row; 5 for graphs, 3 nodes.")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="All rows; 40 for graphs, by the preset for nodes.")
    ] = None,
    features: Features = "auto",
    candidates: Candidates = None,
    select: Select = None,
    jobs: Cells = None,
    data_dir: DataDir = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the finished cells and tables; comparison.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare the ways to weigh negatives on a data set of yours.

    One table: the untrained encoder (floor), the base method, the base with each hardness, and an
    oracle that knows the labels (ceiling: what any weighting could gain); then what the evidence
    supports. A comparison that was stopped goes on when it is started again.

        augcl compare my.zip

        augcl compare my_graph --method GRACE --select inner
    """
    from augcl.data.catalogue import known_name
    from augcl.data.loading import level_of
    from augcl.paper.cells import compute_missing
    from augcl.paper.reproductions import compared
    from augcl.paper.rows import GRAPHS, NODES, NODES_GRACE
    from augcl.paper.study import Study
    from augcl.runs.run import check

    if select is not None:
        one_of(select, ("inner",), "way to select")
    dataset = known_name(dataset) or dataset
    level = level_of(dataset, data_dir=data_dir)
    graphs = level == "graph"
    every = (GRAPHS, NODES, NODES_GRACE)
    tables = {table.base: table for table in every if table.level == level}
    if method is not None:
        _check_method(method, tables, level)
    table = tables[method or next(iter(tables))]
    seeds = seeds or (5 if graphs else 3)
    study = Study(
        out=out or Path("comparison"),
        datasets=(dataset,),
        rows=table.compared,
        seeds=seeds,
        epochs=epochs,
        features=features,
        candidates=candidates,
        select=select is not None,
        data_dir=data_dir,
    )
    spec = table.spec(dataset, table.base, study.setting(table))
    data = spec.load(data_dir)
    if data.y is None:
        raise InputError(f"{dataset} has no labels: a comparison needs them to judge by")
    check(spec, data)
    enough = 2 if graphs else 3
    if seeds < enough:
        typer.echo(
            f"augcl: warning: {seeds} seed{'s' * (seeds > 1)} a row cannot tell a "
            f"difference from chance: --seeds {enough} or more gives a verdict",
            err=True,
        )
    failures = compute_missing(
        study.cells(table), study.out, data_dir=data_dir, jobs=jobs or os.cpu_count() or 1
    )
    show(compared(study, table, "comparison"), study.out, failures, as_json=as_json)


def _check_method(method: str, known: Iterable[str], level: str) -> None:
    """Raise `InputError` that says why a method is no base of a comparison."""
    from augcl.runs.models import METHODS

    if method not in METHODS or method in known:
        one_of(method, known, "method")
        return
    kind = METHODS[method]
    reason = "is none that augcl compare knows"
    if kind.level != level:
        reason = f"embeds {kind.level}s, these data are for embeddings of {level}s"
    elif "hardness" not in kind().get_params(deep=False):
        reason = "has no negatives to weigh"
    raise InputError(f"{method} {reason}: choose from {', '.join(known)}")
