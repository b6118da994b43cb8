"""`augcl reproduce`: the paper's tables and figures, measured here."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

from augcl.cli.options import Cells, DataDir, Json, Select
from augcl.errors import InputError, did_you_mean, need, one_of

if TYPE_CHECKING:
    from augcl.paper.cells import Failure
    from augcl.paper.grid import Findings


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="graph-classification, node-classification, improvement, attacks, ablation, "
            "alpha, reward, time, convergence, figure-1, theorem or headroom."
        ),
    ],
    datasets: Annotated[
        list[str] | None,
        typer.Option(help="Data sets, with commas between them or one option each."),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(help="Rows of the table, likewise; a wrong name lists them all."),
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Seeds 0, 1, … of each row.")] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Of all rows that have none of their own.")
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(min=2, help="Nodes: so many random negatives in a step; 512, --full: all."),
    ] = None,
    select: Select = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            help="Recipe of all rows that have none of their own: default, paper or authors; "
            "default."
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="The paper's data sets, seeds and epochs.")
    ] = False,
    jobs: Cells = None,
    data_dir: DataDir = None,
    out: Annotated[
        Path, typer.Option(help="Folder of the finished cells, tables and figures.")
    ] = Path("reproduction"),
    as_json: Json = False,
) -> None:
    """Measure a table or figure of the paper.

    Every cell (one training with one seed) is a small file below --out. A run that was stopped, or
    killed, goes on where it was; several may share the folder; tables share their cells. Without
    options it takes a laptop's share of the paper.

    Examples:

        augcl reproduce graph-classification --datasets MUTAG --seeds 5 --jobs 2

        augcl reproduce graph-classification --datasets MUTAG,PROTEINS --select inner

        augcl reproduce headroom --datasets MUTAG --methods AUGCL
    """
    need("matplotlib", "augcl reproduce")
    from augcl.paper.cells import early_helpers

    jobs = jobs or os.cpu_count() or 1
    with early_helpers(min(jobs, _cells_at_least(what, methods, seeds, out)) - 1):
        from augcl.paper.reproductions import REPRODUCTIONS
        from augcl.paper.request import Request

        about = REPRODUCTIONS[one_of(what, REPRODUCTIONS, "reproduction")]
        if select is not None:
            one_of(select, ("inner",), "way to select")
        rows = _split(methods, about.known.__contains__)
        for row in rows:
            one_of(row, about.known, "method")
        if recipe is not None:
            one_of(recipe, ("default", "paper", "authors"), "recipe")
        given = {
            "datasets": datasets,
            "epochs": epochs,
            "candidates": candidates,
            "select": select,
            "recipe": recipe,
        }
        for option, value in given.items():
            if value is not None and option not in about.takes:
                raise InputError(f"--{option} does not fit {what}, it means nothing there: drop it")
        chosen = _known(_split(datasets, lambda text: Path(text).exists()))
        for dataset in chosen:
            _check_kind(dataset, about.level, what)
        request = Request(
            out=out,
            datasets=chosen or (about.all_datasets if full else about.datasets),
            rows=rows or about.rows,
            seeds=seeds or (about.all_seeds if full else about.seeds),
            epochs=epochs or (None if full else about.epochs),
            candidates=candidates or (None if full else about.candidates),
            recipe=recipe or "default",
            select=select is not None,
            data_dir=data_dir,
        )
        failures = about.compute(request, jobs)
        show(about.findings(request), out, failures, as_json=as_json)


def show(findings: Findings, out: Path, failures: list[Failure], *, as_json: bool) -> None:
    """Write and print the findings, then what failed; the exit code tells of failures."""
    if failures and findings.empty:  # an earlier table is worth more than one without a line
        _tell(failures)
    findings = findings.explained()
    paths = findings.write(out)
    if as_json:
        typer.echo((out / f"{findings.name}.json").read_text(encoding="utf-8"), nl=False)
    else:
        console = Console()
        for grid in findings.grids:
            console.print(grid.terminal())
        for sentence in findings.sentences:
            console.print(sentence, markup=False, highlight=False)
        typer.echo(f"Written: {', '.join(str(path) for path in paths)}")
    if failures:
        _tell(failures)


def _tell(failures: list[Failure]) -> NoReturn:
    """One line for each reason, and the exit code."""
    reasons: dict[str, list[Failure]] = {}
    for failure in failures:
        reasons.setdefault(failure.reason, []).append(failure)
    typer.echo(f"augcl: {len(failures)} cell{'s' * (len(failures) > 1)} failed:", err=True)
    for reason, alike in reasons.items():
        name = alike[0].cell.name
        who = name if len(alike) == 1 else f"{len(alike)} cells (such as {name})"
        typer.echo(f"  {who}: {reason}", err=True)
    mistake = all(reason.startswith("InputError") for reason in reasons)
    raise typer.Exit(2 if mistake else 1)


def _cells_at_least(what: str, methods: list[str] | None, seeds: int | None, out: Path) -> int:
    """How many will surely be computed: known before anything is imported that takes seconds."""
    if what == "time" or (out / "cells").exists():  # measured one by one; maybe all done
        return 0
    rows = sum(len(text.split(",")) for text in methods) if methods else 2
    return rows * (seeds or 1)


def _split(given: list[str] | None, whole: Callable[[str], bool]) -> tuple[str, ...]:
    """Names in order, each once; a text that is a name with a comma in it is left whole."""
    texts = ([text] if whole(text) else text.split(",") for text in given or [])
    names = (name.strip() for several in texts for name in several)
    return tuple(dict.fromkeys(name for name in names if name))


def _known(datasets: tuple[str, ...]) -> tuple[str, ...]:
    """The data sets by their published names, or paths that are there."""
    from augcl.data.catalogue import known_name, names

    for name in datasets:
        if known_name(name) is None and not Path(name).exists():
            hint = did_you_mean(name, names())
            raise InputError(
                f"{name} is neither a data set nor a file or folder: {hint}augcl data lists the "
                "data sets"
            )
    return tuple(dict.fromkeys(known_name(name) or name for name in datasets))


def _check_kind(dataset: str, level: str, what: str) -> None:
    """Raise `InputError` if the data cannot be what the table is about."""
    from augcl.data.catalogue import GRAPH_SETS, NODE_SETS
    from augcl.data.formats import is_one_graph

    if level == "graph" and (
        dataset in NODE_SETS or (dataset not in GRAPH_SETS and is_one_graph(Path(dataset)))
    ):
        raise InputError(
            f"{dataset} is one graph, whose nodes have classes, but {what} is about sets of "
            "graphs: choose one of them (augcl data), or augcl reproduce node-classification"
        )
    if level == "node" and dataset in GRAPH_SETS:
        raise InputError(
            f"{dataset} is a set of graphs, but {what} is about the nodes of one graph: choose one "
            "(augcl data), or augcl reproduce graph-classification"
        )
