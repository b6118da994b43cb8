"""The `augcl` command: collects the commands and turns mistakes into one clear line."""

from __future__ import annotations

import errno
import inspect
import io
import os
import signal
import sys
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import typer
from rich.console import Console
from rich.table import Table

from augcl import __version__
from augcl.cli.attack import attack
from augcl.cli.compare import compare
from augcl.cli.data import data
from augcl.cli.doctor import doctor
from augcl.cli.embed import embed
from augcl.cli.evaluate import evaluate
from augcl.cli.explore import explore
from augcl.cli.methods import methods
from augcl.cli.neighbors import neighbors
from augcl.cli.report import report
from augcl.cli.reproduce import reproduce
from augcl.cli.train import train
from augcl.errors import InputError, printable
from augcl.training.launch import LOST, is_follower, last_word
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

ABOUT = (
    f"augcl {__version__}: embeddings of graphs, or of the nodes of a graph, without labels.",
    "Three commands to try; none of them needs a file or a network:",
)
TO_TRY = (
    ("augcl train", "learn embeddings of 188 molecules; write a report"),
    ("augcl compare", "find out which method suits them"),
    ("augcl train digits-knn", "embed the nodes of one graph"),
)
OWN_GRAPHS = (
    "Your own graphs: augcl data my.zip shows what is in a file, augcl compare my.zip recommends "
    "what to use. All commands: augcl --help"
)

app = typer.Typer(
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
    explore,
)
for command in COMMANDS:
    app.command(help=flowing(command.__doc__ or ""))(command)


ALONE = ("compare", "reproduce", "attack")
"""Commands that train many models, each in one process."""


def greet() -> None:
    """Print what a newcomer can try; the lines fit the terminal."""
    console = Console(highlight=False)
    tried = Table.grid(padding=(0, 2))
    tried.add_column(no_wrap=True)
    for command, what in TO_TRY:
        tried.add_row(f"    {command}", what)
    for part in (*ABOUT, tried):
        console.print(part)
        console.print()
    console.print(OWN_GRAPHS)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"augcl {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    if context.invoked_subcommand is None:
        greet()
    if context.invoked_subcommand in ALONE and int(os.environ.get("WORLD_SIZE") or 1) > 1:
        raise InputError(
            f"several processes share the work of augcl train alone: start augcl "
            f"{context.invoked_subcommand} without torchrun (--jobs uses all cores)"
        )


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
        with _stopping():
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
        said = last_word(error)
        code = LOST if said is None else _fail(said)
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
        code = _fail(f"{message} (see {command} --help)")
    if code == INTERRUPTED:  # Typer returns this code for Ctrl-C
        code = _signal_code
        cures = {
            "train": "; the same command with --resume continues from the last checkpoint",
            "attack": "; the same command with --resume continues from the last checkpoint",
            "reproduce": "; the same command continues",
            "compare": "; the same command continues",
        }
        if is_follower():
            return code
        _fail("stopped" + cures.get("".join(sys.argv[1:2]), ""))
        exec("")  # if Ctrl-C met another `exec`, Python would end by the signal, not by our code
    return code if isinstance(code, int) else 0


_signal_code = INTERRUPTED
UNHEARD = 1.0
"""Seconds after which a signal is raised again if its exception was lost."""


class _Stopped(KeyboardInterrupt):
    """Ctrl-C or SIGTERM; a class of our own, because weak references need one."""


@contextmanager
def _stopping() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM, which batch systems send, end the command alike, and for sure.

    C code that is importing or calling back may drop an exception; the training would go on. If
    the exception is gone before the command has ended, another one is raised.
    """
    raised: weakref.ref[_Stopped] | None = None

    def stop(number: int, _: object) -> None:
        global _signal_code
        nonlocal raised
        if number == signal.SIGTERM:
            _signal_code = TERMINATED
        if repeats:
            signal.setitimer(signal.ITIMER_REAL, UNHEARD)
            if number == signal.SIGALRM and raised is not None and raised() is not None:
                return  # on its way
        error = _Stopped()
        raised = weakref.ref(error)
        try:
            raise error
        finally:
            del error  # else its traceback keeps it

    repeats = hasattr(signal, "setitimer")
    numbers = [signal.SIGINT, signal.SIGTERM] + ([signal.SIGALRM] if repeats else [])
    before = {}
    with suppress(ValueError):  # not in the main thread
        for number in numbers:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as behind nohup
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        if before and repeats:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def _nobody_reads() -> int:
    """End in silence, as other commands do behind ``| head``."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED_PIPE


def _fail(message: str) -> int:
    message = " ".join(str(InputError(message)).split())  # long values are shortened
    print(f"augcl: {printable(message)}", file=sys.stderr)
    return 2
