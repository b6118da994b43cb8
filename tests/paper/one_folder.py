"""Processes that compute cells in one folder; test_compute_missing.py runs it as a process.

    python one_folder.py FOLDER

Children are forked, so that each has torch at hand at once. A cell is not trained here: who takes
it writes a line "PLACE NAME" to FOLDER/SCENARIO/log. Prints, by scenario, the exit codes.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from augcl.files import atomic_path, write_json
from augcl.paper.cells import Cell, compute_missing
from augcl.runs.run import Spec

CELLS = [Cell(Spec("MUTAG"), seed) for seed in range(8)]
FIRST, SECOND = CELLS[:2]


def lines(out: Path) -> list[str]:
    log = out / "log"
    return log.read_text().splitlines() if log.exists() else []


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def process(place: str, out: Path, cells: list[Cell], work: Callable[[Cell], None]) -> int:
    """A child that computes cells; `work` is what it does between claim and result."""
    out.mkdir(parents=True, exist_ok=True)
    pid = os.fork()
    if pid:
        return pid

    def compute(cell: Cell, out: Path, data_dir: str | None) -> None:
        with (out / "log").open("a") as log:
            log.write(f"{place} seed-{cell.seed}\n")
        work(cell)
        write_json(cell.path(out), {"place": place})

    Cell.compute = compute
    failures = compute_missing(cells, out, data_dir=None, jobs=1)
    print(*failures, sep="\n", file=sys.stderr, flush=True)
    os._exit(len(failures))


def code(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def together(out: Path) -> list[int]:
    """Two begin at once, from both ends."""
    work = lambda cell: time.sleep(0.03)  # noqa: E731
    return list(map(code, [process(p, out, CELLS, work) for p in ("a", "b")]))


def waiting(out: Path) -> list[int]:
    """One works on a cell until another has nothing else to do."""
    done = SECOND.path(out)

    def slowly(cell: Cell) -> None:
        wait_for(done.exists)
        time.sleep(0.2)

    first = process("slow", out, [FIRST], slowly)
    wait_for(lambda: lines(out) == ["slow seed-0"])
    second = process("quick", out, [FIRST, SECOND], lambda cell: None)
    return [code(first), code(second)]


def killed(out: Path) -> list[int]:
    """One is killed amid writing a result, for which another waits."""

    def forever(cell: Cell) -> None:
        with atomic_path(cell.path(out)) as temporary:
            temporary.write_text("{")
            time.sleep(600)

    first = process("killed", out, [FIRST], forever)
    wait_for(lambda: any(out.rglob("*.tmp")))
    second = process("heir", out, [FIRST, SECOND], lambda cell: None)
    wait_for(SECOND.path(out).exists)
    time.sleep(0.1)
    (out / "before").write_text("\n".join(lines(out)))
    os.kill(first, signal.SIGKILL)
    return [code(first), code(second)]


def failing(out: Path) -> list[int]:
    """One fails amid the work for which another waits."""
    done = SECOND.path(out)

    def fail(cell: Cell) -> None:
        wait_for(done.exists)
        raise RuntimeError("out of luck")

    first = process("unlucky", out, [FIRST], fail)
    wait_for(lambda: lines(out) == ["unlucky seed-0"])
    second = process("heir", out, [FIRST, SECOND], lambda cell: None)
    return [code(first), code(second)]


def latecomer(out: Path) -> list[int]:
    """As one works on what another failed at, a third begins."""
    late = out / "late"

    def slowly(cell: Cell) -> None:
        if cell == FIRST:
            wait_for(late.exists)
            time.sleep(0.2)

    def fail(cell: Cell) -> None:
        wait_for(SECOND.path(out).exists)
        time.sleep(0.1)
        raise RuntimeError("out of luck")

    first = process("unlucky", out, [FIRST], fail)
    wait_for(lambda: lines(out) == ["unlucky seed-0"])
    second = process("heir", out, [FIRST, SECOND], slowly)
    wait_for(lambda: lines(out)[-1] == "heir seed-0")
    third = process("late", out, [FIRST], lambda cell: None)
    late.touch()
    return [code(first), code(second), code(third)]


if __name__ == "__main__":
    place = Path(sys.argv[1])
    scenarios = (together, waiting, killed, failing, latecomer)
    print(json.dumps({s.__name__: s(place / s.__name__) for s in scenarios}))
