"""The results page says what the result files hold."""

import re
from pathlib import Path

import pytest

from augcl.files import write_json
from augcl.paper.results import render
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
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for seed in (0, 1):
        store(folder, "untrained", seed, [0.5, 0.7])
        store(folder, "GraphCL", seed, [0.8, 0.8 + 0.1 * seed])
    store(folder, "AUGCL", 0, [0.9, 0.9], weights={"fit_state": "alive"})
    (folder / "FINDINGS.md").write_text("Outcome.")
    return render(folder)[0]


@pytest.fixture(scope="module")
def rendered():
    return render(ROOT / "results")


def test_a_row_is_mean_spread_published_and_difference(page):
    assert "| GraphCL | 82.50 ± 2.50 | 87.15 ± 0.86 | -4.65 |" in page


def test_fewer_seeds_than_the_other_rows_are_told_and_have_no_spread(page):
    assert "| AUGCL | 90.00 (1) |" in page


def test_rows_are_paired_over_the_seeds_that_both_have(page):
    assert r"+10.00 \[+10.0, +10.0]" in page


def test_what_is_not_covered_is_named(page):
    part = page[page.index("## What is not covered") :]
    assert "| weighted negatives | MUTAG | 3 | 7 | 1 to 2 | DCL, HCL, ProGCL, oracle |" in part
    assert "| weighted negatives | COLLAB | 0 | 7 | – | all |" in part
    assert re.search(r"\| nodes \| Wiki-CS \| 0 \| \d+ \| – \| all \|", part)


def test_parts_without_results_are_left_out(page):
    assert "Outcome." in page
    assert "## Ablation" not in page
    assert "nan" not in page


def test_the_page_in_the_repository_is_what_its_result_files_say(rendered):
    assert (ROOT / "docs" / "RESULTS.md").read_text(encoding="utf-8") == rendered[0]


def test_every_figure_of_the_page_is_there(rendered):
    shown = [section for section in rendered[1] if section.markdown()]
    for name in (name for section in shown for name in section.outcome.figures):
        assert (ROOT / "docs" / "figures" / f"{name}.svg").exists()
