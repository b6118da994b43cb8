"""Tiles, threads and samples against the whole matrix at once, in double precision."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from augcl.losses.node_info_nce import negative_mass, sampled_mass
from augcl.ops.cosine import unit_rows
from augcl.ops.threads import threads_for

NODES = st.integers(1, 40)
TILES = st.integers(1, 50)


class Given:
    """Weights from a matrix; whoever asks gets a block of memory of its own."""

    def __init__(self, matrix):
        self.matrix = matrix

    def block(self, rows, columns):
        return self.matrix[rows][:, columns].clone()


def unit(nodes, width=4, *, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    z = torch.randn(2 * nodes, width, generator=generator, dtype=torch.float64)
    return unit_rows(z).to(dtype)


def some_weights(nodes, *, seed=0, dtype=torch.float64):
    """Any numbers from 0 on, not symmetric; the diagonal must not matter."""
    generator = torch.Generator().manual_seed(seed + 1)
    return torch.rand(nodes, nodes, generator=generator, dtype=torch.float64).to(dtype) * 3


def dense_mass(z, tau, weights=None):
    """The double sum as one matrix."""
    nodes = len(z) // 2
    node = torch.arange(nodes).repeat(2)
    e = ((z @ z.t() - 1) / tau).exp()
    e = e.masked_fill(node[:, None] == node, 0)
    return (e if weights is None else e * weights[node][:, node]).sum(1)


def value_and_gradient(mass, z, *given, **options):
    """Of the masses, each counted by a factor of its own."""
    z = z.clone().requires_grad_()
    found = mass(z, *given, **options)
    factors = torch.linspace(-1, 2, len(z), dtype=z.dtype)
    return found.detach(), torch.autograd.grad((found * factors).sum(), z)[0]


def close(found, expected, tolerance=1e-9):
    scale = expected.abs().max().clamp_min(1e-30)
    return bool((found - expected).abs().max() <= tolerance * scale)


@settings(max_examples=60)
@given(NODES, TILES, st.booleans(), st.sampled_from([0.2, 0.5, 3.0]))
def test_masses_and_gradients_are_those_of_the_whole_matrix(nodes, tile, weighted, tau):
    z = unit(nodes, seed=nodes)
    w = some_weights(nodes, seed=nodes) if weighted else None
    given_weights = None if w is None else Given(w)
    found = value_and_gradient(negative_mass, z, tau, weights=given_weights, tile=tile)
    expected = value_and_gradient(dense_mass, z, tau, w)
    assert all(map(close, found, expected))


@pytest.mark.parametrize("weighted", [False, True])
def test_single_precision_has_the_gradient_of_double_precision(weighted):
    z, w = unit(40, seed=1), some_weights(40)
    small = Given(w.float()) if weighted else None
    found = value_and_gradient(negative_mass, z.float(), 0.4, weights=small, tile=16)
    expected = value_and_gradient(dense_mass, z, 0.4, w if weighted else None)
    assert all(close(a, b, 1e-5) for a, b in zip(found, expected, strict=True))


def test_one_node_has_no_negatives():
    value, gradient = value_and_gradient(negative_mass, unit(1), 0.5)
    assert value.tolist() == [0, 0]
    assert not gradient.any()


def test_the_weight_of_a_node_with_itself_does_not_count():
    z, w = unit(7), some_weights(7)
    loaded = w + 99 * torch.eye(7)
    one, other = (negative_mass(z, 0.5, weights=Given(m), tile=3) for m in (w, loaded))
    assert one.equal(other)


# Threads


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("sampled", [False, True])
def test_any_number_of_threads_gives_the_same_bits(two_threads, weighted, sampled):
    nodes = 3000 if sampled else 50  # several blocks of rows
    z = unit(nodes, dtype=torch.float32)
    matrix = some_weights(nodes, dtype=torch.float32) if weighted else None
    given_weights = None if matrix is None else Given(matrix)

    def found():
        if sampled:
            columns = torch.arange(0, nodes, 10)
            return value_and_gradient(sampled_mass, z, 0.4, columns, weights=given_weights)
        return value_and_gradient(negative_mass, z, 0.4, weights=given_weights, tile=8)

    first = found()
    for _ in range(3):
        assert all(a.equal(b) for a, b in zip(first, found(), strict=True))
    with threads_for(nodes_per_batch=0):
        assert torch.get_num_threads() == 1
        assert all(a.equal(b) for a, b in zip(first, found(), strict=True))
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)
    assert all(a.equal(b) for a, b in zip(first, found(), strict=True))


def test_threads_are_as_before_also_after_an_error(two_threads):
    class Broken(Given):
        def block(self, rows, columns):
            raise ArithmeticError

    with pytest.raises(ArithmeticError):
        negative_mass(unit(30), 0.4, weights=Broken(None), tile=4)
    assert torch.get_num_threads() == 2


def test_an_error_in_the_backward_pass_leaves_the_threads_too(two_threads):
    weights = Given(some_weights(30))
    mass = negative_mass(unit(30).requires_grad_(), 0.4, weights=weights, tile=4)
    weights.matrix = None
    with pytest.raises(TypeError):
        mass.sum().backward()
    assert torch.get_num_threads() == 2


# Samples


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_of_all_nodes_is_everything(weighted):
    z, w = unit(9), some_weights(9)
    order = torch.randperm(9, generator=torch.Generator().manual_seed(0))
    given_weights = Given(w) if weighted else None
    found = value_and_gradient(sampled_mass, z, 0.5, order, weights=given_weights)
    expected = value_and_gradient(negative_mass, z, 0.5, weights=given_weights)
    assert all(map(close, found, expected))


@pytest.mark.parametrize("nodes", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_mean_over_all_samples_is_everything(nodes, weighted):
    z, w = unit(nodes, seed=nodes), some_weights(nodes)
    given_weights = Given(w) if weighted else None
    expected = value_and_gradient(negative_mass, z, 0.5, weights=given_weights)
    for size in range(2, nodes + 1):
        samples = [
            value_and_gradient(sampled_mass, z, 0.5, torch.tensor(columns), weights=given_weights)
            for columns in itertools.combinations(range(nodes), size)
        ]
        means = (torch.stack(parts).mean(0) for parts in zip(*samples, strict=True))
        assert all(close(a, b, 1e-6) for a, b in zip(means, expected, strict=True))


# Rows that cosines can make


@pytest.mark.parametrize("tau", [0.02, 0.4])
@pytest.mark.parametrize("kind", ["zero", "equal", "opposite"])
@pytest.mark.parametrize("weighted", [False, True])
def test_extreme_rows_give_finite_masses_and_gradients(kind, tau, weighted):
    z = unit(6, dtype=torch.float32)
    z[2:8] = {"zero": 0 * z[2:8], "equal": z[:1], "opposite": -z[:1]}[kind]
    given_weights = Given(some_weights(6, dtype=torch.float32)) if weighted else None
    everything = value_and_gradient(negative_mass, z, tau, weights=given_weights, tile=4)
    columns = torch.tensor([4, 1, 0])
    sample = value_and_gradient(sampled_mass, z, tau, columns, weights=given_weights)
    assert all(part.isfinite().all() for part in (*everything, *sample))


def test_equal_rows_count_one_each():
    z = unit(1, dtype=torch.float32)[:1].expand(8, -1)
    torch.testing.assert_close(negative_mass(z, 0.02), torch.full((8,), 6.0), rtol=1e-5, atol=0)
