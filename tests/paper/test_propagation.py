"""The study of propagated features: what is computed, stored and shown."""

import json

import pytest

import references
from augcl.paper import propagation
from augcl.paper.propagation import PROTOCOLS, SETTINGS, compute, measure, table
from augcl.paper.results import pages, texts

GRAPH = references.communities(300)
ROWS = {row: SETTINGS[row] for row in ("default (hops 0, 1, 2, 4)", "features only")}


def test_both_protocols_judge_the_same_embedding():
    record = measure(GRAPH, {"steps": (0, 1)}, splits=2)
    assert record["columns"] == 48
    for protocol in PROTOCOLS:
        assert len(record[protocol]["runs"]) == 2
        assert record[protocol]["score"] > record[protocol]["floor"]


def test_missing_records_are_computed_once_and_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(propagation, "SETTINGS", ROWS)
    monkeypatch.setattr(propagation, "load", lambda path: GRAPH)
    assert table(tmp_path).rows == ()
    assert compute(tmp_path, tmp_path, "Cora") == 2
    assert compute(tmp_path, tmp_path, "Cora") == 0
    lines = (tmp_path / "propagation.jsonl").read_text().splitlines()
    score = json.loads(lines[0])["record"]["linear-10-10-80"]["score"]
    first, second = table(tmp_path).rows
    assert (first[0], second[0]) == tuple(ROWS)
    assert float(first[1]) == pytest.approx(100 * score, abs=0.01)
    assert set(first[3:]) == {"–"}
    page = texts(tmp_path, pages(tmp_path))
    assert "results/propagation.md" in page["RESULTS.md"]
    assert "features only" in page["results/propagation.md"]
