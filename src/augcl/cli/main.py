"""The `augcl` command: collects the commands and turns mistakes into one clear line."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import typer

from augcl import __version__
from augcl.cli.data import data
from augcl.cli.embed import embed
from augcl.cli.evaluate import evaluate
from augcl.cli.report import report
from augcl.cli.train import train
from augcl.errors import InputError

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Self-supervised learning on graphs with hardness-aware negatives (AUGCL).\n\n"
    "Start with [bold]augcl train[/bold]: it needs no data of yours and no network.",
)
for command in (train, embed, evaluate, data, report):
    app.command()(command)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"augcl {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    pass


def main() -> None:
    """Run the command line. Exit code 0: done; 2: the input is wrong; 1: our bug."""
    warnings.showwarning = _warn
    try:
        code = app(standalone_mode=False)
    except InputError as error:
        code = _fail(str(error))
    except OSError as error:
        if error.errno is None:
            raise
        place = f"{error.filename}: " if error.filename else ""
        code = _fail(f"{place}{error.strerror}")
    except (KeyboardInterrupt, typer.Abort):
        code = _fail("stopped; the same command with --resume goes on from the last epoch", 130)
    except Exception as error:
        if not hasattr(error, "format_message"):  # not a mistake on the command line
            raise
        code = _fail(f"{error.format_message()} (see augcl --help)")
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int = 2) -> int:
    print("augcl: " + " ".join(message.split()), file=sys.stderr)
    return code


def _warn(message: Any, *_: Any, **__: Any) -> None:
    print(f"augcl: warning: {message}", file=sys.stderr)
