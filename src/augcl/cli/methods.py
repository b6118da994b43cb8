"""`augcl methods`: which methods there are, and which parameters each of them has."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console

from augcl.cli.options import Json, Listing, any_case, plain
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
    header = ("method", "embeds", "year", "takes", "what it does")
    rows = []
    for facts in listed:
        year = "" if facts["year"] is None else str(facts["year"])
        does, paper = facts["does"], facts["paper"]
        does += "" if paper == facts["method"] else f" In the paper: {paper}."
        rows.append((facts["method"], f"{facts['level']}s", year, facts["cost"], does))
    Console().print(Listing(header, tuple(rows)))


def _parameters(name: str, level: str | None, as_json: bool) -> None:
    """Print the parameters of one method or hardness."""
    from augcl.hardness import HARDNESS
    from augcl.runs.models import METHODS, described_parameters, method_name

    hardness = any_case(name, HARDNESS)
    kind: Any = HARDNESS.get(hardness)
    name = f"hardness {hardness}"
    if kind is None:
        name = method_name(hardness, level, also=HARDNESS)
        kind = METHODS[name]
    found = described_parameters(kind)
    if as_json:
        facts = {n: {"default": d, "text": text} for n, (d, text) in found.items()}
        typer.echo(json.dumps({"name": name, "parameters": facts}, indent=1, ensure_ascii=False))
        return
    Console().print(plain(f"{name}: {(kind.__doc__ or '').strip().splitlines()[0]}"))
    rows = []
    for parameter, (default, text) in found.items():
        shown = str(default).lower() if isinstance(default, bool | None) else str(default)
        rows.append((parameter, shown, text))
    Console().print(Listing(("parameter", "default", "meaning"), tuple(rows)))
