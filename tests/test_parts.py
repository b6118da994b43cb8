"""What is installed: few packages for the core, and one line where an extra is missing."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from tests.cli.conftest import augcl as augcl_command

import augcl
from augcl import errors
from augcl.data.loading import PACKAGED
from augcl.errors import EXTRAS, InputError, need

PACKAGE = Path(augcl.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
WITHOUT = """
import sys
for name in sys.argv.pop(1).split(","):
    sys.modules[name] = None
from augcl.cli.main import main
main()
"""


def normal(requirement):
    """The name of a requirement, in the one spelling of package indices."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


CORE = {normal(text) for text in PROJECT["dependencies"]}
OPTIONAL = {
    extra: {normal(text) for text in texts}
    for extra, texts in PROJECT["optional-dependencies"].items()
}


@pytest.fixture
def run(tmp_path):
    """Run the command line in a process in which some packages cannot be imported."""

    def command(missing, *args):
        return subprocess.run(
            [sys.executable, "-c", WITHOUT, ",".join(missing), *map(str, args)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )

    return command


def imported():
    """The first names of all modules that the package imports, with what is imported at once."""
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module]
            yield from (name.split(".")[0] for name in names)


def test_the_core_has_at_most_ten_dependencies():
    assert len(CORE) == len(PROJECT["dependencies"]) <= 10
    assert not any(";" in text for text in PROJECT["dependencies"])
    assert PROJECT["requires-python"] == ">=3.11"


def test_every_import_is_of_a_declared_package():
    declared = CORE.union(*(OPTIONAL[extra] for extra in OPTIONAL if extra != "dev"))
    for parent in ("scikit-learn", "typer"):
        declared |= {normal(text) for text in requires(parent) if "extra ==" not in text}
    known = packages_distributions()
    foreign = set(imported()) - set(sys.stdlib_module_names) - {"augcl"}
    assert {"numpy", "rich", "torch"} <= foreign
    foreign.remove("pandas")  # who asks for `set_output(transform="pandas")` has it
    for name in foreign & set(known):
        assert {normal(package) for package in known[name]} & declared, name


@pytest.mark.parametrize(("package", "extra"), EXTRAS.items())
def test_an_optional_package_is_in_the_extra_that_messages_name(package, extra):
    assert package in OPTIONAL[extra]
    assert extra in ",".join(PROJECT["optional-dependencies"]["all"])


def test_a_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setattr(errors.sys, "version_info", (3, 13, 0))
    with pytest.raises(InputError) as caught:
        need("gensim", "DeepWalk")
    assert str(caught.value) == "DeepWalk needs gensim: pip install 'augcl[walks]'"


def test_a_python_without_a_wheel_is_told_which_have_one(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setattr(errors.sys, "version_info", (3, 14, 0))
    with pytest.raises(InputError, match=r"with Python 3.11 to 3.13; it has no wheel for 3.14$"):
        need("gensim", "DeepWalk")


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ("gensim", ["train", "digits-knn", "--method", "DeepWalk"]),
        ("matplotlib", ["reproduce", "figure-1"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_corner_without_its_package_says_so_in_one_line(monkeypatch, tmp_path, package, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    done = augcl_command(*command)
    assert (done.code, done.out) == (2, "")
    line = f"augcl: .* needs {package}: pip install 'augcl\\[{EXTRAS[package]}\\]'\n"
    assert re.fullmatch(line, done.err)
    assert list(tmp_path.iterdir()) == []


def test_the_core_trains_without_any_extra(run, tmp_path):
    done = run([*EXTRAS, "grakel"], "train", "--epochs", 1, "--seeds", 1, "--out", "x")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Embeddings, model and report.html are in x" in done.stdout
    assert (tmp_path / "x" / "report.html").exists()
    assert (tmp_path / "x" / "embeddings.npz").exists()


@pytest.mark.parametrize(
    "method", ["DeepWalkFeatures", "Node2Vec", "Node2VecGraphs", "Graph2Vec", "Sub2Vec"]
)
def test_methods_on_walks_need_gensim_before_they_read_data(monkeypatch, method):
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(InputError, match=f"^{method} needs gensim: pip install 'augcl.walks.'"):
        getattr(augcl, method)().fit(None)


def test_a_deep_graph_kernel_needs_gensim_only_to_learn(monkeypatch, molecules):
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(InputError, match="similarity='vectors' needs gensim"):
        augcl.DeepGraphKernel().fit(molecules)
    assert len(augcl.DeepGraphKernel(similarity="none").fit_transform(molecules)) == len(molecules)


def test_new_graphs_of_graph2vec_need_gensim(monkeypatch, molecules):
    pytest.importorskip("gensim", reason="gensim has no wheel for this Python")
    model = augcl.Graph2Vec(passes=1, progress=False).fit(molecules.select(range(30)))
    monkeypatch.setitem(sys.modules, "gensim", None)
    with pytest.raises(InputError, match="needs gensim"):
        model.transform(molecules.select(range(30, 40)))


def test_tables_need_no_matplotlib_and_figures_say_so(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("augcl.paper")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    from augcl.paper import reproductions
    from augcl.paper.figures import Line, line_panels

    assert reproductions.REPRODUCTIONS
    with pytest.raises(InputError, match="a figure needs matplotlib: pip install"):
        line_panels({"x": [Line("a", [0.0, 1.0], [0.0, 1.0])]}, xlabel="x", ylabel="y")


@pytest.fixture
def older(molecules, tmp_path):
    """A model file as version 0.1 wrote it: without a format."""
    from safetensors import safe_open
    from safetensors.torch import save_file

    file = tmp_path / "model" / "model.safetensors"
    augcl.WLKernel(height=1).fit(molecules).save(file.parent)
    with safe_open(str(file), framework="pt") as saved:
        tensors = {name: saved.get_tensor(name) for name in saved.keys()}  # noqa: SIM118
        facts = json.loads(saved.metadata()["augcl"])["facts"]
    save_file(tensors, file, metadata={"facts": json.dumps(facts)})
    return file.parent


def test_a_model_of_an_older_version_is_refused_in_one_line(older):
    with pytest.raises(InputError, match="was written by an older augcl"):
        augcl.load_model(older)
    done = augcl_command("embed", older, "MUTAG")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert done.err.endswith("was written by an older augcl: train again\n")


def test_a_run_of_an_older_version_is_refused_in_one_line(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "result.json").write_text('{"dataset": "MUTAG"}')
    done = augcl_command("report", "x")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "x/result.json was written by an older augcl" in done.err


def test_mutag_is_the_only_data_in_the_package():
    assert [file.name for file in PACKAGED.iterdir()] == ["MUTAG.zip"]
    assert (PACKAGED / "MUTAG.zip").stat().st_size < 30_000
