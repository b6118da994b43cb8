"""The loss in tiles against the dense one, in double precision."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from augcl import DCL, HCL, info_nce
from augcl.hardness import Hardness
from augcl.losses.node_info_nce import PairWeights, node_info_nce


class Dense(Hardness):
    """Gives weights, so that `info_nce` takes the dense way."""

    def __init__(self, weights=None):
        self.weights = weights

    def log_weights(self, anchors, candidates, affinity):
        if self.weights is None:
            return None
        return self.weights.block(slice(None), slice(None)).double().log()


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
    for hardness in (None, DCL(), HCL()):
        whole = info_nce(u, v, tau=0.3, hardness=hardness, symmetric=True, intra=True)
        assert torch.equal(whole, node_info_nce(u, v, tau=0.3, hardness=hardness))


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


class LargestTensor(TorchDispatchMode):
    """Watches every operation: `bytes` is the most that one of them gave back in floats."""

    bytes = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        for tensor in made if isinstance(made, tuple | list) else (made,):
            if isinstance(tensor, torch.Tensor) and tensor.is_floating_point():
                self.bytes = max(self.bytes, tensor.untyped_storage().nbytes())
        return made


@pytest.mark.parametrize("weighted", [False, True])
def test_no_float_matrix_of_all_pairs_ever_exists(weighted):
    nodes = 800
    u, v = (z.detach().float().requires_grad_() for z in views(nodes))
    pairs = weights(nodes) if weighted else None
    with LargestTensor() as seen:
        node_info_nce(u, v, tau=0.3, weights=pairs, tile=64).backward()
    assert nodes * 5 * 4 <= seen.bytes < nodes**2 * 4 / 20
    with LargestTensor() as seen:
        info_nce(u, v, tau=0.3, hardness=Dense(), symmetric=True, intra=True)
    assert seen.bytes >= nodes**2 * 4


def test_a_temperature_too_low_for_tiles_takes_the_dense_way():
    u, v = views(8)
    low = info_nce(u, v, tau=0.001, symmetric=True, intra=True)
    dense = info_nce(u, v, tau=0.001, hardness=Dense(), symmetric=True, intra=True)
    assert torch.equal(low, dense)
    assert low > 10
