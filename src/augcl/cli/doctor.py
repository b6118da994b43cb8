"""`augcl doctor`: check a data set or a run before a defect costs a day."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from augcl.cli.options import (
    DataDir,
    Features,
    Json,
    Missing,
    SkipBad,
    Smiles,
    Targets,
    Task,
    plain,
    say,
)
from augcl.cli.settings import Settings, read_settings
from augcl.errors import InputError, printable

if TYPE_CHECKING:
    from augcl.runs.cost import Finding

STYLES = {"ok": "green", "note": "yellow", "warning": "bold red"}


def doctor(
    what: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|RUN",
            help="Name or path of a data set, as for augcl train, or folder of a finished run.",
        ),
    ] = "MUTAG",
    features: Features = "auto",
    target: Targets = None,
    task: Task = "auto",
    missing: Missing = "error",
    smiles: Smiles = None,
    skip_bad: SkipBad = False,
    data_dir: DataDir = None,
    settings: Settings = None,
    try_it: Annotated[
        bool,
        typer.Option(
            "--try/--no-try", help="Check the estimates of time and memory with a short training."
        ),
    ] = True,
    as_json: Json = False,
) -> None:
    """Check a data set or a run, and say what to do about each problem.

    For a data set: cleaned edges, isolated nodes, features that carry no information, classes
    too small to evaluate, graphs too small to augment, and the time and memory that augcl train
    needs, with its defaults or with --set.

    For a run: whether the weights are alive, whether false negatives weigh less than true ones,
    whether the loss still falls, and whether a seed stands out.

    Each line is marked ok, note (good to know) or warning (probably a problem).

    Example: augcl doctor my.zip

    Example: augcl doctor runs/mine
    """
    more: dict[str, Any] = {}
    run = _finished_run(what)
    if run is not None:
        from augcl.runs.run_check import look_at_run

        if settings:
            raise InputError(f"{what} is a finished run: --set is for a data set")
        title, findings = str(run), look_at_run(run)
    else:
        reading: dict[str, Any] = {"target": target, "task": task, "missing": missing}
        reading |= {"smiles": smiles, "skip_bad": skip_bad}
        title, findings, more = _data(
            what, features, data_dir, settings, reading, try_it=try_it, show=not as_json
        )
    if as_json:
        found = {"what": title, "findings": [asdict(f) for f in findings], **more}
        typer.echo(json.dumps(found, indent=1))
    else:
        say(title)
        Console().print(findings_lines(findings))


def _finished_run(what: str) -> Path | None:
    """Return the folder if a run is meant: names of data sets come first, as everywhere."""
    from augcl.data.catalogue import known_name

    folder = Path(what).expanduser()
    if known_name(what) is not None:
        return None
    if (folder / "result.json").exists():
        return folder
    if (folder / "seed-0").is_dir():
        raise InputError(f"{what} is an unfinished run: continue it with augcl train --resume")
    return None


def _data(
    dataset: str,
    features: str,
    data_dir: str | None,
    settings: list[str] | None,
    reading: dict[str, Any],
    *,
    try_it: bool,
    show: bool,
) -> tuple[str, list[Finding], dict[str, Any]]:
    from augcl.cli.train import FLOORS
    from augcl.data.catalogue import known_name
    from augcl.data.loading import level_of
    from augcl.runs.cost import look_at_cost
    from augcl.runs.data_check import look_at_data
    from augcl.runs.recommend import BESIDE
    from augcl.runs.run import Spec, check
    from augcl.training.progress import phase

    try:
        of_nodes = level_of(dataset, data_dir=data_dir) == "node"
    except InputError as error:
        if known_name(dataset) is not None or Path(dataset).expanduser().exists():
            raise
        raise InputError(f"there is no run {dataset}, and {error}") from None
    method = "GCA" if of_nodes else "GraphCL"
    options, hardness_options = read_settings(settings, method, "augcl")
    spec = Spec(
        dataset,
        method=method,
        hardness="augcl" if hardness_options else "none",
        beside=BESIDE[FLOORS["node" if of_nodes else "graph"]],
        features=features,
        options=options,
        hardness_options=hardness_options,
        **reading,
    )
    with phase(f"reading {Path(dataset).name}", show=show):
        data = spec.load(data_dir)
    check(spec, data, judge=False)
    findings = look_at_data(data, spec.estimator(data, 0), dataset)
    seeds = 1 if of_nodes else 5
    cost, more = look_at_cost(spec, data, seeds=seeds, try_it=try_it, progress=show)
    return data.name, findings + cost, more


def findings_lines(findings: list[Finding]) -> Table:
    """Draw a mark, what was found and, below it, what to do."""
    lines = Table.grid(padding=(0, 2))
    lines.add_column(no_wrap=True)
    lines.add_column()
    for finding in findings:
        text = plain(finding.about, "bold").append(printable(f": {finding.what}"), style="not bold")
        if finding.cure:
            text.append(printable(f"\n→ {finding.cure}"), style="dim not bold")
        lines.add_row(Text(finding.level, style=STYLES[finding.level]), text)
    return lines
