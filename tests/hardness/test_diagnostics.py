import pytest
import torch

from augcl.hardness import Hardness, Uniform
from augcl.hardness.diagnostics import Monitor
from augcl.losses import info_nce


class Given(Hardness):
    def __init__(self, weights):
        self.weights = weights

    def log_weights(self, anchors, candidates, affinity):
        return self.weights.log()


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def watched():
    """Two batches of weights with their labels, and a monitor that has seen them."""
    weights = [random(6, 6).exp(), random(4, 4, seed=1).exp()]
    weights[0][0, 1:4] = torch.tensor([1.0, 1.005, 0.98])
    labels = [torch.tensor([0, 1, 0, 1, 1, 0]), torch.tensor([1, 1, 1, 0])]
    inner = Given(weights[0])
    monitor = Monitor(inner)
    for w, y in zip(weights, labels, strict=True):
        inner.weights = w
        monitor.begin_batch(y)
        n = len(w)
        info_nce(random(n, 3), random(n, 3, seed=2), hardness=monitor)
    return monitor, weights, labels


def test_statistics_are_those_of_plain_loops(watched):
    monitor, weights, labels = watched
    every, false, true = [], [], []
    for w, y in zip(weights, labels, strict=True):
        for i in range(len(w)):
            for j in range(len(w)):
                if i != j:
                    every.append(w[i, j].item())
                    (false if y[i] == y[j] else true).append(w[i, j].item())
    mean = sum(every) / len(every)
    read = monitor.read()
    assert read["weight_mean"] == pytest.approx(mean)
    spread = (sum((w - mean) ** 2 for w in every) / len(every)) ** 0.5
    assert read["weight_std"] == pytest.approx(spread)
    assert read["near_one"] == sum(abs(w - 1) < 0.01 for w in every) / len(every)
    assert read["weight_false_negatives"] == pytest.approx(sum(false) / len(false))
    assert read["weight_true_negatives"] == pytest.approx(sum(true) / len(true))


def test_reading_starts_anew(watched):
    monitor, _, _ = watched
    monitor.read()
    assert monitor.read() == {}


def test_without_labels_the_kinds_of_negatives_are_left_out():
    monitor = Monitor(Given(random(5, 5).exp()))
    info_nce(random(5, 3), random(5, 3, seed=1), hardness=monitor)
    assert set(monitor.read()) == {"weight_mean", "weight_std", "near_one"}


def test_watching_changes_nothing():
    a, b = random(5, 3), random(5, 3, seed=1)
    inner = Given(random(5, 5).exp())
    assert info_nce(a, b, hardness=Monitor(inner)).equal(info_nce(a, b, hardness=inner))
    assert info_nce(a, b, hardness=Monitor(Uniform())).equal(info_nce(a, b))
