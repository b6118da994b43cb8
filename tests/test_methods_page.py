"""docs/methods.md and the docstrings cite the paper of every method."""

import re
from pathlib import Path

import pytest

from augcl import attacks
from augcl.hardness import CEILING, HARDNESS
from augcl.runs.models import METHODS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
OURS = {"NearestOut", "Oracle", "RawFeatures", "Uniform"}
KINDS = {
    **METHODS,
    **{kind.__name__: kind for kind in (HARDNESS | CEILING).values()},
    **{name: getattr(attacks, name) for name in ("RandSampling", "GradArgmax", "RLS2V")},
    "Structure2VecClassifier": attacks.Structure2VecClassifier,
}


@pytest.mark.parametrize("name", sorted(KINDS.keys() - {"Uniform"}))
def test_the_page_names_every_method(name):
    assert f"`{name}`" in PAGE


@pytest.mark.parametrize("name", sorted(KINDS.keys() - OURS))
def test_every_docstring_cites_its_paper_as_the_page_does(name):
    text = " ".join(KINDS[name].__doc__.split())
    cited = re.search(r'References ---------- .*?"(.+?)"\. (.+?)(?: Examples -+|$)', text)
    assert cited is not None
    assert f"*{cited[1]}*" in PAGE
    for source in re.findall(r"arXiv:[\d.]+\d|doi:\S+\w", cited[2]):
        assert f"[{source}]" in PAGE


@pytest.mark.parametrize("name", sorted(KINDS.keys() - OURS))
def test_every_docstring_has_a_link_to_its_paper(name):
    assert re.search(r"doi:10\.\d{4,}/\S+\w|https://(proceedings\.mlr|jmlr)", KINDS[name].__doc__)


def test_every_paper_on_arxiv_has_a_doi_beside_it():
    papers = re.findall(r"\[arXiv:([\d.]+)\]\(https://arxiv\.org/abs/(.+?)\)(.{0,40})", PAGE)
    assert len(papers) > 30
    for number, address, beside in papers:
        assert address == number
        assert beside.startswith(", [doi:10.")
        if "48550" in beside:
            assert beside.startswith(f", [doi:10.48550/arXiv.{number}]")


def test_every_file_of_the_page_is_there():
    files = re.findall(r"\]\((\.\./src/[^)]+)\)", PAGE)
    assert files
    for file in files:
        assert (ROOT / "docs" / file).exists(), file
