"""Batches of similar graphs, against a slow grouping."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import augcl
from augcl import InputError
from augcl.data.wl import wl_rows
from augcl.ops.cosine import cosine
from augcl.training.batches import GROUP, fixed_batches, neighbor_batches


@pytest.mark.parametrize("count", [7, 24, 37, 41])
def test_each_graph_shares_its_batch_with_the_nearest_that_are_free(molecules, count):
    graphs = molecules.select(torch.arange(count) % 40)
    graphs = replace(graphs, names=[str(i) for i in range(count)])
    rows = torch.randn(count, 5, generator=torch.Generator().manual_seed(1))
    batches = neighbor_batches(graphs, rows, 16, torch.Generator().manual_seed(0))
    members = [[int(name) for name in batch.names] for batch in batches]
    assert sorted(i for batch in members for i in batch) == list(range(count))
    sizes = [len(batch) for batch in members]
    assert all(size == 16 for size in sizes[:-1])

    similar, free, expected = cosine(rows, rows), set(range(count)), []
    for seed in torch.randperm(count, generator=torch.Generator().manual_seed(0)).tolist():
        if seed in free:
            others = sorted(free - {seed}, key=lambda j: (-float(similar[seed, j]), j))
            expected.append({seed, *others[: GROUP - 1]})
            free -= expected[-1]
    flat = [i for batch in members for i in batch]
    found = [set(flat[start : start + GROUP]) for start in range(0, count, GROUP)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


def test_equal_graphs_are_grouped_in_their_order(molecules):
    batches = neighbor_batches(molecules, torch.ones(40, 3), 8, torch.Generator().manual_seed(0))
    assert [len(batch) for batch in batches] == [8] * 5


def test_neighbors_are_nearer_than_random_graphs(molecules):
    def nearness(batches):
        rows = [wl_rows(batch) for batch in batches]
        return np.mean([cosine(r, r).mean().item() for r in rows])

    options = {"batch_size": 8, "epochs": 0, "progress": False}
    found = {}
    for kind in ("random", "neighbors"):
        model = augcl.GraphCL(batches=kind, **options).fit(molecules)
        batches = model._batches(model.read(molecules), model._generator())
        found[kind] = nearness(batches)
    assert found["neighbors"] > found["random"] + 0.03


def test_a_training_with_neighbors_is_saved_and_goes_on(molecules, tmp_path):
    options = {"batches": "neighbors", "batch_size": 16, "width": 8, "progress": False}
    whole = augcl.GraphCL(epochs=4, **options).fit(molecules)
    epochs = augcl.GraphCL(epochs=4, **options).fit_epochs(molecules, folder=tmp_path)
    next(epochs)
    epochs.close()
    again = augcl.GraphCL(epochs=4, **options).fit(molecules, folder=tmp_path, resume=True)
    assert np.array_equal(again.transform(molecules), whole.transform(molecules))
    again.save(tmp_path / "model")
    loaded = augcl.load_model(tmp_path / "model")
    assert loaded.batches == "neighbors"
    assert np.array_equal(loaded.transform(molecules), whole.transform(molecules))


def test_impossible_batches_are_named(molecules):
    with pytest.raises(InputError, match="multiple of 8"):
        augcl.GraphCL(batches="neighbors", batch_size=100).check()
    with pytest.raises(InputError, match="kind of batches"):
        augcl.GraphCL(batches="near").check()


@pytest.mark.parametrize(
    ("count", "size", "sizes"),
    [(25, 8, [8, 8, 9]), (24, 8, [8, 8, 8]), (26, 8, [8, 8, 8, 2]), (9, 8, [9]), (3, 1, [1, 2])],
)
def test_a_last_batch_of_one_graph_joins_the_one_before(molecules, count, size, sizes):
    graphs = molecules.select(range(count))
    batches = fixed_batches(graphs, size, torch.Generator().manual_seed(0))
    assert [len(batch) for batch in batches] == sizes
    order = torch.randperm(count, generator=torch.Generator().manual_seed(0))
    expected = graphs.select(order)
    assert torch.cat([batch.x for batch in batches]).equal(expected.x)
