import pytest
import torch

from augcl.hardness import Hardness, Uniform
from augcl.hardness.diagnostics import WeightStatistics
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
    """Two batches of weights with their labels, and the statistics of both."""
    weights = [random(6, 6).exp(), random(4, 4, seed=1).exp()]
    weights[0][0, 1:4] = torch.tensor([1.0, 1.005, 0.98])
    labels = [torch.tensor([0, 1, 0, 1, 1, 0]), torch.tensor([1, 1, 1, 0])]
    statistics = WeightStatistics()
    for w, y in zip(weights, labels, strict=True):
        statistics.add(w.clone(), y)
    return statistics, weights, labels


def test_statistics_are_those_of_plain_loops(watched):
    statistics, weights, labels = watched
    every, false, true = [], [], []
    for w, y in zip(weights, labels, strict=True):
        for i in range(len(w)):
            for j in range(len(w)):
                if i != j:
                    every.append(w[i, j].item())
                    (false if y[i] == y[j] else true).append(w[i, j].item())
    mean = sum(every) / len(every)
    read = statistics.read()
    assert read["weight_mean"] == pytest.approx(mean)
    spread = (sum((w - mean) ** 2 for w in every) / len(every)) ** 0.5
    assert read["weight_std"] == pytest.approx(spread)
    assert read["near_one"] == sum(abs(w - 1) < 0.01 for w in every) / len(every)
    assert read["weight_false_negatives"] == pytest.approx(sum(false) / len(false))
    assert read["weight_true_negatives"] == pytest.approx(sum(true) / len(true))


def test_reading_starts_anew(watched):
    statistics, _, _ = watched
    statistics.read()
    assert statistics.read() == {}


def test_without_labels_the_kinds_of_negatives_are_left_out():
    statistics = WeightStatistics()
    statistics.add(random(5, 5).exp())
    assert set(statistics.read()) == {"weight_mean", "weight_std", "near_one"}


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_loss_shows_its_weights_in_each_direction_and_stays_the_same(symmetric):
    a, b = random(5, 3), random(5, 3, seed=1)
    hardness, seen = Given(random(5, 5).exp()), []
    loss = info_nce(a, b, hardness=hardness, symmetric=symmetric, observe=seen.append)
    assert loss.equal(info_nce(a, b, hardness=hardness, symmetric=symmetric))
    assert len(seen) == 1 + symmetric
    assert all(log_w.equal(hardness.weights.log()) for log_w in seen)


def test_where_all_weights_are_one_there_are_none_to_show():
    seen = []
    info_nce(random(5, 3), random(5, 3, seed=1), hardness=Uniform(), observe=seen.append)
    assert seen == []
