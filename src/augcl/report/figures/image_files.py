"""A figure as files that are the same bytes whenever they are written again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from augcl.files import atomic_path

TEXT_STAYS_TEXT: Any = {"svg.fonttype": "none", "pdf.fonttype": 42}
SAME_NAMES_INSIDE: Any = {"svg.hashsalt": "augcl"}
NO_DATE: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "png": {},
    "pdf": {"CreationDate": None},
}


def save(figure: Figure, stem: Path, kinds: Sequence[str] = tuple(NO_DATE)) -> list[Path]:
    """Write stem.svg, stem.png and stem.pdf, or some of them; returns their paths.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> figure = Figure(figsize=(1, 1))
    >>> [path.name for path in save(figure, Path(mkdtemp()) / "v0.1-empty")]
    ['v0.1-empty.svg', 'v0.1-empty.png', 'v0.1-empty.pdf']
    """
    paths = []
    for kind in kinds:
        path = stem.with_name(f"{stem.name}.{kind}")
        settings = matplotlib.rc_context(TEXT_STAYS_TEXT | SAME_NAMES_INSIDE)
        with settings, atomic_path(path) as temporary:
            figure.savefig(temporary, format=kind, metadata=NO_DATE[kind], dpi=200)
        paths.append(path)
    return paths
