"""What holds of every kernel: files, seeds, scikit-learn, and that it tells classes apart."""

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from augcl import DeepGraphKernel, GraphletKernel, InputError, WLKernel, evaluate, load_model

QUICK = {"dimension": 16, "passes": 2, "n_samples": 10, "size": 4}
MODELS = {
    "WL": WLKernel(height=2),
    "graphlets": GraphletKernel(n_samples=10, size=4),
    "deep WL": DeepGraphKernel(**QUICK),
    "deep paths": DeepGraphKernel(substructures="shortest-path", **QUICK),
    "deep graphlets": DeepGraphKernel(substructures="graphlet", **QUICK),
    "plain": DeepGraphKernel(similarity="none"),
}


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


def test_the_kernel_is_square_symmetric_and_single_precision(model, molecules):
    K = model.fit_transform(molecules)
    assert K.shape == (40, 40)
    assert K.dtype == np.float32
    assert np.isfinite(K).all()
    np.testing.assert_allclose(K, K.T, rtol=1e-6)


def test_a_model_from_a_file_gives_the_same_rows(model, molecules, mutag, tmp_path):
    model.fit(molecules)
    model.save(tmp_path)
    again = load_model(tmp_path)
    assert again.settings() == model.settings()
    new = mutag.select(range(1, 20, 4))
    assert np.array_equal(again.transform(new), model.transform(new))
    assert np.array_equal(again.transform(molecules), model.transform(molecules))


def test_the_same_seed_gives_the_same_bits(model, molecules):
    few = molecules.select(range(12))
    assert np.array_equal(model.fit_transform(few), clone(model).fit_transform(few))


def test_a_second_fit_forgets_the_first(model, molecules):
    few = molecules.select(range(12))
    model.fit(molecules).fit(few)
    assert np.array_equal(model.transform(few), clone(model).fit_transform(few))


def test_a_pipeline_with_grid_search_takes_a_list_of_graphs(model, molecules):
    graphs, y = list(molecules), molecules.y.numpy()
    pipeline = make_pipeline(model, SVC(kernel="precomputed"))
    search = GridSearchCV(pipeline, {"svc__C": [1.0, 10.0]}, cv=2, error_score="raise")
    search.fit(graphs, y)
    assert search.predict(graphs[:5]).shape == (5,)


def test_grid_search_chooses_the_height():
    """Only the neighbours tell these cycles apart."""
    cycles = [nx.cycle_graph(12) for _ in range(20)]
    for number, cycle in enumerate(cycles):  # both have six nodes of each label
        pattern = [1, 2] * 6 if number % 2 else [1] * 6 + [2] * 6
        nx.set_node_attributes(cycle, dict(enumerate(pattern)), "label")
    pipeline = make_pipeline(WLKernel(), SVC(kernel="precomputed"))
    search = GridSearchCV(pipeline, {"wlkernel__height": [0, 1]}, cv=2, error_score="raise")
    search.fit(cycles, np.arange(20) % 2)
    assert search.best_params_ == {"wlkernel__height": 1}
    assert search.best_score_ == 1


@pytest.mark.parametrize(
    ("name", "least"), [("WL", 0.75), ("deep WL", 0.75), ("deep paths", 0.75), ("graphlets", 0.68)]
)
def test_classes_of_molecules_are_told_apart(mutag, name, least):
    K = clone(MODELS[name]).fit_transform(mutag)
    assert evaluate(K, mutag.y, kernel=True, repeats=1).mean > least  # the larger class: 0.665


def test_one_graph_instead_of_many_is_refused(model):
    with pytest.raises(InputError, match="expected a list of graphs"):
        model.fit(nx.path_graph(4))
