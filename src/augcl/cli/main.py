"""The `augcl` command: collects the commands and turns mistakes into one clear line."""

from __future__ import annotations

import errno
import inspect
import io
import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer

from augcl import __version__
from augcl.cli.attack import attack
from augcl.cli.compare import compare
from augcl.cli.data import data
from augcl.cli.doctor import doctor
from augcl.cli.embed import embed
from augcl.cli.evaluate import evaluate
from augcl.cli.methods import methods
from augcl.cli.neighbors import neighbors
from augcl.cli.report import report
from augcl.cli.reproduce import reproduce
from augcl.cli.train import train
from augcl.errors import InputError, printable
from augcl.training.progress import print_warning
from augcl.training.threads import keep_freed_memory

INTERRUPTED, TERMINATED, CLOSED_PIPE = 130, 143, 141
CURES = {
    errno.ENOSPC: "free some space, then repeat the command (augcl train: with --resume)",
    errno.EDQUOT: "free some space, then repeat the command (augcl train: with --resume)",
    errno.EFBIG: "free some space, then repeat the command (augcl train: with --resume)",
    errno.EACCES: "change its permissions or choose another path",
    errno.EPERM: "change its permissions or choose another path",
    errno.EROFS: "choose another path",
    errno.ENOTDIR: "a file is in the way, choose another path",
    errno.EEXIST: "a file is in the way, choose another path",
    errno.EISDIR: "give a file, not a folder",
}

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Self-supervised learning on graphs with hardness-aware negatives (AUGCL).\n\n"
    "Start with [bold]augcl train[/bold]: it needs neither files nor a network. "
    "[bold]augcl compare[/bold] recommends what to use on your data.",
)


def flowing(text: str) -> str:
    """Return help with one line per paragraph, for the terminal to wrap; keep indented lines.

    >>> flowing("Measure a table.\\n\\nAll cells\\nare kept.\\n\\n    augcl a\\n    augcl b")
    'Measure a table.\\n\\nAll cells are kept.\\n\\n    augcl a\\n    augcl b'
    """
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(p if p.startswith(" ") else p.replace("\n", " ") for p in paragraphs)


COMMANDS = (
    train,
    embed,
    evaluate,
    neighbors,
    compare,
    reproduce,
    attack,
    data,
    methods,
    doctor,
    report,
)
for command in COMMANDS:
    app.command(help=flowing(command.__doc__ or ""))(command)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"augcl {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    pass


def main() -> None:
    """Run the command line. Exit code 0: done; 2: the input is wrong; 1: our bug."""
    warnings.showwarning = print_warning
    keep_freed_memory()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal may not know a letter
            stream.reconfigure(errors="replace")
    code = _run()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _nobody_reads()
    sys.exit(code)


def _run() -> int:
    try:
        with _terminating():
            code = app(standalone_mode=False)
    except SystemExit as stop:  # the way of Typer and Rich to say that nobody reads the output
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        return _nobody_reads()
    except BrokenPipeError:
        return _nobody_reads()
    except MemoryError:
        code = _fail("not enough memory: use a smaller batch size or --jobs 1, or a larger machine")
    except InputError as error:
        code = _fail(str(error))
    except OSError as error:
        if error.errno is None:
            raise
        place = f"{error.filename}: " if error.filename else ""
        cure = f"; {CURES[error.errno]}" if error.errno in CURES else ""
        code = _fail(f"{place}{error.strerror}{cure}")
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        if not hasattr(error, "format_message"):  # not a mistake on the command line
            raise
        message = error.format_message()
        context = getattr(error, "ctx", None)
        command = "augcl" if context is None else context.command_path
        # Without a message the help was asked for, by giving no command, and has been printed.
        code = _fail(f"{message} (see {command} --help)") if message else 0
    if code == INTERRUPTED:  # Typer returns this code for Ctrl-C
        code = _signal_code
        cures = {
            "train": "; the same command with --resume continues from the last epoch",
            "attack": "; the same command with --resume continues from the last checkpoint",
            "reproduce": "; the same command continues",
            "compare": "; the same command continues",
        }
        _fail("stopped" + cures.get("".join(sys.argv[1:2]), ""))
    return code if isinstance(code, int) else 0


_signal_code = INTERRUPTED


@contextmanager
def _terminating() -> Iterator[None]:
    """Let SIGTERM, which batch systems send, end the command as Ctrl-C does."""

    def stop(*_: object) -> None:
        global _signal_code
        _signal_code = TERMINATED
        raise KeyboardInterrupt

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _nobody_reads() -> int:
    """End in silence, as other commands do behind ``| head``."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED_PIPE


def _fail(message: str) -> int:
    message = " ".join(str(InputError(message)).split())  # long values are shortened
    print(f"augcl: {printable(message)}", file=sys.stderr)
    return 2
