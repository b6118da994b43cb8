"""What holds for every hardness, at graph and at node level."""

import numpy as np
import pytest
import torch

import references
from augcl import (
    DCL,
    GCA,
    GRACE,
    HCL,
    AffinityUncertainty,
    GraphCL,
    NearestOut,
    Oracle,
    ProGCL,
    load_model,
)

EVERY = [
    None,
    AffinityUncertainty(warmup=1, passes=1, hidden=8),
    DCL(),
    HCL(),
    ProGCL(),
    ProGCL("mix", hardest=9),
    AffinityUncertainty(affinity="embedding", cap=True, warmup=1, passes=1, hidden=8),
    AffinityUncertainty(affinity="propagated", warmup=1, passes=1, hidden=8),
    NearestOut(),
    NearestOut("features", top=0.3),
    Oracle(),
    Oracle(among="features", top=0.2),
    Oracle(precision=0.7, recall=0.5),
]
QUICK = {"epochs": 4, "width": 8, "progress": False}


@pytest.fixture(params=["graphs", "nodes", "sampled nodes"])
def trained(request, molecules):
    """A function from a hardness to a fitted model, and the data."""
    if request.param == "graphs":
        return (
            lambda h, **more: GraphCL(hardness=h, layers=2, **QUICK).fit(molecules, **more)
        ), molecules
    graph = references.communities(60)
    sampled = {"candidates": 20} if request.param == "sampled nodes" else {}
    kind = GCA if sampled else GRACE
    return (lambda h, **more: kind(hardness=h, **sampled, **QUICK).fit(graph, **more)), graph


@pytest.mark.parametrize("hardness", EVERY, ids=repr)
def test_it_trains_saves_and_comes_back(hardness, trained, tmp_path):
    fit, data = trained
    model = fit(hardness)
    assert all(np.isfinite(m["loss"]) for m in model.history_)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert np.array_equal(again.transform(data), model.transform(data))
    for name, tensor in model.hardness_.state().items():
        assert torch.equal(again.hardness_.state()[name], tensor)


@pytest.mark.parametrize("hardness", EVERY[1:], ids=repr)
def test_it_changes_the_training(hardness, trained):
    fit, data = trained
    assert not np.array_equal(fit(hardness).transform(data), fit(None).transform(data))


@pytest.mark.parametrize("hardness", EVERY, ids=repr)
def test_the_same_seed_gives_the_same_bits(hardness, trained):
    fit, data = trained
    assert np.array_equal(fit(hardness).transform(data), fit(hardness).transform(data))
