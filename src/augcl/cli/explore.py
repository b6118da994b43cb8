"""`augcl explore`: open the page of a run, or of two runs side by side, in the browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from augcl.cli.options import DataDir, say
from augcl.errors import InputError


def explore(
    run: Annotated[
        Path,
        typer.Argument(
            help="Folder of a finished run, or a page that augcl compare or reproduce wrote."
        ),
    ],
    other: Annotated[
        Path | None, typer.Argument(help="Folder of a second run, to see it beside the first.")
    ] = None,
    floors: Annotated[
        bool,
        typer.Option(
            "--floors",
            help="Score what needs no training and the untrained network beside each run.",
        ),
    ] = False,
    tsne: Annotated[
        bool, typer.Option("--tsne", help="Add a t-SNE plane to each map; minutes for 10,000.")
    ] = False,
    data_dir: DataDir = None,
    show: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in the browser.")
    ] = True,
) -> None:
    """Open the page of a run in the browser; of two runs: side by side, with one selection.

    The page is one file that needs no network: report.html of the run, or explore.html in the
    folder of the first of two. Where there is no browser, the path is printed alone. What --floors
    and --tsne compute is kept in the run.

    Example: augcl explore runs/mine

    Example: augcl explore comparison/recommendation-MUTAG.html
    """
    if run.suffix == ".html" and run.is_file():
        if other is not None or floors or tsne:
            raise InputError(f"{run} is a page: give it alone, or the folder of a run")
        say(f"the page is {run}")
        _show(run, show)
        return
    from augcl.runs.beside_run import compute_floors, compute_tsne
    from augcl.runs.embedding_file import read_embeddings
    from augcl.runs.page import shown_points, write_report, write_side_by_side
    from augcl.runs.seeds import read_result

    for folder in [run] if other is None else [run, other]:
        read_result(folder)
        if floors:
            compute_floors(folder, data_dir=data_dir)
        if tsne:
            stored = read_embeddings(folder / "embeddings.npz")
            compute_tsne(folder, stored, shown_points(len(stored.Z)))
    page = write_report(run) if other is None else write_side_by_side(run, other)
    say(f"wrote {page}")
    _show(page, show)


def _show(page: Path, show: bool) -> None:
    """Open a page in the browser, where there is one."""
    if show and _has_browser():
        webbrowser.open(page.resolve().as_uri())


def _has_browser() -> bool:
    """Whether a browser with windows can be opened: one in the terminal draws no page."""
    if sys.platform.startswith("linux"):
        wanted = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
        if not any(os.environ.get(name) for name in wanted):
            return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True
