"""Mutants: small wrong changes of the core, one at a time; the tests must fail for each.

    python -m robustness mutants --count 80 --seed 0
    python -m robustness mutants --seed 0 --number 17     # one of them again, with output

Runs in a copy of the tree: the tests of the changed file first, then those of its room, then those
that name something of it. A mutant that no test notices is printed as a difference of one line:
write a test for it, or say why it changes nothing.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

SLOW_TO_IMPORT = ("torch", "torch_geometric", "sklearn.svm", "scipy.stats", "pandas", "hypothesis")
ROOT = Path(__file__).parents[1]
ROOMS = ("ops", "hardness", "losses", "training", "methods", "encoders", "views", "evaluation")
NEEDED = ("src", "tests", "benchmarks", "robustness", "examples", "docs", "results")
WIDER = ("methods", "training", "losses", "rivals")
"""Rooms whose tests use all of the core."""
OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Pow: ("**", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
PAIRS = (
    ("min", "max"),
    ("amin", "amax"),
    ("argmin", "argmax"),
    ("minimum", "maximum"),
    ("clamp_min", "clamp_max"),
    ("sum", "mean"),
    ("any", "all"),
    ("floor", "ceil"),
    ("zeros", "ones"),
    ("zeros_like", "ones_like"),
    ("log", "exp"),
    ("log1p", "expm1"),
    ("train", "eval"),
    ("rows", "columns"),
    ("add_", "sub_"),
    ("mul_", "div_"),
)
NAMES = {**dict(PAIRS), **{b: a for a, b in PAIRS}}
QUIET = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)
"""Messages and what is no arithmetic."""


@dataclass(frozen=True)
class Mutant:
    """One change: the bytes from `start` to `end` of `file` become `new`."""

    file: Path
    line: int
    kind: str
    start: int
    end: int
    new: bytes

    def text(self) -> bytes:
        content = self.file.read_bytes()
        return content[: self.start] + self.new + content[self.end :]

    def __str__(self) -> str:
        before = self.file.read_bytes().splitlines()[self.line - 1].decode().strip()
        after = self.text().splitlines()[self.line - 1].decode().strip()
        place = "/".join(self.file.parts[-3:])
        return f"{place}:{self.line} ({self.kind})\n    - {before}\n    + {after}"


def mutants(file: Path) -> list[Mutant]:
    """Return every mutant of a file."""
    content = file.read_bytes()
    starts = [0]
    for line in content.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def at(line: int | None, column: int | None) -> int:
        return starts[(line or 1) - 1] + (column or 0)

    found = []
    for node in _walk(ast.parse(content)):
        for kind, start, end, new in _changes(node, content, at):
            line = content[:start].count(b"\n") + 1
            found.append(Mutant(file, line, kind, start, end, new))
    return found


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a program, but not docstrings, annotations and messages."""
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, QUIET):
                text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
                if not text:
                    yield from _walk(child)


def _changes(node, content, at):  # type: ignore[no-untyped-def]
    """Yield kind, start, end and new text of each change of one node."""

    def place(part):  # type: ignore[no-untyped-def]
        return at(part.lineno, part.col_offset), at(part.end_lineno, part.end_col_offset)

    def between(left, right, operator, kind):  # type: ignore[no-untyped-def]
        start, end = place(left)[1], place(right)[0]
        old, new = (text.encode() for text in OPERATORS.get(type(operator), ("", "")))
        if old and content[start:end].count(old) == 1:
            yield kind, start, end, content[start:end].replace(old, new)

    if isinstance(node, ast.BinOp):
        texts = [isinstance(p, ast.JoinedStr) or _is_text(p) for p in (node.left, node.right)]
        if not any(texts):
            yield from between(node.left, node.right, node.op, "operator")
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield from between(node.left, node.comparators[0], node.ops[0], "comparison")
    elif isinstance(node, ast.BoolOp):
        yield from between(node.values[0], node.values[1], node.op, "and, or")
    elif isinstance(node, ast.UnaryOp):
        yield "sign", place(node)[0], place(node.operand)[0], b""
    elif isinstance(node, ast.keyword) and node.arg == "dim":
        start, end = place(node.value)
        other = {b"0": b"1", b"1": b"0", b"-1": b"0", b"-2": b"-1"}.get(content[start:end])
        if other:
            yield "dim", start, end, other
    elif isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        start, end = place(node)
        if type(node.value) is bool:
            yield "constant", start, end, str(not node.value).encode()
        elif node.value == 0 or 1e-4 < abs(node.value) < 1e4:  # not tolerances and guards
            more = node.value + 1 if type(node.value) is int or not node.value else 2 * node.value
            yield "constant", start, end, str(more).encode()
    elif isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        end = place(node.func)[1]
        if name in NAMES:
            yield "name", end - len(name), end, NAMES[name].encode()
    elif isinstance(node, ast.Slice):
        for part in (node.lower, node.upper):
            if part is not None:
                yield "slice", *place(part), b""
    elif isinstance(node, ast.If | ast.IfExp):
        start, end = place(node.test)
        yield "condition", start, end, b"(not (" + content[start:end] + b"))"
    one_line = isinstance(node, ast.stmt) and node.lineno == node.end_lineno
    if one_line and (
        (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
        or isinstance(node, ast.AugAssign)
        or (isinstance(node, ast.Assign) and not isinstance(node.targets[0], ast.Name | ast.Tuple))
    ):
        yield "removed", *place(node), b"pass"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def draw(tree: Path, count: int, seed: int, rooms: tuple[str, ...] = ROOMS) -> list[Mutant]:
    """Draw mutants of the core of a tree: each kind as often as the others."""
    kinds: dict[str, list[Mutant]] = {}
    for room in rooms:
        for file in sorted((tree / "src/augcl" / room).glob("*.py")):
            for mutant in mutants(file):
                kinds.setdefault(mutant.kind, []).append(mutant)
    rng = random.Random(seed)
    names = sorted(kinds)
    drawn: list[Mutant] = []
    while len(drawn) < count:
        mutant = rng.choice(kinds[rng.choice(names)])
        with suppress(SyntaxError):
            compile(mutant.text(), str(mutant.file), "exec")
            drawn.append(mutant)
    return drawn


def tests_of(tree: Path, file: Path) -> list[list[str]]:
    """Return the test files of a tree for a file of the core, in stages, the nearest first."""
    room, module = file.parent.name, file.stem
    names = [
        node.name
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]
    used = re.compile(rf"\b({'|'.join([module, *names])})\b")

    def distance(test: Path) -> tuple[int, str]:
        steps = (
            test.stem == f"test_{module}",
            module in test.stem,
            test.parent.name == room and bool(used.search(test.read_text())),
            test.parent.name == room,
            bool(used.search(test.read_text())),
            test.parent.name in WIDER,
        )
        return (steps.index(True) if True in steps else len(steps)), str(test)

    skipped = ("/robustness/", "/benchmarks/", "test_documents", "browser", "test_site")
    near = sorted(map(distance, (tree / "tests").rglob("test_*.py")))
    stages: list[list[str]] = [[os.path.relpath(file, tree)], [], []]  # doctests too
    for rank, path in near:
        if rank < 6 and not any(part in path for part in skipped):
            stages[rank // 2].append(os.path.relpath(path, tree))
    return stages


def main(arguments: list[str]) -> int:
    """Run the tests on each drawn mutant; exit 1 if one survived."""
    parser = argparse.ArgumentParser(prog="python -m robustness mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--seconds", type=int, default=100, help="processor time for each of three stages"
    )
    parser.add_argument("--number", type=int, help="one mutant of the draw, with output")
    parser.add_argument("--first", type=int, default=0, help="begin with this one of the draw")
    parser.add_argument("--rooms", default=",".join(ROOMS))
    given = parser.parse_args(arguments)
    os.environ["OMP_NUM_THREADS"] = "1"
    for name in SLOW_TO_IMPORT:
        importlib.import_module(name)
    ends: Counter[str] = Counter()
    killers: dict[str, list[int]] = {}
    with tempfile.TemporaryDirectory() as place:
        tree = _copy_tree(Path(place).resolve() / "tree")  # else nobody could edit meanwhile
        drawn = draw(tree, given.count, given.seed, tuple(given.rooms.split(",")))
        chosen = range(given.first, len(drawn)) if given.number is None else [given.number]
        for number in chosen:
            began = time.monotonic()
            end, killer, output = _judged(drawn[number], tree, given.seconds)
            if given.number is not None:
                print(output)
            print(f"{number:3} {end:9} {time.monotonic() - began:4.0f} s {killer}", flush=True)
            if end != "killed":
                print(drawn[number], flush=True)
            ends[end] += 1
            if end == "killed":
                killers.setdefault(killer, []).append(number)
        killers.pop("", None)
        sound, _ = _pytest(tree, sorted(killers), 10 * given.seconds, stop=False)
        print("tests that killed pass without a mutant" if sound == 0 else "BUT TESTS FAIL AT REST")
    print(", ".join(f"{count} {end}" for end, count in ends.most_common()))
    return 1 if sound or set(ends) != {"killed"} else 0


def _copy_tree(tree: Path) -> Path:
    for name in NEEDED:
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, tree)
    return tree


def _judged(mutant: Mutant, tree: Path, seconds: int) -> tuple[str, str, str]:
    """Return how the tests end with a mutant, which one failed, and what they say."""
    sound = mutant.file.read_bytes()
    stages = tests_of(tree, mutant.file)
    mutant.file.write_bytes(mutant.text())
    try:
        for tests in stages:
            code, output = _pytest(tree, tests, seconds)
            if code:
                break
    finally:
        mutant.file.write_bytes(sound)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", output, re.MULTILINE)
    if code == 0:
        return "survived", "", output
    if code < 0:  # no end, or no failure in the time given
        stage = ("its own tests", "its room", "other rooms")[stages.index(tests)]
        return "time-out", f"in {stage}", output
    if not failed:
        raise SystemExit(f"the tests did not begin:\n{output}")
    return "killed", failed[0] if "::" in failed[0] else "", output


def _pytest(tree: Path, tests: list[str], seconds: int, stop: bool = True) -> tuple[int, str]:
    """Run tests in a fork of this process, which has imported all that is slow to import."""
    if not tests:
        return 0, ""
    options = [
        "-p",
        "no:cacheprovider",
        "-n",
        "0",
        "-rfE",
        "--tb=line",
        "--durations=1",
        "--assert=plain",
    ]
    with tempfile.TemporaryFile("w+") as output:
        if not (child := os.fork()):
            code: int = pytest.ExitCode.INTERNAL_ERROR
            try:
                os.chdir(tree)
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
                sys.path.insert(0, str(tree / "src"))
                os.environ["PYTHONPATH"] = str(tree / "src")
                sys.dont_write_bytecode = True
                code = pytest.main([*options, *(["-x"] if stop else []), *tests])
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        output.seek(0)
        return code, output.read()
