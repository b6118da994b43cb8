"""`augcl neighbors`: the nearest graphs or nodes of a run."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from augcl.cli.options import OUTPUT, Json, plain, say


def neighbors(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or file that augcl embed wrote.")],
    queries: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY",
            help="Names of graphs or nodes, or their numbers, counted from 0.",
            show_default="all, written to a file",
        ),
    ] = None,
    k: Annotated[
        int, typer.Option("-k", min=1, help="Number of neighbours of each graph or node.")
    ] = 5,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write; the ending .csv or .parquet selects the format.",
            show_default="neighbors.csv if no QUERY is given",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the nearest graphs or nodes by the cosine of their embeddings.

    The search is exact. Of equally near neighbours, the one that comes first in the data set is
    listed first.

    Example: augcl neighbors runs/mine aspirin -k 3

    Example: augcl neighbors runs/mine --out neighbors.csv
    """
    from augcl.runs.neighbors import (
        check_ending,
        chosen,
        embeddings_of,
        neighbor_table,
        write_table,
    )

    if not queries and out is None and not as_json:
        out = Path("neighbors.csv")
    if out is not None:
        check_ending(out)
    embeddings = embeddings_of(run)
    table = neighbor_table(embeddings, chosen(queries, embeddings) if queries else None, k)
    if out is not None:
        write_table(table, out)
    if as_json:
        rows = [{name: _plain(value) for name, value in row.items()} for row in table.to_pylist()]
        typer.echo(json.dumps(rows, indent=1, ensure_ascii=False))
    elif out is not None:
        say(f"wrote {table.num_rows} neighbours to {out}")
    else:
        Console().print(_drawn(table.to_pylist(), table.column_names))


def _plain(value: Any) -> Any:
    """Return None for NaN, which JSON does not have."""
    return None if isinstance(value, float) and math.isnan(value) else value


def _drawn(rows: list[dict[str, Any]], columns: list[str]) -> Table:
    """Draw the neighbours of each query below its name."""
    labels = [name for name in columns[4:] if f"query_{name}" in columns]
    table = Table(box=None, pad_edge=False)
    table.add_column("", overflow="fold")
    for name in ("similarity", *labels):
        table.add_column(plain(name), justify="right")
    for row in rows:
        if row["rank"] == 1:
            own = [_text(row[f"query_{name}"]) for name in labels]
            table.add_row(plain(row["query"], "bold"), "", *own)
        values = [_text(row[name]) for name in labels]
        table.add_row(plain(f"  {row['neighbor']}"), f"{row['similarity']:.4f}", *values)
    return table


def _text(value: Any) -> Text:
    if isinstance(value, float):
        return Text("" if math.isnan(value) else f"{value:g}")
    return plain(value)
