"""`check` raises what `fit` would raise, and does nothing else."""

import numpy as np
import pytest

import references
from augcl import InputError
from augcl.checks import parameters
from augcl.runs.models import CLASSIFIERS, METHODS

EVERY = METHODS | CLASSIFIERS
TRAINED = {name: kind for name, kind in EVERY.items() if "lr" in parameters(kind)}
BAD = {
    "epochs": -1,
    "lr": 0.0,
    "patience": 0,
    "callbacks": [3],
    "device": "gpu7",
    "random_state": "seven",
    "batch_size": 1,
    "tau": -1.0,
    "hardness": "soft",
    "recipe": "mine",
    "preset": "Nowhere",
    "pooling": "median",
    "warmup": -2,
    "width": 0,
    "validation": 1.0,
    "passes": 0,
    "dimensions": 0,
    "walks": 0,
}
CASES = [
    (name, setting)
    for name, kind in EVERY.items()
    for setting in BAD
    if setting in parameters(kind)
]


def refused(act):
    with pytest.raises(InputError) as caught:
        act()
    return str(caught.value)


def data_of(name, graph, molecules, drugs=None):
    if EVERY[name].needs == "smiles":
        return drugs
    return graph if EVERY[name].level == "node" else molecules


@pytest.fixture(scope="module")
def graph():
    return references.communities(40)


@pytest.mark.parametrize("name", EVERY)
def test_a_good_method_passes(name):
    assert EVERY[name]().check() is None


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_it_raises_what_fit_would_raise(name, setting, graph, molecules, drugs):
    model = EVERY[name](**{setting: BAD[setting]})
    data = data_of(name, graph, molecules, drugs)
    assert refused(model.check) == refused(lambda: model.fit(data))


@pytest.mark.parametrize("name", TRAINED)
@pytest.mark.parametrize("setting", ["epochs", "lr", "patience", "callbacks", "device"])
def test_what_every_trained_method_has_is_checked(name, setting):
    assert setting.removesuffix("s") in refused(TRAINED[name](**{setting: BAD[setting]}).check)


@pytest.mark.parametrize("name", ["GraphCL", "JOAO", "GRACE", "HSAN"])
def test_a_fitted_model_stays_as_it_was(name, graph, molecules):
    small = {"hardness": "augcl"} if "hardness" in parameters(EVERY[name]) else {}
    model = EVERY[name](epochs=3, width=8, progress=False, **small)
    data = data_of(name, graph, molecules)
    before = model.fit(data).transform(data)
    learned = dict(vars(model))
    model.check()
    assert vars(model).keys() == learned.keys()
    assert all(vars(model)[key] is value for key, value in learned.items())
    assert np.array_equal(model.transform(data), before)
