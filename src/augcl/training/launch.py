"""Start the processes that train one model, as torchrun does, and end them together."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

from augcl.errors import InputError, LostProcessError
from augcl.training.threads import end_with

LOST = 3
"""Exit code of a process that ends because another one has: that one is to blame."""
GRACE = 3.0
"""Seconds in which the process to blame must be found."""
CALLER = "AUGCL_CALLER"
"""Environment variable with the process that has started this one by `run_together`."""
SAID = 10.0
"""Seconds that the first process has to say what is wrong, and to end."""
AGAIN = "the same command with --resume continues"


def environments(devices: int, nodes: int) -> list[dict[str, str]] | None:
    """Return what the environment tells each process that is to be started on this machine.

    None if the processes are there already, and this is one of them: torchrun or SLURM has started
    it. For SLURM the environment is completed.

    >>> [e["RANK"] for e in environments(2, 1) or []]
    ['0', '1']
    """
    size = devices * nodes
    given = os.environ
    if "RANK" in given and "WORLD_SIZE" in given:
        if CALLER in given:
            end_with(int(given[CALLER]))
        if int(given["WORLD_SIZE"]) != size and size > 1:
            raise InputError(
                f"--devices {devices} and --nodes {nodes} make {size} processes, but torchrun has "
                f"started {given['WORLD_SIZE']}: leave both out"
            )
        return None
    if size == 1:
        return None
    if "SLURM_PROCID" in given and given.get("SLURM_STEP_ID") is not None:
        if int(given.get("SLURM_NTASKS", 1)) != size:
            raise InputError(
                f"SLURM has started {given.get('SLURM_NTASKS', 1)} processes: start {size}, one "
                f"for each device, with srun --nodes {nodes} --ntasks-per-node {devices}"
            )
        names = {"RANK": "PROCID", "LOCAL_RANK": "LOCALID", "NODE_RANK": "NODEID"}
        os.environ.update({name: given[f"SLURM_{theirs}"] for name, theirs in names.items()})
        os.environ.update(WORLD_SIZE=str(size), LOCAL_WORLD_SIZE=str(devices))
        return None
    missing = [n for n in ("NODE_RANK", "MASTER_ADDR", "MASTER_PORT") if n not in given]
    if nodes > 1 and missing:
        raise InputError(
            f"--nodes {nodes} needs {', '.join(missing)} in the environment of every machine (its "
            "number from 0; name and a free port of machine 0), or torchrun or SLURM"
        )
    node = int(given.get("NODE_RANK", 0))
    common = {
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(devices),
        "NODE_RANK": str(node),
        "MASTER_ADDR": given["MASTER_ADDR"] if nodes > 1 else "127.0.0.1",
        "MASTER_PORT": given["MASTER_PORT"] if nodes > 1 else str(_free_port()),
        CALLER: str(os.getpid()),
        "OMP_NUM_THREADS": given.get("OMP_NUM_THREADS")
        or str(max(1, (os.cpu_count() or 1) // devices)),
    }
    return [
        {**given, **common, "LOCAL_RANK": str(local), "RANK": str(node * devices + local)}
        for local in range(devices)
    ]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_follower() -> bool:
    """Return whether this is one of several processes and not the first, which writes and speaks.

    >>> is_follower()
    False
    """
    return int(os.environ.get("WORLD_SIZE") or 1) > 1 and int(os.environ.get("RANK") or 0) > 0


def last_word(error: InputError) -> str | None:
    """Return what this process says of an error that ends it; None if another one says enough.

    All processes find the same mistake: the others leave the first one time to say it, and are
    ended by whoever started them.
    """
    if isinstance(error, LostProcessError) and CALLER in os.environ:
        return None
    if not is_follower():
        return str(error)
    time.sleep(SAID)
    return f"process {os.environ['RANK']}: {error}"


def run_together(command: Sequence[str], environments: Sequence[dict[str, str]]) -> int:
    """Run a command in several processes; return the exit code of the first that failed, or 0.

    If one ends with an error, all are ended. One that was killed is named in an `InputError`;
    others have said themselves what is wrong.
    """
    processes: list[subprocess.Popen[bytes]] = []
    try:
        # A session of their own: Ctrl-C reaches this process alone, which ends them.
        processes.extend(
            subprocess.Popen(command, env=environment, start_new_session=True)
            for environment in environments
        )
        codes = _first_failure(processes)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
    for environment, code in zip(environments, codes, strict=True):
        if code is not None and code < 0:
            raise InputError(
                f"process {environment['RANK']} of {environment['WORLD_SIZE']} was killed "
                f"({signal.Signals(-code).name}), perhaps for lack of memory: {AGAIN}"
            )
    found = [code for code in codes if code not in (None, 0, LOST)]
    if found:
        return int(found[0] or 0)
    if LOST in codes:
        raise InputError(f"a process on another machine has ended: {AGAIN}")
    return 0


def _first_failure(processes: Sequence[subprocess.Popen[bytes]]) -> list[int | None]:
    """Wait until all have ended well or one has not; return the exit codes of that moment."""
    until = float("inf")
    while True:
        codes = [process.poll() for process in processes]
        failed = [code for code in codes if code not in (None, 0)]
        if None not in codes or any(code != LOST for code in failed) or time.monotonic() > until:
            return codes
        if failed:
            until = min(until, time.monotonic() + GRACE)
        time.sleep(0.05)


def this_command() -> list[str]:
    """Return the command line of this process, to be run again."""
    return [sys.executable, "-m", "augcl", *sys.argv[1:]]
