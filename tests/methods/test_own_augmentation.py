"""An augmentation of the user: a function from a batch and a generator to a batch."""

import numpy as np
import pytest
import torch
from sklearn.base import clone

from augcl import GraphCL, InputError, load_model
from augcl.views import Identity, NodeDrop, OneOf, named_view

QUICK = {"epochs": 2, "width": 8, "layers": 2, "progress": False}


def half_of_the_nodes(batch, generator):
    return NodeDrop(0.5)(batch, generator)


def test_a_function_that_does_what_a_name_does_trains_to_the_same_bits(molecules):
    view = named_view("random2")
    named = GraphCL(augmentation="random2", **QUICK)
    own = GraphCL(augmentation=lambda batch, generator: view(batch, generator), **QUICK)
    assert np.array_equal(own.fit_transform(molecules), named.fit_transform(molecules))


def test_another_function_trains_something_else(molecules):
    own, named = (
        GraphCL(augmentation=a, **QUICK).fit_transform(molecules)
        for a in (half_of_the_nodes, "random2")
    )
    assert not np.array_equal(own, named)


def test_a_view_of_ours_is_a_function_too(molecules):
    model = GraphCL(augmentation=OneOf(NodeDrop(0.3), Identity()), **QUICK).fit(molecules)
    assert model.settings()["augmentation"] == {"callable": "OneOf"}
    assert np.array_equal(clone(model).fit_transform(molecules), model.transform(molecules))


def test_a_saved_model_embeds_but_needs_the_function_to_train(molecules, tmp_path):
    model = GraphCL(augmentation=half_of_the_nodes, **QUICK).fit(molecules)
    assert model.settings()["augmentation"] == {"callable": "half_of_the_nodes"}
    model.save(tmp_path / "one")
    again = load_model(tmp_path / "one")
    assert np.array_equal(again.transform(molecules), model.transform(molecules))
    with pytest.raises(InputError, match=r"half_of_the_nodes.*augmentation="):
        again.fit(molecules)
    load_model(tmp_path / "one").save(tmp_path / "two")
    whole = load_model(tmp_path / "two", augmentation=half_of_the_nodes)
    assert np.array_equal(whole.fit_transform(molecules), model.transform(molecules))


def test_a_stopped_training_goes_on(molecules, tmp_path):
    def model():
        return GraphCL(augmentation=half_of_the_nodes, **QUICK)

    whole = model().fit(molecules, folder=tmp_path)
    again = model().fit(molecules, folder=tmp_path, resume=True)
    assert np.array_equal(again.transform(molecules), whole.transform(molecules))
    with pytest.raises(InputError, match="augmentation"):
        GraphCL(augmentation="random2", **QUICK).fit(molecules, folder=tmp_path, resume=True)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda batch, generator: batch.select(torch.arange(3)), "made 3 graphs"),
        (lambda batch, generator: batch.x, "made Tensor"),
    ],
)
def test_a_result_that_is_no_view_is_refused(wrong, message, molecules):
    with pytest.raises(InputError, match=message):
        GraphCL(augmentation=wrong, **QUICK).fit(molecules)
