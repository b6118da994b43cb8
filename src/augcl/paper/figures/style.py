"""The common style of all figures: sizes in print, fonts, colours, the legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from augcl.errors import need
from augcl.files import atomic_path

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

COLUMN, PAGE = 3.5, 7.16  # widths of one and of two columns of a journal, in inches
SMALL = 7
FITS = 0.94  # share of the available width that a legend may fill
INK, PALE = "#222222", "#8a8a8a"

# Any, because the key type of rc_context changed between versions of matplotlib.
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # part of matplotlib: figures look the same everywhere
    "font.size": 8,
    "text.color": INK,
    "text.parse_math": False,  # show names unchanged, including dollar signs
    "text.usetex": False,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "axes.labelcolor": INK,
    "axes.edgecolor": PALE,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.unicode_minus": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.6,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.color": PALE,
    "ytick.color": PALE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.2,
    "legend.handletextpad": 0.6,
}

# Okabe and Ito's colours, which colour-blind readers can distinguish, without the pale yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")


Given = ParamSpec("Given")
Drawn = TypeVar("Drawn")


def styled(draw: Callable[Given, Drawn]) -> Callable[Given, Drawn]:
    """Apply our style to a drawing function; import matplotlib only when it is called."""

    @wraps(draw)
    def drawn(*args: Given.args, **kwargs: Given.kwargs) -> Drawn:
        need("matplotlib", "a figure")
        import matplotlib

        with matplotlib.rc_context(STYLE):
            return draw(*args, **kwargs)

    return drawn


@dataclass(frozen=True)
class SeriesStyle:
    """Colour and marker of one name in a figure."""

    colour: str
    marker: str


def looks(names: Iterable[str]) -> dict[str, SeriesStyle]:
    """Return a style for every name, in order of first appearance.

    >>> looks(["base", "ours", "base"])["ours"]
    SeriesStyle(colour='#D55E00', marker='s')
    """
    return {
        name: SeriesStyle(COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)])
        for number, name in enumerate(dict.fromkeys(names))
    }


def legend_above(figure: Figure, handles: Sequence[Artist]) -> None:
    """Place one legend above all panels, in as few lines as possible."""
    for lines in range(1, len(handles) + 1):
        columns = math.ceil(len(handles) / lines)
        legend = figure.legend(handles=handles, loc="outside upper center", ncols=columns)
        if width_of(legend, figure) <= FITS * figure.get_figwidth() or columns == 1:
            return
        legend.remove()


def width_of(artist: Artist, figure: Figure) -> float:
    """Return the width of an artist of `figure` in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    return artist.get_window_extent(renderer).width / figure.dpi


def text_width(text: str, size: float) -> float:
    """Return the width of `text` in inches."""
    from matplotlib.figure import Figure

    figure = Figure()
    return width_of(figure.text(0, 0, text, size=size), figure)


def freeze(figure: Figure) -> Figure:
    """Fix the layout of the figure, so that all its files have the same layout."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


TEXT_STAYS_TEXT: Any = {"svg.fonttype": "none", "pdf.fonttype": 42}
SAME_NAMES_INSIDE: Any = {"svg.hashsalt": "augcl"}
NO_DATE: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "png": {},
    "pdf": {"CreationDate": None},
}


def save(figure: Figure, stem: Path, kinds: Sequence[str] = tuple(NO_DATE)) -> list[Path]:
    """Write stem.svg, stem.png and stem.pdf, or only the given kinds; return their paths.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from matplotlib.figure import Figure
    >>> figure = Figure(figsize=(1, 1))
    >>> [path.name for path in save(figure, Path(mkdtemp()) / "v0.1-empty")]
    ['v0.1-empty.svg', 'v0.1-empty.png', 'v0.1-empty.pdf']
    """
    import matplotlib

    paths = []
    for kind in kinds:
        path = stem.with_name(f"{stem.name}.{kind}")
        settings = matplotlib.rc_context(TEXT_STAYS_TEXT | SAME_NAMES_INSIDE)
        with settings, atomic_path(path) as temporary:
            figure.savefig(temporary, format=kind, metadata=NO_DATE[kind], dpi=200)
        paths.append(path)
    return paths
