"""One table in Markdown, LaTeX and the terminal."""

import re
import shutil
import subprocess
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.console import Console

from augcl.paper.grid import Grid
from augcl.paper.grid import latex_escape as escape

GRID = Grid(
    title="Accuracy in %",
    header=("", "MUTAG", "P(a|b)"),
    rows=(("GraphCL_AUGCL", "89.20 ± 1.08", "-0.5"), ("[bold]τ⁺[/]", "−3 × 10⁻⁴", "1 & 2")),
    notes=("Higher is better.", "α = 1/μ."),
)


def printed(grid):
    console = Console(width=200, file=StringIO())
    console.print(grid.terminal())
    return console.file.getvalue()


def shown_cells(text):
    """What a reader of the rendered Markdown sees in its cells."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inside = [
        tokens[i + 1] for i, token in enumerate(tokens) if token.type in ("th_open", "td_open")
    ]
    return ["".join(child.content for child in token.children) for token in inside]


def without_escapes(text):
    return re.sub(r"\\[\\{}$&#%_]", "", text)


def test_markdown():
    assert GRID.markdown().splitlines() == [
        "### Accuracy in %",
        "",
        r"|  | MUTAG | P(a\|b) |",
        "|---|---:|---:|",
        "| GraphCL_AUGCL | 89.20 ± 1.08 | -0.5 |",
        r"| \[bold]τ⁺\[/] | −3 × 10⁻⁴ | 1 \& 2 |",
        "",
        "Higher is better. α = 1/μ.",
    ]


@example("__0__")
@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=12))
def test_markdown_shows_every_cell_as_it_is(cell):
    text = Grid("t", ("a", "b"), ((cell, "next"),)).markdown()
    assert shown_cells(text) == ["a", "b", " ".join(cell.split()), "next"]


def test_latex():
    lines = [line.strip() for line in GRID.latex().splitlines()]
    assert r"\caption{Accuracy in \%}" in lines
    assert r"\begin{tabular}{lrr}" in lines
    assert r"& MUTAG & P(a$|$b) \\" in lines
    assert r"GraphCL\_AUGCL & 89.20 $\pm$ 1.08 & $-$0.5 \\" in lines
    assert r"{}[bold]$\tau{}^{+}$[/] & $-$3 $\times$ 10${}^{-}{}^{4}$ & 1 \& 2 \\" in lines
    notes = r"\parbox{\linewidth}{\footnotesize Higher is better. $\alpha$ = 1/$\mu$.}"
    assert notes in lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a-b", "a-b"),
        ("+1.2 [-0.3, +2]", "+1.2 [$-$0.3, +2]"),
        ("--seeds", "-{}-seeds"),
        ("a\\b", r"a\textbackslash{}b"),
        ("x~y^z", r"x\textasciitilde{}y\textasciicircum{}z"),
        ("a <\n b", "a $<$ b"),
        ("naïve e\u0301", "naïve é"),
        ("H₂O", "H${}_{2}$O"),
        ("1/(μ−δ)", r"1/($\mu-\delta$)"),
        ("nul\0", "nul"),
    ],
)
def test_latex_of_special_characters(text, expected):
    assert escape(text) == expected


@given(st.text())
def test_latex_is_balanced_whatever_the_text(text):
    found = escape(text)
    bare = without_escapes(found)
    depth = 0
    for brace in re.findall("[{}]", bare):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert bare.count("$") % 2 == 0
    assert not re.search("[&#%~]", bare)
    assert not re.search(r"[\^_]", re.sub(r"\$[^$]*\$", "", bare)), "raised only in formulas"
    assert "\n" not in found


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_compiles(tmp_path):
    page = "\\documentclass{article}\\usepackage[utf8]{inputenc}\\usepackage{booktabs}"
    page += "\\begin{document}\n" + GRID.latex() + "\n\\end{document}\n"
    (tmp_path / "page.tex").write_text(page)
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "page.tex"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)


def test_terminal_shows_markup_as_text():
    text = printed(GRID)
    assert "[bold]τ⁺[/]" in text
    assert "Accuracy in %" in text
    assert "α = 1/μ." in text


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [((), (), "no columns"), (("a", "b"), (("1", "2"), ("1",)), "row 2 .* has 1 cells")],
)
def test_ragged_tables_are_refused(header, rows, message):
    with pytest.raises(ValueError, match=message):
        Grid("t", header, rows)
