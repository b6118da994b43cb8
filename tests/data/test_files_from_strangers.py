"""Hostile files of data: one message, whatever they claim, in little memory and time."""

import gzip
import io
import json
import os
import pickle
import zipfile
from contextlib import suppress

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from tests.data.published_files import write_planetoid, write_wikics

from augcl.data import limits, load
from augcl.data.limits import LONGEST_LINE, check_lines
from augcl.errors import InputError
from limits import in_child

TU = {
    "A": "1, 2\n2, 3\n4, 5\n5, 6\n",
    "graph_indicator": "1\n1\n1\n2\n2\n2\n",
    "node_labels": "0\n1\n0\n0\n1\n0\n",
    "edge_labels": "0\n1\n0\n1\n",
}


def read(path):
    load(path)


def refuse(path, seconds=10):
    """A child that may take 1 GB refuses the path, and so does this process, in one line."""
    assert in_child(read, path, seconds=seconds) == "InputError", path
    with pytest.raises(InputError) as caught:
        load(path)
    message = str(caught.value)
    assert str(path.parent) in message
    assert len(message.splitlines()) == 1
    assert len(message) < 3500
    return message


def write_tu(path, **changes):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in (TU | changes).items():
            archive.writestr(f"MINE/MINE_{part}.txt", text)
    return path


HUGE = {
    "labels of nodes": {"node_labels": "0\n1000000000\n0\n0\n1\n0\n"},
    "labels of edges": {"edge_labels": f"0\n{2**63 - 1}\n{-(2**63)}\n1\n"},
    "ten million labels": {"node_labels": "0\n10000000\n0\n0\n1\n0\n"},
    "graphs": {"graph_indicator": "1\n1\n1\n300000000\n300000000\n300000000\n"},
    "columns": {"node_attributes": "1," * 200_000 + "1\n"},
    "a line": {"A": "1" * (LONGEST_LINE + 2)},
}


@pytest.mark.parametrize("claim", HUGE)
def test_a_tu_set_that_claims_too_much_is_refused(tmp_path, claim):
    refuse(write_tu(tmp_path / "mine.zip", **HUGE[claim]))


def test_a_line_break_of_unicode_stays_out_of_the_message(tmp_path):
    refuse(write_tu(tmp_path / "a.zip", graph_labels="1\n-1\u2028\u2028\n"))


def test_numbers_beyond_single_precision_and_whole_numbers_beyond_integers(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("id,size\na,1\nb,1e300\nc,2\n")  # warnings are errors here
    with pytest.raises(InputError, match=r"nodes\.csv, line 3"):
        load(tmp_path)
    nodes.write_text("id,label\na,1e30\nb,-1e30\nc,1e30\n")
    assert load(tmp_path).y.tolist() == [1, 0, 1]


def test_a_zip_that_unpacks_to_gigabytes_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = write_tu(tmp_path / "mine.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("MINE/MINE_node_attributes.txt", "0\n" * 6)
        for member in archive.infolist():  # as its directory says
            member.file_size = 10 * 10**9
    assert "AUGCL_MAX_GB" in refuse(path)
    assert load(write_tu(path)).num_nodes == 6
    monkeypatch.setenv("AUGCL_MAX_GB", "0.0000001")
    assert "set $AUGCL_MAX_GB to read it" in refuse(path)
    for wrong in ("x", "-1", "nan", "inf"):
        monkeypatch.setenv("AUGCL_MAX_GB", wrong)
        with pytest.raises(InputError, match="give a number of gigabytes"):
            load(path)


def test_zeros_that_pack_a_thousand_times_smaller_are_refused(tmp_path):
    path = tmp_path / "mine.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("MINE/MINE_A.txt", TU["A"])
        with archive.open("MINE/MINE_graph_indicator.txt", "w") as member:
            for _ in range(300):
                member.write(bytes(1_000_000))
    assert "unpacks to" in refuse(path)


def test_an_encrypted_zip_is_named(tmp_path):
    path = write_tu(tmp_path / "mine.zip")
    content = bytearray(path.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag of encryption
        start = content.find(signature)
        while start >= 0:
            content[start + place] |= 1
            start = content.find(signature, start + 1)
    path.write_bytes(content)
    assert "is encrypted; unpack it first" in refuse(path)


def write_members(path, **arrays):
    """An .npz file of these arrays; bytes are written as they are."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in arrays.items():
            content = io.BytesIO()
            if isinstance(value, bytes):
                content.write(value)
            else:
                np.save(content, value, allow_pickle=False)
            archive.writestr(f"{name}.npy", content.getvalue())
    return path


def header(shape, kind="<f4"):
    content = io.BytesIO()
    facts = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(content, facts)
    return content.getvalue() + bytes(16)


RING = {
    "adj_data": np.ones(3, np.float32),
    "adj_indices": np.array([1, 2, 0]),
    "adj_indptr": np.arange(4),
    "adj_shape": np.array([3, 3]),
}
ARRAYS = {
    "long": {**RING, "labels": header((10**12,), "<i8")},
    "long and empty": {**RING, "attr_matrix": header((10**10, 0))},
    "beyond int64": {**RING, "labels": header((2**70,), "<i8")},
    "one dimension": {"adj_matrix": np.ones(3)},
    "no dimension": {"adj_matrix": np.array(1.0)},
    "complex": {"adj_matrix": np.eye(3) + 1j},
    "infinite": {**RING, "attr_matrix": np.full((3, 2), np.inf)},
    "infinite halves": {**RING, "attr_matrix": np.full((3, 2), np.inf, np.float16)},
    "indices": {**RING, "adj_indices": np.array([1, 2, 2**40])},
    "fractions": {**RING, "adj_indices": np.array([0.5, 1, 2])},
    "pointers below 0": {**RING, "adj_indptr": np.array([0, 1, 2, -1])},
    "pointers far below 0": {**RING, "adj_indptr": np.array([0, 1, 2, -7])},
    "nodes of edges": {"edges": np.array([[0, 10**12]])},
    "many nodes of edges": {"edges": np.array([[0, 2 * 10**9]])},
    "columns": {
        **RING,
        **{key.replace("adj", "attr"): value for key, value in RING.items()},
        "attr_shape": np.array([3, 2**60]),
    },
    "labels of words": {**RING, "labels": np.array(["a", "b"])},
    "shape of words": {**RING, "adj_shape": np.array(["a", "b"])},
}


@pytest.mark.parametrize("arrays", ARRAYS)
def test_an_npz_with_impossible_arrays_is_refused(tmp_path, arrays):
    refuse(write_members(tmp_path / "mine.npz", **ARRAYS[arrays]))


def write_ogb(folder, **members):
    """An OGB folder of three edges; text is packed."""
    (folder / "raw").mkdir(parents=True)
    for name, text in ({"edge": "0,1\n1,2\n2,0\n"} | members).items():
        place = folder / f"{name}.csv.gz" if "/" in name else folder / "raw" / f"{name}.csv.gz"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(gzip.compress(text if isinstance(text, bytes) else text.encode()))
    return folder


PACKED = {
    "nodes": ({"num-node-list": "1000000000\n"}, "num-node-list.csv.gz: 1,000,000,000 nodes"),
    "no number": ({"num-node-list": ""}, "num-node-list.csv.gz"),
    "nodes of edges": ({"edge": "0,100000000\n"}, "edge.csv.gz: 100,000,001 nodes for 1 lines"),
    "far nodes": ({"edge": "0,1000000000000\n"}, "number them without gaps"),
    "a line": ({"edge": bytes(2 * LONGEST_LINE + 2)}, "edge.csv.gz has a line of more than"),
    "a late line": ({"edge": b"0,1\n" + bytes(2 * LONGEST_LINE)}, "edge.csv.gz"),
    "columns": ({"node-feat": "1," * 100_001}, "node-feat.csv.gz has more than 100,000 columns"),
}


@pytest.mark.parametrize("claim", PACKED)
def test_an_ogb_folder_that_claims_too_much_is_refused(tmp_path, claim):
    members, said = PACKED[claim]
    assert said in refuse(write_ogb(tmp_path / "mine", **members))


def test_a_small_gzip_file_of_many_zeros_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "SMALL", 1 << 25)
    folder = write_ogb(tmp_path / "mine", **{"node-feat": b"0,0\n" * 10_000_000})
    assert "node-feat.csv.gz has" in refuse(folder)


def test_labels_that_no_whole_number_can_hold(tmp_path):
    for number, value in enumerate(("inf", "-inf", "-1e300", "-1e18")):
        refuse(write_ogb(tmp_path / str(number), **{"node-label": f"1\n{value}\n2\n"}))
    for number, value in enumerate(("1e30", "1e300")):  # warnings are errors here
        folder = write_ogb(tmp_path / f"large{number}", **{"node-label": f"1\n{value}\n2\n"})
        assert load(folder).y.tolist() == [0, 2, 1]


def test_an_ogb_split_that_names_no_node_is_named(tmp_path):
    parts = {f"split/time/{part}": "1\n" for part in ("train", "valid")}
    folder = write_ogb(tmp_path / "mine", **parts, **{"split/time/test": "7\n"})
    assert "split/time/test.csv.gz names a node that is not 0 to 2" in refuse(folder)


@pytest.mark.parametrize("shape", [(10**12, 0), (10**7, 0), (10**12, 4), (2**62, 2**62, 0)])
def test_a_folder_of_arrays_whose_header_promises_too_much_is_refused(tmp_path, shape):
    (tmp_path / "features.npy").write_bytes(header(shape))
    np.save(tmp_path / "edges.npy", np.array([[0, 1]]))
    assert "features.npy" in refuse(tmp_path)


def test_an_archive_of_arrays_is_no_array(tmp_path):
    np.savez(tmp_path / "features.npz", x=np.eye(3))
    (tmp_path / "features.npz").rename(tmp_path / "features.npy")
    np.save(tmp_path / "edges.npy", np.array([[0, 1]]))
    assert "features.npy is not an array" in refuse(tmp_path)


def test_a_parquet_file_of_a_billion_equal_numbers_is_refused(tmp_path):
    few = pa.table({"source": np.zeros(1 << 20, np.int64), "target": np.zeros(1 << 20, np.int64)})
    with pa.parquet.ParquetWriter(tmp_path / "edges.parquet", few.schema) as file:
        for _ in range(20):
            file.write_table(few)
    assert "edges.parquet has" in refuse(tmp_path)
    np.save(tmp_path / "features.npy", np.eye(3, dtype=np.float32))
    assert "edges.parquet has" in refuse(tmp_path)


@pytest.mark.parametrize("name", ["edges.csv", "nodes.csv", "drugs.csv"])
@pytest.mark.parametrize("end", ["", "\n"])
def test_a_long_line_in_the_body_of_a_csv_file_is_refused(tmp_path, name, end):
    tables = {
        "edges.csv": "source,target\na,b\nb,",
        "nodes.csv": "id,size\na,1\nb,",
        "drugs.csv": "smiles,y\nCC,1\nCC,",
    }
    (tmp_path / "edges.csv").write_text("source,target\na,b\n")
    place = tmp_path / name
    place.write_text(tables[name] + "c" * 70_000_000 + end)
    said = refuse(place if name == "drugs.csv" else tmp_path)
    assert f"{name} has a line of more than 16,777,216 bytes" in said


def test_long_files_of_short_lines_are_read_whatever_ends_a_line(tmp_path):
    for end in (b"\n", b"\r", b"\r\n"):
        line = b"1" * 99 + end
        place = tmp_path / "lines"
        place.write_bytes(line * (LONGEST_LINE // 50))
        check_lines(place)
        with place.open("ab") as file:
            file.write(b"1" * (LONGEST_LINE + 1))
        with pytest.raises(InputError, match="has a line of more than"):
            check_lines(place)


@pytest.mark.parametrize("name", ["data.json", "mine.gml", "mine.graphml"])
def test_a_large_file_that_is_parsed_as_a_whole_is_refused(tmp_path, name, monkeypatch):
    place = tmp_path / name
    with place.open("wb") as file:
        file.truncate(3_900_000_000)
    assert f"{name} has 3,900,000,000 bytes" in refuse(place)
    monkeypatch.setenv("AUGCL_MAX_GB", "0.000001")
    place.write_text("graph [\n" + " " * 200 + "]")
    with pytest.raises(InputError, match="to 1 to read it anyway"):
        load(place)


class Hungry:
    """What a reader gets that needs too much."""

    def __init__(self, error):
        self.error = error

    def __call__(self, *_):
        raise self.error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried 8 TB"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_a_file_that_needs_more_memory_than_there_is_is_named(tmp_path, monkeypatch, error):
    place = write_members(tmp_path / "mine.npz", **RING)
    monkeypatch.setattr("augcl.data.formats.read_npz", Hungry(error))
    with pytest.raises(InputError, match=r"mine\.npz: not enough memory to read it: give less"):
        load(place)


def test_half_precision_in_an_npz_is_read(tmp_path):
    ring = {**RING, "adj_data": np.ones(3, np.float16)}
    path = write_members(tmp_path / "mine.npz", **ring, attr_matrix=np.eye(3, dtype=np.float16))
    assert load(path).num_nodes == 3


def nested(depth=60):
    """A pickle of a tuple that holds the tuple below it twice; its hash takes 2^depth steps."""
    content = b"(I1\nt"
    for number in range(depth):
        content += b"p%d\ng%d\n\x86" % (number, number)
    return content


INDEX = [str(10**8), str(2**63 - 1), str(2**63), "-1", "x", "1" * 400]
PICKLES = {
    "key": b"}" + nested() + b"I1\ns.",
    "keys": b"(" + nested() + b"I1\nd.",
    "name": b"\x80\x04" + nested() + nested() + b"\x93.",
    "function": nested() + b")R.",
    "neighbours": b"}I0\n(" + nested() + b"ls.",
    "large keys": pickle.dumps({10**30: [0]}, protocol=2),
    "large neighbours": pickle.dumps({0: [10**30]}, protocol=2),
    "itself": b"(lp0\ng0\na.",
    "deep": b"(" * 100_000 + b".",
}


def test_a_planetoid_graph_with_impossible_test_nodes_is_refused(tmp_path):
    write_planetoid(tmp_path, "cora")
    file = tmp_path / "ind.cora.test.index"
    first, *others = file.read_text().split()
    for value in INDEX:
        file.write_text("\n".join([value, *others]) + "\n")
        refuse(tmp_path / "ind.cora.graph")
    file.write_text("\n".join([first, *others]) + "\n")
    assert load(tmp_path / "ind.cora.graph").num_nodes > 0


def test_a_planetoid_pickle_that_lasts_forever_is_refused(tmp_path):
    write_planetoid(tmp_path, "cora")
    for name, content in PICKLES.items():
        (tmp_path / "ind.cora.graph").write_bytes(content)
        assert refuse(tmp_path / "ind.cora.graph", seconds=5), name


def test_a_planetoid_array_that_is_long_and_empty_is_refused(tmp_path):
    write_planetoid(tmp_path, "cora")
    for shape in ((10**10, 0), (2**62, 2**62, 0)):
        hollow = np.empty((0, 3), np.int32)
        content = pickle.dumps(hollow, protocol=2)
        whole = pickle.dumps((0, 3), protocol=2)[2:-1]
        wrong = pickle.dumps(shape, protocol=2)[2:-1]
        assert whole.rstrip(b"q\x00") in content or b"K\x00K\x03\x86" in content
        changed = content.replace(b"K\x00K\x03\x86", wrong.split(b"q\x00")[0])
        assert changed != content
        (tmp_path / "ind.cora.ally").write_bytes(changed)
        refuse(tmp_path / "ind.cora.graph")


def test_wiki_cs_with_foreign_values_is_refused(tmp_path):
    file = tmp_path / "data.json"
    write_wikics(file)
    whole = json.loads(file.read_text())
    for key in whole:
        for value in (None, [None], {"a": 1}, "x", 10**30, [[None]], [[10**30]], [["x"]]):
            file.write_text(json.dumps({**whole, key: value}))
            with suppress(InputError):  # classes may be words, and not everything is needed
                load(file)
    for key in ("features", "links", "train_masks", "test_mask"):
        file.write_text(json.dumps({**whole, key: None}))
        refuse(file)
    file.write_bytes(b"[" * 300_000)
    refuse(file)


GRAPHML = """<?xml version="1.0" encoding="{encoding}"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="a" for="node" attr.name="a" attr.type="{kind}"/><graph edgedefault="undirected">
<node id="1"><data key="a">{value}</data></node><node id="2"><data key="a">1</data></node>
<edge source="1" target="2"/></graph></graphml>"""


def test_graphml_and_gml_with_foreign_values_are_refused(tmp_path):
    file = tmp_path / "mine.graphml"
    usual = {"encoding": "utf-8", "kind": "int", "value": "3"}
    file.write_text(GRAPHML.format(**usual))
    assert load(file).num_nodes == 2
    for change in (
        {"encoding": "x-foo"},
        {"value": "9" * 400},
        {"value": "9" * 5000},
        {"kind": "x"},
        {"value": "1e999", "kind": "double"},
    ):
        file.write_text(GRAPHML.format(**usual | change))
        refuse(file)
    file = tmp_path / "mine.gml"
    for text in (
        "graph [ " * 20_000,
        "graph [ node [ id " + "9" * 5000 + " ] ]",
        "\x00",
        "graph [",
    ):
        file.write_text(text)
        refuse(file)


def test_only_regular_files_of_a_folder_are_read(tmp_path):
    for name in ("loop", "pipe", "zero"):
        folder = tmp_path / name
        folder.mkdir()
        nx.write_graphml(nx.path_graph(3), folder / "a.graphml")
        place = folder / "b.graphml"
        if name == "loop":
            place.symlink_to(place)
        elif name == "pipe":
            os.mkfifo(place)
        else:
            place.symlink_to("/dev/zero")
        assert str(place) in refuse(folder, seconds=5)
    pipe = tmp_path / "mine.zip"
    os.mkfifo(pipe)
    refuse(pipe, seconds=5)


@pytest.mark.parametrize("letter", ["\u2028", "\x85", "\x1d"])
def test_a_line_break_of_unicode_in_a_column_is_told_in_one_line(tmp_path, letter):
    (tmp_path / "edges.csv").write_text(
        f"graph,source,ta{letter}rget\na,0,1\n", encoding="utf-8", newline="\n"
    )
    with pytest.raises(InputError, match="no column target") as error:
        load(tmp_path)
    assert len(str(error.value).splitlines()) == 1


def test_a_number_beyond_single_precision_is_named_without_a_warning(tmp_path):
    attributes = "0.5\n1e300\nx\n1\n1\n1\n"
    path = write_tu(tmp_path / "MINE.zip", node_attributes=attributes)
    with pytest.raises(InputError, match="line 2: '1e300' is not a number in the allowed range"):
        load(path)


def test_nodes_that_only_edges_name_are_bounded(tmp_path):
    np.save(tmp_path / "edges.npy", np.array([[0, 10**11], [1, 2]]))
    assert "for 2 lines: number them without gaps" in refuse(tmp_path)
