"""The results pages say what the records hold."""

import re
from pathlib import Path

import pytest

from augcl.files import write_json
from augcl.paper.results import figures, pages, render, texts
from augcl.paper.rows import GRAPHS

ROOT = Path(__file__).parents[2]


def store(folder, row, seed, folds, **more):
    cell = GRAPHS.cell("MUTAG", row, seed=seed)
    record = {
        "seed": seed,
        "accuracy": {"mean": sum(folds) / len(folds), "folds": folds},
        "weights": None,
    }
    write_json(cell.path(folder), record | more)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for seed in (0, 1):
        store(folder, "untrained", seed, [0.5, 0.7])
        store(folder, "GraphCL", seed, [0.8, 0.8 + 0.1 * seed])
    store(folder, "AUGCL", 0, [0.9, 0.9], weights={"fit_state": "alive"})
    (folder / "FINDINGS.md").write_text(
        "In short.\n\n## On weights\n\nAt [length](results/c.md), [a](b.md)\n"
    )
    return render(folder)


def test_a_row_is_mean_spread_published_and_difference(rendered):
    assert "| GraphCL | 82.50 ± 2.50 | 87.15 ± 0.86 | -4.65 |" in rendered["results/graphs.md"]


def test_fewer_seeds_than_the_other_rows_are_told_and_have_no_spread(rendered):
    assert "| AUGCL | 90.00 (1) |" in rendered["results/graphs.md"]


def test_rows_are_paired_over_the_seeds_that_both_have(rendered):
    assert r"+10.00 \[+10.0, +10.0]" in rendered["results/graphs.md"]


def test_what_is_not_covered_is_named(rendered):
    part = rendered["results/coverage.md"]
    missing = "training-free, DCL, HCL, ProGCL, oracle"
    assert f"| weighted negatives | MUTAG | 3 | 8 | 1 to 2 | {missing} |" in part
    assert "| weighted negatives | COLLAB | 0 | 8 | – | all |" in part
    assert re.search(r"\| nodes \| Wiki-CS \| 0 \| \d+ \| – \| all \|", part)


def test_the_findings_come_first_and_their_chapters_are_pages(rendered):
    page = rendered["RESULTS.md"]
    start = "# Results\n\nIn short.\n\n## What the numbers say\n\n"
    start += "* [On weights](results/findings-on-weights.md)"
    assert page.startswith(f"{start}\n\n## The tables in short\n\n### Does a weighting")
    chapter = rendered["results/findings-on-weights.md"]
    first = "# On weights\n\n[All results](../RESULTS.md).\n\nAt [length](c.md)"
    assert chapter.startswith(first)
    assert chapter.endswith("[a](../b.md)\n")


def test_a_question_has_its_summary_and_a_link_to_its_page(rendered):
    linked = re.findall(r"\(results/([\w-]+)\.md\)", rendered["RESULTS.md"])
    assert {f"results/{name}.md" for name in linked} == rendered.keys() - {"RESULTS.md"}


def test_questions_without_results_are_left_out(rendered):
    assert "results/ablation.md" not in rendered
    assert "results/attacks.md" not in rendered
    assert not any("nan" in text for text in rendered.values())


@pytest.fixture(scope="module")
def questions():
    return pages(ROOT / "results")


def test_the_pages_in_the_repository_are_what_its_records_say(questions):
    docs = ROOT / "docs"
    files = [docs / "RESULTS.md", *(docs / "results").glob("*.md")]
    written = {f.relative_to(docs).as_posix(): f.read_text(encoding="utf-8") for f in files}
    assert written == texts(ROOT / "results", questions)


def test_every_figure_of_the_pages_is_there(questions):
    shown = figures(questions)
    assert shown
    for name in shown:
        assert (ROOT / "docs" / "figures" / f"{name}.svg").exists()


def test_all_records_of_the_repository_are_merged():
    assert sorted({path.suffix for path in (ROOT / "results").iterdir()}) == [".jsonl", ".md"]
