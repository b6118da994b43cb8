"""What a person sees: it fits the terminal, numbers are aligned, colours are for screens."""

import os
import re
import shlex
import subprocess
import sys
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from augcl.cli.main import app
from augcl.cli.options import Listing
from augcl.paper.grid import Grid, aligned
from augcl.training.progress import clock, fitted_line

WIDE = Grid(
    "Accuracy in %",
    ("", "measured", "published", "gap", "− GraphCL [95 %]", "p"),
    (
        ("majority", "66.49", "", "", "", ""),
        ("GraphCL", "100.22 ± 11.97", "87.15 ± 0.86", "+13.07", "-1.92 [-16.9, +3.0]", "0.441"),
        ("AUGCL", "88.19 ± 1.12", "89.20 ± 1.08", "-1.01", "+0.96 [-3.2, +5.1]", "0.640"),
    ),
    ("In percent.",),
)
PTY = """
import os, pty, sys
pid, screen = pty.fork()
if pid == 0:
    os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
seen = b""
try:
    while part := os.read(screen, 4096):
        seen += part
except OSError:  # how Linux says that the other side has closed
    pass
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def printed(thing, width):
    console = Console(width=width, file=StringIO())
    console.print(thing)
    return console.file.getvalue()


def on_a_terminal(*arguments, columns):
    """The output of a Python process whose screen is a terminal of that width."""
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    done = subprocess.run(
        [sys.executable, "-c", PTY, *arguments], env=environment, capture_output=True
    )
    assert done.returncode == 0, done.stdout
    return done.stdout.decode()


def without_styles(text):
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


@pytest.mark.parametrize("width", [200, 80, 60, 40])
def test_a_wide_table_continues_below_and_loses_nothing(width):
    text = printed(WIDE.terminal(), width)
    assert max(map(len, text.splitlines())) <= width
    for cell in (cell for row in (WIDE.header, *WIDE.rows) for cell in row):
        assert re.sub(" +", " ", cell) in re.sub(" +", " ", text)
    assert text.count("AUGCL") == len(re.findall("(?m)^ GraphCL", text)) > (width < 80)
    assert text.count("In percent.") == text.count("Accuracy in %") == 1


def test_numbers_stand_under_numbers():
    lines = printed(WIDE.terminal(), 200).splitlines()
    rows = [line for line in lines if line.startswith((" majority", " GraphCL", " AUGCL"))]
    assert len({row.index(".") for row in rows}) == 1
    assert len({row.index("±") for row in rows[1:]}) == 1
    assert len({row.index(",") for row in rows[1:]}) == 1


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), max_size=9)))
def test_aligned_cells_have_one_width_and_the_same_words(cells):
    found = aligned(["head", *cells])
    assert len({cell_len(cell) for cell in found}) == 1
    assert ["".join(cell.split()) for cell in found[1:]] == ["".join(c.split()) for c in cells]


@pytest.mark.parametrize("width", [80, 50, 30])
def test_a_listing_fits_and_tells_all(width):
    rows = (
        ("GraphCL", "graphs", "2020", "Pull a graph and its view together."),
        ("x", "", "", "y"),
    )
    text = printed(Listing(("method", "embeds", "year", "what it does"), rows), width)
    assert max(map(len, text.splitlines())) <= width
    for word in " ".join(cell for row in rows for cell in row).split():
        assert word in text


@pytest.mark.parametrize("columns", [80, 60, 50])
@pytest.mark.parametrize(
    "command", ["", "data", "data MUTAG", "methods", "methods GraphCL", "doctor MUTAG --no-try"]
)
def test_what_commands_print_fits(succeeds, monkeypatch, columns, command):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = succeeds(*command.split())
    assert max(map(len, text.splitlines())) <= columns
    assert "\x1b" not in text
    assert "…" not in text.replace(" …)", "")  # nothing is cut off


def test_the_greeting_has_three_commands_that_exist(succeeds):
    text = succeeds()
    tried = re.findall(r"(?m)^    augcl (.*?)  ", text)
    assert len(tried) == 3
    names = {command.callback.__name__ for command in app.registered_commands}
    assert {shlex.split(line)[0] for line in tried} <= names


def test_colours_are_for_a_terminal_only():
    command = ("-m", "augcl", "--help")  # takes no import of torch
    eighty = {**os.environ, "COLUMNS": "80"}
    plain = subprocess.run([sys.executable, *command], capture_output=True, text=True, env=eighty)
    assert "\x1b" not in plain.stdout
    screen = on_a_terminal(*command, columns=80)
    assert "\x1b[1m" in screen
    assert without_styles(screen).split() == plain.stdout.split()


LINE = """
from augcl.training.progress import progress_bar, training_note
with progress_bar("GraphCL on a-data-set-with-a-long-name", 40, unit="epoch") as report:
    for epoch in range(1, 4):
        report(epoch, training_note({"loss": 3.14159, "weight_std": 0.712}) + "  seeds 0/5")
"""


@pytest.mark.parametrize("columns", [120, 80, 60, 40])
def test_the_line_of_a_training_fits_one_line(columns):
    screen = on_a_terminal("-c", LINE, columns=columns)
    lines = [line for line in re.split(r"[\r\n]+", without_styles(screen)) if line.strip()]
    assert max(map(len, lines)) <= columns
    parts = ["3/40", "loss 3.142", "spread 0.71"]
    parts += ["seeds 0/5"] if columns > 40 else []
    parts += ["epoch 3/40", "GraphCL"] if columns > 60 else []
    for part in parts:
        assert part in lines[-1]
    assert re.search(r"\d:\d\d left|-:-- left", lines[-1])
    assert ("━" in lines[-1]) == (columns >= 80)


@given(
    st.text(max_size=30),
    st.integers(0, 10**5),
    st.integers(30, 120),
    st.sampled_from([None, 5, 75, 4000, 400_000]),
)
def test_count_and_time_are_never_cut(title, count, width, seconds):
    count, time = f"{count}/100000", f"{clock(seconds)} left"
    note = "loss 3.142 spread 0.71  seeds 0/5"
    line = fitted_line(title, "epoch", count, note, time, width)
    assert cell_len(line) <= width
    assert count in line
    assert line.endswith(time)
