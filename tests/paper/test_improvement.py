"""The table "base against AUGCL": difference, published gain, what is missing."""

from dataclasses import replace

import pytest

from augcl.files import write_json
from augcl.paper.improvement import improvement, improvement_cells, improvement_table, split
from augcl.paper.rows import GRAPHS, NODES
from augcl.paper.study import Study

BASE = [0.80, 0.82, 0.81, 0.80, 0.83, 0.82, 0.81, 0.80, 0.82, 0.81]


def ask(folder, *datasets, **changes):
    return Study(folder, datasets, ("AUGCL",), **{"seeds": None, **changes})


def store(study, table, row, gains):
    """Folds of as many seeds as there are gains over the base's, in points."""
    for dataset in study.datasets:
        for seed, gain in enumerate(gains):
            noise = [0.001 * (k % 3) * (row == "AUGCL") for k in range(10)]
            folds = [b + gain / 100 + e for b, e in zip(BASE, noise, strict=True)]
            record = {"seed": seed, "accuracy": {"mean": 0.8, "folds": folds}, "weights": None}
            cell = study.cell(table, dataset, row).with_seed(seed)
            write_json(cell.path(study.out), record)


@pytest.fixture
def graphs(tmp_path):
    def measured(gains, *datasets):
        study = ask(tmp_path, *datasets)
        store(study, GRAPHS, "GraphCL", [0] * len(gains))
        store(study, GRAPHS, "AUGCL", gains)
        return study

    return measured


def lines(findings):
    (grid,) = findings.grids
    return {row[0]: dict(zip(grid.header, row, strict=True)) for row in grid.rows}


def test_a_difference_stands_with_its_interval_beside_the_published_one(graphs):
    found = improvement_table(graphs([3, 3], "MUTAG"))
    row = lines(found)["MUTAG (on GraphCL)"]
    assert row["difference [95 %]"].startswith("+3.09 [+3.0")
    assert (row["published"], row["seeds"]) == ("+2.05", "2")
    assert found.sentences[0].startswith("AUGCL is above its base in 1 of 1 comparisons. 1 of them")
    assert "above its base beyond noise in 1 (MUTAG)" in found.sentences[0]
    assert "inside our interval in 0 of 1 and above it in 0" in found.sentences[1]
    assert "we measure +3.09 points, the paper has +2.05" in found.sentences[1]


def test_a_loss_is_told_as_one(graphs):
    found = improvement_table(graphs([-3, -3], "MUTAG", "PROTEINS"))
    assert "in 0 of 2 comparisons" in found.sentences[0]
    assert (
        "above its base beyond noise in none and below in 2 (MUTAG, PROTEINS)" in found.sentences[0]
    )
    assert "above it in 2" in found.sentences[1]


def test_what_was_not_measured_is_named_with_the_command_that_measures_it(graphs, tmp_path):
    asked = [graphs([1], "MUTAG"), ask(tmp_path, "Wiki-CS", epochs=200, candidates=512)]
    found = improvement(asked)
    assert lines(found)["Wiki-CS (on GCA)"]["base"] == "not measured"
    assert lines(found)["Wiki-CS (on GCA)"]["published"] == "+0.51"
    assert found.sentences[-1].startswith(
        "Wiki-CS was not measured. With its file in DIR, augcl reproduce improvement --datasets "
    )
    assert "in 1 of 1 comparisons" in found.sentences[0]


def test_one_training_of_nodes_has_no_interval(tmp_path):
    study = ask(tmp_path, "Amazon-Photo", epochs=200, candidates=512)
    for row, gain in (("GCA", 0), ("AUGCL", -1)):
        store(study, NODES, row, [gain])
    found = improvement([study])
    row = lines(found)["Amazon-Photo, 200 epochs (on GCA)"]
    assert (row["difference [95 %]"], row["p"]) == ("-0.91", "")
    assert found.sentences == [
        "AUGCL is above its base in 0 of 1 comparisons; one training of each cannot be tested "
        "for noise."
    ]


def test_graphs_are_trained_on_graphcl_and_nodes_on_gca_with_their_own_epochs(tmp_path):
    study = ask(tmp_path, "MUTAG", "Amazon-Photo", seeds=2, candidates=512)
    cells = improvement_cells(study)
    assert {(c.spec.dataset, c.spec.method, c.spec.hardness, c.spec.epochs) for c in cells} == {
        ("MUTAG", "GraphCL", "none", 40),
        ("MUTAG", "GraphCL", "augcl", 40),
        ("Amazon-Photo", "GCA", "none", 200),
        ("Amazon-Photo", "GCA", "augcl", 200),
        ("MUTAG", "WLFeatures", "none", None),
        ("Amazon-Photo", "Propagation", "none", None),
    }
    assert len(cells) == 12
    whole = split(replace(study, candidates=None))
    assert [part.epochs for part in whole] == [None, None]


def test_the_paper_s_recipe_is_judged_against_a_base_with_its_views(tmp_path):
    study = replace(ask(tmp_path, "MUTAG", "Amazon-Photo", seeds=1), rows=("AUGCL-paper",))
    cells = [c for c in improvement_cells(study) if c.spec.method in ("GraphCL", "GCA")]
    assert {(c.spec.dataset, c.spec.hardness, c.spec.recipe) for c in cells} == {
        (dataset, hardness, "paper") for dataset in study.datasets for hardness in ("none", "augcl")
    }
    for row, gain in (("GraphCL-paper", 0), ("AUGCL-paper", 1)):
        store(replace(study, datasets=("MUTAG",)), GRAPHS, row, [gain])
    assert "MUTAG (on GraphCL-paper)" in lines(improvement_table(study))


def test_a_folder_without_cells_gives_only_what_is_missing(tmp_path):
    found = improvement_table(ask(tmp_path, "MUTAG"))
    assert found.empty
    assert found.figures == {}
    assert [sentence[:5] for sentence in found.sentences] == ["MUTAG"]
