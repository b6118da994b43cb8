"""What all of InfoGraph, JOAO, JOAOv2, SimGRACE, MVGRL and GraphMAE for graphs keep."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCN

import references
from augcl import (
    JOAO,
    GraphMAEGraphs,
    InfoGraph,
    InputError,
    JOAOv2,
    MVGRLGraphs,
    SimGRACE,
    evaluate,
    load_model,
)
from augcl.runs.models import METHODS
from quick_nodes import losses, same, uncertainty
from stopping import stopped_and_resumed, without_seconds

KINDS = [InfoGraph, JOAO, JOAOv2, SimGRACE, MVGRLGraphs, GraphMAEGraphs]
NARROW = (MVGRLGraphs, GraphMAEGraphs)  # the embedding is as wide as a layer
HARDENED = [JOAO, JOAOv2, SimGRACE]
QUICK = {"epochs": 3, "width": 8, "layers": 2, "batch_size": 20}


def quick(kind, **options):
    return kind(**{**QUICK, **options})


def variants():
    """Every method, and what of it has a state of its own."""
    yield from ((kind, {}) for kind in KINDS)
    yield from ((kind, {"hardness": uncertainty(refresh=2), "warmup": 1}) for kind in HARDENED)
    yield from ((kind, {"recipe": "authors"}) for kind in (JOAO, JOAOv2))
    yield JOAOv2, {"recipe": "paper"}
    yield InfoGraph, {"prior": 0.1}


VARIANTS = pytest.mark.parametrize(
    ("kind", "options"),
    list(variants()),
    ids=lambda v: "-".join(v) or "plain" if isinstance(v, dict) else v.__name__,
)


@pytest.mark.parametrize("kind", KINDS)
def test_embeddings_are_one_float32_row_per_graph_seen_or_not(mutag, molecules, kind):
    model = quick(kind).fit(molecules)
    z = model.transform(mutag)
    assert z.shape == (188, 8 if kind in NARROW else 16)
    assert z.dtype == np.float32
    assert np.isfinite(z).all()
    some = model.transform(mutag.select([180, 3]))
    assert np.allclose(z[[180, 3]], some, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_embeddings_beat_the_majority_by_far(mutag, kind):
    z = kind(epochs=3, width=16, progress=False).fit(mutag).transform(mutag)
    score = evaluate(z, mutag.y, repeats=1, random_state=0, progress=False)
    assert score.mean > 0.79  # the majority has 0.665


@pytest.mark.parametrize("kind", KINDS)
def test_training_lowers_the_loss_of_graphs_never_seen(mutag, kind):
    seen, unseen = mutag.select(range(0, 188, 2)), mutag.select(range(1, 188, 2))

    def loss(epochs):
        model = kind(epochs=epochs, width=16, lr=0.01, progress=False).fit(seen)
        if isinstance(model, JOAO):  # judged by the same augmentations before and after
            model.probabilities_ = torch.full((5,), 0.2)
        model.network_.train()
        with torch.no_grad():
            draws = (model._loss(unseen, torch.Generator().manual_seed(s)) for s in range(20))
            return float(torch.stack(list(draws)).mean())

    assert loss(8) < loss(0) - 0.1


@VARIANTS
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(molecules, kind, options):
    one, again, other = (quick(kind, random_state=s, **options).fit(molecules) for s in (0, 0, 1))
    assert losses(one) == losses(again) != losses(other)
    assert same(one, again, molecules)
    assert not same(one, other, molecules)


@VARIANTS
def test_a_resumed_run_ends_in_the_same_bits(molecules, tmp_path, kind, options):
    calm = quick(kind, **options).fit(molecules)
    resumed = stopped_and_resumed(lambda: quick(kind, **options), molecules, tmp_path, 2)
    assert same(resumed, calm, molecules)
    assert without_seconds(resumed.history_) == without_seconds(calm.history_)
    for key, tensor in calm.network_.state_dict().items():
        assert resumed.network_.state_dict()[key].equal(tensor)


@VARIANTS
def test_a_model_comes_back_from_its_folder(molecules, tmp_path, kind, options):
    model = quick(kind, **options).fit(molecules)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert type(again) is kind is METHODS[kind.__name__]
    assert same(again, model, molecules)
    assert again.settings() == model.settings()
    assert again.history_ == model.history_
    for name, tensor in model._learned().items():
        assert again._learned()[name].equal(tensor)


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_of_the_encoder_is_trained(molecules, kind):
    start, end = (quick(kind, epochs=epochs).fit(molecules).network_ for epochs in (0, 3))
    moved = {
        name: not theta.equal(end.get_parameter(name)) for name, theta in start.named_parameters()
    }
    heads = ("projector", "of_nodes", "of_graphs")
    assert all(was for name, was in moved.items() if not name.startswith(heads))
    assert sum(moved.values()) > 0.9 * len(moved) or kind is JOAOv2  # a head may never be drawn


@pytest.mark.parametrize("kind", KINDS)
def test_the_global_random_state_is_left_alone(molecules, kind):
    before, legacy = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    quick(kind, epochs=2).fit(molecules)
    assert torch.random.get_rng_state().equal(before)
    assert (np.random.get_state()[1] == legacy).all()  # noqa: NPY002


@pytest.mark.parametrize("kind", HARDENED)
@pytest.mark.parametrize("hardness", ["augcl", "dcl", "hcl", "progcl", "oracle"])
def test_every_hardness_works(molecules, kind, hardness):
    options = {"hardness": hardness, "warmup": 1, "positive_in_denominator": True}
    if hardness == "augcl":
        options["hardness"] = uncertainty()
    model = quick(kind, **options).fit(molecules)
    plain = quick(kind, **{**options, "hardness": None}).fit(molecules)
    assert losses(model)[0] == losses(plain)[0]
    assert losses(model)[1:] != losses(plain)[1:]
    assert np.isfinite(losses(model)).all()
    assert ("weight_std" in model.history_[-1]) == (hardness in ("augcl", "progcl", "oracle"))


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in NARROW])
def test_an_encoder_of_pyg_works(molecules, kind):
    encoder = GCN(7, 12, num_layers=2)
    model = kind(encoder=encoder, epochs=2).fit(molecules)
    assert model.transform(molecules).shape == (40, 12)


@pytest.mark.parametrize("kind", [k for k in KINDS if k is not GraphMAEGraphs])
def test_one_graph_has_nothing_to_be_told_from(molecules, kind):
    with pytest.raises(InputError, match="one graph: contrasting needs two or more"):
        quick(kind, epochs=2).fit(molecules.select([0]))


@pytest.mark.parametrize("kind", KINDS)
def test_other_data_is_refused_in_one_line(molecules, kind):
    with pytest.raises(InputError) as told:
        quick(kind).fit(references.communities())
    assert "\n" not in str(told.value)
    model = quick(kind, epochs=0).fit(molecules)
    other = replace(molecules, x=torch.ones(molecules.num_nodes, 3), columns=None)
    with pytest.raises(InputError, match=r"3 node features.* 7"):
        model.transform(other)


@pytest.mark.parametrize(
    ("kind", "option", "message"),
    [
        (InfoGraph, {"prior": -1}, "prior is -1"),
        (InfoGraph, {"pooling": "max"}, "sum, mean"),
        (JOAO, {"gamma": -0.1}, "gamma is -0.1"),
        (JOAO, {"ratio": 1.0}, "ratio is 1.0"),
        (JOAO, {"growth": "tree"}, "star, walk"),
        (JOAOv2, {"recipe": "author"}, "did you mean authors"),
        (SimGRACE, {"eta": float("inf")}, "eta is inf"),
        (SimGRACE, {"hardness": "augl"}, "did you mean augcl"),
        (SimGRACE, {"tau": 0}, "tau is 0: give a finite number, above 0"),
        (MVGRLGraphs, {"alpha": 0}, "alpha is 0"),
        (MVGRLGraphs, {"steps": 0}, "steps is 0"),
        (MVGRLGraphs, {"pooling": "max"}, "sum, mean"),
        (MVGRLGraphs, {"width": 0}, "width is 0: it must be a whole number"),
    ],
    ids=str,
)
def test_a_wrong_option_is_named_with_what_would_be_right(molecules, kind, option, message):
    with pytest.raises(InputError, match=message):
        quick(kind, **option).fit(molecules)
