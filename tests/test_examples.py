"""Every example runs; the README's sample is read as it says, and links lead somewhere."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

from augcl import load

ROOT = Path(__file__).parent.parent


LEAST = {
    "analyst": {r"adjusted Rand index (\S+)": 0.4, r"ROC-AUC (\S+)": 0.7},
    "chemist": {r"Beside: R² on new scaffolds (\S+),": 0.5, r"Fingerprints: R² .*? (\d\S+),": 0.3},
}
"""Scores that the output of an example shows, and what each of them reaches at least."""
NEEDS = {"analyst": "gensim", "chemist": "rdkit"}


@pytest.mark.parametrize("script", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.stem)
def test_the_example_runs(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if script.stem in NEEDS:
        pytest.importorskip(NEEDS[script.stem], reason="optional: not installed")
    runpy.run_path(str(script), run_name="__main__")
    said = capsys.readouterr().out
    assert said
    for pattern, least in LEAST.get(script.stem, {}).items():
        (score,) = re.findall(pattern, said)
        assert float(score) >= least, said


def test_the_csv_files_of_the_readme_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (script,) = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    subprocess.run(["sh", "-e", "-c", script], check=True)
    graphs = load("my_folder")
    assert graphs.names == ["water", "salt"]
    assert [graphs.classes[c] for c in graphs.y.tolist()] == ["liquid", "solid"]
    elements = [f"element={name}" for name in ("chlorine", "hydrogen", "oxygen", "sodium")]
    assert graphs.columns == [*elements, "mass"]
    assert [one.num_edges // 2 for one in graphs] == [2, 1]


def test_cuda_is_warned_of_before_anything_is_installed() -> None:
    text = (ROOT / "README.md").read_text()
    assert 0 < text.index("CUDA") < text.index("make run")
    last = text[text.index("## Install in another environment") :]
    assert last.index("CUDA") < last.index("pip install ")


def test_the_links_of_the_documents_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", document.read_text()):
            assert (document.parent / link).exists(), f"{document.name}: {link}"
