"""Data flows through the folders in one order, and no file reaches back."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import augcl

PACKAGE = Path(augcl.__file__).parent
ORDER = [
    "ops",
    "data",
    "views",
    "encoders",
    "hardness",
    "losses",
    "training",
    "methods",
    "evaluation",
    "rivals",
    "attacks",
    "runs",
    "paper",
    "cli",
]
FOR_ALL = {"checks", "contract", "errors", "files"}
FILES = sorted(PACKAGE.rglob("*.py"))
IDS = [str(file.relative_to(PACKAGE)) for file in FILES]
MODERN = {"default_rng", "Generator", "SeedSequence", "PCG64"}


@cache
def tree(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def imported_modules(file):
    """Every module named by an import, wherever in the file it stands."""
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            yield node.module
            if node.module == "augcl":
                yield from (f"augcl.{alias.name}" for alias in node.names)


def dotted(node):
    """`a.b.c` of an attribute expression, or an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def test_every_folder_has_its_place_in_the_order():
    folders = {p.parent.relative_to(PACKAGE).parts[0] for p in FILES if p.parent != PACKAGE}
    assert folders <= set(ORDER)


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_a_file_imports_only_from_its_folder_and_those_before_it(file):
    inside = file.relative_to(PACKAGE).parts
    if inside in (("__init__.py",), ("__main__.py",)):
        return
    home = inside[0]
    allowed = FOR_ALL | set(ORDER[: ORDER.index(home) + 1] if home in ORDER else [])
    ours = {name.split(".")[1] for name in imported_modules(file) if name.startswith("augcl.")}
    ours -= {"__version__"}
    assert ours <= allowed


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_a_file_says_what_it_is_for(file):
    assert ast.get_docstring(tree(file))


def in_a_new_process(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_import_augcl_and_the_help_import_nothing_heavy():
    heavy = "{'torch', 'numpy', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)"
    assert in_a_new_process(f"import sys, augcl; print(*{heavy})") == []
    assert in_a_new_process(f"import sys, augcl.cli.main; print(*{heavy})") == []


def test_the_rooms_are_there_after_import_augcl():
    """Each comes by itself: no room has imported one that stands after it in the order."""
    names = [("hardness", "two_means"), ("rivals", "WLKernel"), ("attacks", "GradArgmax")]
    program = "import sys, augcl"
    for room, name in names:
        program += f"\nprint('augcl.{room}' in sys.modules, augcl.{room}.{name}.__module__)"
    found = in_a_new_process(program)
    assert found[::2] == ["False"] * len(names)
    assert all(module.startswith("augcl.") for module in found[1::2])


def test_every_public_name_is_there():
    assert set(augcl._ROOMS) <= set(dir(augcl))
    for name in dir(augcl):
        assert getattr(augcl, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'hardnes'"):
        _ = augcl.hardnes


@pytest.mark.parametrize("file", FILES, ids=IDS)
def test_no_global_random_state_and_no_pickle(file):
    names = {dotted(node) for node in ast.walk(tree(file)) if isinstance(node, ast.Attribute)}
    assert not names & {"torch.manual_seed", "torch.seed", "torch.load", "torch.save"}
    drawn = {
        name.split(".")[2] for name in names if name.startswith(("np.random.", "numpy.random."))
    }
    assert drawn <= MODERN
    modules = {name.split(".")[0] for name in imported_modules(file)}
    assert not modules & {"pickle", "cPickle", "dill", "cloudpickle", "random"}
