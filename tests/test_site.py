"""The site builds without a warning, is complete and needs no network; its lessons run."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import augcl

jupytext = pytest.importorskip("jupytext", reason="development: not installed")
pytest.importorskip("mkdocstrings", reason="development: not installed")

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LESSONS = sorted((DOCS / "tutorials").glob("*.py"))
MOST_WORDS = 1500
FEWER_EPOCHS = {
    "citations": ("epochs=25", "epochs=3"),
    "paper_row": ("--jobs 1", "--jobs 1 --epochs 3"),
}
"""What is changed in lessons whose checks do not depend on the length of a training."""


@pytest.fixture(scope="module")
def hooks():
    return runpy.run_path(str(DOCS / "hooks.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built site; the lessons are run by tests of their own."""
    out = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "AUGCL_RUN_LESSONS": "false", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", out],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_every_public_name_is_in_the_reference(site):
    pages = "".join(page.read_text() for page in (site / "api").glob("*.html"))
    anchors = set(re.findall(r'id="augcl\.[\w.]*?(\w+)"', pages))
    modules = {"attacks", "callbacks", "data", "encoders", "evaluation"}
    modules |= {"hardness", "losses", "methods", "rivals", "views", "__version__"}
    assert set(dir(augcl)) - modules <= anchors


def test_every_method_has_a_page_with_all_parts(site, hooks):
    for name in hooks["kinds"]():
        page = (site / "methods" / f"{name}.html").read_text()
        for part in ("Paper:", "Code:", "settings", "our-numbers", "deviations"):
            assert part in page, (name, part)


def test_nothing_is_loaded_from_elsewhere(site):
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img|iframe)[^>]*?(?:src|href)="(.*?)"', page.read_text()
        )
        assert not [link for link in loaded if re.match(r"(https?:)?//", link)], page


@pytest.fixture(scope="module")
def method_pages(hooks):
    return hooks["method_pages"]()


def test_numbers_of_a_method_are_those_of_the_results(method_pages):
    page = method_pages["methods/WLKernel.md"]
    (row,) = re.findall(r"(?m)^\| MUTAG \| WL \| (.*?) \| (.*?) \|.*systems.md", page)
    table = (DOCS / "results" / "systems.md").read_text().split("### MUTAG")[1]
    assert f"| WL | {row[0]} | {row[1]} |" in table


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("GRACE", "| Cora | GRACE |"),
        ("CCASSG", "| Cora | CCA-SSG |"),
        ("HSAN", "| Cora | HSAN-20 |"),
        ("MorganFingerprints", "| ESOL, random | Morgan |"),
        ("NearestOut", "| Cora | nearest 10 % |"),
        ("AffinityUncertainty", "| Amazon-Photo | AUGCL |"),
    ],
)
def test_a_method_has_its_rows_of_every_table_with_the_title_of_the_table(method_pages, name, row):
    rows = [line for line in method_pages[f"methods/{name}.md"].splitlines() if row in line]
    assert rows
    assert len(set(rows)) == len(rows)
    assert all(re.search(r"\| \[[^]]{5,}\]\(\.\./results/\w+\.md\) \|$", row) for row in rows)


def test_differences_of_a_method_are_all_that_are_about_it(method_pages):
    told = {
        name: method_pages[f"methods/{name}.md"].split("## Deviations")[1]
        for name in ("AffinityUncertainty", "GraphCL", "GRACE", "DCL")
    }
    for what in ("power of the weights", "inputs of the model", "warm-up", "AUGCL: trained after"):
        assert f"| {what}" in told["AffinityUncertainty"]
        assert f"| {what}" not in told["GraphCL"]
    for what in ("views of an anchor", "subgraph view", "uncertainty model trained after"):
        assert f"| {what}" in told["GraphCL"]
    assert "| features |" in told["GRACE"]
    assert "| DCL, HCL: prior share" in told["DCL"]
    for text in told.values():  # every row has as many cells as the heading of its table
        for table in re.findall(r"(?m)(?:^\|.*\n)+", text):
            assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1


class Prose(HTMLParser):
    """Count the words of an article outside of tables and code."""

    def __init__(self, text):
        super().__init__()
        self.words, self.inside, self.apart = 0, 0, 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.inside += tag == "article"
        self.apart += tag in ("table", "pre", "script", "style")

    def handle_endtag(self, tag):
        self.inside -= tag == "article"
        self.apart -= tag in ("table", "pre", "script", "style")

    def handle_data(self, text):
        if self.inside and not self.apart:
            self.words += len(text.split())


def test_pages_are_short(site):
    words = {page: Prose(page.read_text()).words for page in site.rglob("*.html")}
    assert {page.name: count for page, count in words.items() if count > MOST_WORDS} == {}
    assert words[site / "index.html"] > 100  # it counts


def test_the_changelog_is_whole_on_its_pages(hooks):
    pages, text = hooks["changelog"](), (ROOT / "CHANGELOG.md").read_text()
    item = re.compile(r"(?m)^\* .*")
    assert [one for page in pages.values() for one in item.findall(page)] == item.findall(text)
    assert list(pages)[:2] == ["CHANGELOG.md", "CHANGELOG-2.md"]


def test_numbers_of_tables_stay_in_one_line_and_show_no_backslash(site):
    page = (site / "results" / "systems.html").read_text()
    for number in ("85.30 ± 1.22", "&lt; 0.001", "-1.92 [-6.9, +3.0]"):
        assert f'<td class="number" style="text-align: right;">{number}</td>' in page
    for page in [*(site / "results").glob("*.html"), *(site / "methods").glob("*.html")]:
        assert "\\&lt;" not in page.read_text()


def test_search_works_from_a_folder(site):
    sync_api = pytest.importorskip("playwright.sync_api", reason="make browser-test installs it")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no Chromium here: make browser-test")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        asked, wrong = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((site / "index.html").as_uri())
        page.keyboard.press("/")
        page.keyboard.type("temper")
        page.wait_for_selector(".md-search-result__item")
        assert "temper" in page.inner_text(".md-search-result__list")
        assert (wrong, [url for url in asked if not url.startswith(("file:", "data:"))]) == ([], [])
        browser.close()


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_the_lesson_runs(lesson, tmp_path):
    """As a script, in a process of its own, with the checks that it contains."""
    if lesson.stem == "molecules":
        pytest.importorskip("rdkit", reason="optional: not installed")
    script = lesson.read_text()
    if lesson.stem in FEWER_EPOCHS:
        many, few = FEWER_EPOCHS[lesson.stem]
        assert script.count(many) == 1
        script = script.replace(many, few)
    (tmp_path / lesson.name).write_text(script)
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONWARNINGS": "default"}
    done = subprocess.run(
        [sys.executable, lesson.name], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_a_lesson_becomes_a_page_with_what_its_code_shows(hooks):
    notebook = jupytext.reads(
        "# %% [markdown]\n# # Title\n\n# %%\nprint(6 * 7)\n", fmt="py:percent"
    )
    page = hooks["lesson_page"](hooks["run"](notebook), "title")
    assert page.startswith("# Title\n\n[Download")
    assert page.endswith("```python\nprint(6 * 7)\n```\n\n```text\n42\n```")


def test_lessons_have_no_outputs_in_the_repository():
    assert len(LESSONS) == 4
    assert not list((DOCS / "tutorials").glob("*.ipynb"))
