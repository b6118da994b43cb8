"""Neighbours of a run: queries by name or number, and a table with classes or targets."""

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

from augcl import GraphCL, InputError, MorganFingerprints, Node2Vec, WLKernel
from augcl.runs.embedding_file import Embeddings, read_embeddings, write_embeddings
from augcl.runs.neighbors import chosen, embeddings_of, labels_of, neighbor_table, write_table

Z = np.array([[1, 0], [0, 1], [2, 0], [1, 1]], dtype=np.float32)
NAMED = Embeddings(Z, None, "graph", names=["salt", "water", "water", "0"])


def test_a_query_is_a_name_before_it_is_a_number():
    assert chosen(["salt", "0", "2"], NAMED) == [0, 3, 2]
    assert chosen(["3"], Embeddings(Z, None)) == [3]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("water", "2 graphs are called 'water': give a number, 1, 2"),
        (
            "sallt",
            "there is no graph 'sallt': did you mean salt. give a name or a number from 0 to",
        ),
        ("4", "from 0 to 3"),
        ("-1", "from 0 to 3"),
        ("²", "from 0 to 3"),
    ],
)
def test_a_wrong_query_is_refused_with_the_right_ones(query, words):
    with pytest.raises(InputError, match=words):
        chosen([query], NAMED)


def test_the_table_has_the_classes_of_both():
    found = Embeddings(Z, np.array([0, 1, -1, 0]), "node", classes=["liquid", "solid"])
    table = neighbor_table(found, [0, 1], 2).to_pydict()
    assert table["query"] == ["0", "0", "1", "1"]
    assert table["rank"] == [1, 2, 1, 2]
    assert table["neighbor"] == ["2", "3", "3", "0"]
    assert np.allclose(table["similarity"], [1, 0.5**0.5, 0.5**0.5, 0])
    assert table["query_class"] == ["liquid", "liquid", "solid", "solid"]
    assert table["class"] == ["", "liquid", "liquid", "liquid"]


def test_targets_have_their_names():
    y = np.array([[0.5, 1], [np.nan, 0], [2, 1], [3, 0]], dtype=np.float32)
    named = labels_of(Embeddings(Z, y, targets=["logP", "rank"]))
    assert list(named) == ["logP", "rank_target"]
    assert named["logP"].tolist()[2:] == [2, 3]
    assert list(labels_of(Embeddings(Z, y))) == ["target0", "target1"]
    assert list(labels_of(Embeddings(Z, y[:, 0]))) == ["target"]
    words = Embeddings(Z, np.array(["a", "b", "a", "b"]))
    assert neighbor_table(words, [1], 1)["class"].to_pylist() == ["b"]


@pytest.mark.parametrize("ending", [".npz", ".csv", ".parquet"])
def test_names_are_read_from_every_file_of_embeddings(ending, drugs, tmp_path):
    file = tmp_path / f"z{ending}"
    z = MorganFingerprints(width=32).fit_transform(drugs)
    write_embeddings(file, z, drugs)
    assert read_embeddings(file).names == list(drugs.names)
    aspirin = chosen([drugs.names[0]], embeddings_of(file))
    assert neighbor_table(embeddings_of(file), aspirin, 20).num_rows == 11


def test_a_column_of_bytes_is_refused(tmp_path):
    file = tmp_path / "z.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"z0": [1.0], "label": [b"\xff"]}), file)
    with pytest.raises(InputError, match="column label holds bytes: store text or numbers"):
        read_embeddings(file)


def test_the_table_is_written_for_other_programs(tmp_path):
    table = neighbor_table(NAMED, None, 2)
    for name, read in (
        ("n.csv", pyarrow.csv.read_csv),
        ("n.parquet", pyarrow.parquet.read_table),
    ):
        write_table(table, tmp_path / name)
        again = read(tmp_path / name)
        assert again.column_names == table.column_names
        assert again["neighbor"].to_pylist()[:4] == ["water", "0", "0", "salt"]
    with pytest.raises(InputError, match=r"\.csv, \.parquet"):
        write_table(table, tmp_path / "n.txt")


FOREIGN = {
    "shape": {"Z": Z[:, :, None]},
    "names": {"Z": Z, "names": np.array(["a", "b"])},
    "labels of shape": {"Z": Z, "y": np.zeros(3, dtype=np.int64)},
    "1 of 4 embeddings hold NaN, .*, the first is entry 3": {
        "Z": np.array([[1.0], [2.0], [np.inf], [3.0]])
    },
    "label 7": {"Z": Z, "y": np.array([0, 1, 7, -1]), "classes": np.array(["a", "b"])},
}


@pytest.mark.parametrize("message", FOREIGN)
def test_a_file_whose_arrays_do_not_fit_is_refused(message, tmp_path):
    np.savez(tmp_path / "z.npz", **FOREIGN[message])
    with pytest.raises(InputError, match=rf"z\.npz: .*{message}"):
        embeddings_of(tmp_path / "z.npz")


def test_numbers_of_another_machine_are_read(tmp_path):
    np.savez(tmp_path / "z.npz", Z=Z.astype(">f8"), y=np.arange(4).astype(">i8"))
    table = neighbor_table(embeddings_of(tmp_path / "z.npz"), None, 1)
    assert table["query_class"].to_pylist() == [0, 1, 2, 3]


def test_embeddings_beyond_single_precision_are_refused(tmp_path):
    with pytest.raises(InputError, match="infinity"):
        neighbor_table(Embeddings(np.full((3, 2), 1e300), None), None, 1)
    np.savez(tmp_path / "z.npz", Z=np.diag([1.0, 1e300]))
    with pytest.raises(InputError, match=r"z\.npz: 1 of 2 .* single precision.* entry 2"):
        embeddings_of(tmp_path / "z.npz")


def test_a_kernel_has_no_neighbours(molecules, tmp_path):
    model = WLKernel().fit(molecules)
    with pytest.raises(InputError, match="WLKernel has a kernel instead of embeddings"):
        model.neighbors(molecules)
    write_embeddings(tmp_path / "z.npz", model.transform(molecules), molecules, kernel=True)
    with pytest.raises(InputError, match="holds a kernel"):
        embeddings_of(tmp_path / "z.npz")
    with pytest.raises(InputError, match="holds no embeddings"):
        embeddings_of(tmp_path)


def test_a_model_finds_neighbours_of_graphs_here_and_elsewhere(molecules):
    model = GraphCL(epochs=1, width=8, progress=False).fit(molecules)
    z = model.transform(molecules)
    z = z / np.linalg.norm(z, axis=1, keepdims=True)
    cosines = z @ z.T
    np.fill_diagonal(cosines, -2)
    indices, similarity = model.neighbors(molecules, 3)
    best = -np.sort(-cosines, axis=1)[:, :3]
    assert np.allclose(similarity, best, atol=1e-5)
    assert np.allclose(np.take_along_axis(cosines, indices, 1), best, atol=1e-5)
    few = model.neighbors(molecules.select([4, 7]), 1, among=molecules)
    assert np.allclose(few.similarity, 1, atol=1e-5)
    with pytest.raises(InputError, match="k is 0"):
        model.neighbors(molecules, 0)


def test_neighbours_do_not_depend_on_the_output_that_scikit_learn_is_set_to(molecules):
    pytest.importorskip("pandas", reason="optional: pandas is not installed")
    model = GraphCL(epochs=1, width=8, progress=False).fit(molecules)
    plain = model.neighbors(molecules, 2)
    tables = model.set_output(transform="pandas").neighbors(molecules, 2)
    assert np.array_equal(plain.indices, tables.indices)


def test_nodes_of_a_group_are_neighbours(graph):
    pytest.importorskip("gensim", reason="optional: gensim is not installed")
    model = Node2Vec(random_state=0, progress=False).fit(graph)
    indices = model.neighbors(graph, 3).indices
    y = graph.y.numpy()
    assert (y[indices] == y[:, None]).mean() > 0.8
