"""`augcl doctor`: what is wrong with a data set or a run, before it costs a day."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from augcl.cli.options import DataDir, Features, Json
from augcl.errors import InputError

if TYPE_CHECKING:
    from augcl.runs.cost import Finding

STYLES = {"ok": "green", "note": "yellow", "warning": "bold red"}


def doctor(
    what: Annotated[
        str,
        typer.Argument(
            metavar="DATASET|RUN",
            help="A name or path as augcl train takes it, or the folder of a finished run.",
        ),
    ] = "MUTAG",
    features: Features = "auto",
    data_dir: DataDir = None,
    try_it: Annotated[
        bool,
        typer.Option(
            "--try/--no-try", help="Check the estimate of time and memory by a short run."
        ),
    ] = True,
    as_json: Json = False,
) -> None:
    """Find what people stumble on, and say what to do about it.

    Of a data set: edges that were cleaned, isolated nodes, features that tell nothing, classes
    too small to be judged, graphs too small to be altered, and the time and memory that
    augcl train with its defaults will need.

    Of a run: whether the weights are alive, whether false negatives weigh less than true ones,
    whether the loss still falls, whether a seed stands out.

    Each line is marked ok, note (good to know) or warning (will probably cost you something).

    Example: augcl doctor my.zip

    Example: augcl doctor runs/mine
    """
    more: dict[str, Any] = {}
    run = _finished_run(what)
    if run is not None:
        from augcl.runs.run_check import look_at_run

        title, findings = str(run), look_at_run(run)
    else:
        title, findings, more = _data(what, features, data_dir, try_it, show=not as_json)
    if as_json:
        found = {"what": title, "findings": [asdict(f) for f in findings], **more}
        typer.echo(json.dumps(found, indent=1))
    else:
        typer.echo(title)
        Console().print(findings_lines(findings))


def _finished_run(what: str) -> Path | None:
    """The folder, if a run is meant: names of data sets come first, as everywhere."""
    from augcl.data.catalogue import known_name

    folder = Path(what).expanduser()
    if known_name(what) is not None:
        return None
    if (folder / "result.json").exists():
        return folder
    if (folder / "seed-0").is_dir():
        raise InputError(f"{what} is a run that did not finish: go on with augcl train --resume")
    return None


def _data(
    dataset: str, features: str, data_dir: str | None, try_it: bool, *, show: bool
) -> tuple[str, list[Finding], dict[str, Any]]:
    from augcl.data.catalogue import known_name
    from augcl.data.loading import level_of
    from augcl.runs.cost import Plan, estimate, look_at_price, price, short_run
    from augcl.runs.data_check import look_at_data
    from augcl.runs.run import Spec, check, one_thread

    try:
        of_nodes = level_of(dataset, data_dir=data_dir) == "node"
    except InputError as error:
        if known_name(dataset) is not None or Path(dataset).expanduser().exists():
            raise
        raise InputError(f"there is no run {dataset}, and {error}") from None
    method = "GCA" if of_nodes else "GraphCL"
    spec = Spec(dataset, method=method, epochs=None if of_nodes else 40, features=features)
    data = spec.load(data_dir)
    check(spec, data, judge=False)
    findings = look_at_data(data)
    seeds = 1 if of_nodes else 5
    at_once = min(seeds, os.cpu_count() or 1)
    if not of_nodes:
        one_thread()  # as augcl train does
    plan = Plan.of(spec, data)
    expected = price(estimate(data, plan), plan, seeds=seeds, at_once=at_once)
    tried = short_run(spec, data, progress=show) if try_it else None
    checked = None
    if tried is not None:
        checked = price(tried.cost, plan, seeds=seeds, at_once=at_once)
    title = f"augcl train, {method} + augcl, {plan.epochs} epochs"
    title += "" if of_nodes else f", {seeds} seeds, {at_once} at once"
    findings += look_at_price(title, expected, checked, tried, of_nodes=of_nodes)
    more = {"estimate": asdict(expected), "short_run": checked and asdict(checked)}
    return data.name, findings, more


def findings_lines(findings: list[Finding]) -> Table:
    """A mark, what was seen and, below it, what to do."""
    lines = Table.grid(padding=(0, 2))
    lines.add_column(no_wrap=True)
    lines.add_column()
    for finding in findings:
        text = Text.assemble((finding.about, "bold"), f": {finding.what}")
        if finding.cure:
            text.append(f"\n→ {finding.cure}", style="dim")
        lines.add_row(Text(finding.level, style=STYLES[finding.level]), text)
    return lines
