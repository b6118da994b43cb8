import numpy as np
import pytest
import torch
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from augcl.data import components, digits, digits_knn
from augcl.data.generators import SIZES, component_sets, first_and_last, planted
from augcl.data.loading import level_of, load_graph
from augcl.errors import InputError
from references import component_counts


@pytest.mark.parametrize(
    ("nodes", "p", "classes"),
    [((15, 20), 0.15, 3), ((40, 50), 0.05, 3), ((15, 20), 0.0, 5), ((5, 5), 1.0, 5)],
)
def test_the_class_is_the_number_of_connected_components(nodes, p, classes):
    graphs = components(100, classes=classes, nodes=nodes, p=p, seed=3)
    assert torch.equal(component_counts(graphs), graphs.y + 1)
    assert torch.bincount(graphs.y).tolist() == [100] * classes


def test_sizes_cover_the_range_of_each_class():
    graphs = components(500, nodes=(15, 20))
    sizes = graphs.node_ptr.diff()
    seen = [sorted(set(sizes[graphs.y == c].tolist())) for c in range(3)]
    assert seen[0] == list(range(15, 21))
    assert seen[1] == list(range(14, 21))  # two of 7 … 10
    assert seen[2] == list(range(15, 19))  # three of 5 … 6


def test_average_edges_are_those_of_the_original_generator():
    graphs = components(5000, seed=1)
    for c, expected in enumerate((23.2, 15.8, 13.6)):
        edges = graphs.edge_ptr.diff()[graphs.y == c].double().mean() / 2
        assert float(edges) == pytest.approx(expected, abs=0.2)


def test_without_random_edges_a_component_is_a_chain_of_single_nodes():
    graphs = components(50, classes=1, nodes=(6, 6), p=0.0)
    assert (graphs.edge_ptr.diff() == 2 * 5).all()
    assert torch.bincount(graphs.edge_index[0]).max() == 2


def test_components_are_a_function_of_the_seed():
    one, same, other = components(20, seed=5), components(20, seed=5), components(20, seed=6)
    assert torch.equal(one.edge_index, same.edge_index)
    assert not torch.equal(one.node_ptr, other.node_ptr)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"nodes": (2, 9)}, "3 <= low"),
        ({"nodes": (9, 8)}, "low <= high"),
        ({"p": 1.5}, "probability"),
        ({"per_class": 0}, "at least 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        components(**settings)


def test_a_digit_is_the_graph_of_its_bright_pixels():
    graphs = digits()
    images, y = load_digits(return_X_y=True)
    assert graphs.y.tolist() == y.tolist()
    for i in (0, 1, 1796):
        image = images[i].reshape(8, 8)
        pixels = [(r, c) for r in range(8) for c in range(8) if image[r, c] >= 8]
        edges = {
            (a, b)
            for a, (r, c) in enumerate(pixels)
            for b, (s, d) in enumerate(pixels)
            if a != b and abs(r - s) <= 1 and abs(c - d) <= 1
        }
        data = graphs[i]
        assert set(zip(*data.edge_index.tolist(), strict=True)) == edges
        expected = [[image[r, c] / 16, r / 7, c / 7] for r, c in pixels]
        torch.testing.assert_close(data.x, torch.tensor(expected, dtype=torch.float32))


def test_a_threshold_that_leaves_nothing_is_refused():
    with pytest.raises(InputError, match="threshold 17"):
        digits(17)


def test_digits_are_joined_to_the_most_alike():
    graph = digits_knn()
    pixels, y = load_digits(return_X_y=True)
    assert graph.y.tolist() == y.tolist()
    torch.testing.assert_close(graph.x, torch.tensor(pixels / 16, dtype=torch.float32))
    distance = cdist(pixels, pixels, "sqeuclidean")
    tenth = np.sort(distance, axis=1)[:, [10]]  # the nearest is the digit itself
    joined = np.zeros(distance.shape, bool)
    joined[tuple(graph.edge_index.numpy())] = True
    np.fill_diagonal(joined, True)
    nearer, as_near = distance < tenth, distance <= tenth  # of equally near ones only some
    assert joined[nearer | nearer.T].all()
    assert not joined[~(as_near | as_near.T)].any()
    assert 1797 * 10 <= graph.num_edges <= 1797 * 20
    assert (y[graph.edge_index[0]] == y[graph.edge_index[1]]).mean() > 0.9


@pytest.mark.parametrize("k", [0, 1797])
def test_more_neighbours_than_digits_are_refused(k):
    with pytest.raises(InputError, match=f"k={k}: give a number of neighbours from 1 to 1796"):
        digits_knn(k)


@pytest.mark.parametrize("size", SIZES)
def test_the_class_is_the_number_of_components_at_every_size(size):
    for part in component_sets(size, per_class=30, seed=3):
        assert torch.equal(component_counts(part), part.y + 1)
        low, high = SIZES[size][0]
        nodes = part.node_ptr.diff()
        assert int(nodes.max()) <= high
        assert int(nodes.min()) >= low // 3 * 3


def test_the_first_nine_tenths_of_each_class_train_and_the_rest_test():
    graphs = components(20, seed=1)
    train, test = component_sets(per_class=20, seed=1)
    assert train.y.tolist() == [0] * 18 + [1] * 18 + [2] * 18
    assert test.y.tolist() == [0] * 2 + [1] * 2 + [2] * 2
    expected = graphs.select([18, 19, 38, 39, 58, 59])
    assert torch.equal(test.edge_index, expected.edge_index)


def test_the_same_seed_gives_the_same_graphs():
    one, two = (component_sets(per_class=10, seed=5)[0] for _ in range(2))
    other = component_sets(per_class=10, seed=6)[0]
    assert torch.equal(one.edge_index, two.edge_index)
    assert not torch.equal(one.edge_ptr, other.edge_ptr)


def test_unknown_sizes_and_missing_labels_are_refused(molecules):
    with pytest.raises(InputError, match="15-20"):
        component_sets("15-21")
    unlabelled = molecules.select([0, 1])
    object.__setattr__(unlabelled, "y", None)
    with pytest.raises(InputError, match="no labels"):
        first_and_last(unlabelled)


@pytest.mark.parametrize("homophily", [0.1, 0.8])
def test_planted_edges_join_equal_classes_as_often_as_asked(homophily):
    graph = planted(4000, classes=5, degree=10, homophily=homophily, seed=1)
    source, target = graph.edge_index
    assert abs((graph.y[source] == graph.y[target]).float().mean() - homophily) < 0.03
    degree = torch.bincount(source, minlength=4000).float()
    assert 8 < degree.mean() <= 10
    assert degree.max() > 5 * degree.mean()  # a power law
    assert torch.equal(graph.x, planted(4000, classes=5, degree=10, seed=1).x)


def test_planted_words_tell_the_class():
    graph = planted(2000, classes=4, features=40, noise=1.0, words=True, seed=2)
    assert set(graph.x.to_dense().unique().tolist()) == {0.0, 1.0}
    own = torch.stack([graph.x.to_dense()[:, 10 * c : 10 * c + 10].sum(1) for c in range(4)], dim=1)
    assert (own.argmax(1) == graph.y).float().mean() > 0.6


def test_more_planted_classes_than_nodes_are_refused():
    with pytest.raises(InputError, match="classes=5: give a number from 1 to 4"):
        planted(4, classes=5)


def test_a_planted_graph_has_a_name_and_its_size_in_it():
    assert level_of("planted-300") == "node"
    graph = load_graph("Planted-300")
    assert (graph.num_nodes, graph.name, graph.num_classes) == (300, "planted-300", 10)
    assert torch.equal(graph.x, planted(300).x)
