"""`augcl methods`: which methods there are, and which parameters each of them has."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from augcl.cli.options import Json, any_case
from augcl.errors import one_of


def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Method or hardness whose parameters are listed.",
            show_default="list the methods",
        ),
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(help="List only methods that embed: graph or node.", show_default="both"),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the methods, or the parameters of one method or hardness.

    Every parameter can be given to augcl train with --set. Both names of a method, ours and the
    paper's, work in any case.

    Example: augcl methods --level graph

    Example: augcl methods GraphCL

    Example: augcl methods augcl
    """
    from augcl.runs.models import method_facts

    if level is not None:
        one_of(level, ("graph", "node"), "level")
    if name is not None:
        _parameters(name, level, as_json)
        return
    listed = [facts for facts in method_facts() if level in (None, facts["level"])]
    if as_json:
        typer.echo(json.dumps(listed, indent=1, ensure_ascii=False))
        return
    table = Table(box=None, pad_edge=False)
    for column in ("method", "in paper", "embeds", "year", "takes", "what it does"):
        width = 10 if column == "in paper" else None
        table.add_column(column, overflow="fold", no_wrap=column == "method", max_width=width)
    for facts in listed:
        year = "" if facts["year"] is None else str(facts["year"])
        paper = "" if facts["paper"] == facts["method"] else facts["paper"]
        embeds = f"{facts['level']}s"
        table.add_row(facts["method"], paper, embeds, year, facts["cost"], facts["does"])
    Console().print(table)


def _parameters(name: str, level: str | None, as_json: bool) -> None:
    """Print the parameters of one method or hardness."""
    from augcl.hardness import HARDNESS
    from augcl.runs.models import METHODS, described_parameters, method_name

    hardness = any_case(name, HARDNESS)
    kind: Any = HARDNESS.get(hardness)
    name = f"hardness {hardness}"
    if kind is None:
        name = method_name(hardness, level)
        kind = METHODS[name]
    found = described_parameters(kind)
    if as_json:
        facts = {n: {"default": d, "text": text} for n, (d, text) in found.items()}
        typer.echo(json.dumps({"name": name, "parameters": facts}, indent=1, ensure_ascii=False))
        return
    typer.echo(f"{name}: {(kind.__doc__ or '').strip().splitlines()[0]}")
    table = Table(box=None, pad_edge=False)
    for column in ("parameter", "default", "meaning"):
        table.add_column(column, overflow="fold", no_wrap=column == "parameter")
    for parameter, (default, text) in found.items():
        shown = str(default).lower() if isinstance(default, bool | None) else str(default)
        table.add_row(parameter, shown, Text(text))
    Console().print(table)
