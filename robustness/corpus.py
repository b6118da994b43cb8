"""Sound inputs of every reader, small, and what is done with a damaged copy of each."""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import os
import random
import sys
import warnings
import zipfile
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import torch
from tests.data.published_files import write_npz, write_planetoid, write_wikics

import augcl
import augcl.cli.main
import augcl.data.cache
from augcl import load, load_model
from augcl.data import GraphSet
from augcl.errors import InputError
from augcl.runs.embedding_file import read_embeddings, write_embeddings
from robustness.mutations import mutated

SMILES = [
    "CCO",
    "c1ccccc1",
    "CC(=O)O",
    "C1CCCCC1",
    "CC(C)N",
    "C[C@H](N)C(=O)O",
    "[Na+].[Cl-]",
    "C#N",
]


@dataclass(frozen=True)
class Target:
    """A folder with sound files, the one to give to the reader, and what to do with it.

    `use` gets the path, the random generator of this input, and the folder of sound inputs.
    """

    make: Callable[[Path], object]
    given: str
    use: Callable[[Path, random.Random], None]
    weight: int = 4


class ContractError(Exception):
    """What was read or printed is not what we promise."""


def need(true: object, what: str) -> None:
    """Raise `ContractError` unless something promised is true."""
    if not true:
        raise ContractError(what)


def command(*arguments: object) -> None:
    """Run an augcl command here: it ends with 0, or with 2 and one line."""
    errors, before = io.StringIO(), sys.argv
    sys.argv = ["augcl", *map(str, arguments)]
    try:
        with redirect_stderr(errors), redirect_stdout(io.StringIO()):
            augcl.cli.main.main()
    except SystemExit as end:
        said = errors.getvalue().splitlines()
        need(end.code in (0, 2), f"exit code {end.code}: {said[-1:]}")
        if end.code:
            lines = [line for line in said if "warning: " not in line and "note: " not in line]
            need(
                len(lines) == 1 and lines[0].startswith("augcl: "),
                f"{len(lines)} lines: {said[-3:]}",
            )
            need("not enough memory" not in lines[0], "memory")
            raise InputError(lines[0]) from None
    finally:
        sys.argv = before


def read_data(path: Path, rng: random.Random) -> None:
    """Load a data set and look at every tensor; now and then let a command read it."""
    way = rng.random()
    if way < 0.06:
        command("doctor", path, "--no-try")
        return
    if way < 0.09:
        settings = ("--epochs", 1, "--seeds", 1, "--jobs", 1, "--no-evaluate")
        command("train", path, *settings, "--out", path.parent / "out")
        found = np.load(path.parent / "out" / "embeddings.npz")["Z"]
        need(np.isfinite(found).all(), "embeddings are not finite")
        return
    if way < 0.3:
        data = load(
            path,
            missing=rng.choice(("error", "zero")),
            task=rng.choice(("classification", "regression", "multilabel")),
        )
    else:
        data = load(path)
    nodes, edges = data.num_nodes, data.edge_index
    x = data.x if data.x.layout == torch.strided else data.x.values()
    need(torch.isfinite(x).all(), "features are not finite")
    need(data.x.shape[0] == nodes, "a row of features for every node")
    need(edges.dtype == torch.int64 and edges.shape[0] == 2, "edge_index is not (2, E) int64")
    need(edges.numel() == 0 or (edges.min() >= 0 and edges.max() < nodes), "edges out of range")
    if isinstance(data, GraphSet):
        need(data.y is None or len(data.y) == len(data), "a label for every graph")
        need(data.node_ptr[-1] == nodes and (data.node_ptr.diff() >= 0).all(), "node_ptr")
        data.select(range(0, len(data), 2))


def read_cached(path: Path, rng: random.Random) -> None:
    """Load a set twice, its cache damaged in between: the cache is ignored or right."""
    augcl.data.cache.SMALLEST = 0
    sound = load(path)
    (file,) = (augcl.data.cache.cache_dir() / "parsed").glob("*.safetensors")
    file.write_bytes(mutated(file.read_bytes(), file.name, rng))
    again = load(path)
    need(torch.equal(sound.x, again.x), "the cache gave other features")
    need(torch.equal(sound.edge_index, again.edge_index), "the cache gave other edges")


def use_embeddings(path: Path, rng: random.Random) -> None:
    """Read embeddings; now and then evaluate them or search neighbours."""
    way = rng.random()
    if way < 0.25:
        command("evaluate", path, "--folds", 2, "--repeats", 1, "--jobs", 1)
    elif way < 0.5:
        command("neighbors", path, "-k", 2, "--out", path.parent / "near.csv")
    else:
        found = read_embeddings(path)
        need(found.Z.dtype.kind in "fiu", "embeddings are not numbers")


def use_model(path: Path, rng: random.Random) -> None:
    """Load a model and embed with it."""
    model = load_model(path)
    data = _molecules() if model.level == "graph" else load(path.parent / "mine.npz")
    need(np.isfinite(model.transform(data)).all(), "embeddings are not finite")


def use_run(path: Path, rng: random.Random) -> None:
    """Let each command that reads a run read it."""
    way = rng.randrange(6)
    if way <= 1:
        command("report", path)
    elif way <= 3:
        command("doctor", path)
    elif way == 4:
        command("embed", path, "MUTAG", "--out", path.parent / "z.npz")
    else:
        command("train", *TRAIN, "--resume", "--out", path)


def compare_again(path: Path, rng: random.Random) -> None:
    """Continue a comparison whose finished cells are damaged."""
    command("compare", *COMPARE, "--out", path)


TRAIN = ("--epochs", 2, "--seeds", 2, "--jobs", 1, "--method", "GraphCL", "--no-evaluate")
COMPARE = ("components", "--methods", "WLFeatures", "--seeds", 1, "--jobs", 1)


def _molecules() -> GraphSet:
    found = load("MUTAG")
    assert isinstance(found, GraphSet)
    return found.select(range(0, 160, 8))


def _tu(folder: Path, pack: bool) -> None:
    parts = {
        "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n5, 6\n6, 5\n7, 8\n8, 7\n",
        "graph_indicator": "1\n1\n1\n2\n2\n2\n3\n3\n",
        "graph_labels": "1\n-1\n1\n",
        "node_labels": "0\n1\n0\n0\n1\n2\n0\n1\n",
        "node_attributes": "".join(f"{i}.5, -{i}e-1\n" for i in range(8)),
        "edge_labels": "0\n0\n1\n1\n0\n0\n1\n1\n0\n0\n",
        "edge_attributes": "".join(f"{i}, 0.{i}\n" for i in range(10)),
    }
    if pack:
        with zipfile.ZipFile(folder / "MINE.zip", "w") as archive:
            for part, text in parts.items():
                archive.writestr(zipfile.ZipInfo(f"MINE/MINE_{part}.txt"), text)
        return
    (folder / "MINE").mkdir()
    for part, text in parts.items():
        (folder / "MINE" / f"MINE_{part}.txt").write_text(text)


TABLES = {
    "edges": "graph,source,target,weight,kind\n" + "".join(
        f"g{g},n{i},n{(i + 1) % 4},{i}.5,{'ab'[i % 2]}\n" for g in range(3) for i in range(4)
    ),
    "nodes": "graph,id,size,colour\n" + "".join(
        f"g{g},n{i},{g + i}.25,{'rgb'[i % 3]}\n" for g in range(3) for i in range(4)
    ),
    "graphs": "graph,label,volume\ng0,yes,1.5\ng1,no,2.5\ng2,yes,-1\n",
}  # fmt: skip
ONE_GRAPH = {
    "edges": "source,target,weight\n" + "".join(f"n{i},n{(i + 1) % 9},1.5\n" for i in range(9)),
    "nodes": "id,label,size,train,test\n" + "".join(
        f"n{i},{'ab'[i % 2]},{i}.5,{int(i < 5)},{int(i >= 5)}\n" for i in range(9)
    ),
}  # fmt: skip
DRUGS = "smiles,name,logP,label\n" + "".join(
    f"{text},m{i},{i}.5,{i % 2}\n" for i, text in enumerate(SMILES)
)


def _tables(tables: dict[str, str]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "mine").mkdir()
        for name, text in tables.items():
            (folder / "mine" / f"{name}.csv").write_text(text)

    return make


def _parquet(tables: dict[str, str]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "mine").mkdir()
        for name, text in tables.items():
            table = pyarrow.csv.read_csv(io.BytesIO(text.encode()))
            pyarrow.parquet.write_table(table, folder / "mine" / f"{name}.parquet")

    return make


def _drugs(ending: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / "drugs.csv").write_text(DRUGS)
        if ending == "parquet":
            table = pyarrow.csv.read_csv(folder / "drugs.csv")
            pyarrow.parquet.write_table(table, folder / "drugs.parquet")
            (folder / "drugs.csv").unlink()

    return make


def _npz(folder: Path) -> None:
    rng = np.random.default_rng(0)
    masks = rng.random((3, 2, 12)) < 0.4
    np.savez(
        folder / "mine.npz",
        node_features=rng.normal(size=(12, 3)).astype(np.float32),
        node_labels=np.arange(12) % 3,
        edges=np.stack([np.arange(12), (np.arange(12) + 1) % 12], 1),
        train_masks=masks[0],
        val_masks=masks[1],
        test_masks=masks[2],
    )


def _ogb(folder: Path) -> None:
    """Twelve nodes as the Open Graph Benchmark packs them."""
    ring = [(i, (i + 1) % 12) for i in range(12)]
    parts: dict[str, list[Any]] = {
        "raw/edge": ring,
        "raw/node-feat": [(i / 2, -i) for i in range(12)],
        "raw/node-label": [(i % 3,) for i in range(12)],
        "raw/num-node-list": [(12,)],
        "split/time/train": [(i,) for i in range(6)],
        "split/time/valid": [(i,) for i in range(6, 8)],
        "split/time/test": [(i,) for i in range(8, 12)],
    }
    for name, rows in parts.items():
        file = folder / "mine" / f"{name}.csv.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)
        file.write_bytes(gzip.compress(text.encode(), mtime=0))


def _arrays(edges: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        place = folder / "mine"
        place.mkdir()
        ids = np.arange(12) * 10**12 + 7
        pairs = np.stack([ids, np.roll(ids, 1)], axis=1)
        arrays = {
            "features": np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32),
            "labels": np.arange(12) % 3,
            "ids": ids,
            "train": np.arange(6),
            "val": np.arange(6, 8),
            "test": np.arange(12) >= 8,
        }
        if edges == "npy":
            arrays["edges"] = pairs
        else:
            table = pa.table({"source": pairs[:, 0], "target": pairs[:, 1]})
            pyarrow.parquet.write_table(table, place / "edges.parquet")
        for name, array in arrays.items():
            np.save(place / f"{name}.npy", array)

    return make


def _xml(ending: str) -> Callable[[Path], None]:
    write = nx.write_graphml if ending == "graphml" else nx.write_gml

    def make(folder: Path) -> None:
        (folder / "mine").mkdir()
        for number in range(2):
            graph = nx.cycle_graph(4 + number)
            graph.graph["label"] = number
            for node in graph:
                graph.nodes[node].update(size=node + 0.5, colour="rg"[node % 2])
            for number, edge in enumerate(graph.edges):
                graph.edges[edge]["weight"] = number + 1.5
            write(graph, folder / "mine" / f"g{len(graph)}.{ending}")

    return make


def _embeddings(ending: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        graphs = _molecules()
        Z = np.random.default_rng(0).normal(size=(len(graphs), 3)).astype(np.float32)
        write_embeddings(folder / f"z.{ending}", Z, graphs)

    return make


def _model(build: Callable[[], Any], nodes: bool = False) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        data: Any = _molecules()
        if nodes:
            write_npz(folder / "mine.npz")
            data = load(folder / "mine.npz")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what a method does not use
            build().fit(data).save(folder / "model")

    return make


SMALL = {"epochs": 1, "width": 4, "layers": 2, "random_state": 0, "progress": False}
MODELS: dict[str, tuple[Callable[[], Any], bool]] = {
    "GraphCL": (lambda: augcl.GraphCL(**SMALL), False),
    "GraphCL-augcl": (
        lambda: augcl.GraphCL(hardness=augcl.AffinityUncertainty(warmup=1, passes=1), **SMALL),
        False,
    ),
    "WLKernel": (lambda: augcl.WLKernel(height=1), False),
    "WLFeatures": (lambda: augcl.WLFeatures(), False),
    "GraphletKernel": (lambda: augcl.GraphletKernel(size=3, n_samples=9, progress=False), False),
    "Beside": (lambda: augcl.Beside(augcl.GraphCL(**SMALL), augcl.WLFeatures(height=1)), False),
    "GRACE": (lambda: augcl.GRACE(epochs=1, random_state=0, progress=False), True),
    "Propagation": (lambda: augcl.Propagation(), True),
}
if importlib.util.find_spec("gensim"):  # it has no wheel for the newest Python
    FEW = {"passes": 1, "random_state": 0, "progress": False}
    MODELS |= {
        "DeepGraphKernel": (lambda: augcl.DeepGraphKernel(height=1, dimension=8, **FEW), False),
        "Graph2Vec": (lambda: augcl.Graph2Vec(height=1, dimensions=8, **FEW), False),
        "DeepWalk": (lambda: augcl.DeepWalk(dimensions=8, walks=2, **FEW), True),
    }


def _run(folder: Path) -> None:
    command("train", *TRAIN, "--hardness", "none", "--out", folder / "run")


def _comparison(folder: Path) -> None:
    command("compare", *COMPARE, "--out", folder / "comparison")


TARGETS: dict[str, Target] = {
    "TU zip": Target(lambda f: _tu(f, True), "MINE.zip", read_data, 8),
    "TU folder": Target(lambda f: _tu(f, False), "MINE", read_data, 8),
    "CSV of graphs": Target(_tables(TABLES), "mine", read_data, 8),
    "CSV of one graph": Target(_tables(ONE_GRAPH), "mine", read_data, 8),
    "Parquet of graphs": Target(_parquet(TABLES), "mine", read_data),
    "Parquet of one graph": Target(_parquet(ONE_GRAPH), "mine", read_data),
    "SMILES in CSV": Target(_drugs("csv"), "drugs.csv", read_data, 6),
    "SMILES in Parquet": Target(_drugs("parquet"), "drugs.parquet", read_data, 3),
    "gnn-benchmark npz": Target(lambda f: write_npz(f / "mine.npz"), "mine.npz", read_data, 6),
    "heterophilous npz": Target(_npz, "mine.npz", read_data),
    "planetoid": Target(write_planetoid, "ind.cora.graph", read_data, 8),
    "Wiki-CS": Target(lambda f: write_wikics(f / "data.json"), "data.json", read_data, 6),
    "OGB": Target(_ogb, "mine", read_data, 6),
    "arrays": Target(_arrays("npy"), "mine", read_data),
    "arrays and Parquet": Target(_arrays("parquet"), "mine", read_data, 2),
    "GraphML": Target(_xml("graphml"), "mine", read_data, 6),
    "GML": Target(_xml("gml"), "mine", read_data, 6),
    "GraphML of one graph": Target(_xml("graphml"), "mine/g4.graphml", read_data, 3),
    "cache": Target(lambda f: _tu(f, True), "MINE.zip", read_cached, 2),
    **{
        f"embeddings {ending}": Target(_embeddings(ending), f"z.{ending}", use_embeddings)
        for ending in ("npz", "csv", "parquet")
    },
    **{
        f"model {name}": Target(_model(build, nodes), "model", use_model, 3)
        for name, (build, nodes) in MODELS.items()
    },
    "run": Target(_run, "run", use_run, 8),
    "comparison": Target(_comparison, "comparison", compare_again, 1),
}  # fmt: skip


def files_of(folder: Path) -> list[Path]:
    """Return the files of a sound input, in a fixed order; a lock is none."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".lock", ".html")
    )


def describe(number: int, target: str, changes: list[str]) -> str:
    """Return one line that says which input this is."""
    return json.dumps({"number": number, "target": target, "changed": changes})


def quiet_environment(folder: Path) -> None:
    """Keep the user's cache and data out of everything here."""
    os.environ["AUGCL_CACHE"] = str(folder / "cache")
    os.environ.pop("AUGCL_DATA", None)
    os.environ.pop("AUGCL_MAX_GB", None)
