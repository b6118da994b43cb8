"""DCL and HCL: against the published formulas, number by number, and in tiles."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import augcl
import references
from augcl import DCL, HCL, InputError
from augcl.losses import info_nce
from augcl.losses.node_info_nce import node_info_nce

SETTINGS = [(0.0, 0.0), (0.1, 0.0), (0.5, 0.0), (0.0, 1.0), (0.1, 1.0), (0.05, 0.5), (0.3, 2.0)]


def views(n=7, d=4, *, noise=0.7, seed=0):
    generator = torch.Generator().manual_seed(seed)
    u, more = torch.randn(2, n, d, generator=generator, dtype=torch.float64)
    return u.requires_grad_(), (u.detach() + noise * more).requires_grad_()


@pytest.mark.parametrize(("tau_plus", "beta"), SETTINGS)
@pytest.mark.parametrize("tau", [0.2, 0.5])
@pytest.mark.parametrize("intra", [False, True])
def test_loss_is_the_published_formula(tau_plus, beta, tau, intra):
    u, v = views()
    hardness = HCL(beta, tau_plus) if beta else DCL(tau_plus)
    ours = info_nce(u, v, tau=tau, hardness=hardness, intra=intra)
    slow = references.debiased_loss(u, v, tau=tau, tau_plus=tau_plus, beta=beta, intra=intra)
    assert ours.item() == pytest.approx(slow, abs=1e-10)


@pytest.mark.parametrize("hardness", [DCL(0), HCL(0, 0)], ids=repr)
def test_without_prior_and_tilt_it_is_info_nce(hardness):
    u, v = views()
    plain = info_nce(u, v)
    assert info_nce(u, v, hardness=hardness).item() == pytest.approx(plain.item(), abs=1e-12)


def test_hcl_without_tilt_is_dcl():
    u, v = views()
    dcl, hcl = (info_nce(u, v, hardness=h) for h in (DCL(0.1), HCL(0, 0.1)))
    assert hcl.item() == pytest.approx(dcl.item(), abs=1e-12)


@pytest.mark.parametrize(("tau_plus", "beta"), SETTINGS)
def test_tiles_give_the_value_and_gradient_of_the_dense_loss(tau_plus, beta):
    u, v = views(50)
    hardness = HCL(beta, tau_plus)
    one_way = (info_nce(a, b, tau=0.4, hardness=hardness, intra=True) for a, b in ((u, v), (v, u)))
    dense = sum(one_way) / 2
    tiles = node_info_nce(u, v, tau=0.4, hardness=hardness, tile=16)
    assert tiles.item() == pytest.approx(dense.item(), rel=1e-6)
    for ours, theirs in zip(*(torch.autograd.grad(x, (u, v)) for x in (tiles, dense)), strict=True):
        assert (ours - theirs).abs().max() <= 1e-5 * (1e-3 + theirs.abs().max())


def test_info_nce_takes_the_tiles_by_itself():
    u, v = views(20)
    whole = info_nce(u, v, tau=0.4, hardness=HCL(), symmetric=True, intra=True)
    assert torch.equal(whole, node_info_nce(u, v, tau=0.4, hardness=HCL()))


@pytest.mark.parametrize("hardness", [DCL(0.2), HCL(1.0, 0.2)], ids=repr)
def test_gradient_is_right(hardness):
    u, v = views(5, 3)
    assert torch.autograd.gradcheck(lambda a, b: info_nce(a, b, tau=0.5, hardness=hardness), (u, v))


def test_where_the_mass_is_cut_no_gradient_flows_through_the_negatives():
    log_sums = torch.zeros(1, 5, requires_grad=True)
    mass = DCL(0.5).log_mass(log_sums, torch.full((5,), 5.0), count=4, tau=0.2)
    assert mass.tolist() == pytest.approx([math.log(4) - 5] * 5)
    mass.sum().backward()
    assert log_sums.grad.abs().max() == 0


@given(
    st.floats(0, 0.99),
    st.floats(0, 20),
    st.sampled_from([1e-3, 0.02, 0.2, 1.0, 100.0]),
    st.sampled_from([0.0, 1e-30, 1.0, 1e30]),
    st.integers(1, 5),
)
def test_everything_is_finite(tau_plus, beta, tau, scale, n):
    generator = torch.Generator().manual_seed(0)
    u, v = (scale * torch.randn(2, n, 3, generator=generator)).requires_grad_()
    u, v = u.detach().requires_grad_(), v.detach().requires_grad_()
    loss = info_nce(u, v, tau=tau, hardness=HCL(beta, tau_plus))
    loss.backward()
    assert loss.isfinite()
    if scale == 1:  # of vectors near zero the cosine itself has no bounded slope
        assert u.grad.isfinite().all()
        assert v.grad.isfinite().all()


@pytest.mark.parametrize(
    ("hardness", "named"),
    [(DCL(1.0), "tau_plus"), (DCL(-0.1), "tau_plus"), (HCL(-1), "beta"), (HCL(math.inf), "beta")],
    ids=repr,
)
def test_impossible_settings_are_named(hardness, named, molecules):
    with pytest.raises(InputError, match=named):
        augcl.GraphCL(hardness=hardness, epochs=1).fit(molecules)


def test_nodes_need_a_temperature_that_the_powers_leave_room_for():
    graph = references.communities(30)
    with pytest.raises(InputError, match=r"tau is 0.05: .* at least 0.06"):
        augcl.GRACE(hardness=HCL(beta=2), tau=0.05, epochs=1).fit(graph)


def test_the_loss_itself_refuses_impossible_settings():
    with pytest.raises(InputError, match="tau_plus"):
        augcl.info_nce(torch.eye(3), torch.eye(3), hardness=DCL(1.5))
