"""The page of a comparison: what Python packs for it; test_page_in_browser.py looks at it."""

import json
import re

import numpy as np
import pytest

from augcl.runs.recommend import Scores
from augcl.runs.rows_page import KINDS, Row, TextTable, write_rows_page
from augcl.runs.run import Spec


def row(name, dataset="MUTAG", scores=((0.7, 0.8), (0.9, 0.8)), **spec):
    spec = Spec(dataset, **{"method": "GraphCL", "hardness": "none", **spec})
    return Row(name, dataset, Scores(np.array(scores, dtype=float)), spec)


def data(path):
    """What the scripts of a page read."""
    page = path.read_text()
    return json.loads(re.search(r'<script[^>]*id="data">(.*?)</script>', page, re.DOTALL)[1])


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ({"method": "WLFeatures"}, 0),
        ({"method": "WLKernel"}, 0),
        ({"epochs": 0}, 1),
        ({}, 2),
        ({"method": "InfoGraph"}, 2),
        ({"hardness": "augcl"}, 3),
        ({"hardness": "oracle"}, 4),
    ],
)
def test_a_row_is_what_its_settings_say(spec, kind):
    assert row("any", **spec).kind == KINDS[kind]


def test_cells_lead_to_the_row_of_their_name_and_data_set(tmp_path):
    rows = [row("a"), row("b"), row("a", "PROTEINS")]
    tables = [
        TextTable("MUTAG", ("", "measured", "published"), [("b", "1", "2"), ("c", "3", "")], []),
        TextTable("All", ("", "MUTAG", "PROTEINS"), [("a", "1", "2"), ("b", "3", "")], []),
        TextTable("Seconds", ("", "seconds"), [("PROTEINS, a", "1")], []),
    ]
    found = data(write_rows_page(tmp_path / "x.html", "x", rows, tables))
    assert found["tables"][0]["links"] == [[-1, 1, -1], [-1, -1, -1]]
    assert found["tables"][1]["links"] == [[-1, 0, 2], [-1, 1, -1]]
    assert found["tables"][2]["links"] == [[-1, 2]]


def test_differences_are_of_the_same_splits_of_one_data_set(tmp_path):
    better = ((0.8, 0.9), (0.9, 0.95))
    rows = [row("a"), row("b", scores=better), row("c", scores=[[0.5, 0.5]]), row("d", "NCI1")]
    found = data(write_rows_page(tmp_path / "x.html", "x", rows, []))["pairs"]
    assert set(found) == {"0,1", "1,0"}
    mean = np.mean([0.1, 0.1, 0, 0.15])
    assert found["1,0"][0] == pytest.approx(mean)
    assert found["0,1"][0] == pytest.approx(-mean)
    assert found["1,0"][1] < mean < found["1,0"][2]


def test_undefined_numbers_and_names_of_any_kind_make_a_page(tmp_path):
    evil = "</script><b>"
    rows = [row(evil, scores=[[np.nan, np.nan]]), row("b", scores=[[np.nan, 0.5]])]
    path = write_rows_page(
        tmp_path / "x.html",
        evil,
        rows,
        [],
        sentences=[evil, f"    {evil}"],
        figures={"f": "<svg/>"},
    )
    assert evil not in path.read_text()
    found = data(path)
    assert [one["mean"] for one in found["rows"]] == [None, 0.5]
    assert found["rows"][0]["name"] == evil
    assert [one["name"] for one in found["figures"]] == ["f"]


def test_many_sentences_are_folded(tmp_path):
    few, many = (
        write_rows_page(tmp_path / f"{n}.html", "x", [], [], sentences=["So."] * n).read_text()
        for n in (3, 20)
    )
    assert "All 20 sentences" in many
    assert "sentences</summary>" not in few
    assert many.count("<p>So.</p>") == 20
