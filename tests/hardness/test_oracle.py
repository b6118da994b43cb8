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
        model = augcl.GRACE(
            hardness=hardness, preset="published", epochs=30, width=16, progress=False
        ).fit(graph)
        found.append(augcl.evaluate(model.transform(graph), graph, repeats=3, progress=False).mean)
    assert found[1] > found[0]


def test_in_a_loop_of_ones_own_it_asks_for_labels():
    with pytest.raises(NotFittedError, match="with_labels"):
        info_nce(torch.eye(3), torch.eye(3), hardness=Oracle())


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def left_out(oracle, affinity, labels, **how):
    given = oracle.with_labels(labels, **how)
    return given.log_weights(affinity, affinity, affinity).exp() < 0.5


def test_a_partial_oracle_finds_false_negatives_among_the_nearest_only():
    labels, affinity = torch.arange(12) % 3, random(12, 12)
    found = left_out(Oracle(among="projection", top=0.25), affinity, labels)
    for i in range(12):
        others = [j for j in range(12) if j != i]
        near = sorted(others, key=lambda j: -affinity[i, j])[: round(0.25 * 11)]
        assert found[i].nonzero()[:, 0].tolist() == [
            j for j in range(12) if j in near and labels[j] == labels[i]
        ]


@pytest.mark.parametrize(("precision", "recall"), [(1.0, 0.4), (0.5, 1.0), (0.77, 0.6)])
@pytest.mark.parametrize("among", [None, "projection"])
def test_an_oracle_errs_as_much_as_it_is_told(precision, recall, among):
    labels, affinity = torch.arange(800) % 4, random(800, 800)
    labels[:5] = -1
    oracle = Oracle(among=among, top=0.5, precision=precision, recall=recall).fit([])
    found = left_out(oracle, affinity, labels)
    known = (labels[:, None] >= 0) & (labels >= 0)
    assert not found[~known].any()
    false = (labels[:, None] == labels) & known & ~torch.eye(800, dtype=torch.bool)
    if among is not None:
        false &= left_out(Oracle(among=among, top=0.5), affinity, labels)
    assert (found & false).sum() / false.sum() == pytest.approx(recall, abs=0.01)
    assert (found & false).sum() / found.sum() == pytest.approx(precision, abs=0.01)


def test_errors_stay_and_come_from_the_generator():
    labels, affinity = torch.arange(30) % 3, random(30, 30)
    oracle = Oracle(recall=0.5)

    def errors(seed, first=0):
        oracle.fit([], generator=torch.Generator().manual_seed(seed))
        return left_out(oracle, affinity, labels, first=first)

    assert torch.equal(errors(1), errors(1))
    assert not torch.equal(errors(1), errors(2))
    assert not torch.equal(errors(1), errors(1, first=30))  # another block has errors of its own
    again = Oracle(recall=0.5)
    again.load_state(oracle.state())
    assert torch.equal(left_out(again, affinity, labels), left_out(oracle, affinity, labels))


def test_an_oracle_that_does_not_err_draws_nothing():
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    assert Oracle().fit([], generator=generator).state() == {}
    assert torch.equal(generator.get_state(), before)


def test_an_oracle_that_errs_goes_on_after_a_stop(tmp_path):
    graph = references.communities(60)
    options = {"hardness": Oracle(precision=0.7, recall=0.5), "epochs": 4, "width": 8}
    whole = augcl.GRACE(**options, progress=False).fit(graph)
    epochs = augcl.GRACE(**options, progress=False).fit_epochs(graph, folder=tmp_path)
    next(epochs)
    next(epochs)
    epochs.close()
    again = augcl.GRACE(**options, progress=False).fit(graph, folder=tmp_path, resume=True)
    assert (again.transform(graph) == whole.transform(graph)).all()


def test_a_partial_oracle_waits_only_for_what_is_trained():
    assert not any(
        oracle.waits for oracle in (Oracle(), Oracle(recall=0.5), Oracle(among="features"))
    )
    assert all(Oracle(among=among).waits for among in ("projection", "embedding", "propagated"))


@pytest.mark.parametrize(
    "options", [{"among": "all"}, {"top": 0}, {"precision": 0}, {"recall": 1.1}, {"refresh": 0}]
)
def test_impossible_settings_are_named(options):
    with pytest.raises(InputError, match=next(iter(options))):
        augcl.GRACE(hardness=Oracle(**options)).check()
