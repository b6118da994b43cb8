"""The loss in tiles against the dense one, in double precision."""

import subprocess
import sys

import pytest
import torch

from augcl import info_nce
from augcl.hardness import Hardness
from augcl.hardness.pair_weights import PairWeights
from augcl.objectives.node_info_nce import node_info_nce


class Dense(Hardness):
    """Not a class that the tiles know: takes the dense way."""

    def __init__(self, weights=None):
        self.weights = weights

    def log_weights(self, anchors, candidates, affinity):
        if self.weights is None:
            return None
        return self.weights.log_weights(anchors, candidates, affinity).double()


def views(nodes, width=5, seed=0):
    generator = torch.Generator().manual_seed(seed)
    u = torch.randn(nodes, width, generator=generator, dtype=torch.float64)
    v = u + torch.randn(nodes, width, generator=generator, dtype=torch.float64)
    return u.requires_grad_(), v.requires_grad_()


def weights(nodes):
    generator = torch.Generator().manual_seed(1)
    codes = torch.randint(1, 256, (nodes, nodes), generator=generator, dtype=torch.uint8)
    return PairWeights(codes, torch.full((nodes, 1), 1.3 / 255))


@pytest.mark.parametrize("nodes", [1, 2, 17, 50])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_value_and_gradient_are_those_of_the_dense_loss(nodes, weighted, inside):
    u, v = views(nodes)
    pairs = weights(nodes) if weighted else None
    options = {"tau": 0.4, "positive_in_denominator": inside}
    dense = info_nce(u, v, hardness=Dense(pairs), symmetric=True, intra=True, **options)
    tiles = node_info_nce(u, v, weights=pairs, tile=16, **options)
    assert torch.allclose(tiles, dense, rtol=1e-6)
    for ours, theirs in zip(*(torch.autograd.grad(x, (u, v)) for x in (tiles, dense)), strict=True):
        assert (ours - theirs).abs().max() <= 1e-5 * (1e-3 + theirs.abs().max())


def test_info_nce_takes_the_tiles_by_itself():
    u, v = views(20)
    pairs = weights(20)
    for hardness, given in ((None, None), (pairs, pairs)):
        whole = info_nce(u, v, tau=0.3, hardness=hardness, symmetric=True, intra=True)
        assert torch.equal(whole, node_info_nce(u, v, tau=0.3, weights=given))


def test_it_is_the_published_formula():
    u, v = (torch.nn.functional.normalize(z.detach()) for z in views(3))
    tau, total = 0.5, 0.0
    for a, b in ((u, v), (v, u)):
        for i in range(3):
            positive = torch.exp(a[i] @ b[i] / tau)
            inter = sum(torch.exp(a[i] @ b[j] / tau) for j in range(3))
            intra = sum(torch.exp(a[i] @ a[j] / tau) for j in range(3) if j != i)
            total -= torch.log(positive / (inter + intra)) / 6
    assert torch.allclose(node_info_nce(u, v, tau=tau), total)


def test_all_nodes_as_candidates_are_no_sample():
    u, v = views(12)
    every = torch.arange(12)
    assert torch.allclose(node_info_nce(u, v, tau=0.3, columns=every), node_info_nce(u, v, tau=0.3))


def test_the_peak_of_memory_is_far_below_a_square_matrix():
    script = """
import resource, torch
from augcl.objectives.node_info_nce import node_info_nce
torch.set_num_threads(1)
z = torch.randn(9000, 4).requires_grad_()
node_info_nce(z[:50], z[:50], tau=0.3).backward()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
node_info_nce(z, z + 1, tau=0.3).backward()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) * 1024 < 9000**2 * 4 / 8  # bytes; one matrix would be 324 MB
