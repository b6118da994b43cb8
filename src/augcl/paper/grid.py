"""The output of a reproduction: tables of text, figures, sentences and all numbers.

`Outcome` holds and writes all output for one table or figure of the paper; `Grid` is one table of
text, for Markdown, LaTeX or the terminal. The functions that escape text come last.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from augcl.files import write_json, write_text
from augcl.paper.figures import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console, ConsoleOptions

    from augcl.runs.rows_page import Row

SPREAD = (
    "±: standard deviation over the seeds; for nodes, over all splits of all seeds; for published "
    "numbers, as published."
)


@dataclass(frozen=True)
class Outcome:
    """Tables, figures by name, sentences with the conclusions, and all numbers as plain JSON.

    `rows` are for the page: what was measured, with its settings; `title` is its heading.
    """

    name: str
    grids: list[Grid]
    data: dict[str, Any]
    figures: dict[str, Figure] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    title: str = ""

    @property
    def empty(self) -> bool:
        """Return whether all tables are without rows."""
        return not any(grid.rows for grid in self.grids)

    def explained(self) -> Outcome:
        """Return the outcome with a note on ± if a table uses it; for tables shown on their own."""
        cells = (cell for grid in self.grids for row in grid.rows for cell in row)
        told = any("±:" in note for grid in self.grids for note in grid.notes)
        if told or not any("±" in cell for cell in cells):
            return self
        *others, last = self.grids
        return replace(self, grids=[*others, replace(last, notes=(*last.notes, SPREAD))])

    def markdown(self) -> str:
        return "\n\n".join([*(grid.markdown() for grid in self.grids), *self.sentences]) + "\n"

    def write(self, out: Path) -> list[Path]:
        """Write NAME.md, .tex, .json, .html and the figures; return their paths."""
        from augcl.runs.rows_page import TextTable, write_rows_page  # slow to import

        stem = out / self.name
        text, tex, data, page = (
            stem.with_suffix(ending) for ending in (".md", ".tex", ".json", ".html")
        )
        write_text(text, self.markdown())
        write_text(tex, "\n\n".join(grid.latex() for grid in self.grids) + "\n")
        write_json(data, {"name": self.name, **self.data, "sentences": self.sentences})
        drawn = [save(figure, out / name) for name, figure in self.figures.items()]
        tables = [TextTable(g.title, g.header, g.rows, g.notes) for g in self.grids]
        write_rows_page(
            page,
            self.title or self.name,
            self.rows,
            tables,
            sentences=self.sentences,
            figures={
                name: (out / f"{name}.svg").read_text(encoding="utf-8") for name in self.figures
            },
        )
        return [text, tex, data, page, *(path for paths in drawn for path in paths)]


@dataclass(frozen=True)
class Grid:
    """A table of plain text; its text is never interpreted as markup.

    Parameters
    ----------
    title : str
        What the table shows.
    header : tuple of str
        Names of the columns. The first column names the rows, the others hold values.
    rows : tuple of tuples of str
        Each row has as many cells as the header.
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
        """Return a heading of the third level, the table, and the notes as a paragraph."""
        return f"### {markdown_escape(self.title)}\n\n{self.table()}"

    def table(self) -> str:
        """Return the table and the notes in Markdown, without the heading."""
        escape = markdown_escape
        cells = [[escape(cell) for cell in row] for row in self.rows]
        parts = [markdown_table([escape(name) for name in self.header], cells)]
        if self.notes:
            parts.append(" ".join(map(escape, self.notes)))
        return "\n\n".join(parts)

    def latex(self) -> str:
        """Return a LaTeX table with caption and notes, for the packages booktabs and inputenc.

        >>> print(Grid("τ", ("",), (("a & b",),)).latex().splitlines()[2])
          \\caption{$\\tau$}
        """
        return latex_table(self.header, self.rows, caption=self.title, notes=self.notes)

    def terminal(self) -> Fitting:
        """Return what a `rich.console.Console` prints: one table, or several that fit its width."""
        return Fitting(self)


@dataclass(frozen=True)
class Fitting:
    """A table for the terminal; where it is too wide, its columns continue in a further table."""

    grid: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table | Text]:
        names, *values = (
            list(column) for column in zip(self.grid.header, *self.grid.rows, strict=True)
        )
        columns = [aligned(column) for column in values]
        widths = [max(map(cell_len, column)) + PADDING for column in (names, *columns)]
        parts, left = [[names]], options.max_width - widths[0]
        for column, width in zip(columns, widths[1:], strict=True):
            if width > left and len(parts[-1]) > 1:
                parts.append([names])
                left = options.max_width - widths[0]
            parts[-1].append(column)
            left -= width
        for number, part in enumerate(parts):
            yield self._table(part, title=number == 0)
        yield from map(Text, self.grid.notes)
        if self.grid.notes:
            yield Text()

    def _table(self, columns: list[list[str]], *, title: bool) -> Table:
        table = Table(
            title=Text(self.grid.title) if title else None,
            box=SIMPLE_HEAD,
            pad_edge=False,
        )
        for head, *_ in columns:
            table.add_column(Text(head))
        for row in zip(*(cells for _, *cells in columns), strict=True):
            table.add_row(*map(Text, row))
        return table


PADDING = 3
"""Columns of the terminal between two columns of a table."""


def aligned(cells: Sequence[str]) -> list[str]:
    """Pad the cells of a column to one width: numbers under numbers, spreads under spreads.

    >>> for cell in aligned(["accuracy", "66.5", "85.7 ± 5.4", "85.6 ± 10.8"]):
    ...     print(f"|{cell}|")
    |   accuracy|
    |66.5       |
    |85.7 ±  5.4|
    |85.6 ± 10.8|
    """
    numbers = [re.fullmatch(r"([-+−]?[\d.,]+)( ±| (?=\[)|$)(.*)", cell) for cell in cells]
    middle, end = (max((len(n[part]) for n in numbers if n), default=0) for part in (2, 3))
    texts = [
        n[1] + n[2].ljust(middle) + n[3].rjust(end) if n else cell
        for cell, n in zip(cells, numbers, strict=True)
    ]
    width = max(map(cell_len, texts))
    return [" " * (width - cell_len(text)) + text for text in texts]


# An underline is markup unless it stands between letters or digits.
MARKUP = re.compile(r"[\\`*<\[|&~$]|(?<![^\W_])_|_(?![^\W_])")


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; all columns but the first are aligned to the right.

    >>> print(markdown_table(["", "a"], [["x", "1"]]))
    |  | a |
    |---|---:|
    | x | 1 |
    """
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    text = ["| " + " | ".join(line) + " |" for line in lines]
    text[1] = "|" + "|".join(lines[1]) + "|"
    return "\n".join(text)


def markdown_escape(text: str) -> str:
    """Escape `text` as one line of Markdown, also inside a table.

    >>> print(markdown_escape("P(a|b) of GraphCL_AUGCL*"))
    P(a\\|b) of GraphCL_AUGCL\\*
    """
    return MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


TEXT = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    '"': "''",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "“": "``",
    "”": "''",
    "„": ",,",
    "‘": "`",
    "’": "'",
    "\N{ZERO WIDTH SPACE}": "{}",
    "✓": "yes",
    "✗": "no",
}
GREEK = "αβγδεζηθικλμµνξπρσςτυφχψωΓΔΘΛΞΠΣΥΦΨΩ"
GREEK_NAMES = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu mu nu xi pi rho sigma "
    "varsigma tau upsilon varphi chi psi omega "
    "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
MATHS = {
    "±": r"\pm",
    "∓": r"\mp",
    "−": "-",
    "×": r"\times",
    "·": r"\cdot",
    "÷": r"\div",
    "<": "<",
    ">": ">",
    "|": "|",
    "≤": r"\leq",
    "≥": r"\geq",
    "≠": r"\neq",
    "≈": r"\approx",
    "→": r"\rightarrow",
    "←": r"\leftarrow",
    "↑": r"\uparrow",
    "↓": r"\downarrow",
    "∞": r"\infty",
    "∅": r"\emptyset",
    "√": r"\surd",
    "∈": r"\in",
    "∑": r"\sum",
    "°": r"{}^{\circ}",
    "†": r"\dagger",
    "‡": r"\ddagger",
    **{letter: rf"\{name}" for letter, name in zip(GREEK, GREEK_NAMES.split(), strict=True)},
}
RAISED = {"<super>": "^", "<sub>": "_"}


def latex_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str, notes: Sequence[str] = ()
) -> str:
    """Return a floating LaTeX table; all columns but the first are aligned to the right.

    >>> print(latex_table(["", "α"], [["a_1", "1 ± 2"]], caption="Mine", notes=["50 % of all."]))
    \\begin{table}
      \\centering
      \\caption{Mine}
      \\begin{tabular}{lr}
        \\toprule
        & $\\alpha$ \\\\
        \\midrule
        a\\_1 & 1 $\\pm$ 2 \\\\
        \\bottomrule
      \\end{tabular}
      \\par\\smallskip
      \\parbox{\\linewidth}{\\footnotesize 50 \\% of all.}
    \\end{table}
    """
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{latex_escape(caption)}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"    \toprule",
        _latex_row(header),
        r"    \midrule",
        *map(_latex_row, rows),
        r"    \bottomrule",
        r"  \end{tabular}",
    ]
    if notes:
        text = " ".join(map(latex_escape, notes))
        lines += [r"  \par\smallskip", rf"  \parbox{{\linewidth}}{{\footnotesize {text}}}"]
    return "\n".join([*lines, r"\end{table}"])


def latex_escape(text: str) -> str:
    """Escape `text` as one line of LaTeX.

    Letters of alphabets that pdflatex does not support are kept; XeLaTeX and LuaLaTeX show them.

    >>> print(latex_escape("-0.5 ± 0.1 for τ⁺ = 50 %"))
    $-$0.5 $\\pm$ 0.1 for $\\tau{}^{+}$ = 50 \\%
    """
    text = " ".join(unicodedata.normalize("NFC", text).split())
    text = "".join(c for c in text if not unicodedata.category(c).startswith("C"))
    text = re.sub(r"(?<!\w)-(?=[\d.∞])", "−", text)
    text = re.sub(r"-(?=-)", "-\N{ZERO WIDTH SPACE}", text)  # LaTeX turns two hyphens into a dash
    pieces = []
    for formula, run in groupby(text, lambda c: bool(_maths(c))):
        if formula:
            pieces.append(f"${''.join(map(_maths, run))}$")
        else:
            pieces += [TEXT.get(character, character) for character in run]
    return "".join(pieces)


def _latex_row(cells: Sequence[str]) -> str:
    text = " & ".join(map(latex_escape, cells))
    if text.startswith(("[", "*")):  # \\ or \toprule would read it as an optional argument
        text = "{}" + text
    return f"    {text.strip()} \\\\"


def _maths(character: str) -> str:
    """Return the character in maths mode, or "" if it belongs to text."""
    position, _, codes = unicodedata.decomposition(character).partition(" ")
    if position not in RAISED:
        return MATHS.get(character, "")
    letters = [chr(int(code, 16)) for code in codes.split()]
    raised = "".join(MATHS.get(letter, letter) for letter in letters)
    return f"{{}}{RAISED[position]}{{{raised}}}" if raised.isascii() else ""
