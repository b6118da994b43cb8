"""`augcl data`: which data sets there are, and what is in one."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table


def data(
    dataset: Annotated[
        str | None, typer.Argument(help="A name or path; without it the names are listed.")
    ] = None,
    features: Annotated[str, typer.Option(help="As in augcl train.")] = "auto",
    data_dir: Annotated[str | None, typer.Option(help="Where names are looked for first.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """List the data sets, or describe one.

    Example: augcl data my.zip
    """
    from augcl.data import load, names, statistics

    if dataset is None:
        if as_json:
            typer.echo(json.dumps(names()))
        else:
            typer.echo("\n".join(names()))
            typer.echo(
                "or a path: a TU zip or folder, a folder with edges.csv, GraphML or GML files"
            )
        return
    graphs = load(dataset, data_dir=data_dir, features=features)
    facts = statistics(graphs)
    if as_json:
        typer.echo(json.dumps(facts, indent=1))
        return
    table = Table(title=graphs.name)
    table.add_column("what")
    table.add_column("value", justify="right")
    for name, value in facts.items():
        shown = f"{value:.2f}" if isinstance(value, float) else str(value)
        table.add_row(name.replace("_", " "), shown)
    Console().print(table)
