"""Options and tables that several commands share, and the panels of the help."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.cells import cell_len
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from augcl.errors import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

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
BatchNodes = Annotated[
    int | None,
    typer.Option(
        min=16,
        help="Number of nodes per mini-batch, for embeddings of nodes.",
        show_default="all nodes; 8,192 of a graph with more than 100,000",
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
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        help="Send the trainings to the workers of a Dask cluster: tcp://host:8786, a scheduler "
        "file, or local:4 for four processes here; see docs/security.md.",
        show_default="processes of this machine",
        rich_help_panel=TRAINING,
    ),
]
Precision = Annotated[
    str,
    typer.Option(
        help="Numbers of the training: 32-true; 64-true, with which any number of processes gives "
        "the same results; or bf16-mixed, with --device cuda (never tried).",
        rich_help_panel=TRAINING,
    ),
]
Devices = Annotated[
    int,
    typer.Option(
        min=1,
        help="Number of processes of each machine that train one model together; each takes a GPU "
        "with --device cuda.",
        rich_help_panel=TRAINING,
    ),
]
Nodes = Annotated[
    int,
    typer.Option(
        min=1,
        help="Number of machines for --devices; start the command on each, see docs/scaling.md.",
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
    table = Table(title=plain(title), caption=None if caption is None else plain(caption))
    table.add_column("what")
    table.add_column("value", justify="right")
    for name, value in rows:
        table.add_row(plain(name), plain(value))
    return table


@dataclass(frozen=True)
class Listing:
    """Rows of short facts and, last, a sentence: a table, or a paragraph a row where it is narrow.

    The texts are ours or escaped; brackets are no markup.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names, *facts = zip(*(row[:-1] for row in (self.header, *self.rows)), strict=True)
        widths = [max(map(cell_len, names)), *(min(FACT, max(map(cell_len, f))) for f in facts)]
        if sum(width + 2 for width in widths) + SENTENCE > options.max_width:
            for name, *between, sentence in self.rows:
                told = [fact for fact in between if fact]
                yield plain(f"{name} ({', '.join(told)})" if told else name, "bold")
                yield Padding(plain(sentence), (0, 0, 0, 4))
            return
        table = Table(box=None, pad_edge=False)
        for name, width in zip(self.header, [*widths, None], strict=True):
            table.add_column(name, width=width)
        for row in self.rows:
            table.add_row(*map(plain, row))
        yield table


FACT, SENTENCE = 10, 24
"""Columns of the terminal that a fact of a `Listing` has at most, and its sentences at least."""


def plain(text: object, style: str = "") -> Text:
    """Return a text for Rich as it is: brackets are no markup, control characters are escaped."""
    return Text(printable(text), style=style)


def say(text: object, *, err: bool = False) -> None:
    """Print a line, which may contain names from files."""
    typer.echo(printable(text), err=err)
