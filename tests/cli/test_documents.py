"""Every command and block of the documents runs, and prints what the README shows."""

import json
import re
import shlex
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from tests.data.published_files import write_planetoid

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
DOCUMENTS += [*sorted((ROOT / "docs").glob("guides/*.md")), *(ROOT / "docs").glob("concepts/*.md")]

ONE_RUN = "--epochs 2 --seeds 1 --jobs 1"
SMALLER = {
    "train my.zip --out runs/mine": ONE_RUN,
    "train my_folder --out runs/folder": f"{ONE_RUN} --no-evaluate",
    "embed runs/mine new.zip --out z.csv": "",
    "evaluate runs/mine": "",
    "evaluate z.csv": "--repeats 1 --jobs 1",
    "neighbors runs/mine 17 -k 5": "",
    "data my.zip": "",
    "doctor my.zip": "",
    "doctor runs/mine": "",
    "train digits-knn": "--epochs 2 --candidates 64 --no-evaluate",
    "train Cora --method GRACE --preset published --data-dir DIR": "--epochs 2 --no-evaluate",
    "train my_graph --out runs/nodes": "--epochs 2 --no-evaluate",
    "compare MUTAG": "--methods WLFeatures,untrained --seeds 1 --jobs 1 --out compared",
    "compare my.zip": f"{ONE_RUN} --out compared",
    "compare my.zip --hardness-study": f"{ONE_RUN} --out studied",
    "compare my.zip --cluster tcp://first:8786": (
        "--methods WLFeatures --seeds 1 --cluster local:1 --out compared-there"
    ),
    "train MUTAG --method WLFeatures --out runs/MUTAG-WLFeatures": "--seeds 1 --jobs 1",
    "train MUTAG --method GraphCL --hardness hcl --out runs/MUTAG-GraphCL-hcl": ONE_RUN,
    "reproduce graph-classification --datasets MUTAG --seeds 5 "
    "--methods untrained,GraphCL,DCL,HCL,ProGCL,AUGCL,oracle": "--out results",
    "attack components --attack GradArgmax": "--epochs 1 --out attacked",
    "reproduce attacks": "--out results",
    "methods": "",
    "train MUTAG --method WLKernel": "--seeds 1 --jobs 1",
    "data trees": "",
    "train trees --out runs/trees": ONE_RUN,
    "train friends --out runs/friends": ONE_RUN,
    "train friends --method DeepWalk --out runs/walks": "--seeds 1 --jobs 1",
    "train trees --target height --out runs/height": ONE_RUN,
    "train trees --target 'has_*' --out runs/has": ONE_RUN,
    "train drugs.csv --smiles mol --target logP --out runs/drugs": ONE_RUN,
    "train drugs.csv --smiles mol --target logP --method MorganFingerprints --out runs/morgan": (
        "--seeds 1 --jobs 1"
    ),
    "embed runs/drugs new.csv --out z.csv": "",
    "evaluate runs/walks --links": "",
    "train MUTAG --hardness augcl --out runs/seen": ONE_RUN,
    "explore runs/seen --no-open": "",
}
"""What is added to each command of the README and of docs/data.md, so that it takes seconds.

Nothing is left out: where a table is reproduced, its finished cells are at hand.
"""


def commands(text):
    """What stands after ``augcl`` in the indented lines, without comments, in order."""
    lines = re.findall(r"(?m)^    (?:\.venv/bin/)?augcl (.*)$", text)
    return [line.split(" #")[0].strip() for line in lines]


def blocks(document, language):
    return re.findall(rf"```{language}\n(.*?)```", document.read_text(), re.DOTALL)


@pytest.fixture
def place(tmp_path, monkeypatch, tu_files):
    """A folder with the files of which the README speaks."""
    monkeypatch.chdir(tmp_path)
    (sample,) = blocks(ROOT / "README.md", "sh")
    subprocess.run(["sh", "-e", "-c", sample], check=True)
    tu_files("my.zip", range(60))
    tu_files("new.zip", range(60, 100))
    Path("my_graph").mkdir()
    Path("my_graph/edges.csv").write_text("source,target\n" + "a,b\nb,c\nc,d\nd,e\ne,a\na,c\n")
    Path("my_graph/nodes.csv").write_text(
        "node,size,label\n" + "".join(f"{n},{i},{i % 2}\n" for i, n in enumerate("abcde"))
    )
    write_planetoid(Path("DIR"))
    Path("results").mkdir()
    for name in ("MUTAG", "components-15-20"):
        shutil.copy(ROOT / "results" / f"{name}.jsonl", "results")
    return tmp_path


@pytest.fixture
def tu_files(mutag):
    """``tu_files("my.zip", range(60))`` writes some molecules in the TU format."""

    def write(path, numbers):
        some = mutag.select(numbers)
        indicator = some.graph_of_node + 1
        parts = {
            "A": "".join(f"{a + 1}, {b + 1}\n" for a, b in some.edge_index.t().tolist()),
            "graph_indicator": "".join(f"{g}\n" for g in indicator.tolist()),
            "graph_labels": "".join(f"{y}\n" for y in some.y.tolist()),
            "node_labels": "".join(f"{x}\n" for x in some.x.argmax(1).tolist()),
        }
        name = Path(path).stem
        with zipfile.ZipFile(path, "w") as archive:
            for part, text in parts.items():
                archive.writestr(f"{name}/{name}_{part}.txt", text)

    return write


def test_every_command_of_the_documents_is_tried_here():
    found = {command for document in DOCUMENTS for command in commands(document.read_text())}
    assert found == set(SMALLER)


@pytest.mark.filterwarnings("default")  # as in a shell: two epochs may be worth a word
def test_every_command_of_the_readme_runs_in_its_order(place, augcl):
    written = {}
    for command in commands(README):
        words = shlex.split(f"{command} {SMALLER[command]}")
        answer = augcl(*words)
        assert answer.code == 0, f"augcl {' '.join(words)}: {answer.err}"
        written[command] = answer.out
    assert "Result of augcl train over all seeds" in written["evaluate runs/mine"]
    (table,) = (out for name, out in written.items() if "--methods untrained" in name)
    told = shown(re.findall(r"```\n +MUTAG\n.*?```", README, re.DOTALL)[-1])
    assert len(told) == 7
    assert shown(table) == told


@pytest.mark.filterwarnings("default")
def test_every_command_of_the_guide_to_your_data_runs(tmp_path, monkeypatch, augcl):
    monkeypatch.chdir(tmp_path)
    guide = ROOT / "docs" / "data.md"
    for sample in blocks(guide, "sh"):
        subprocess.run(["sh", "-e", "-c", sample], check=True)
    tried = commands(guide.read_text())
    assert len(tried) == 10
    for command in tried:
        words = shlex.split(f"{command} {SMALLER[command]}")
        answer = augcl(*words)
        assert answer.code == 0, f"augcl {' '.join(words)}: {answer.err}"
    assert len(guide.read_text().split()) <= 900


@pytest.mark.parametrize("page", ["index.md", "guides/exploring.md"])
def test_every_command_of_a_page_runs(page, tmp_path, monkeypatch, succeeds):
    monkeypatch.chdir(tmp_path)
    for command in commands((ROOT / "docs" / page).read_text()):
        assert succeeds(*shlex.split(f"{command} {SMALLER[command]}"))


def test_every_command_of_other_pages_is_one_of_these():
    tried = {"README.md", "index.md", "exploring.md", "data.md"}
    run = {c for d in DOCUMENTS if d.name in tried for c in commands(d.read_text())}
    assert run == set(SMALLER)


def shown(table):
    """The numbers of each row of a printed table, by its name."""
    rows = re.findall(r"(?m)^ ?(\w+) +(\d\d\.\d\d ± .*?) *$", table)
    return {name: re.findall(r"[-+]?\d+\.\d+", rest) for name, rest in rows}


def test_what_make_run_prints_is_what_the_readme_shows(succeeds, tmp_path):
    """The command of the Makefile, all five seeds; the last digits depend on the processor."""
    (command,) = re.findall(
        r"(?m)^\t\$\(BIN\)/augcl (.*) --resume$", (ROOT / "Makefile").read_text()
    )
    words = command.replace("runs/first", str(tmp_path / "first")) + " --jobs 1"
    printed, (told,) = (
        succeeds(*shlex.split(words)),
        re.findall(r"```\n( +GraphCL.*?)```", README, re.S),
    )
    ours, theirs = (
        {
            name: re.findall(r"[\d.]+", value)
            for name, value in re.findall(r"│ (.*?) +│ +(.*?) │", text)
        }
        for text in (printed, told)
    )
    assert ours.keys() == theirs.keys()
    near = {
        "accuracy": 2.0,
        "floor": 0.1,
        "spread": 0.25,
        "uncertainty": 0.03,
        "mean": 0.05,
        "mass": 0.05,
    }
    for name, values in theirs.items():
        if not name.startswith("seconds"):
            far = near[name.split()[0]]
            assert float(ours[name][0]) == pytest.approx(float(values[0]), abs=far), name


def test_what_compare_prints_is_what_the_readme_shows(succeeds, tmp_path):
    """The rows that are not trained, all five seeds; the last digits depend on the processor."""
    told = re.findall(r"```\n +MUTAG\n.*?```", README, re.DOTALL)[0]
    rows = dict(re.findall(r"(?m)^ ([\w+]+) +(\d\d\.\d) ±", told))
    quick = [row for row in rows if not row.startswith("GraphCL")]
    assert len(quick) >= 2
    words = ("compare", "MUTAG", "--methods", ",".join(quick), "--jobs", 1, "--out", tmp_path)
    found = {row["name"]: row for row in json.loads(succeeds(*words, "--json"))["rows"]}
    for row in quick:
        assert 100 * found[row]["score"] == pytest.approx(float(rows[row]), abs=1), row


def test_what_make_does_is_what_the_readme_says():
    for target, part in (
        ("run", "augcl train --method GraphCL --preset published --hardness augcl"),
        ("test", "pytest"),
    ):
        done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert part in done.stdout


@pytest.mark.parametrize(
    ("document", "block"),
    [(d.name, b) for d in DOCUMENTS for b in blocks(d, "python")],
    ids=lambda value: value if value.endswith(".md") else "",
)
def test_every_python_block_runs_by_itself(document, block, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    quick = re.sub(r"epochs=\d+", "epochs=4", block)
    exec(compile(quick, document, "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) >= block.count("print(")


def test_every_block_has_a_language_that_is_tried_here():
    for document in DOCUMENTS:
        opened = re.findall(r"(?m)^```(\w*)\n.*?^```$", document.read_text(), re.DOTALL)
        assert set(opened) <= {"", "python", "sh"}, document


def test_what_is_installed_from_is_there():
    assert re.search(r"(?m)^    pip install -c constraints.txt \.(?: |$)", README)
    assert (ROOT / "constraints.txt").exists()
    assert (ROOT / "pyproject.toml").exists()
