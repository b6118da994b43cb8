"""`augcl reproduce`: the paper's tables and figures, measured here."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

from augcl.cli.options import (
    DATA,
    METHOD,
    OUTPUT,
    TRAINING,
    Cluster,
    DataDir,
    Jobs,
    Json,
    Select,
    any_case,
    say,
)
from augcl.errors import InputError, did_you_mean, need, one_of

if TYPE_CHECKING:
    from augcl.paper.cells import Failure
    from augcl.paper.grid import Outcome


def reproduce(
    what: Annotated[
        str,
        typer.Argument(
            help="graph-classification, node-classification, improvement, attacks, ablation, "
            "alpha, reward, time, convergence, readings, node-readings, figure-1, theorem, "
            "hardness or headroom."
        ),
    ],
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            help="Data sets, separated by commas or one per option.",
            show_default="a few small ones",
            rich_help_panel=DATA,
        ),
    ] = None,
    data_dir: DataDir = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="Rows of the table, separated by commas or one per option; an unknown name lists "
            "all rows.",
            show_default="those of the paper",
            rich_help_panel=METHOD,
        ),
    ] = None,
    select: Select = None,
    recipe: Annotated[
        str | None,
        typer.Option(
            help="Recipe of all rows that do not name their own: default, paper or authors.",
            show_default="default",
            rich_help_panel=METHOD,
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of training epochs of all rows that do not set their own.",
            show_default="set by the table",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of trainings of each row, with seeds 0, 1, 2 and so on.",
            show_default="set by the table",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Number of random negatives per step, for embeddings of nodes.",
            show_default="set by the table; all with --full",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    depth: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Depth of the victims of attacks.",
            show_default="2, 3 and 4",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    updates: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of updates of the agent of RL-S2V (attacks).",
            show_default="3000; 100,000 with --full",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="Use the data sets, seeds and epochs of the paper.",
            rich_help_panel=TRAINING,
        ),
    ] = False,
    jobs: Jobs = None,
    cluster: Cluster = None,
    out: Annotated[
        Path,
        typer.Option(help="Folder for finished cells, tables and figures.", rich_help_panel=OUTPUT),
    ] = Path("reproduction"),
    as_json: Json = False,
) -> None:
    """Measure a table or figure of the paper.

    Every cell (one training with one seed) is a small file below --out, and tables share their
    cells. Repeat the command to continue a stopped run; several processes may share the folder.
    Without options, the table has the size that a laptop can compute.

    Examples:

        augcl reproduce graph-classification --datasets MUTAG --seeds 5 --jobs 2

        augcl reproduce graph-classification --datasets MUTAG --select inner

        augcl reproduce headroom --datasets MUTAG --methods AUGCL
    """
    need("matplotlib", "augcl reproduce")
    jobs = jobs or os.cpu_count() or 1
    from augcl.paper.reproductions import REPRODUCTIONS
    from augcl.paper.study import Study
    from augcl.runs.workers import check_cluster, open_workers

    check_cluster(cluster)
    if cluster is not None and what == "time":
        raise InputError("--cluster has no meaning for time, which is measured on this machine")
    about = REPRODUCTIONS[one_of(what, REPRODUCTIONS, "reproduction")]
    if select is not None:
        one_of(select, ("inner",), "way to select")
    rows = split_names(methods, about.known.__contains__)
    rows = tuple(one_of(any_case(row, about.known), about.known, "method") for row in rows)
    if recipe is not None:
        one_of(recipe, ("default", "paper", "authors"), "recipe")
    given = {
        "datasets": datasets,
        "epochs": epochs,
        "candidates": candidates,
        "select": select,
        "recipe": recipe,
        "depth": depth,
        "updates": updates,
    }
    for option, value in given.items():
        if value is not None and option not in about.takes:
            raise InputError(f"--{option} has no meaning for {what}: leave it out")
    chosen = _known(split_names(datasets, lambda text: Path(text).exists()))
    for dataset in chosen:
        _check_kind(dataset, about.level, what)
    study = Study(
        out=out,
        datasets=chosen or (about.all_datasets if full else about.datasets),
        rows=rows or about.rows,
        seeds=seeds or (about.all_seeds if full else about.seeds),
        epochs=epochs or (None if full else about.epochs),
        candidates=candidates or (None if full else about.candidates),
        recipe=recipe or "default",
        select=select is not None,
        data_dir=data_dir,
        options={
            name: value
            for name, value in (("depth", depth), ("updates", updates))
            if value is not None
        },
    )
    with open_workers(cluster, jobs) as workers:
        failures = about.compute(study, workers)
    title = about.title + ("" if study.recipe == "default" else f", recipe {study.recipe}")
    show(replace(about.outcome(study), title=title), out, failures, as_json=as_json)


def show(outcome: Outcome, out: Path, failures: list[Failure], *, as_json: bool) -> None:
    """Write and print the outcome, then the failures, which decide the exit code."""
    if failures and outcome.empty:  # an earlier table is worth more than one without a line
        _report(failures)
    outcome = outcome.explained()
    paths = outcome.write(out)
    if as_json:
        typer.echo((out / f"{outcome.name}.json").read_text(encoding="utf-8"), nl=False)
    else:
        console = Console()
        for grid in outcome.grids:
            console.print(grid.terminal())
        for sentence in outcome.sentences:
            command = sentence.startswith("    ")  # stays in one line, to be copied
            console.print(sentence, markup=False, highlight=False, soft_wrap=command)
        for stem in dict.fromkeys(path.with_suffix("") for path in paths):
            endings = ", ".join(path.suffix for path in paths if path.with_suffix("") == stem)
            say(f"wrote {stem}: {endings}")
        say(f"See it: augcl explore {shlex.quote(str(out / f'{outcome.name}.html'))}")
    if failures:
        _report(failures)


def _report(failures: list[Failure]) -> NoReturn:
    """Print one line for each reason, and exit."""
    reasons: dict[str, list[Failure]] = {}
    for failure in failures:
        reasons.setdefault(failure.reason, []).append(failure)
    say(f"augcl: {len(failures)} cell{'s' * (len(failures) > 1)} failed:", err=True)
    for reason, same in reasons.items():
        name = same[0].cell.name
        who = name if len(same) == 1 else f"{len(same)} cells (such as {name})"
        say(f"  {who}: {reason}", err=True)
    mistake = all(reason.startswith("InputError") for reason in reasons)
    raise typer.Exit(2 if mistake else 1)


def split_names(given: list[str] | None, whole: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the names in order, each once; keep a text whole that is a name with a comma."""
    texts = ([text] if whole(text) else text.split(",") for text in given or [])
    names = (name.strip() for several in texts for name in several)
    return tuple(dict.fromkeys(name for name in names if name))


def _known(datasets: tuple[str, ...]) -> tuple[str, ...]:
    """Return data sets by their published names, or existing paths."""
    from augcl.data.catalogue import known_name, names

    for name in datasets:
        if known_name(name) is None and not Path(name).exists():
            hint = did_you_mean(name, names())
            raise InputError(
                f"{name} is neither a data set nor a file nor a folder: {hint}augcl data lists the "
                "data sets"
            )
    return tuple(dict.fromkeys(known_name(name) or name for name in datasets))


def _check_kind(dataset: str, level: str, what: str) -> None:
    """Raise `InputError` if the data are not of the level of the table."""
    from augcl.data.catalogue import GRAPH_SETS, is_node_set
    from augcl.data.formats import is_one_graph

    if level == "graph" and (
        is_node_set(dataset) or (dataset not in GRAPH_SETS and is_one_graph(Path(dataset)))
    ):
        raise InputError(
            f"{dataset} is one graph with classes of nodes, but {what} needs a set of graphs: "
            "choose one that augcl data lists, or run augcl reproduce node-classification"
        )
    if level == "node" and dataset in GRAPH_SETS:
        raise InputError(
            f"{dataset} is a set of graphs, but {what} needs one graph with classes of nodes: "
            "choose one that augcl data lists, or run augcl reproduce graph-classification"
        )
