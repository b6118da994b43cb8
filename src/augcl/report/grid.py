"""One table of strings, to read in Markdown, LaTeX or the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from augcl.report import latex, markdown


@dataclass(frozen=True)
class Grid:
    """A table of plain text; nothing in it is taken for markup.

    Parameters
    ----------
    title : str
        What the table shows.
    header : tuple of str
        Names of the columns. The first column names the rows, the others hold values.
    rows : tuple of tuples of str
        As many cells each as the header has.
    notes : tuple of str
        Sentences under the table.

    Examples
    --------
    >>> grid = Grid("Accuracy", ("", "MUTAG"), (("AUGCL", "89.20 ± 1.08"),), ("In percent.",))
    >>> print(grid.markdown())
    ### Accuracy
    <BLANKLINE>
    |  | MUTAG |
    |---|---:|
    | AUGCL | 89.20 ± 1.08 |
    <BLANKLINE>
    In percent.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.header:
            raise ValueError(f"table {self.title!r} has no columns")
        for number, row in enumerate(self.rows, start=1):
            if len(row) != len(self.header):
                raise ValueError(
                    f"row {number} of table {self.title!r} has {len(row)} cells, "
                    f"its header {len(self.header)}"
                )

    def markdown(self) -> str:
        """A heading of the third level, the table, and the notes as a paragraph."""
        escape = markdown.escape
        cells = [[escape(cell) for cell in row] for row in self.rows]
        parts = [
            f"### {escape(self.title)}",
            markdown.table([escape(name) for name in self.header], cells),
        ]
        if self.notes:
            parts.append(" ".join(map(escape, self.notes)))
        return "\n\n".join(parts)

    def latex(self) -> str:
        """A floating table with caption and notes, for the packages booktabs and inputenc.

        >>> print(Grid("τ", ("",), (("a & b",),)).latex().splitlines()[2])
          \\caption{$\\tau$}
        """
        return latex.table(self.header, self.rows, caption=self.title, notes=self.notes)

    def terminal(self) -> Table:
        """A table that a `rich.console.Console` prints."""
        notes = Text(" ".join(self.notes)) if self.notes else None
        table = Table(title=Text(self.title), caption=notes, box=SIMPLE_HEAD, pad_edge=False)
        for number, name in enumerate(self.header):
            table.add_column(Text(name), justify="right" if number else "left")
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table
