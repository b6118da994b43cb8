"""Options and tables that several commands share, and the panels of the help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

DATA, METHOD, TRAINING, OUTPUT = "Data", "Method", "Training", "Output"

Candidates = Annotated[
    int | None,
    typer.Option(
        min=2,
        help="Number of random negatives per step, for embeddings of nodes; "
        "--set candidates=all takes all.",
        show_default="set by the preset",
        rich_help_panel=TRAINING,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of trainings that run at the same time.",
        show_default="number of cores",
        rich_help_panel=TRAINING,
    ),
]
DataDir = Annotated[
    str | None,
    typer.Option(
        metavar="DIR",
        help="Folder with data sets; it is searched before $AUGCL_DATA, the cache and the network.",
        rich_help_panel=DATA,
    ),
]
Device = Annotated[str, typer.Option(help="cpu, cuda, cuda:1 or auto.", rich_help_panel=TRAINING)]
Features = Annotated[
    str,
    typer.Option(
        help="Node features: auto, constant, degree, log-degree or attributes.",
        rich_help_panel=DATA,
    ),
]
Targets = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="Column or attribute to predict; 'group_*' means several.",
        show_default="label or y",
        rich_help_panel=DATA,
    ),
]
Task = Annotated[
    str,
    typer.Option(
        help="What the target asks for: auto, classification, regression or multilabel.",
        rich_help_panel=DATA,
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        help="A missing feature is an error, or zero: 0 and a column that says so.",
        rich_help_panel=DATA,
    ),
]
Smiles = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the SMILES of a .csv or .parquet file of molecules.",
        show_default="smiles",
        rich_help_panel=DATA,
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad", help="Leave out molecules that RDKit refuses.", rich_help_panel=DATA
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print JSON instead of text.", rich_help_panel=OUTPUT)
]
Select = Annotated[
    str | None,
    typer.Option(
        metavar="inner",
        help="Add rows whose reward (AUGCL), τ⁺ (DCL) or β and τ⁺ (HCL) is chosen inside the "
        "training folds.",
        rich_help_panel=METHOD,
    ),
]


def any_case(name: str, names: Iterable[str]) -> str:
    """Return the one of the names that equals `name` but for the case, else `name` itself.

    >>> any_case("augcl", ["AUGCL", "DCL"]), any_case("x", ["AUGCL"])
    ('AUGCL', 'x')
    """
    return next((known for known in names if known.lower() == name.lower()), name)


def two_columns(title: str, rows: Iterable[tuple[str, str]], caption: str | None = None) -> Table:
    """Draw pairs of a name and a value."""
    table = Table(title=title, caption=caption)
    table.add_column("what")
    table.add_column("value", justify="right")
    for name, value in rows:
        table.add_row(name, Text(value))
    return table
