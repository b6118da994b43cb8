"""What only a process of its own can show: signals, workers and the exit code."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from augcl.data.loading import PACKAGED
from augcl.training.checkpoint import Snapshot

AUGCL = (sys.executable, "-m", "augcl")
RUN = ("--seeds", "1", "--jobs", "1", "--no-evaluate")


def start(*arguments, cwd=None):
    return subprocess.Popen(
        [*AUGCL, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        start_new_session=True,  # signals to its group reach its workers and nobody else
        preexec_fn=_listen_to_ctrl_c,
    )


def _listen_to_ctrl_c():
    # What a shell starts in the background ignores Ctrl-C, and so would its children.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def epochs(out):
    file = out / "seed-0" / "metrics.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


def stop(process, out, after, signal_number):
    """Send the signal when so many epochs are done; gives exit code, output and errors."""
    deadline = time.monotonic() + 120
    while epochs(out) < after and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal_number)
    output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors


def test_ctrl_c_says_one_line_and_after_kill_9_too_the_run_goes_on_to_the_same_bits(
    succeeds, tmp_path
):
    command = ("train", "--epochs", 30, *RUN, "--out", tmp_path / "x")
    code, output, errors = stop(start(*command), tmp_path / "x", 3, signal.SIGINT)
    assert (code, output) == (130, "")
    (line,) = errors.splitlines()
    assert line.startswith("augcl: stopped; the same command with --resume continues")
    done = epochs(tmp_path / "x")
    assert 3 <= done < 30

    code, output, errors = stop(
        start(*command, "--resume"), tmp_path / "x", max(16, done + 1), signal.SIGKILL
    )
    assert (code, output, errors) == (-signal.SIGKILL, "", "")
    assert done < epochs(tmp_path / "x") < 30

    succeeds(*command, "--resume")
    succeeds("train", "--epochs", 30, *RUN, "--out", tmp_path / "calm")
    found, expected = (np.load(tmp_path / d / "embeddings.npz")["Z"] for d in ("x", "calm"))
    assert np.array_equal(found, expected)
    assert len((tmp_path / "x" / "metrics.jsonl").read_text().splitlines()) == 30


def test_two_workers_find_graphs_at_a_relative_path_with_spaces(succeeds, tmp_path):
    folder = tmp_path / "my data" / "MUTAG"
    shutil.unpack_archive(PACKAGED / "MUTAG.zip", folder.parent)
    given = ("--epochs", 1, "--seeds", 2, "--hardness", "none", "--json")
    process = start(
        "train", "my data/MUTAG", *given, "--jobs", 2, "--out", "my runs/x", cwd=tmp_path
    )
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    found = json.loads(output)
    assert found == json.loads((tmp_path / "my runs" / "x" / "result.json").read_text())
    alone = ("train", folder, *given, "--jobs", 1, "--out", tmp_path / "alone")
    expected = json.loads(succeeds(*alone))
    assert found["accuracy"] == expected["accuracy"]
    assert found["settings"] == expected["settings"]


def test_the_command_is_installed_and_exits_with_2(tmp_path):
    command = Path(sys.executable).with_name("augcl")
    if not command.exists():
        pytest.skip("augcl is not installed as a command beside this Python")
    done = subprocess.run(
        [command, "train", "--epochs", "-1"], capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def workers(process):
    """The processes that the command has started for its seeds."""
    listed = Path(f"/proc/{process.pid}/task").glob("*/children")
    children = [child for children in listed for child in children.read_text().split()]
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return [child for child, command in commands.items() if b"popen_loky" in command]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_while_workers_start_says_one_line(tmp_path, number):
    process = start("train", "--epochs", 99, "--seeds", 2, "--jobs", 2, "--out", tmp_path / "x")
    wait_for_workers(process)
    if number == signal.SIGKILL:
        os.kill(workers(process)[0], number)  # as the system does when memory is short
    else:
        os.killpg(process.pid, number)
    output, errors = process.communicate(timeout=60)
    code, said = {
        signal.SIGINT: (130, "augcl: stopped; the same command with --resume"),
        signal.SIGTERM: (143, "augcl: stopped; the same command with --resume"),
        signal.SIGKILL: (2, "augcl: a worker of"),
    }[number]
    assert len(errors.splitlines()) == 1, errors  # no traceback of a worker
    assert errors.startswith(said)
    assert (process.returncode, output) == (code, "")
    assert not (tmp_path / "x" / ".lock").exists()


def wait_for_workers(process):
    deadline = time.monotonic() + 60
    while len(workers(process)) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)


TERMINATED = {
    "train": ("train", "--epochs", 999, *RUN),
    "compare": ("compare", "--budget", 300, "--jobs", 2),
    "reproduce": ("reproduce", "graph-classification", "--datasets", "MUTAG", "--jobs", 2),
}


@pytest.mark.parametrize("name", TERMINATED)
def test_sigterm_to_the_whole_group_ends_like_ctrl_c(tmp_path, name):
    process = start(*TERMINATED[name], "--out", tmp_path / "x")
    if name == "train":
        code, output, errors = stop(process, tmp_path / "x", 2, signal.SIGTERM)
        assert Snapshot.read(tmp_path / "x" / "seed-0" / "checkpoint.safetensors").facts["history"]
    else:
        wait_for_workers(process)
        os.killpg(process.pid, signal.SIGTERM)
        output, errors = process.communicate(timeout=60)
        code = process.returncode
    assert (code, output) == (143, "")
    assert errors.startswith("augcl: stopped; the same command")
    assert len(errors.splitlines()) == 1, errors


def test_workers_end_when_the_command_is_killed(tmp_path):
    process = start("train", "--epochs", 999, "--seeds", 2, "--jobs", 2, "--out", tmp_path / "x")
    deadline = time.monotonic() + 60
    while not epochs(tmp_path / "x") and time.monotonic() < deadline:
        time.sleep(0.02)
    pair = workers(process)
    process.kill()
    process.communicate(timeout=60)
    assert len(pair) == 2
    deadline = time.monotonic() + 10
    while any(map(alive, pair)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(map(alive, pair))  # they wrote into the folder of the command that resumes


def alive(process):
    try:
        return "(zombie)" not in Path(f"/proc/{process}/status").read_text()
    except FileNotFoundError:
        return False


LOST = """
import os, signal, sys, time
from augcl.cli import main

def command():
    try:
        exec("os.kill(os.getpid(), signal.{name})")
        time.sleep(5)
    except KeyboardInterrupt:
        pass  # as C code does that clears all errors
    time.sleep(20)

main.UNHEARD = 0.1
main.app = lambda standalone_mode: command()
main.main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_whose_exception_is_lost_ends_the_command_all_the_same(name, code):
    program = [sys.executable, "-c", LOST.format(name=name)]
    done = subprocess.run(
        program, capture_output=True, text=True, timeout=15, preexec_fn=_listen_to_ctrl_c
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == "augcl: stopped\n"
