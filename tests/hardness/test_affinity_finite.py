"""Whatever the embeddings are, the weights are numbers."""

import pytest
import torch

import augcl
from augcl.ops.cosine import cosine
from short_fits import ESTIMATORS, fit, pair

ALPHAS = ["row", "global", 0.5]


def degenerate(kind):
    a, b = pair(6, 4)
    if kind == "equal":
        return torch.ones(6, 4), torch.ones(6, 4)
    if kind == "zero":
        return torch.zeros(6, 4), torch.zeros(6, 4)
    if kind == "some zero":
        return a * (torch.arange(6) % 2)[:, None], b
    if kind == "huge":
        return a * 1e30, b * 1e30
    if kind == "tiny":
        return a * 1e-30, b * 1e-30
    count = {"one": 1, "two": 2}[kind]
    return a[:count], b[:count]


@pytest.mark.parametrize("kind", ["equal", "zero", "some zero", "huge", "tiny", "one", "two"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_degenerate_embeddings_give_finite_weights_and_losses(kind, estimator):
    a, b = degenerate(kind)
    for alpha in ALPHAS:
        hardness = fit([(a, b)], estimator=estimator, alpha=alpha, warmup=1, passes=1)
        assert hardness.weights(a, b).isfinite().all()
        assert hardness.log_weights(a, b, cosine(a, b)).isfinite().all()
        assert augcl.info_nce(a, b, hardness=hardness).isfinite()
        numbers = [v for v in hardness.diagnose().values() if not isinstance(v, str)]
        assert all(map(_finite, numbers))


def _finite(value):
    return value == value and abs(value) < float("inf")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_spectral_groups_of_degenerate_embeddings_are_no_problem(estimator):
    for kind in ("equal", "some zero", "one", "two"):
        a, b = degenerate(kind)
        for of in ("affinity", "embedding"):
            hardness = fit([(a, b)], partition="spectral", partition_of=of, estimator=estimator)
            assert hardness.weights(a, b).isfinite().all()


@pytest.mark.parametrize("kind", ["equal", "zero", "some zero", "huge", "tiny", "one", "two"])
def test_clusters_of_degenerate_embeddings_are_no_problem(kind):
    a, b = degenerate(kind)
    for estimator in ESTIMATORS:
        hardness = fit([(a, b)], partition_of="embedding", estimator=estimator, reduction="sum")
        assert hardness.weights(a, b).isfinite().all()
        assert hardness.groups(a, b).any(1).all()


def test_raw_huge_inputs_as_in_the_released_settings_stay_finite():
    a, b = (z * 1e4 for z in pair())
    hardness = fit([(a, b)], normalize=False, affinity_input=False, warmup=0, passes=3)
    assert hardness.weights(a, b).isfinite().all()


def test_double_precision_embeddings_give_the_same_weights():
    z = pair()
    hardness = fit([z])
    wide = [t.double() for t in z]
    assert hardness.weights(*wide).double().allclose(hardness.weights(*z).double(), rtol=1e-3)
    assert augcl.info_nce(*wide, hardness=hardness).dtype == torch.float64
    assert fit([wide]).vitals_.agreement > 0.5
