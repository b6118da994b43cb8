"""What all tests share: where the benchmark data is, and a cache of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings
from threadpoolctl import threadpool_limits

import references
from augcl.data import GraphSet, NodeGraph, load
from augcl.data.molecules import from_smiles

SHARED = Path(__file__).resolve().parents[2] / "shared"

settings.register_profile("no deadline", deadline=None)  # a busy machine is no failure
settings.load_profile("no deadline")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test reads or writes the user's cache or data folder."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUGCL_CACHE", str(folder))
        patch.delenv("AUGCL_DATA", raising=False)
        patch.delenv("AUGCL_TU_URL", raising=False)
        yield folder


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Small tensors, and several test processes: more threads only wait for each other.

    The variable is for libraries that are loaded later, and for child processes, whose last bits
    may be others with another number of threads.
    """
    with pytest.MonkeyPatch.context() as patch, threadpool_limits(1):
        patch.setenv("OMP_NUM_THREADS", "1")
        torch.set_num_threads(1)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_wait_for_the_disk() -> Iterator[None]:
    """Only a power failure tells whether a file was synced; child processes still sync theirs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="session")
def mutag() -> GraphSet:
    """188 molecules in two classes."""
    return load("MUTAG")


@pytest.fixture(scope="session")
def molecules(mutag: GraphSet) -> GraphSet:
    """40 graphs of MUTAG, both classes, on which an epoch takes no time."""
    return mutag.select(range(0, 160, 4))


@pytest.fixture(scope="session")
def drugs() -> GraphSet:
    """12 molecules that know their SMILES, in two classes."""
    pytest.importorskip("rdkit", reason="optional: RDKit is not installed")
    return from_smiles(references.SMILES, [i % 2 for i in range(len(references.SMILES))])


@pytest.fixture(scope="session")
def tu_dir() -> Path:
    """The folder with the benchmark zips of TU Dortmund."""
    folder = SHARED / "data" / "TU"
    if not folder.is_dir():
        pytest.skip("optional: the TU benchmark zips (MUTAG.zip, …) are not in ../shared/data/TU")
    return folder


@pytest.fixture(scope="session")
def tu(tu_dir: Path) -> Callable[[str], Path]:
    """``tu("DD")`` is the path of DD.zip; the test is skipped where it is not there."""

    def path(name: str) -> Path:
        file = tu_dir / f"{name}.zip"
        if not file.is_file():
            pytest.skip(f"{name}.zip is not among the TU benchmark zips")
        return file

    return path


@pytest.fixture(scope="session")
def graph() -> NodeGraph:
    """90 nodes in three classes, which edges and features tell."""
    return references.communities()


@pytest.fixture
def dense_and_sparse(graph: NodeGraph) -> tuple[NodeGraph, NodeGraph]:
    """The same graph, once with features that are kept dense and once sparse."""
    wide = torch.zeros(90, 600)
    wide[:, :24] = graph.x
    sparse = NodeGraph.from_arrays(pairs=graph.edge_index, num_nodes=90, x=wide)
    assert sparse.x.layout == torch.sparse_csr
    return NodeGraph(wide, graph.edge_index), sparse
