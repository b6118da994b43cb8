"""The oracle is a ceiling: it uses labels, and only where they are."""

import pytest
import torch
from sklearn.exceptions import NotFittedError

import augcl
import references
from augcl import InputError, Oracle
from augcl.losses import info_nce
from augcl.losses.node_info_nce import PairWeights


def test_false_negatives_are_left_out():
    generator = torch.Generator().manual_seed(0)
    a, b = torch.randn(2, 5, 3, generator=generator, dtype=torch.float64)
    labels = torch.tensor([0, 0, 1, 1, -1])
    oracle = Oracle().with_labels(labels)
    kept = [[j for j in range(5) if j != i and (labels[j] != labels[i])] for i in range(4)]
    kept.append([0, 1, 2, 3])
    s = torch.nn.functional.cosine_similarity(a[:, None], b[None], dim=2) / 0.2
    losses = [torch.logsumexp(s[i, [i, *kept[i]]], 0) - s[i, i] for i in range(5)]
    expected = torch.stack(losses).mean()
    assert info_nce(a, b, hardness=oracle).item() == pytest.approx(expected.item())


def test_unknown_labels_are_never_the_same():
    oracle = Oracle().with_labels(torch.tensor([-1, -1, 2]))
    z = torch.eye(3)
    assert oracle.log_weights(z, z, z)[:2].abs().max() == 0


def test_weights_of_all_nodes_follow_their_labels():
    labels = torch.arange(300) % 3
    z = torch.randn(300, 4, generator=torch.Generator().manual_seed(0))
    pairs = PairWeights.of(Oracle(0.5), z, labels=labels)
    same = labels[:, None] == labels
    found = pairs.block(slice(None), slice(None))
    assert torch.allclose(found, torch.where(same, 0.5, 1.0), atol=0.01)
    left_out = PairWeights.of(Oracle(), z, labels=labels).block(slice(None), slice(None))
    assert torch.equal(left_out, (~same).float())


def test_weight_one_is_plain_training(molecules):
    one, plain = (
        augcl.GraphCL(hardness=h, epochs=2, width=8, progress=False).fit_transform(molecules)
        for h in (Oracle(1.0), None)
    )
    assert (one == plain).all()


def test_without_labels_it_says_so(molecules):
    unlabelled = [augcl.load("MUTAG")[i] for i in range(4)]
    for graph in unlabelled:
        del graph.y
    with pytest.raises(InputError, match="labels"):
        augcl.GraphCL(hardness=Oracle(), epochs=1).fit(unlabelled)


def test_it_gains_on_nodes():
    graph = references.communities(120)
    found = []
    for hardness in (None, Oracle()):
        model = augcl.GRACE(hardness=hardness, epochs=30, width=16, progress=False).fit(graph)
        found.append(augcl.evaluate(model.transform(graph), graph, repeats=3, progress=False).mean)
    assert found[1] > found[0]


def test_in_a_loop_of_ones_own_it_asks_for_labels():
    with pytest.raises(NotFittedError, match="with_labels"):
        info_nce(torch.eye(3), torch.eye(3), hardness=Oracle())
