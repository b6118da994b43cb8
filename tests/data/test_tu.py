import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch

from augcl.data import load, node_features, statistics
from augcl.data.targets import Reading
from augcl.data.tu import read_tu
from augcl.errors import InputError
from augcl.training.method import fingerprint

PAPER = Path(__file__).resolve().parents[3] / "shared" / "paper_numbers.json"
EXPECTED = {  # class sizes, width of the features, isolated nodes
    "MUTAG": ([63, 125], 7, 0),
    "PROTEINS": ([663, 450], 3, 5),
    "NCI1": ([2053, 2057], 37, 428),
    "DD": ([691, 487], 89, 0),
    "RDT-B": ([1000, 1000], 1, 21),
    "IMDB-B": ([500, 500], 1, 0),
    "COLLAB": ([2600, 775, 1625], 1, 0),
}

# Two graphs, a triangle with a node label and an edge: every kind of file is there.
TWO = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "3\n5\n3\n6\n6\n",
    "node_attributes": "0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5\n",
    "edge_labels": "0\n0\n2\n2\n0\n0\n2\n2\n",
    "edge_attributes": "1\n1\n2\n2\n3\n3\n4\n4\n",
}


@pytest.fixture(params=["folder", "zip"])
def write(request, tmp_path):
    """``write(A="…")`` writes the set TWO with some files changed (None: left out)."""

    def write(**changes):
        files = {part: text for part, text in (TWO | changes).items() if text is not None}
        if request.param == "zip":
            path = tmp_path / "other_name.zip"
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
                for part, text in files.items():
                    archive.writestr(f"TWO//TWO_{part}.txt", text)
            return path
        for part, text in files.items():
            (tmp_path / f"TWO_{part}.txt").write_text(text)
        return tmp_path

    return write


def refuses(path, message):
    with pytest.raises(InputError, match=message) as caught:
        read_tu(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.fixture(scope="module")
def paper():
    if not PAPER.is_file():
        pytest.skip("the paper's numbers are not beside the repository")
    return json.loads(PAPER.read_text())["dataset_statistics"]["graph_classification"]


@pytest.mark.parametrize("name", ["MUTAG", "PROTEINS", "NCI1", "DD", "RDT-B", "IMDB-B"])
def test_statistics_are_those_of_the_paper(name, paper, tu_dir):
    found = statistics(load(name, data_dir=tu_dir.parent))
    for key in ("graphs", "avg_nodes", "avg_edges"):
        assert round(found[key], 2) == paper[name][key]
    assert (found["class_sizes"], found["features"], found["isolated_nodes"]) == EXPECTED[name]


def test_collab_is_read_within_a_minute_of_the_processor_and_three_gigabytes(paper, tu):
    script = """
import json, resource, sys, time
from augcl.data import statistics
from augcl.data.tu import read_tu
start = time.process_time()
found = statistics(read_tu(sys.argv[1]))
found["seconds"] = time.process_time() - start
found["gigabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
print(json.dumps(found))
"""
    run = subprocess.run(
        [sys.executable, "-c", script, str(tu("COLLAB"))], capture_output=True, check=True
    )
    found = json.loads(run.stdout)
    assert found["graphs"] == paper["COLLAB"]["graphs"]
    assert round(found["avg_nodes"], 2) == paper["COLLAB"]["avg_nodes"]
    assert round(found["avg_edges"], 2) == 2457.22  # the paper's 2457.78 counts 2,837 self-loops
    assert (found["class_sizes"], found["features"], found["isolated_nodes"]) == EXPECTED["COLLAB"]
    assert found["seconds"] < 60
    assert found["gigabytes"] < 3


def test_mutag_of_the_package_equals_the_published_zip(tu):
    packaged, published = load("MUTAG"), read_tu(tu("MUTAG"))
    for key in ("x", "edge_index", "node_ptr", "edge_ptr", "y", "edge_attr"):
        assert torch.equal(getattr(packaged, key), getattr(published, key))


def test_mutag_keeps_its_bits():
    assert fingerprint(load("MUTAG")) == "b81c9e1f3a33d20f118d68456c40647b"


def test_the_same_graphs_as_pyg_reads(tu, tmp_path):
    from torch_geometric.io import read_tu_data

    with zipfile.ZipFile(tu("PROTEINS")) as archive:
        for member in archive.namelist():
            if member.endswith(".txt"):
                (tmp_path / Path(member).name).write_bytes(archive.read(member))
    data, slices, sizes = read_tu_data(str(tmp_path), "PROTEINS")
    ours = read_tu(tmp_path)
    assert torch.equal(torch.cat([ours.node_attr, ours.x], 1), data.x)
    assert torch.equal(ours.y, data.y)
    assert torch.equal(ours.node_ptr, slices["x"])
    shift = torch.repeat_interleave(ours.node_ptr[:-1], slices["edge_index"].diff())
    assert torch.equal(ours.edge_index, data.edge_index + shift)
    assert sizes["num_node_labels"] == ours.num_features


def test_every_kind_of_file_is_read(write):
    graphs = read_tu(write())
    assert graphs.name == "TWO"
    assert graphs.y.tolist() == [1, 0]
    assert graphs.node_ptr.tolist() == [0, 3, 5]
    assert graphs.x.argmax(1).tolist() == [0, 2, 0, 3, 3]
    assert graphs.x.shape == (5, 4)  # labels 3 … 6, though 4 never occurs
    assert graphs.node_attr[:, 1].tolist() == [1, 2, 3, 4, 5]
    assert graphs.edge_index.tolist() == [[0, 0, 1, 1, 2, 2, 3, 4], [1, 2, 0, 2, 0, 1, 4, 3]]
    assert graphs.edge_attr[:, 0].tolist() == [1, 3, 1, 2, 3, 2, 4, 4]
    assert graphs.edge_attr[:, 1:].argmax(1).tolist() == [0, 0, 0, 2, 0, 2, 2, 2]


def test_only_edges_and_indicator_are_needed(write):
    optional = [part for part in TWO if part not in ("A", "graph_indicator")]
    graphs = read_tu(write(**dict.fromkeys(optional)))
    assert graphs.y is None
    assert torch.equal(graphs.x, torch.ones(5, 1))
    assert graphs.node_attr is None
    assert graphs.edge_attr is None


def test_a_set_without_edges_is_read(write):
    graphs = read_tu(write(A="", edge_labels="", edge_attributes=""))
    assert graphs.num_edges == 0
    assert len(graphs) == 2


def test_blank_lines_count_as_lines_but_not_as_entries(write):
    assert len(read_tu(write(graph_labels="1\n\n-1\n\n"))) == 2
    refuses(write(A="1, 2\n\n2, 6\n"), r"TWO_A.txt, line 3: node 6")


def test_nodes_of_a_graph_need_not_stand_together(write):
    graphs = read_tu(write(graph_indicator="1\n2\n1\n1\n2\n", A="1,3\n3,4\n2,5\n", edge_labels=None,
                           edge_attributes=None))  # fmt: skip
    assert graphs.node_ptr.tolist() == [0, 3, 5]
    assert graphs.node_attr[:, 1].tolist() == [1, 3, 4, 2, 5]
    assert graphs.edge_index.tolist() == [[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]]


def test_an_edge_past_the_last_node_names_its_line(write):
    refuses(write(A="1, 2\n2, 1\n4, 6\n"), r"TWO_A.txt, line 3: node 6 .* has 5 nodes")
    refuses(write(A="1, 2\n0, 1\n"), r"TWO_A.txt, line 2: node 0 does not exist")


def test_an_edge_between_two_graphs_names_its_line(write):
    refuses(write(A="1, 2\n3, 4\n"), r"TWO_A.txt, line 2: the edge 3, 4 joins two graphs")


@pytest.mark.parametrize(("value", "what"), [("nan", "empty or NaN"), ("inf", "infinite")])
def test_an_attribute_that_is_not_finite_names_its_line_and_column(write, value, what):
    attributes = f"0, 0\n1, {value}\n2, 2\n3, 3\n4, 4\n"
    message = f"TWO_node_attributes.txt, line 2: column 'attribute1' is {what}"
    refuses(write(node_attributes=attributes), message)


def test_missing_attributes_can_be_flagged(write):
    path = write(node_attributes="0, 0\n1, nan\n2, 2\n3, 3\n4, 4\n")
    graphs = read_tu(path, Reading(missing="zero"))
    assert graphs.attr_columns == ["attribute0", "attribute1", "attribute1 missing"]
    assert graphs.node_attr[:, 1:].tolist() == [[0, 0], [0, 1], [2, 0], [3, 0], [4, 0]]
    joined = node_features(graphs, "attributes")
    assert joined.columns[-3:] == graphs.attr_columns


@pytest.mark.parametrize("part", ["node_labels", "node_attributes"])
def test_other_lengths_name_both_files_and_both_counts(write, part):
    message = rf"TWO_{part}.txt has 2 lines but TWO_graph_indicator.txt has 5"
    refuses(write(**{part: "1\n2\n"}), message)


@pytest.mark.parametrize("part", ["edge_labels", "edge_attributes"])
def test_edge_files_of_other_length_name_the_edge_file(write, part):
    refuses(write(**{part: "1\n2\n"}), rf"TWO_{part}.txt has 2 lines but TWO_A.txt has 8")


def test_an_indicator_beyond_the_labels_names_both_files(write):
    message = r"TWO_graph_indicator.txt, line 5: graph 3 .* TWO_graph_labels.txt has 2 lines"
    refuses(write(graph_indicator="1\n1\n1\n2\n3\n"), message)
    refuses(write(graph_indicator="0\n1\n1\n1\n1\n", graph_labels=None), "line 1: graph 0")


def test_a_graph_without_nodes_is_named(write):
    refuses(write(graph_labels="1\n-1\n1\n"), r"TWO_graph_indicator.txt: graph 3 of 3 has no nodes")


def test_an_empty_indicator_is_named(write):
    refuses(write(graph_indicator=""), r"TWO_graph_indicator.txt is empty")


def test_a_missing_file_is_named(write):
    refuses(write(graph_indicator=None), r"TWO_graph_indicator.txt is missing")


def test_a_folder_without_an_edge_file_is_refused(tmp_path):
    refuses(tmp_path, "0 files end in _A.txt")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": "1, 2\n2; 1\n"}, r"TWO_A.txt, line 2: 1 values, expected 2"),
        ({"A": "1, 2\n2, one\n"}, r"TWO_A.txt, line 2: 'one' is not a whole number"),
        ({"A": "1, 2\n2,\n"}, r"TWO_A.txt, line 2: '' is not a whole number"),
        ({"A": "1, 2\n2, 99999999999\n"}, r"TWO_A.txt, line 2: '99999999999' is not a whole"),
        ({"graph_labels": "1\n0.5\n"}, r"TWO_graph_labels.txt, line 2: '0.5' is not a whole"),
        ({"node_attributes": "1\nx\n"}, r"TWO_node_attributes.txt, line 2: 'x' is not a number"),
        ({"node_labels": "1\n90000\n1\n1\n1\n"}, r"TWO_node_labels.txt: 90000 different values"),
    ],
)
def test_a_line_that_is_no_number_is_named(write, changes, message):
    refuses(write(**changes), message)


@pytest.mark.parametrize("keep", [0, 10, 1000, 20_000, -30])
def test_a_zip_cut_short_is_told(tu, tmp_path, keep):
    path = tmp_path / "MUTAG.zip"
    path.write_bytes(tu("MUTAG").read_bytes()[:keep])
    refuses(path, "the file is damaged or truncated")


def test_a_zip_with_damaged_content_is_told(tu, tmp_path):
    whole = bytearray(tu("MUTAG").read_bytes())
    whole[2000:2100] = bytes(100)
    path = tmp_path / "MUTAG.zip"
    path.write_bytes(whole)
    refuses(path, "the file is damaged or truncated")


def test_members_of_a_zip_are_never_written_to_disk(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    path = inner / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for part, text in TWO.items():
            archive.writestr(f"../TWO_{part}.txt", text)
    assert len(read_tu(path)) == 2
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["evil.zip", "inner"]


def test_shadow_files_of_macos_are_not_data(tmp_path):
    with zipfile.ZipFile(tmp_path / "TWO.zip", "w") as archive:
        for part, text in TWO.items():
            archive.writestr(f"TWO/TWO_{part}.txt", text)
            archive.writestr(f"__MACOSX/TWO/._TWO_{part}.txt", b"\0")
    assert len(read_tu(tmp_path / "TWO.zip")) == 2


def test_several_label_columns_stand_side_by_side():
    grakel = pytest.importorskip("grakel", reason="its wheel holds a set with two label columns")
    folder = Path(grakel.__file__).parent / "tests" / "data" / "Cuneiform"
    graphs = read_tu(folder)
    columns = (folder / "Cuneiform_node_labels.txt").read_text().splitlines()[0].count(",") + 1
    assert torch.equal(graphs.x.sum(1), torch.full((graphs.num_nodes,), float(columns)))
