"""`augcl report`: write the page of a run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from augcl.cli.options import say


def report(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
) -> None:
    """Write the report.html of a run again: map, graphs, weights, curves, score.

    Example: augcl report runs/mine
    """
    from augcl.runs.page import write_report

    say(f"wrote {write_report(run)}")
