"""Methods and hardnesses are scikit-learn estimators."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import estimator_checks

from augcl import AffinityUncertainty, GraphCL
from augcl.hardness import CEILING, HARDNESS
from augcl.runs.models import CLASSIFIERS, METHODS

CHECKS = [
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_estimator_repr",
    "check_estimator_cloneable",
    "check_mixin_order",
    "check_valid_tag_types",
]
QUICK = {"epochs": 2, "width": 8, "layers": 2}


def quick_uncertainty(**options):
    return AffinityUncertainty(warmup=1, passes=1, hidden=8, temper=0, **options)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("kind", (METHODS | CLASSIFIERS | HARDNESS | CEILING).values())
def test_scikit_learns_own_checks_pass(kind, check):
    getattr(estimator_checks, check)(kind.__name__, kind())


def test_clone_copies_all_parameters_and_nothing_learned(molecules):
    model = GraphCL(hardness=quick_uncertainty(reward=1.7), **QUICK).fit(molecules)
    copy = clone(model)
    assert copy.get_params().keys() == model.get_params().keys()
    assert copy.get_params()["hardness__reward"] == 1.7
    assert copy.hardness is not model.hardness
    assert not hasattr(copy, "network_")


def test_nested_parameters_can_be_set():
    model = GraphCL(hardness=AffinityUncertainty())
    model.set_params(epochs=7, hardness__reward=1.6, hardness__alpha="global")
    assert model.epochs == 7
    assert model.hardness.reward == 1.6
    assert model.hardness.alpha == "global"
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(hardness__nonsense=1)


def test_fit_returns_self_and_leaves_the_parameters_as_given(molecules):
    hardness = quick_uncertainty()
    model = GraphCL(hardness=hardness, **QUICK)
    before = model.get_params(deep=False)
    assert model.fit(molecules) is model
    assert all(model.get_params(deep=False)[name] is value for name, value in before.items())
    assert not hardness.state()
    assert model.hardness_.state()


def test_fit_transform_is_fit_then_transform(molecules):
    both = GraphCL(**QUICK).fit_transform(molecules)
    assert np.array_equal(both, GraphCL(**QUICK).fit(molecules).transform(molecules))


def test_a_pipeline_classifies_graphs(molecules):
    y = molecules.y.numpy()
    pipeline = make_pipeline(GraphCL(**QUICK), SVC()).fit(molecules, y)
    assert pipeline.predict(molecules).shape == (40,)
    assert pipeline.score(molecules, y) >= 0.6


def test_a_pipeline_knows_the_names_of_its_columns(molecules):
    pipeline = make_pipeline(GraphCL(**QUICK), StandardScaler()).fit(molecules)
    names = pipeline.get_feature_names_out()
    assert names[:2].tolist() == ["graphcl0", "graphcl1"]
    assert len(names) == pipeline.transform(molecules).shape[1]


def test_embeddings_as_a_table_of_pandas(molecules):
    pd = pytest.importorskip("pandas", reason="optional: pandas is not installed")
    model = GraphCL(**QUICK).fit(molecules)
    plain = model.transform(molecules)
    table = model.set_output(transform="pandas").transform(molecules)
    assert isinstance(table, pd.DataFrame)
    assert table.columns.tolist() == model.get_feature_names_out().tolist()
    assert np.array_equal(table.to_numpy(), plain)
    pipeline = make_pipeline(GraphCL(**QUICK), StandardScaler()).set_output(transform="pandas")
    assert pipeline.fit_transform(molecules).columns.tolist() == table.columns.tolist()


def test_an_unfitted_model_has_no_columns():
    with pytest.raises(NotFittedError):
        GraphCL().get_feature_names_out()


def test_grid_search_goes_over_the_settings_of_the_hardness(molecules):
    quick = {**QUICK, "epochs": 1, "warmup": 0}
    pipeline = make_pipeline(GraphCL(hardness=quick_uncertainty(), **quick), SVC())
    grid = {"graphcl__hardness__reward": [1.5, 1.9]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise")
    search.fit(molecules, molecules.y.numpy())
    best = search.best_estimator_["graphcl"]
    assert best.hardness_.reward == search.best_params_["graphcl__hardness__reward"]


def test_an_unfitted_model_says_so(molecules, tmp_path):
    with pytest.raises(NotFittedError):
        GraphCL().transform(molecules)
    with pytest.raises(NotFittedError):
        GraphCL().save(tmp_path)
