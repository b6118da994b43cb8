"""Leaving out the nearest candidates: which ones, ties, and what a method hands in."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import augcl
import references
from augcl import AffinityUncertainty, InputError, NearestOut, Oracle
from augcl.hardness.nearest import nearest_candidates
from augcl.losses import info_nce
from augcl.ops.cosine import cosine

QUICK = {"epochs": 4, "width": 8, "progress": False}
MODEL = {"warmup": 1, "passes": 1, "restarts": 0, "hidden": 8}
OTHERS = ("embedding", "propagated", "features")


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def slow(affinity, top):
    """The definition, candidate by candidate."""
    n, m = affinity.shape
    count = max(1, round(top * (m - 1)))
    found = torch.zeros(n, m, dtype=torch.bool)
    for i in range(n):
        ranked = sorted((float(affinity[i, j]) for j in range(m) if j != i), reverse=True)
        border = ranked[count] if count < len(ranked) else -float("inf")
        for j in range(m):
            found[i, j] = j != i and float(affinity[i, j]) > border
    return found


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 6),
    more=st.integers(1, 6),
    top=st.floats(0.01, 1),
    seed=st.integers(0, 99),
    levels=st.sampled_from([2, 5, 2**16]),
)
def test_the_nearest_are_those_of_the_definition(rows, more, top, seed, levels):
    generator = torch.Generator().manual_seed(seed)
    shape = (rows, rows + more)
    affinity = torch.randint(-levels, levels + 1, shape, generator=generator) / levels
    assert torch.equal(nearest_candidates(affinity, top), slow(affinity, top))


def test_rounding_breaks_no_tie():
    affinity = torch.full((1, 9), 0.7) + 1e-7 * random(1, 9)
    assert not nearest_candidates(affinity, 0.5).any()


def test_the_nearest_have_no_part_in_the_loss():
    a, b = random(6, 3).double(), random(6, 3, seed=1).double()
    s = cosine(a, b)
    near = slow(s, 0.4)
    losses = [
        torch.logsumexp(torch.stack([s[i, j] for j in range(6) if not near[i, j]]) / 0.2, 0)
        - s[i, i] / 0.2
        for i in range(6)
    ]
    found = info_nce(a, b, hardness=NearestOut(affinity="projection", top=0.4))
    assert found.item() == pytest.approx(torch.stack(losses).mean().item())


@pytest.mark.parametrize("symmetric", [False, True])
def test_a_loop_of_one_s_own_hands_in_the_vectors(symmetric):
    z = random(8, 4), random(8, 4, seed=1)
    h = random(8, 5, seed=2), random(8, 5, seed=3)
    hardness = NearestOut(affinity="embedding", top=0.3)
    found = info_nce(*z, hardness=hardness, vectors=h, symmetric=symmetric)

    class Left(augcl.hardness.Hardness):
        def log_weights(self, anchors, candidates, affinity):
            first = anchors is z[0] or torch.equal(anchors, z[0])
            pair = h if first else h[::-1]
            return torch.where(slow(cosine(*pair), 0.3), -69.0776, 0.0)

    assert found.item() == pytest.approx(info_nce(*z, hardness=Left(), symmetric=symmetric).item())
    module = augcl.losses.InfoNCE(hardness=hardness, symmetric=symmetric)
    assert module(*z, vectors=h).equal(found)


@pytest.mark.parametrize("affinity", OTHERS)
@pytest.mark.parametrize("kind", [NearestOut, AffinityUncertainty, Oracle])
def test_without_its_vectors_the_loss_says_what_is_missing(kind, affinity):
    z = random(8, 4), random(8, 4, seed=1)
    hardness = kind(among=affinity) if kind is Oracle else kind(affinity=affinity)
    with pytest.raises(InputError, match=f"compares '{affinity}' vectors.*give vectors="):
        info_nce(*z, hardness=hardness)


def test_vectors_have_one_row_each():
    z = random(8, 4), random(8, 4, seed=1)
    with pytest.raises(InputError, match="vectors have 7 and 8 rows"):
        info_nce(*z, hardness=NearestOut("embedding"), vectors=(z[0][1:], z[1]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"affinity": "propagation"}, "affinity"),
        ({"top": 0}, "top"),
        ({"top": 1.5}, "top"),
        ({"refresh": 0}, "refresh"),
    ],
)
def test_impossible_settings_are_named(options, words):
    with pytest.raises(InputError, match=words):
        augcl.GRACE(hardness=NearestOut(**options)).check()


class Watching(NearestOut):
    """Keeps what it is given."""

    def log_weights(self, anchors, candidates, affinity):
        self.seen_ = anchors, candidates
        return super().log_weights(anchors, candidates, affinity)


@pytest.mark.parametrize("affinity", ["projection", *OTHERS])
def test_nodes_are_compared_by_what_the_hardness_asks_for(affinity):
    graph = references.communities(60)
    options = {**QUICK, "norm": "none"}  # whose embeddings do not depend on the mode
    model = augcl.GRACE(hardness=Watching(affinity, top=0.1), **options)
    model.set_params(epochs=1, warmup=0).fit(graph)
    untrained = augcl.GRACE(**options).set_params(epochs=0).fit(graph)
    data = untrained.read(graph)
    a = torch.zeros(60, 60)
    a[data.edge_index[0], data.edge_index[1]] = 1
    a += torch.eye(60)
    root = a.sum(1).rsqrt()
    a = root[:, None] * a * root

    def slowly_smoothed(x):
        x = z = x - x.mean(0)
        for _ in range(10):
            z = 0.9 * a @ z + 0.1 * x
        return z - z.mean(0)

    h = torch.from_numpy(untrained.transform(graph))
    x = data.x.to_dense() if data.x.layout == torch.sparse_csr else data.x
    expected = {
        "projection": lambda: untrained.network_.projector(h),
        "embedding": lambda: h,
        "propagated": lambda: slowly_smoothed(h),
        "features": lambda: slowly_smoothed(x),
    }[affinity]()
    assert torch.allclose(model.hardness_.seen_[0], expected, atol=1e-5)


def test_graphs_are_compared_by_their_embeddings(molecules):
    model = augcl.GraphCL(
        hardness=Watching("embedding"), augmentation="identity", warmup=0, **QUICK
    )
    untrained = augcl.GraphCL(augmentation="identity", **QUICK).set_params(epochs=0).fit(molecules)
    model.set_params(epochs=1, batch_size=len(molecules)).fit(molecules)
    of_anchors, of_candidates = model.hardness_.seen_
    assert of_anchors.equal(of_candidates)  # the view is the graph itself
    with torch.no_grad(), augcl.training.batches.batch_statistics(untrained.network_):
        batch = untrained._batches(untrained.read(molecules), untrained._generator())[0]
        assert of_anchors.shape == untrained.network_.embed(batch).shape


def test_graphs_are_compared_by_their_wl_labels(molecules):
    kernel = augcl.WLKernel(height=3).fit(molecules)
    counts = kernel.counts_.sqrt()
    expected = (counts @ counts.T).toarray()
    expected /= np.sqrt(np.outer(expected.diagonal(), expected.diagonal()))
    rows = augcl.data.wl.wl_rows(molecules)
    assert np.abs(cosine(rows, rows).numpy() - expected).mean() < 0.005  # some share a column
    model = augcl.GraphCL(hardness=Watching("propagated"), warmup=0, **QUICK)
    model.set_params(epochs=1, batch_size=len(molecules)).fit(molecules)
    of_anchors, of_candidates = model.hardness_.seen_
    assert of_anchors.equal(of_candidates)
    assert torch.equal(of_anchors.sum(1).sort().values, rows.sum(1).sort().values)


@pytest.mark.parametrize("kind", [augcl.SimGRACE, augcl.JOAO, augcl.JOAOv2])
@pytest.mark.parametrize("affinity", ["embedding", "propagated"])
def test_every_contrastive_method_hands_in_what_is_asked_for(kind, affinity, molecules):
    for hardness in (NearestOut(affinity), AffinityUncertainty(affinity=affinity, **MODEL)):
        model = kind(hardness=hardness, epochs=3, width=8, warmup=1, progress=False)
        assert model.fit(molecules).history_[-1]["weight_std"] > 0


def test_pretraining_of_victims_has_projections_alone(molecules):
    victim = augcl.Structure2VecClassifier(pretrain=True, hardness="nearest", epochs=4)
    with pytest.raises(InputError, match="has only the projections"):
        victim.fit(molecules, molecules.y)


@pytest.mark.parametrize("refresh", [None, 1])
@pytest.mark.parametrize("affinity", OTHERS)
def test_a_stopped_training_goes_on_with_the_same_bits(affinity, refresh, tmp_path):
    graph = references.communities(60)
    for number, hardness in enumerate(
        (
            NearestOut(affinity, refresh=refresh),
            AffinityUncertainty(affinity=affinity, cap=True, refresh=refresh, **MODEL),
            Oracle(among=affinity, top=0.2, refresh=refresh),
        )
    ):
        options = {"hardness": hardness, "warmup": 1, "width": 8, "progress": False}
        whole = augcl.GCA(epochs=4, **options).fit(graph)
        epochs = augcl.GCA(epochs=4, **options).fit_epochs(graph, folder=tmp_path / str(number))
        for _ in range(3):
            next(epochs)
        epochs.close()
        again = augcl.GCA(epochs=4, **options)
        again.fit(graph, folder=tmp_path / str(number), resume=True)
        assert np.array_equal(again.transform(graph), whole.transform(graph))
        assert "false_mass_weighted" in again.history_[-1]
        for key in ("false_mass", "false_mass_weighted", "weight_std"):
            assert again.history_[-1][key] == whole.history_[-1][key]
