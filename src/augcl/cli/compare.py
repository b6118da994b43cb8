"""`augcl compare`: does a weighting of negatives help on your data?"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from augcl.cli.options import (
    METHOD,
    OUTPUT,
    TRAINING,
    Candidates,
    DataDir,
    Features,
    Jobs,
    Json,
    Missing,
    Select,
    SkipBad,
    Smiles,
    Targets,
    Task,
    say,
)
from augcl.cli.reproduce import show
from augcl.cli.settings import read_settings
from augcl.errors import InputError, one_of


def compare(
    dataset: Annotated[
        str,
        typer.Argument(
            help="Name or path of a data set with labels, as for augcl train.",
        ),
    ] = "MUTAG",
    features: Features = "auto",
    target: Targets = None,
    task: Task = "auto",
    missing: Missing = "error",
    smiles: Smiles = None,
    skip_bad: SkipBad = False,
    data_dir: DataDir = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Base method: GraphCL for graphs, GCA or GRACE for nodes.",
            show_default="GraphCL or GCA",
            rich_help_panel=METHOD,
        ),
    ] = None,
    select: Select = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any other parameter of the base method, in all rows, for instance tau=0.1. "
            "Repeatable. augcl methods NAME lists the parameters.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of training epochs of each row, except the untrained one.",
            show_default="40 for graphs, by the preset for nodes",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of trainings of each row, with seeds 0, 1, 2 and so on.",
            show_default="5 for graphs, 3 for nodes",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    candidates: Candidates = None,
    jobs: Jobs = None,
    out: Annotated[
        Path,
        typer.Option(help="Folder for finished cells and tables.", rich_help_panel=OUTPUT),
    ] = Path("comparison"),
    as_json: Json = False,
) -> None:
    """Compare the ways to weigh negatives on your data.

    The table has the untrained encoder (lower bound), the base method, the base with each
    hardness, and an oracle that knows the labels (upper bound: what a weighting could gain). Below
    it stands what the evidence supports. Repeat the command to continue a stopped comparison.

    Examples:

        augcl compare my.zip

        augcl compare my_graph --method GRACE --select inner

        augcl compare my.zip --set tau=0.5
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
    table = tables[next(iter(tables)) if method is None else _base(method, tables, level)]
    seeds = seeds or (5 if graphs else 3)
    options, _ = read_settings(settings, table.base, None, {"candidates": candidates})
    reading: dict[str, Any] = {"target": target, "task": task, "missing": missing}
    reading |= {"smiles": smiles, "skip_bad": skip_bad}
    study = Study(
        out=out,
        datasets=(dataset,),
        rows=table.compared,
        seeds=seeds,
        epochs=epochs,
        features=features,
        options=options,
        select=select is not None,
        data_dir=data_dir,
        reading=reading,
    )
    spec = table.spec(dataset, table.base, study.setting(table))
    data = spec.load(data_dir)
    if data.y is None:
        raise InputError(f"{dataset} has no labels: a comparison needs them")
    if data.labels is None:
        raise InputError(
            f"the target of {dataset} is for {data.task}: a comparison of weightings needs "
            "classes, because they say which negatives are false; see --target and --task"
        )
    check(spec, data)
    enough = 2 if graphs else 3
    if seeds < enough:
        say(
            f"augcl: warning: {seeds} seed{'s' * (seeds > 1)} per row cannot separate a "
            f"difference from chance: --seeds {enough} or more gives a verdict",
            err=True,
        )
    failures = compute_missing(
        study.cells(table), study.out, data_dir=data_dir, jobs=jobs or os.cpu_count() or 1
    )
    show(compared(study, table, "comparison"), study.out, failures, as_json=as_json)


def _base(method: str, known: Iterable[str], level: str) -> str:
    """Return the name of a base method, or raise `InputError` that says why it is none."""
    from augcl.runs.models import METHODS, method_name

    name = method_name(method, level)
    if name in known:
        return name
    kind = METHODS[name]
    reason = "is not a base method of augcl compare"
    if kind.level != level:
        reason = f"embeds {kind.level}s, but this data set is for embeddings of {level}s"
    elif "hardness" not in kind().get_params(deep=False):
        reason = "has no negatives to weigh"
    raise InputError(f"{name} {reason}: choose from {', '.join(known)}")
