import json
import re


def test_a_data_set_is_looked_at_and_tried(succeeds):
    text = " ".join(succeeds("doctor", "MUTAG").split())
    assert text.startswith("MUTAG ok edges: 3,721 edges")
    assert "2 classes of 63 to 125 graphs" in text
    assert re.search(r"estimate \d+ s; by a short run on all 188 graphs: \d+ s", text)
    assert "estimate for a seed" in text


def test_defects_of_a_file_are_told_with_a_cure_and_exit_code_0(succeeds, tu_set):
    path = tu_set(A="1, 2\n1, 2\n2, 1\n2, 2\n2, 3\n5, 6\n6, 7\n8, 9\n9, 10\n")
    text = " ".join(succeeds("doctor", path, "--no-try").split())
    assert "note edges: 1 self-loop in the files, removed → if a self-loop" in text
    assert "1 repeated edge in the files" in text
    assert "1 of 10 nodes (10 %) without an edge" in text
    assert "2 continuous node attributes in the files, not used" in text
    assert "warning classes: 2 of 2 classes (100 %) below the 10 graphs" in text
    assert "(not tried)" in text


def test_the_estimate_follows_the_settings(succeeds, refused, run):
    def found(*more):
        return json.loads(succeeds("doctor", "MUTAG", "--no-try", "--json", *more))["estimate"]

    assert found("--set", "hardness.reward=1.8")["seconds"] > found()["seconds"]
    assert "did you mean width" in refused("doctor", "MUTAG", "--set", "widht=256")
    assert "--set is for a data set" in refused("doctor", run, "--set", "width=256")


def test_findings_for_machines(succeeds, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},0\n" for i in range(30)))
    found = json.loads(succeeds("doctor", tmp_path, "--features", "degree", "--no-try", "--json"))
    assert found["what"] == tmp_path.name
    assert {tuple(finding) for finding in found["findings"]} == {("level", "about", "what", "cure")}
    assert "1 self-loop in the files, removed" in [f["what"] for f in found["findings"]]
    assert found["estimate"]["seconds"] > 0
    assert found["short_run"] is None


def test_a_graph_of_nodes_is_tried_too(succeeds, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},0\n" for i in range(30)))
    found = json.loads(succeeds("doctor", tmp_path, "--json"))
    assert found["short_run"]["seconds"] > 0


def test_a_run_is_looked_at(run, succeeds, monkeypatch):
    monkeypatch.setenv("HOME", str(run.parent))
    text = " ".join(succeeds("doctor", f"~/{run.name}").split())
    assert re.search(r"ok weights: alive: spread \d", text)
    assert "guessing the larger group" in text
    assert "2 epochs are too few" in text
    assert "guessing the largest class: 66.5 %" in text
    assert "--seeds 5 shows the spread" in text


def test_a_plain_run_without_a_score_is_looked_at(succeeds, tmp_path):
    quick = ("--epochs", 5, "--seeds", 1, "--hardness", "none", "--no-evaluate")
    succeeds("train", *quick, "--out", tmp_path / "x")
    found = json.loads(succeeds("doctor", tmp_path / "x", "--json"))["findings"]
    about = {finding["about"]: finding["what"] for finding in found}
    assert about["weights"].startswith("none: every negative counts the same")
    assert about["accuracy"] == "not evaluated"


def test_mistakes_are_told_in_one_line(refused, tmp_path):
    line = refused("doctor", "MUTAGG")
    assert "there is no run MUTAGG, and unknown data set 'MUTAGG': did you mean MUTAG" in line
    assert refused("doctor", "MUTAG", "--features", "deg").startswith("unknown node features")
    assert "does not exist" in refused("doctor", tmp_path / "nothing")
    (tmp_path / "half" / "seed-0").mkdir(parents=True)
    assert "an unfinished run" in refused("doctor", tmp_path / "half")
    (tmp_path / "result.json").write_text("{")
    assert "is damaged" in refused("doctor", tmp_path)


def test_a_network_without_features_is_sent_to_node2vec(succeeds, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n" + "".join(f"{i},0\n" for i in range(30)))
    said = "Node2Vec or degree features usually do better here"
    command = f"augcl train {tmp_path} --method Node2Vec"
    findings = json.loads(succeeds("doctor", tmp_path, "--no-try", "--json"))["findings"]
    assert [f["cure"] for f in findings if f["cure"].startswith(f"{said}: {command}")]
    quick = ("--epochs", 1, "--hardness", "none", "--out", tmp_path / "x", "--overwrite")
    text = succeeds("train", tmp_path, *quick)
    assert text.startswith("warning: features: none that differ")
    assert said in text
    json.loads(succeeds("train", tmp_path, *quick, "--json"))
    assert said not in succeeds("train", tmp_path, *quick, "--features", "degree")


def test_a_number_in_place_of_a_class_is_questioned(refused, tmp_path):
    count = 12
    edges = "".join(f"g{i},a,b\ng{i},b,c\n" for i in range(count))
    (tmp_path / "edges.csv").write_text("graph,source,target\n" + edges)
    graphs = "".join(f"g{i},{i}\n" for i in range(count))
    (tmp_path / "graphs.csv").write_text("graph,label\n" + graphs)
    line = refused("train", tmp_path, "--epochs", 1, "--out", tmp_path / "x")
    assert "cannot be evaluated" in line
    assert "is this regression? --task regression" in line
