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
    loss = info_nce(
        a, b, hardness=hardness, symmetric=symmetric, observe=lambda *found: seen.append(found)
    )
    assert loss.equal(info_nce(a, b, hardness=hardness, symmetric=symmetric))
    assert len(seen) == 1 + symmetric
    assert all(log_w.equal(hardness.weights.log()) for _, log_w in seen)
    cosines = torch.nn.functional.cosine_similarity(a[:, None], b[None], dim=2)
    assert torch.allclose(seen[0][0], cosines / 0.2, atol=1e-6)


def test_where_all_weights_are_one_there_are_none_to_show():
    seen = []
    z = random(5, 3), random(5, 3, seed=1)
    info_nce(*z, hardness=Uniform(), observe=lambda *found: seen.append(found))
    assert [log_w for _, log_w in seen] == [None]


def test_the_mass_of_false_negatives_is_that_of_plain_loops():
    labels = torch.tensor([0, 1, 0, 1, -1, 0, 2])
    logits, log_w = random(7, 7), random(7, 7, seed=1)
    expected = {}
    for name, mass in (
        ("false_mass", logits.exp()),
        ("false_mass_weighted", (logits + log_w).exp()),
    ):
        shares = []
        for i in range(7):
            pairs = [j for j in range(7) if j != i and labels[i] >= 0 and labels[j] >= 0]
            if pairs:
                false = [mass[i, j].item() for j in pairs if labels[j] == labels[i]]
                shares.append(sum(false) / sum(mass[i, j].item() for j in pairs))
        expected[name] = sum(shares) / len(shares)
    statistics, own = WeightStatistics(), torch.eye(7, dtype=torch.bool)
    for rows in (slice(0, 3), slice(3, 7)):
        some = logits[rows], (logits + log_w)[rows], labels[rows], labels, own[rows]
        statistics.add_mass(*some)
    assert statistics.read() == pytest.approx(expected)
    assert statistics.read() == {}


def test_without_weights_only_the_plain_mass_is_known():
    statistics, labels = WeightStatistics(), torch.tensor([0, 0, 1])
    statistics.add_mass(torch.zeros(3, 3), None, labels, labels, torch.eye(3, dtype=torch.bool))
    assert statistics.read() == {"false_mass": pytest.approx(1 / 3)}
    unknown = torch.full((3,), -1)
    statistics.add_mass(torch.zeros(3, 3), None, unknown, unknown, torch.eye(3, dtype=torch.bool))
    assert statistics.read() == {}
