import zipfile
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import pytest
import torch

from augcl.data import load, names
from augcl.data.cache import cache_dir
from augcl.data.loading import download_tu
from augcl.errors import InputError

MUTAG = Path(find_spec("grakel").origin).parent / "tests" / "data" / "MUTAG"


def zip_as(target, name):
    """MUTAG's files as a TU zip of another name."""
    with zipfile.ZipFile(target, "w") as archive:
        for file in MUTAG.glob("MUTAG_*.txt"):
            archive.write(file, f"{name}/{file.name.replace('MUTAG', name)}")


def test_names_are_found_in_any_case_and_by_alias(tmp_path):
    zip_as(tmp_path / "REDDIT-BINARY.zip", "REDDIT-BINARY")
    assert load("rdt-b", data_dir=tmp_path).name == "REDDIT-BINARY"
    assert load("Mutag").name == "MUTAG"
    assert {"MUTAG", "PROTEINS", "COLLAB", "components", "digits"} <= set(names())


@pytest.mark.parametrize("place", ["NCI1.zip", "TU/NCI1.zip", "NCI1", "NCI1/raw", "TU/NCI1"])
def test_a_data_folder_may_be_laid_out_in_several_ways(tmp_path, monkeypatch, place):
    path = tmp_path / place
    if path.suffix:
        path.parent.mkdir(exist_ok=True)
        zip_as(path, "NCI1")
    else:
        path.mkdir(parents=True)
        for file in MUTAG.glob("MUTAG_*.txt"):
            (path / file.name.replace("MUTAG", "NCI1")).write_bytes(file.read_bytes())
    assert len(load("NCI1", data_dir=tmp_path)) == 188
    monkeypatch.setenv("AUGCL_DATA", str(tmp_path))
    assert len(load("NCI1")) == 188


def test_the_data_folder_comes_before_the_wheel(tmp_path):
    (tmp_path / "MUTAG").mkdir()
    (tmp_path / "MUTAG" / "edges.csv").write_text("source,target\na,b\n")
    assert len(load("MUTAG", data_dir=tmp_path)) == 1


@pytest.mark.parametrize("name", ["components-40-50", "components-90-100"])
def test_components_of_every_published_size_have_a_name(name):
    graphs = load(name)
    low, high = (int(part) for part in name.split("-")[1:])
    nodes = graphs.node_ptr.diff()
    assert graphs.name == name
    assert len(graphs) == 1500
    assert int(nodes.max()) <= high
    assert int(nodes[graphs.y == 0].min()) == low


def test_generators_follow_the_seed_and_the_features():
    one, two = load("components", seed=1), load("components", seed=2)
    assert len(one) == 1500
    assert not torch.equal(one.node_ptr, two.node_ptr)
    assert load("digits", features="log-degree").num_features == 1


def test_paths_are_read_by_what_they_hold(tmp_path):
    zip_as(tmp_path / "mine.zip", "other")
    assert load(tmp_path / "mine.zip").name == "other"
    assert load(str(MUTAG)).name == "MUTAG"
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "edges.csv").write_text("source,target\na,b\n")
    assert load(tmp_path / "csv").name == "csv"
    assert load("csv", data_dir=tmp_path).name == "csv"
    (tmp_path / "gml").mkdir()
    nx.write_gml(nx.path_graph(3), tmp_path / "gml" / "path.gml")
    assert load(tmp_path / "gml").names == ["path"]
    assert load(tmp_path / "gml" / "path.gml").name == "path"


def test_a_missing_set_is_downloaded_once(server, asked):
    zip_as(server / "ENZYMES.zip", "ENZYMES")
    assert len(load("enzymes")) == 188
    assert (cache_dir() / "TU" / "ENZYMES.zip").is_file()
    (server / "ENZYMES.zip").unlink()
    assert len(load("ENZYMES")) == 188
    assert asked == ["/ENZYMES.zip"]


def test_a_failed_download_says_what_was_tried_and_what_to_do(server):
    with pytest.raises(InputError, match=r"AIDS .*http://127.0.0.1.*AIDS.zip .*404.*--data-dir"):
        load("AIDS")
    assert not list((cache_dir() / "TU").iterdir())


def test_no_server_at_all_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("AUGCL_TU_URL", "http://127.0.0.1:9/")
    with pytest.raises(InputError, match=r"could not be downloaded from http://127.0.0.1:9/DD.zip"):
        download_tu("DD", tmp_path)
    monkeypatch.setenv("AUGCL_TU_URL", "file:///etc")
    with pytest.raises(InputError, match="must begin with https"):
        download_tu("DD", tmp_path)


@pytest.mark.parametrize("content", [b"<html>sorry</html>", b"PK\x03\x04 cut short"])
def test_a_download_that_is_no_zip_is_thrown_away(server, content):
    (server / "DD.zip").write_bytes(content)
    with pytest.raises(InputError, match=r"DD.zip did not send a complete zip file"):
        load("DD")
    assert not list((cache_dir() / "TU").iterdir())


def test_an_unknown_name_gets_the_closest_ones_and_no_request(server, asked):
    with pytest.raises(InputError, match=r"unknown data set 'PROTEIN': did you mean PROTEINS"):
        load("PROTEIN")
    assert not asked


@pytest.mark.parametrize("path", ["some/where", "graphs.zip", "./MUTAG"])
def test_a_path_that_is_not_there_is_told(path):
    with pytest.raises(InputError, match=f"{path} does not exist"):
        load(path)


def test_a_file_or_folder_of_no_known_format_is_told(tmp_path):
    (tmp_path / "graphs.pkl").write_bytes(b"")
    with pytest.raises(InputError, match=r"graphs.pkl has an unknown format"):
        load(tmp_path / "graphs.pkl")
    with pytest.raises(InputError, match="contains no graphs that can be read"):
        load(tmp_path)


def test_a_data_folder_of_the_environment_that_is_not_there_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("AUGCL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"nowhere does not exist: change or unset \$AUGCL_DATA"):
        load("MUTAG")


def test_a_data_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InputError, match=r"data folder .*nowhere does not exist"):
        load("MUTAG", data_dir=tmp_path / "nowhere")
