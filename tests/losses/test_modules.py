"""The losses as modules are the functions."""

import pytest
import torch

from augcl import DCL, AffinityUncertainty, ProGCL
from augcl.losses import InfoNCE, NodeInfoNCE, PairWeights, info_nce, node_info_nce


def views(seed=0):
    return torch.randn(2, 20, 6, generator=torch.Generator().manual_seed(seed)).requires_grad_()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tau": 0.7, "positive_in_denominator": False},
        {"symmetric": True, "hardness": DCL(0.05)},
        {"symmetric": True, "intra": True},
        {"intra": True, "hardness": ProGCL()},
    ],
    ids=str,
)
def test_info_nce_as_a_module(options):
    z = views()
    if isinstance(options.get("hardness"), ProGCL):
        options["hardness"].fit([(z[0], z[1])])
    module, function = InfoNCE(**options)(z[0], z[1]), info_nce(z[0], z[1], **options)
    assert module.equal(function)
    assert torch.autograd.grad(module, z)[0].equal(torch.autograd.grad(function, z)[0])


def test_a_module_mixes_with_the_draws_of_its_generator():
    a, b = views().detach()
    loss = InfoNCE(hardness=ProGCL("mix", hardest=7).fit([(a, b)]))
    one, same, other = (
        loss(a, b, generator=torch.Generator().manual_seed(seed)).item() for seed in (0, 0, 1)
    )
    assert one == same != other


@pytest.mark.parametrize("columns", [None, torch.arange(0, 20, 3)])
def test_node_info_nce_as_a_module(columns):
    a, b = views().detach()
    hardness = AffinityUncertainty(estimator="distance").fit([(a, b)])
    loss = NodeInfoNCE(0.5, hardness)
    plain = node_info_nce(a, b, tau=0.5, columns=columns)
    assert loss(a, b, columns=columns).equal(plain)  # no weights yet
    weighted = loss.weigh(a)(a, b, columns=columns)
    weights = PairWeights.of(hardness, a)
    expected = node_info_nce(a, b, tau=0.5, hardness=hardness, weights=weights, columns=columns)
    assert weighted.equal(expected)
    assert not weighted.equal(plain)


def test_what_gives_no_weights_needs_none():
    a, b = views().detach()
    loss = NodeInfoNCE(0.5, DCL()).weigh(a)
    assert loss.weights is None
    assert loss(a, b).equal(node_info_nce(a, b, tau=0.5, hardness=DCL()))


def test_a_module_says_what_is_inside():
    assert repr(InfoNCE(0.3, DCL(0.2))) == "InfoNCE(tau=0.3, hardness=DCL(tau_plus=0.2))"
