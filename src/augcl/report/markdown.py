"""Tables in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# An underline is markup unless it stands between letters or digits.
MARKUP = re.compile(r"[\\`*<\[|&~$]|(?<![^\W_])_|_(?![^\W_])")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first are aligned to the right.

    >>> print(table(["", "a"], [["x", "1"]]))
    |  | a |
    |---|---:|
    | x | 1 |
    """
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    text = ["| " + " | ".join(line) + " |" for line in lines]
    text[1] = "|" + "|".join(lines[1]) + "|"
    return "\n".join(text)


def escape(text: str) -> str:
    """One line of Markdown that shows `text` as it is, also inside a table.

    >>> print(escape("P(a|b) of GraphCL_AUGCL*"))
    P(a\\|b) of GraphCL_AUGCL\\*
    """
    return MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
