import shutil

import networkx as nx
import pytest
from tests.data.published_files import write_npz, write_planetoid, write_wikics

from augcl.data import GraphSet, NodeGraph, load, load_graph, load_graphs, names
from augcl.data.cache import cache_dir
from augcl.data.catalogue import NODE_SETS
from augcl.data.loading import NODE_FILES, download_node_set
from augcl.errors import InputError

NPZ = {
    "Amazon-Photo": "amazon_electronics_photo.npz",
    "Amazon-Computers": "amazon_electronics_computers.npz",
    "Coauthor-CS": "ms_academic_cs.npz",
    "Coauthor-Physics": "ms_academic_phy.npz",
    "Cora": "cora.npz",
    "CiteSeer": "citeseer.npz",
    "PubMed": "pubmed.npz",
}
PLANETOID = ["Cora", "CiteSeer", "PubMed"]


@pytest.mark.parametrize("folder", ["", "npz", "{name}", "{name}/raw", "npz/{lower}"])
@pytest.mark.parametrize(("name", "file"), NPZ.items())
def test_npz_files_are_found_under_their_published_names(tmp_path, monkeypatch, name, file, folder):
    place = tmp_path / folder.format(name=name, lower=name.lower())
    write_npz(place / file)
    assert load(name, data_dir=tmp_path).name == name
    monkeypatch.setenv("AUGCL_DATA", str(tmp_path))
    assert load(name.upper()).num_nodes == 4


@pytest.mark.parametrize("file", ["{name}.npz", "npz/{name}.npz", "{lower}.npz"])
@pytest.mark.parametrize("name", NPZ)
def test_npz_files_are_found_under_the_name_of_the_set(tmp_path, name, file):
    write_npz(tmp_path / file.format(name=name, lower=name.lower()))
    assert load(name.lower(), data_dir=tmp_path).name == name


@pytest.mark.parametrize("folder", ["", "npz", "{name}", "{name}/raw", "{lower}", "{lower}/raw"])
@pytest.mark.parametrize("name", PLANETOID)
def test_planetoid_files_are_found(tmp_path, name, folder):
    place = tmp_path / folder.format(name=name, lower=name.lower())
    write_planetoid(place, name.lower())
    graph = load_graph(name, data_dir=tmp_path)
    assert (graph.name, graph.num_nodes) == (name, 10)
    assert graph.splits is not None


def test_planetoid_files_come_before_npz_in_one_folder_but_must_be_whole(tmp_path):
    write_planetoid(tmp_path)
    write_npz(tmp_path / "cora.npz")
    assert load("Cora", data_dir=tmp_path).num_nodes == 10
    (tmp_path / "ind.cora.ty").unlink()
    assert load("Cora", data_dir=tmp_path).num_nodes == 4


@pytest.mark.parametrize("folder", ["wiki-cs", "Wiki-CS", "WikiCS/raw", "npz/wiki-cs"])
def test_wiki_cs_is_found(tmp_path, folder):
    write_wikics(tmp_path / folder / "data.json")
    for name in ("Wiki-CS", "wikics", "WIKI-CS"):
        assert load_graph(name, data_dir=tmp_path).name == "Wiki-CS"


def test_paths_are_read_by_what_they_hold(tmp_path):
    write_wikics(tmp_path / "one" / "data.json")
    assert load(tmp_path / "one").num_nodes == 12
    assert load(tmp_path / "one" / "data.json").num_nodes == 12
    write_npz(tmp_path / "npz" / "mine.npz")
    assert load(tmp_path / "npz" / "mine.npz").name == "mine"
    assert load("mine", data_dir=tmp_path).name == "mine"
    nx.write_graphml(nx.path_graph(3), tmp_path / "path.graphml")
    assert load(tmp_path / "path.graphml").node_names == ["0", "1", "2"]
    (tmp_path / "Cora").mkdir()
    (tmp_path / "Cora" / "edges.csv").write_text("source,target\na,b\n")
    assert load("cora", data_dir=tmp_path).node_names == ["a", "b"]


def test_real_files_of_both_kinds_are_found_from_one_folder(npz_dir, tu_dir):
    assert npz_dir.parent == tu_dir.parent
    assert load_graph("Cora", data_dir=npz_dir.parent).num_nodes == 2708
    assert load_graph("photo", data_dir=npz_dir).num_nodes == 7650
    assert len(load_graphs("PROTEINS", data_dir=npz_dir.parent)) == 1113


def test_every_graph_has_a_name_that_is_listed():
    heterophilous = {name for name, (kind, _) in NODE_FILES.items() if kind.startswith("Hetero")}
    assert set(NODE_SETS) == {*NPZ, *heterophilous, "Wiki-CS", "digits-knn"}
    assert set(NODE_SETS) < set(names())
    assert isinstance(load_graph("DIGITS-KNN", features="degree"), NodeGraph)
    assert load("digits-knn", features="log-degree").num_features == 1


def test_sets_and_graphs_are_not_mixed_up(tmp_path):
    with pytest.raises(InputError, match="Cora is one graph whose nodes have classes, but a set"):
        load_graphs("Cora")
    with pytest.raises(InputError, match="MUTAG is a set of graphs, but one graph is needed"):
        load_graph("mutag")
    path = write_npz(tmp_path / "mine.npz")
    with pytest.raises(InputError, match=r"mine.npz is one graph whose nodes have classes"):
        load_graphs(path)
    (tmp_path / "gml").mkdir()
    for name in "ab":
        nx.write_gml(nx.path_graph(3), tmp_path / "gml" / f"{name}.gml")
    assert isinstance(load(tmp_path / "gml"), GraphSet)
    with pytest.raises(InputError, match=r"gml: expected one graph, got a set of 2"):
        load_graph(tmp_path / "gml")
    with pytest.raises(InputError, match="unknown features of one graph's nodes 'attributes'"):
        load_graph("digits-knn", features="attributes")


@pytest.mark.parametrize(
    ("name", "file"), [item for item in NPZ.items() if item[0] not in PLANETOID]
)
def test_a_missing_npz_is_downloaded_once(server, asked, name, file):
    write_npz(server / file)
    assert load(name).name == name
    assert (cache_dir() / name / file).is_file()
    (server / file).unlink()
    assert load(name).name == name
    assert asked == [f"/{file}"]


def test_wiki_cs_is_downloaded_once(server, asked):
    write_wikics(server / "data.json")
    for _ in range(2):
        assert load_graph("Wiki-CS").num_nodes == 12
    assert asked == ["/data.json"]


@pytest.mark.parametrize("name", PLANETOID)
def test_planetoid_files_are_downloaded_once_and_only_those_missing(server, asked, name):
    write_planetoid(server, name.lower())
    missing = server / f"ind.{name.lower()}.test.index"
    missing.rename(server / "elsewhere")
    with pytest.raises(InputError, match=rf"{name} could not be downloaded .*test.index .*404"):
        load(name)
    assert len(asked) == 8
    (server / "elsewhere").rename(missing)
    for _ in range(2):
        assert load(name).num_nodes == 10
    assert asked[8:] == [f"/{missing.name}"]


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("Amazon-Photo", NPZ["Amazon-Photo"], b"<html>sorry</html>"),
        ("Amazon-Photo", NPZ["Amazon-Photo"], b"PK\x03\x04 cut short"),
        ("Wiki-CS", "data.json", b"<html>sorry</html>"),
        ("Wiki-CS", "data.json", b'{"features": [[1, 2'),
        ("Wiki-CS", "data.json", b""),
        ("Cora", "ind.cora.x", b"<html>sorry</html>"),
        ("Cora", "ind.cora.x", b"\x80\x02 cut short"),
        ("Cora", "ind.cora.test.index", b"<html>sorry</html>"),
    ],
)
def test_an_excuse_in_place_of_the_file_is_thrown_away(server, name, file, content):
    write_planetoid(server)
    (server / file).write_bytes(content)
    with pytest.raises(
        InputError, match=f"{file} did not send a complete {file}: try again, or put"
    ):
        load(name)
    assert not (cache_dir() / name / file).exists()


def test_no_server_at_all_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("AUGCL_NODE_URL", "http://127.0.0.1:9/")
    with pytest.raises(InputError, match=r"could not be downloaded from http://127.0.0.1:9/ms_aca"):
        download_node_set("Coauthor-CS", tmp_path)
    monkeypatch.setenv("AUGCL_NODE_URL", "file:///etc")
    with pytest.raises(InputError, match="must begin with https"):
        download_node_set("Cora", tmp_path)


def test_the_addresses_are_pygs():
    from torch_geometric.datasets import Amazon, Coauthor, Planetoid, WikiCS

    from augcl.data.loading import NODE_FILES

    for collection in (Amazon, Coauthor, Planetoid, WikiCS):
        assert collection.url.startswith("https://")
        assert collection.__name__ in {source for source, _ in NODE_FILES.values()}


def test_a_downloaded_file_that_is_damaged_later_is_named(server):
    write_npz(server / NPZ["Coauthor-CS"])
    load("Coauthor-CS")
    kept = cache_dir() / "Coauthor-CS" / NPZ["Coauthor-CS"]
    kept.write_bytes(kept.read_bytes()[:100])
    with pytest.raises(InputError, match=r"ms_academic_cs.npz: the file is damaged"):
        load("Coauthor-CS")
    shutil.rmtree(kept.parent)
    assert load("Coauthor-CS").num_nodes == 4
