import itertools

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans

from augcl.hardness.partition import (
    CLUSTERINGS,
    PARTITIONS,
    embedding_groups,
    spectral,
    spectral_clusters,
    two_clusters,
    two_means,
)


def separated_rows(n=6, m=24, dtype=torch.float32):
    """Rows with two clear groups, and which entries are high."""
    rng = np.random.default_rng(0)
    high = rng.random((n, m)) < 0.4
    high[:, 0], high[:, 1] = True, False
    rows = np.where(high, 0.8, -0.3) + 0.05 * rng.normal(size=(n, m))
    return torch.from_numpy(rows).to(dtype), torch.from_numpy(high)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", PARTITIONS)
def test_two_clear_groups_are_found(name, dtype):
    rows, high = separated_rows(dtype=dtype)
    assert PARTITIONS[name](rows).equal(high)


def test_spectral_agrees_with_kmeans_where_the_groups_are_clear():
    rows, _ = separated_rows(n=40)
    assert spectral(rows).equal(two_means(rows))


@pytest.mark.parametrize("name", PARTITIONS)
@pytest.mark.parametrize("value", [0.0, 0.3, -1.0])
def test_a_constant_row_is_one_similar_group(name, value):
    assert PARTITIONS[name](torch.full((3, 6), value)).all()


@pytest.mark.parametrize("name", PARTITIONS)
@pytest.mark.parametrize("m", [1, 2])
def test_one_or_two_candidates_are_no_problem(name, m):
    labels = PARTITIONS[name](torch.arange(float(2 * m)).view(2, m))
    assert labels[:, -1].all()
    assert not labels[:, :-1].any()


def test_spectral_does_not_depend_on_the_blocks():
    rows = torch.randn(10, 12, generator=torch.Generator().manual_seed(0))
    assert spectral(rows, block=3).equal(spectral(rows, block=100))


def test_spectral_names_the_larger_affinities_as_similar():
    rows = torch.randn(20, 15, generator=torch.Generator().manual_seed(0))
    labels = spectral(rows)
    above = torch.where(labels, rows, torch.nan).nanmean(1)
    below = torch.where(labels, torch.nan, rows).nanmean(1)
    assert (above > below).all()


# Clusters of points: the text's reading


def within(points, label):
    """Within-cluster sum of squares, in float64."""
    points = points.double()
    parts = [points[label == side] for side in (True, False)]
    return sum(((p - p.mean(0)) ** 2).sum().item() for p in parts if len(p))


def clouds(m=40, d=5, *, apart=0.0, seed=0):
    points = torch.randn(m, d, generator=torch.Generator().manual_seed(seed))
    points[: m // 3] += apart
    return points


@pytest.mark.parametrize("seed", range(6))
def test_two_clusters_are_as_tight_as_the_best_of_all_splits(seed):
    points = clouds(m=9, d=2, seed=seed)
    splits = itertools.product([False, True], repeat=9)
    best = min(within(points, torch.tensor(split)) for split in splits)
    assert within(points, two_clusters(points[None])[0]) <= 1.02 * best + 1e-9


@pytest.mark.parametrize("apart", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("d", [2, 30, 96])
def test_two_clusters_are_as_tight_as_those_of_a_library(apart, d):
    points = clouds(m=128, d=d, apart=apart)
    library = KMeans(2, n_init=10, random_state=0).fit(points.numpy()).inertia_
    assert within(points, two_clusters(points[None])[0]) <= 1.02 * library


def test_sets_of_points_do_not_influence_each_other():
    sets = torch.stack([clouds(seed=s, apart=s) for s in range(4)] + [torch.ones(40, 5)])
    together = two_clusters(sets)
    for points, label in zip(sets, together, strict=True):
        alone = two_clusters(points[None])[0]
        assert within(points, label) == pytest.approx(within(points, alone), rel=1e-9)
    assert together[-1].all()  # equal points are one cluster


def slow_spectral(points):
    """Ng, Jordan and Weiss by loops in float64, with scikit-learn's k-means at the end."""
    x = points.double().numpy()
    m = len(x)
    variance = ((x - x.mean(0)) ** 2).sum(1).mean()
    kernel = np.zeros((m, m))
    for j in range(m):
        for k in range(m):
            if j != k:
                kernel[j, k] = np.exp(-((x[j] - x[k]) ** 2).sum() / (2 * variance))
    root = 1 / np.sqrt(kernel.sum(1))
    vectors = np.linalg.eigh(root[:, None] * kernel * root[None, :])[1][:, -2:]
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return KMeans(2, n_init=10, random_state=0).fit_predict(rows).astype(bool)


@pytest.mark.parametrize("apart", [2.0, 4.0])
def test_spectral_clusters_are_those_of_a_slow_twin(apart):
    points = clouds(m=30, apart=apart)
    label, slow = spectral_clusters(points[None])[0].numpy(), slow_spectral(points)
    assert max((label == slow).mean(), (label != slow).mean()) == 1


@pytest.mark.parametrize("partition", CLUSTERINGS)
def test_the_similar_group_is_the_cluster_with_the_nearer_mean(partition):
    candidates = clouds(apart=2.0)
    anchors = clouds(m=20, apart=2.0, seed=1)
    label = CLUSTERINGS[partition](candidates[None])[0]
    groups = embedding_groups(anchors, candidates, partition)
    means = [[candidates[label == side].double().mean(0)] for side in (True, False)]
    for anchor, row in zip(anchors.double(), groups, strict=True):
        to_true, to_false = ((anchor - mean[0]).norm().item() for mean in means)
        assert row.equal(label if to_true < to_false else ~label)


def test_an_anchor_is_in_the_group_of_points_around_it():
    candidates = torch.tensor([[5.0, 0.0], [5.1, 0.1], [-5.0, 0.0], [-5.2, 0.1]])
    groups = embedding_groups(candidates[[0, 2]] + 0.1, candidates, "kmeans")
    assert groups.tolist() == [[True, True, False, False], [False, False, True, True]]
