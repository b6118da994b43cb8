"""`augcl methods`: which methods there are, and what each of them does."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from augcl.cli.options import Json
from augcl.errors import one_of


def methods(
    level: Annotated[str | None, typer.Option(help="Only those that embed: graph or node.")] = None,
    as_json: Json = False,
) -> None:
    """List the methods: what they embed, what they do, and how long they take.

    Example: augcl methods --level graph
    """
    if level is not None:
        one_of(level, ("graph", "node"), "level")
    listed = [facts for facts in known_methods() if level in (None, facts["level"])]
    if as_json:
        typer.echo(json.dumps(listed, indent=1, ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("method", "embeds", "year", "takes", "what it does"):
        table.add_column(column, overflow="fold", no_wrap=column == "method")
    for facts in listed:
        year = "" if facts["year"] is None else str(facts["year"])
        cells = (facts["method"], f"{facts['level']}s", year, facts["cost"], facts["does"])
        table.add_row(*cells)
    Console().print(table)


def known_methods() -> list[dict[str, Any]]:
    """Name, level, year, cost class and first line of the documentation of every method."""
    from augcl.runs.models import METHODS

    return [
        {
            "method": name,
            "level": kind.level,
            "year": getattr(kind, "year", None),
            "cost": kind.cost,
            "kernel": kind.gives_kernel,
            "does": (kind.__doc__ or "").strip().splitlines()[0],
        }
        for name, kind in METHODS.items()
    ]
