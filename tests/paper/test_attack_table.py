import json
import re
from dataclasses import replace

import pytest

from augcl.evaluation.statistics import wilson_interval
from augcl.files import write_json
from augcl.paper.attacks import LAPTOP, VICTIMS, Share, attack_cells, attack_table
from augcl.paper.study import Study

RIGHT = {"RandSampling": 1200, "GradArgmax": 1000, "RLS2V": 700}


def page_data(path):
    """What the scripts of a page read."""
    page = path.read_text()
    return json.loads(re.search(r'<script[^>]*id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture
def folder(tmp_path):
    """Two seeds of every victim; AUGCL's withstand the gradient, GraphCL's nothing at random."""
    for cell in attack_cells(study(tmp_path, seeds=2)):
        gain = {"augcl": {"GradArgmax": 300}, "graphcl": {"RandSampling": -300}}
        gains = gain.get(cell.spec.pretraining, {})
        attacks = {
            row: {"right": right + gains.get(row, 0) + 10 * cell.seed, "graphs": 1500}
            for row, right in RIGHT.items()
        }
        clean = {"right": 1450, "graphs": 1500}
        write_json(cell.path(tmp_path), {"clean": clean, "attacks": attacks})
    return tmp_path


def study(folder, seeds=None):
    return Study(folder, (), tuple(VICTIMS), seeds, epochs=LAPTOP["epochs"])


def test_every_depth_has_a_table_of_all_victims_with_the_papers_numbers(folder):
    findings = attack_table(study(folder))
    assert [grid.title for grid in findings.grids] == [
        f"structure2vec of depth {depth}" for depth in (2, 3, 4)
    ]
    grid = findings.grids[0]
    assert grid.header == ("", "Original", "GraphCL", "ProGCL", "AUGCL")
    assert [row[0] for row in grid.rows] == ["clean", "RandSampling", "GradArgmax", "RL-S2V"]
    assert grid.rows[0][1].endswith("(93.20)")


def test_the_same_graphs_under_several_victims_do_not_narrow_the_interval(folder):
    share = attack_table(study(folder)).data["depths"]["2"]["Original"]["RandSampling"]
    assert share == {"accuracies": {0: 1200 / 1500, 1: 1210 / 1500}, "graphs": 1500}
    low, high = wilson_interval(1205, 1500)
    text = attack_table(study(folder)).grids[0].rows[1][1]
    assert text.startswith(f"80.33 [{100 * low:.1f}, {100 * high:.1f}]")


def test_every_number_of_the_tables_leads_to_a_row_of_the_page(folder):
    found = attack_table(study(folder))
    assert len(found.rows) == 3 * 4 * 4
    data = page_data(found.write(folder)[3])
    for table in data["tables"]:
        for line, links in zip(table["rows"], table["links"], strict=True):
            for victim, link in zip(table["header"][1:], links[1:], strict=True):
                row = data["rows"][link]
                assert row["name"] == victim
                assert row["dataset"] == f"{table['title']}, {line[0]}"
    row = next(row for row in data["rows"] if row["name"] == "AUGCL" and "Argmax" in row["dataset"])
    assert row["mean"] == pytest.approx(1305 / 1500)
    assert (row["low"], row["high"]) == pytest.approx(wilson_interval(1305, 1500))
    assert row["published"][1] is None
    assert len(row["runs"]) == 2


def test_a_sentence_says_where_hardness_helps_beyond_noise(folder):
    sentences = {s.split(",")[0]: s for s in attack_table(study(folder)).sentences}
    assert "all within noise" in sentences["ProGCL against Original"]
    assert (
        "better in GradArgmax at depth 2, GradArgmax at depth 3, GradArgmax at depth 4, else within"
        in sentences["AUGCL against Original"]
    )
    assert "better in RandSampling at depth 2" in sentences["ProGCL against GraphCL"]
    assert "worse" not in " ".join(sentences.values())


def test_several_victims_are_compared_over_trainings_and_one_over_test_graphs():
    base = Share({0: 0.80, 1: 0.70, 2: 0.90}, 1500)
    steady, apart = Share({0: 0.83, 1: 0.731}, 1500), Share({0: 0.90, 1: 0.61}, 1500)
    assert steady.against(base) == "better"  # on the seeds 0 and 1
    assert base.against(steady) == "worse"
    assert apart.against(base) == ""  # +10 and −9 points
    assert Share({0: 0.80}, 1500).against(Share({0: 0.75}, 1500)) == "better"
    assert Share({0: 0.80}, 1500).against(Share({0: 0.79}, 1500)) == ""


def test_the_note_tells_the_updates_and_how_many_victims_there_are(folder):
    (note,) = attack_table(study(folder)).grids[-1].notes
    assert "mean of 2 trained victims" in note
    assert "the agent of RL-S2V with 3000 updates (published: 1000 and 100,000)" in note
    (note,) = attack_table(study(folder, seeds=1)).grids[-1].notes
    assert "one trained victim each" in note


def test_what_was_not_measured_is_not_shown(tmp_path):
    findings = attack_table(study(tmp_path))
    assert not findings.grids
    assert not findings.sentences


def test_depth_and_updates_can_be_chosen(tmp_path):
    chosen = replace(study(tmp_path, seeds=1), options={"depth": 3, "updates": 20_000})
    cells = attack_cells(chosen)
    assert {(cell.spec.depth, cell.spec.updates) for cell in cells} == {(3, 20_000)}
    assert len(cells) == len(VICTIMS)
    for cell in cells:
        found = {"right": 1400, "graphs": 1500}
        write_json(cell.path(tmp_path), {"clean": found, "attacks": dict.fromkeys(RIGHT, found)})
    (grid,) = attack_table(chosen).grids
    assert grid.title == "structure2vec of depth 3"
    assert "20000 updates" in grid.notes[0]
