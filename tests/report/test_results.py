"""The results page says what the result files hold."""

from dataclasses import asdict
from pathlib import Path

import pytest

from augcl.experiments.cells import Cell
from augcl.experiments.graph_classification import TABLE
from augcl.files import write_json
from augcl.report.results import Results, accuracies, differences, page, published_gap, render
from augcl.training.estimator import plain_settings


def store(folder, row, seed, folds, **more):
    cell = Cell(TABLE, "MUTAG", row, seed)
    record = {
        "spec": asdict(cell.spec),
        "hardness_settings": plain_settings(cell.spec.hardness_object()),
        "seed": seed,
        "accuracy": {"mean": sum(folds) / len(folds), "folds": folds},
        "weights": None,
        "seconds": {"training": 1.0},
    }
    write_json(cell.path(folder), record | more)


@pytest.fixture
def results(tmp_path):
    for seed in (0, 1):
        store(tmp_path, "untrained", seed, [0.5, 0.7])
        store(tmp_path, "GraphCL-40", seed, [0.8, 0.8 + 0.1 * seed])
    store(tmp_path, "AUGCL", 0, [0.9, 0.9], weights={"fit_alive": True})
    return Results(tmp_path)


def test_a_cell_is_mean_spread_and_number_of_seeds(results):
    assert "| GraphCL, 40 epochs | 82.50 ± 2.50 (2) |" in accuracies(results)


def test_one_seed_has_no_spread(results):
    assert "20 + 20 | 90.00 (1) |" in accuracies(results)


def test_published_numbers_stand_beside(results):
    assert "*87.15 ± 0.86*" in accuracies(results)
    assert "| MUTAG | 87.15 |  | -4.65 |" in published_gap(results)


def test_methods_are_paired_over_the_seeds_that_both_have(results):
    assert "+10.00 [+10.00, +10.00]" in differences(results)


def test_a_record_of_other_settings_is_not_shown(tmp_path):
    store(tmp_path, "AUGCL", 0, [0.9], spec={"dataset": "MUTAG", "epochs": 1})
    assert Results(tmp_path).records("MUTAG", "AUGCL") == []


def test_the_page_in_the_repository_is_what_its_result_files_say():
    root = Path(__file__).parents[2]
    assert (root / "docs" / "RESULTS.md").read_text(encoding="utf-8") == render(root / "results")


def test_the_whole_page_stands_without_some_of_the_files(results):
    text = page(results, "Findings.")
    assert "Findings." in text
    assert "nan" not in text
