"""Tables of a comparison: what stands in them, and that every form of them can be read."""

import json
from dataclasses import replace

import numpy as np
import pytest

from augcl.paper.comparison import comparison
from augcl.paper.rows import GRAPHS, NODES
from augcl.paper.study import Accuracies

ROWS = ("untrained", "GraphCL", "DCL", "AUGCL", "oracle")


def measured(number, seeds=3, level="graph"):
    folds = np.random.default_rng(number).integers(70, 95, (seeds, 10)) / 100
    return Accuracies({seed: tuple(folds[seed].tolist()) for seed in range(seeds)}, {}, level)


def results(*datasets, rows=ROWS, seeds=3):
    numbers = iter(range(100))
    return {name: {row: measured(next(numbers), seeds) for row in rows} for name in datasets}


def cells(findings, title):
    """The table with that title, by row and column."""
    (grid,) = (grid for grid in findings.grids if grid.title == title)
    return {row[0]: dict(zip(grid.header, row, strict=True)) for row in grid.rows}


def test_a_row_stands_beside_the_published_number_and_the_base():
    found = results("MUTAG")
    row = cells(comparison("c", found, GRAPHS), "MUTAG")["AUGCL"]
    mean = 100 * found["MUTAG"]["AUGCL"].mean
    gain = found["MUTAG"]["AUGCL"].minus(found["MUTAG"]["GraphCL"])
    assert row["measured"] == str(found["MUTAG"]["AUGCL"])
    assert row["published"] == "89.20 ± 1.08"
    assert row["gap"] == f"{mean - 89.2:+.2f}"
    assert row["− GraphCL [95 %]"].startswith(f"{100 * gain.mean:+.2f} [{100 * gain.low:+.1f}, ")
    assert row["p"] == f"{gain.p:.3f}"


def test_the_base_is_not_compared_with_itself():
    row = cells(comparison("c", results("MUTAG"), GRAPHS), "MUTAG")["GraphCL"]
    assert (row["− GraphCL [95 %]"], row["p"]) == ("", "")


def test_without_the_base_nothing_is_compared():
    found = results("MUTAG", rows=("untrained", "DCL"))
    for row in cells(comparison("c", found, GRAPHS), "MUTAG").values():
        assert (row["− GraphCL [95 %]"], row["p"]) == ("", "")


def test_data_that_the_paper_does_not_have_get_no_columns_of_it():
    table = cells(comparison("c", results("mine.zip"), GRAPHS), "mine.zip")
    assert table["AUGCL"].keys() == {"", "measured", "− GraphCL [95 %]", "p"}


def test_fewer_seeds_than_the_others_are_counted():
    found = results("MUTAG")
    found["MUTAG"]["DCL"] = measured(1, seeds=2)
    table = cells(comparison("c", found, GRAPHS), "MUTAG")
    assert table["DCL"]["measured"].endswith(" (2)")
    assert "(" not in table["AUGCL"]["measured"]


def test_one_training_of_nodes_has_a_difference_and_no_test():
    found = {"Cora": {row: measured(n, 1, "node") for n, row in enumerate(("GCA", "AUGCL"))}}
    row = cells(comparison("c", found, NODES), "Cora")["AUGCL"]
    difference = found["Cora"]["AUGCL"].mean - found["Cora"]["GCA"].mean
    assert (row["− GCA [95 %]"], row["p"]) == (f"{100 * difference:+.2f}", "")


def test_ranks_are_over_the_data_sets_that_are_complete():
    found = results("MUTAG", "PROTEINS", "NCI1")
    del found["NCI1"]["DCL"]
    findings = comparison("c", found, GRAPHS)
    ranks = findings.data["ranks"]
    assert ranks["datasets"] == 2
    assert ranks["names"] == ("GraphCL", "DCL", "AUGCL")  # neither floor nor ceiling
    expected = np.zeros(3)
    for dataset in ("MUTAG", "PROTEINS"):
        means = [found[dataset][row].mean for row in ranks["names"]]
        expected += [1 + sum(other > mean for other in means) for mean in means]
    assert ranks["average"] == pytest.approx(expected / 2)
    overview = cells(findings, "All data sets")
    assert overview["DCL"]["NCI1"] == ""
    assert overview["DCL"]["average rank"] == f"{expected[1] / 2:.2f}"
    assert overview["oracle"]["average rank"] == ""
    assert findings.figures.keys() == {"c-ranks"}


def test_one_complete_data_set_makes_no_ranks():
    found = results("MUTAG", "PROTEINS")
    del found["PROTEINS"]["DCL"]
    findings = comparison("c", found, GRAPHS)
    assert findings.data["ranks"] is None
    assert findings.figures == {}
    assert comparison("c", results("MUTAG"), GRAPHS).figures == {}


def test_sentences_name_their_data_set_where_there_are_several():
    several = comparison("c", results("MUTAG", "PROTEINS"), GRAPHS).sentences
    assert [sentence.split(":")[0] for sentence in several] == ["MUTAG"] * 3 + ["PROTEINS"] * 3
    one = comparison("c", results("MUTAG"), GRAPHS).sentences
    assert [f"MUTAG: {sentence}" for sentence in one] == several[:3]


def test_what_the_reader_needs_to_know_stands_under_the_last_table():
    findings = comparison("c", results("MUTAG", "NCI1"), GRAPHS, notes=("By the way.",))
    *others, last = findings.grids
    assert "untrained: the floor, an encoder that is not trained." in last.notes
    assert any(note.startswith("oracle: uses the labels") for note in last.notes)
    assert last.notes[-1] == "By the way."
    assert all(note.startswith(("3 seeds", "Headroom")) for g in others for note in g.notes)


def refuse(constant):
    raise AssertionError(f"{constant} in JSON")


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"MUTAG": {}},
        {"MUTAG": {}, "NCI1": {}},
        results("MUTAG", rows=("DCL",), seeds=1),
        results("MUTAG", "mine & yours_100%", "NCI1"),
    ],
    ids=["nothing", "a data set without rows", "two of them", "one row", "many"],
)
def test_whatever_there_is_can_be_written_and_read(found, tmp_path):
    findings = comparison("c", found, GRAPHS)
    paths = findings.write(tmp_path)
    assert {path.name for path in paths} >= {"c.md", "c.tex", "c.json"}
    assert all(path.exists() for path in paths)
    data = json.loads((tmp_path / "c.json").read_text(), parse_constant=refuse)
    assert data["sentences"] == findings.sentences
    assert data["datasets"].keys() == found.keys()
    for dataset, rows in found.items():
        for row, one in rows.items():
            assert data["datasets"][dataset][row]["runs"] == one.runs
    text = (tmp_path / "c.md").read_text()
    assert all(sentence in text for sentence in findings.sentences)
    tex = (tmp_path / "c.tex").read_text()
    assert tex.count(r"\begin{tabular}") == len(findings.grids) == tex.count(r"\end{tabular}")
    assert "± " not in tex


def test_the_largest_class_stands_above_all_rows():
    found = results("MUTAG", "PROTEINS")
    found["MUTAG"] = {
        row: replace(accuracies, majority=0.6649) for row, accuracies in found["MUTAG"].items()
    }
    findings = comparison("c", found, GRAPHS)
    assert [grid.rows[0][:2] for grid in findings.grids] == [
        ("majority", "66.49"),
        ("untrained", str(found["PROTEINS"]["untrained"])),
        ("majority", "66.49"),
    ]
    assert findings.data["majority"] == {"MUTAG": 0.6649, "PROTEINS": None}
    assert "majority" not in findings.data["ranks"]["names"]
    assert "majority: always the largest class" in findings.markdown()
    assert "majority" not in comparison("c", results("MUTAG"), GRAPHS).markdown()
