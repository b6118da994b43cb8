"""Tables in LaTeX, for pdflatex with the packages booktabs and inputenc (utf8)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby

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


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, caption: str, notes: Sequence[str] = ()
) -> str:
    """A floating table; all columns but the first are aligned to the right.

    >>> print(table(["", "α"], [["a_1", "1 ± 2"]], caption="Mine", notes=["50 % of all."]))
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
        rf"  \caption{{{escape(caption)}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
        r"    \toprule",
        _row(header),
        r"    \midrule",
        *map(_row, rows),
        r"    \bottomrule",
        r"  \end{tabular}",
    ]
    if notes:
        text = " ".join(map(escape, notes))
        lines += [r"  \par\smallskip", rf"  \parbox{{\linewidth}}{{\footnotesize {text}}}"]
    return "\n".join([*lines, r"\end{table}"])


def escape(text: str) -> str:
    """One line of LaTeX that shows `text` as it is.

    Letters of alphabets that pdflatex does not know are left for XeLaTeX or LuaLaTeX.

    >>> print(escape("-0.5 ± 0.1 for τ⁺ = 50 %"))
    $-$0.5 $\\pm$ 0.1 for $\\tau{}^{+}$ = 50 \\%
    """
    text = " ".join(unicodedata.normalize("NFC", text).split())
    text = "".join(c for c in text if not unicodedata.category(c).startswith("C"))
    text = re.sub(r"(?<!\w)-(?=[\d.∞])", "−", text)
    text = re.sub(r"-(?=-)", "-\N{ZERO WIDTH SPACE}", text)  # or two hyphens would become a dash
    pieces = []
    for formula, run in groupby(text, lambda c: bool(_maths(c))):
        if formula:
            pieces.append(f"${''.join(map(_maths, run))}$")
        else:
            pieces += [TEXT.get(character, character) for character in run]
    return "".join(pieces)


def _row(cells: Sequence[str]) -> str:
    text = " & ".join(map(escape, cells))
    if text.startswith(("[", "*")):  # else \\ or \toprule would take it for its option
        text = "{}" + text
    return f"    {text.strip()} \\\\"


def _maths(character: str) -> str:
    """The character in maths mode, or nothing if it belongs to text."""
    position, _, codes = unicodedata.decomposition(character).partition(" ")
    if position not in RAISED:
        return MATHS.get(character, "")
    letters = [chr(int(code, 16)) for code in codes.split()]
    raised = "".join(MATHS.get(letter, letter) for letter in letters)
    return f"{{}}{RAISED[position]}{{{raised}}}" if raised.isascii() else ""
