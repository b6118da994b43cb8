import base64
import json
import re
import webbrowser

import numpy as np
import pytest

import augcl

DATA = re.compile(r'<script[^>]*id="data">(.*?)</script>', re.DOTALL)

QUICK = ("train", "--method", "GraphCL", "--epochs", 1, "--seeds", 1, "--no-evaluate")


@pytest.fixture(scope="module")
def run(succeeds, tmp_path_factory):
    folder = tmp_path_factory.mktemp("explore") / "x"
    succeeds(*QUICK, "--out", folder)
    return folder


@pytest.fixture
def opened(monkeypatch):
    """The addresses that a browser was asked to open; there is one."""
    found = []
    monkeypatch.setenv("BROWSER", "true")
    monkeypatch.setattr(webbrowser, "get", lambda: None)
    monkeypatch.setattr(webbrowser, "open", found.append)
    return found


def test_the_page_of_a_run_is_opened(run, succeeds, opened):
    assert succeeds("explore", run) == f"wrote {run / 'report.html'}\n"
    assert opened == [(run / "report.html").as_uri()]


def test_floors_and_a_second_plane_are_computed_and_kept(succeeds, tmp_path, mutag):
    folder = tmp_path / "x"
    once = ("--method", "GraphCL", "--epochs", 1, "--seeds", 2, "--jobs", 1)
    succeeds("train", "MUTAG", *once, "--out", folder)
    plain = (folder / "report.html").read_text()
    succeeds("explore", folder, "--floors", "--tsne", "--no-open")
    page = (folder / "report.html").read_text()
    run, before = (json.loads(DATA.search(text)[1])["runs"][0] for text in (page, plain))
    assert [floor["name"] for floor in before["score"]["floors"]] == ["floor (largest class)"]
    found = {floor["name"]: floor for floor in run["score"]["floors"][1:]}
    assert set(found) == {"WLFeatures", "untrained"}
    Z = augcl.WLFeatures().fit_transform(mutag)
    scores = [augcl.evaluate(Z, mutag.y, repeats=1, random_state=seed).mean for seed in range(2)]
    assert found["WLFeatures"]["runs"] == pytest.approx(scores, abs=0.02)
    assert before["tsne"] is None
    plane = np.frombuffer(base64.b64decode(run["tsne"]["data"]), "<f4").reshape(-1, 2)
    assert plane.shape == (188, 2)
    assert np.isfinite(plane).all()
    # Of another training they are not shown.
    succeeds(
        "train", "MUTAG", *once[:-5], 2, "--seeds", 1, "--jobs", 1, "--out", folder, "--overwrite"
    )
    again = json.loads(DATA.search((folder / "report.html").read_text())[1])["runs"][0]
    assert len(again["score"]["floors"]) == 1
    assert again["tsne"] is None
    succeeds("train", "MUTAG", *once[:-5], 2, "--seeds", 1, "--out", folder, "--resume", "--floors")
    again = json.loads(DATA.search((folder / "report.html").read_text())[1])["runs"][0]
    assert [floor["name"] for floor in again["score"]["floors"][1:]] == ["WLFeatures", "untrained"]


def test_floors_without_a_score_are_refused_before_the_training(refused, tmp_path):
    message = refused("train", "--no-evaluate", "--floors", "--out", tmp_path / "x")
    assert "leave out --no-evaluate or --floors" in message


def test_two_runs_become_one_page(run, succeeds, opened):
    assert succeeds("explore", run, run, "--no-open") == f"wrote {run / 'explore.html'}\n"
    assert opened == []
    assert '"linked": true' in (run / "explore.html").read_text()


def test_the_page_of_a_comparison_is_opened(run, succeeds, refused, opened, tmp_path):
    page = tmp_path / "recommendation-MUTAG.html"
    page.write_text("<title>x</title>")
    succeeds("explore", page)
    assert opened == [page.as_uri()]
    assert "is a page: give it alone" in refused("explore", page, run)


def test_without_a_browser_the_path_is_printed(run, succeeds, opened, monkeypatch):
    def none():
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert succeeds("explore", run) == f"wrote {run / 'report.html'}\n"
    assert opened == []


def test_graphs_and_nodes_are_no_pair(run, succeeds, refused, tmp_path):
    nodes = tmp_path / "nodes"
    method = ("--method", "Propagation", "--no-evaluate", "--out", nodes)
    succeeds("train", "digits-knn", *method)
    assert "one embeds graphs, the other nodes" in refused("explore", run, nodes)
    assert f"{tmp_path} holds no finished run" in refused("explore", tmp_path)
