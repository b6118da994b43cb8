"""What every method on walks and words promises."""

import numpy as np
import pytest

import references
from augcl import (
    DeepWalk,
    DeepWalkFeatures,
    Graph2Vec,
    InputError,
    Node2Vec,
    Node2VecGraphs,
    Sub2Vec,
    load_model,
)
from augcl.runs.run import Spec, run

QUICK = {
    Node2Vec: {"walks": 2, "length": 10},
    DeepWalk: {"walks": 2, "length": 10},
    DeepWalkFeatures: {"walks": 2, "length": 10},
    Node2VecGraphs: {"walks": 2, "length": 10},
    Graph2Vec: {"passes": 2},
    Sub2Vec: {"passes": 2, "walk_length": 30},
}
every_kind = pytest.mark.parametrize("kind", QUICK)


def quick(kind, **options):
    return kind(**{"dimensions": 8, "progress": False, **QUICK[kind], **options})


@pytest.fixture
def data(molecules):
    return {"graph": molecules, "node": references.communities()}


@every_kind
def test_the_same_seed_gives_the_same_bits_and_another_seed_others(kind, data):
    own = data[kind.level]
    one, again, other = (quick(kind, random_state=s).fit_transform(own) for s in (0, 0, 1))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert one.dtype == np.float32
    assert np.isfinite(one).all()


@every_kind
def test_a_saved_model_gives_the_same_embedding(kind, data, tmp_path):
    own = data[kind.level]
    model = quick(kind).fit(own)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert type(again) is kind
    assert np.array_equal(again.transform(own), model.transform(own))
    again.transform(own)[:] = 0  # is a copy
    assert np.array_equal(again.transform(own), model.transform(own))


@every_kind
def test_the_wrong_kind_of_data_is_refused_in_one_line(kind, data):
    other = data["node" if kind.level == "graph" else "graph"]
    with pytest.raises(InputError) as caught:
        quick(kind).fit(other)
    assert "\n" not in str(caught.value)


@every_kind
def test_it_runs_from_a_table(kind):
    dataset = {"graph": "MUTAG", "node": "digits-knn"}[kind.level]
    options = {"dimensions": 8, **QUICK[kind]}
    spec = Spec(dataset, method=kind.__name__, hardness="none", options=options)
    outcome = run(spec, 0, judge=False, progress=False)
    assert outcome.embeddings.shape[1] >= 8
    assert spec.all_epochs == 0
