import csv
import json


def test_the_neighbours_of_one_graph_are_printed(run, succeeds):
    lines = succeeds("neighbors", run, 3, 17, "-k", 2).splitlines()
    assert lines[0].split() == ["similarity", "class"]
    assert [line.split()[0] for line in lines[1::3]] == ["3", "17"]
    assert len(lines) == 7
    rows = json.loads(succeeds("neighbors", run, 3, "-k", 2, "--json"))
    assert [row["neighbor"] for row in rows] == [line.split()[0] for line in lines[2:4]]
    assert rows[0]["similarity"] >= rows[1]["similarity"]


def test_without_a_query_all_are_written_to_a_file(run, succeeds, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert succeeds("neighbors", run) == "wrote 940 neighbours to neighbors.csv\n"
    succeeds("neighbors", run, "--out", "n.parquet", "-k", 1)
    with (tmp_path / "neighbors.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["query"] for row in rows[::5]] == [str(i) for i in range(188)]
    assert {row["class"] for row in rows} == {"0", "1"}
    assert (tmp_path / "n.parquet").exists()


def test_mistakes_are_one_line(run, refused, tmp_path):
    assert "a number from 0 to 187" in refused("neighbors", run, "benzene")
    assert "holds no embeddings" in refused("neighbors", tmp_path)
    assert "does not exist" in refused("neighbors", tmp_path / "z.npz")
    assert "does not exist: give the folder of a finished" in refused("neighbors", tmp_path / "no")
    assert "end in one of .csv" in refused("neighbors", run, "--out", tmp_path / "n.txt")
    assert "--help" in refused("neighbors", run, 3, "-k", 0)
