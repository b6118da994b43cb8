"""Softmax regression on all splits at once gives the numbers of torch.optim.Adam one by one."""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from benchmarks.textbook.linear import linear_evaluation
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from torch_geometric.data import Data

from augcl.data import load
from augcl.data.node_graph import NodeGraph, Splits
from augcl.errors import InputError
from augcl.evaluation import evaluate
from augcl.evaluation import linear as softmax_regression
from augcl.evaluation.linear import initial_weights, softmax_regressions
from augcl.evaluation.splits import fixed_parts, random_parts

SHARED = Path(__file__).resolve().parents[3] / "shared"


def blobs(N=300, D=8, C=3, *, noise=1.0, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(C, (N,), generator=generator)
    centres = torch.randn(C, D, generator=generator)
    return (centres[y] + noise * torch.randn(N, D, generator=generator)).to(dtype), y


def one_by_one(Z, y, parts, seeds, *, classes, steps):
    for row, seed in zip(parts, seeds, strict=True):
        start = initial_weights(classes, Z.shape[1], seed)
        yield linear_evaluation(Z, y, row, start, steps=steps)


@pytest.mark.parametrize(("D", "C", "noise"), [(8, 3, 2.0), (1, 2, 0.5), (40, 5, 3.0)])
def test_accuracies_are_those_of_adam_one_by_one(D, C, noise):
    Z, y = blobs(D=D, C=C, noise=noise)
    parts = random_parts(len(y), seeds := range(3, 7))
    fits = softmax_regressions(Z, y, parts, seeds, classes=C, steps=400)
    expected = [a for a, _ in one_by_one(Z, y, parts, seeds, classes=C, steps=400)]
    assert [fit.accuracy for fit in fits] == expected


def test_weights_are_those_of_adam():
    Z, y = blobs(noise=4.0)
    parts = random_parts(len(y), seeds := range(2))
    fits = softmax_regressions(Z, y, parts, seeds, classes=3, steps=20)
    for fit, (_, weight) in zip(
        fits, one_by_one(Z, y, parts, seeds, classes=3, steps=20), strict=True
    ):
        assert fit.step == 20
        torch.testing.assert_close(fit.weight, weight, rtol=1e-9, atol=1e-12)


def test_single_precision_differs_by_a_node_or_two_on_digits():
    digits = load_digits()
    Z, y = torch.tensor(digits.data / 16, dtype=torch.float32), torch.tensor(digits.target)
    parts = random_parts(len(y), seeds := range(2))
    fits = softmax_regressions(Z, y, parts, seeds, classes=10, steps=600)
    expected = [a for a, _ in one_by_one(Z, y, parts, seeds, classes=10, steps=600)]
    assert [fit.accuracy for fit in fits] == pytest.approx(expected, abs=2.01 / 0.8 / len(y))
    assert min(expected) > 0.85


def test_groups_of_runs_and_jobs_change_nothing(monkeypatch):
    Z, y = blobs(noise=2.0, dtype=torch.float32)
    parts = random_parts(len(y), seeds := range(7))

    def accuracies(**more):
        fits = softmax_regressions(Z, y, parts, seeds, classes=3, steps=200, **more)
        return [fit.accuracy for fit in fits]

    together = accuracies()
    monkeypatch.setitem(softmax_regression.BYTES_AT_ONCE, "cpu", 1)
    assert accuracies() == together
    assert accuracies(jobs=2) == together


def test_splits_of_different_sizes_keep_their_order():
    Z, y = blobs(N=100, noise=2.0)
    parts = random_parts(100, seeds := [0, 1, 2])
    parts[1, :30] = 0
    fits = softmax_regressions(Z, y, parts, seeds, classes=3, steps=100)
    expected = [a for a, _ in one_by_one(Z, y, parts, seeds, classes=3, steps=100)]
    assert [fit.accuracy for fit in fits] == expected


def test_a_run_depends_only_on_its_own_seed():
    Z, y = blobs(noise=2.0)
    some = {"protocol": "linear-10-10-80", "repeats": 2}
    first, second = (evaluate(Z, y, random_state=seed, **some) for seed in (5, 6))
    assert first.runs[1] == second.runs[0]
    assert np.array_equal(first.splits[1], second.splits[0])
    assert first == evaluate(Z, y, random_state=5, **some)


def test_parts_are_a_tenth_a_tenth_and_the_rest():
    parts = random_parts(7650, seeds=[0])
    assert torch.bincount(parts[0]).tolist() == [765, 765, 6120]


def graph(y, splits=None):
    return NodeGraph(torch.ones(len(y), 1), torch.empty(2, 0, dtype=torch.long), y, splits)


def splits_of(parts):
    return Splits(*(parts == part for part in range(3)))


def test_graphs_of_other_libraries_are_judged_by_their_nodes():
    Z, y = blobs(N=80)
    edge_index = torch.tensor([[0, 1], [1, 0]])
    parts = random_parts(80, range(20), train=0.2)
    masks = {"train_mask": parts.t() == 0, "val_mask": parts.t() == 1, "test_mask": parts.t() == 2}
    public = Data(edge_index=edge_index, y=y, num_nodes=80, **masks)
    assert evaluate(Z, public, repeats=2) == evaluate(Z, graph(y, splits_of(parts)), repeats=2)
    own = Data(edge_index=edge_index, y=y, num_nodes=80, train_mask=parts[0] == 0)
    assert evaluate(Z, own, repeats=1, random_state=1).protocol == "linear-10-10-80"
    named = nx.empty_graph(80)
    nx.set_node_attributes(named, dict(enumerate(y.tolist())), "y")
    assert evaluate(Z, named, repeats=1, random_state=1).protocol == "linear-10-10-80"


def test_raw_features_of_cora():
    file = SHARED / "data" / "npz" / "cora.npz"
    if not file.is_file():
        pytest.skip("optional: cora.npz is not in ../shared/data/npz")
    cora = load(file)
    parts = random_parts(2708, [0])
    splits = splits_of(parts)
    score = evaluate(cora.x, cora, protocol="wikics-20", splits=splits)
    Z = cora.x.to_dense()
    expected, _ = linear_evaluation(Z, cora.y, parts[0], initial_weights(7, 1433, 0), steps=800)
    assert score.mean == pytest.approx(expected, abs=2.01 / (0.8 * 2708))
    assert 0.5 < score.mean < 0.65


def test_a_graph_is_judged_by_its_nodes():
    Z, y = blobs(N=80)
    score = evaluate(Z, graph(y), repeats=1, random_state=1)
    assert score.protocol == "linear-10-10-80"
    assert score == evaluate(Z, y, protocol="linear-10-10-80", repeats=1, random_state=1)
    assert len(score.details["macro_f1"]) == 1


def test_public_splits_are_used_where_there_are_twenty():
    Z, y = blobs(N=80)
    parts = random_parts(80, range(20), train=0.2)
    parts[:, :5] = 2
    score = evaluate(Z, graph(y, splits_of(parts)))
    assert score.protocol == "wikics-20"
    assert np.array_equal(score.splits, parts.numpy())
    again = evaluate(Z, y, protocol="wikics-20", splits=splits_of(parts), repeats=3)
    assert again.runs == score.runs[:3]
    assert again.protocol == "wikics-20, but 3 splits"


def test_unlabelled_nodes_are_left_out():
    Z, y = blobs(N=90)
    known = torch.arange(90) % 3 > 0
    score = evaluate(Z, graph(torch.where(known, y, -1)), repeats=2)
    alone = evaluate(Z[known], graph(y[known]), repeats=2)
    assert score == alone
    assert (score.splits[:, ~known.numpy()] == -1).all()
    assert np.array_equal(score.splits[:, known.numpy()], alone.splits)


def test_a_class_without_training_nodes_is_told():
    Z, y = blobs(N=60)
    y[0] = 3
    with pytest.warns(UserWarning, match=r"class 3 \(1 in all\) in . of 2 splits"):
        evaluate(Z, graph(y), repeats=2)
    named = replace(graph(y), classes=["oak", "ash", "elm", "yew"])
    with pytest.warns(UserWarning, match=r"class 'yew' \(1 in all\)"):
        evaluate(Z, named, repeats=2)


@pytest.mark.parametrize(
    ("y", "more", "message"),
    [
        (None, {}, "evaluate needs labels"),
        (torch.full((60,), -1), {}, "no labelled samples"),
        (torch.where(torch.arange(60) < 9, torch.arange(60) % 2, -1), {}, "9 labelled nodes"),
        (torch.arange(60) % 2, {"folds": 5}, "has no folds"),
        (torch.arange(60) % 2, {"protocol": "wikics-20"}, "needs the splits"),
        (torch.arange(60) % 2, {"repeats": 0}, "repeats is 0"),
    ],
)
def test_mistakes_are_told(y, more, message):
    with pytest.raises(InputError, match=message):
        evaluate(torch.zeros(60, 2), y, **{"protocol": "linear-10-10-80", **more})


def test_numbers_too_large_for_single_precision_are_told():
    with pytest.raises(InputError, match="above 1e18"):
        evaluate(np.full((60, 2), 1e300), np.arange(60) % 2, protocol="linear-10-10-80")


def test_wrong_splits_are_told():
    Z, y = blobs(N=60, C=2)
    good = random_parts(60, range(20))
    with pytest.raises(InputError, match="there are 20 splits"):
        evaluate(Z, graph(y, splits_of(good)), repeats=21)
    with pytest.raises(InputError, match=r"splits.train has shape \(20, 59\)"):
        evaluate(Z, graph(y, splits_of(good[:, 1:])))
    untested = good.clone()
    untested[3, untested[3] == 2] = -1
    with pytest.raises(InputError, match="split 3 has no labelled samples in its test part"):
        evaluate(Z, graph(y, splits_of(untested)))
    overlapping = splits_of(good)
    overlapping.train[0, 7] = overlapping.val[0, 7] = True
    with pytest.raises(InputError, match="sample 7 is in two parts"):
        fixed_parts(overlapping, 60)


@settings(max_examples=25)
@given(
    N=st.integers(10, 40),
    D=st.integers(1, 5),
    C=st.integers(2, 4),
    scale=st.sampled_from([0.0, 1e-30, 1.0, 1e9, 1e18]),
    seed=st.integers(0, 2**32),
)
def test_any_finite_embeddings_give_a_fraction(N, D, C, scale, seed):
    Z, y = blobs(N, D, C, seed=seed)
    Z = (Z / Z.abs().max() * scale).float()
    fits = softmax_regressions(Z, y, random_parts(N, [seed]), [seed], classes=C, steps=40)
    assert 0 <= fits[0].accuracy <= 1
    assert fits[0].weight.isfinite().all()
