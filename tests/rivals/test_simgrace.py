import pytest
import torch

from augcl import SimGRACE, info_nce
from quick_nodes import losses

QUICK = {"epochs": 3, "width": 8, "layers": 2}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def model(molecules):
    return SimGRACE(**{**QUICK, "epochs": 1}).fit(molecules)


def test_without_perturbation_both_sides_are_the_same(molecules):
    model = SimGRACE(eta=0.0, **QUICK).fit(molecules)
    anchors, candidates = model._pair(molecules, generator())
    assert anchors.equal(candidates)


def test_the_perturbed_side_has_no_gradient_and_the_clean_one_has(model, molecules):
    anchors, candidates = model._pair(molecules, generator())
    assert not anchors.requires_grad
    assert candidates.requires_grad
    assert not anchors.allclose(candidates)


def test_the_loss_leaves_the_positive_out_and_takes_perturbed_rows_as_anchors(model, molecules):
    model.network_.train()
    pair = model._pair(molecules, generator())
    expected = info_nce(*pair, tau=0.2, positive_in_denominator=False)
    assert model._loss(molecules, generator()).item() == pytest.approx(expected.item())


def test_the_projector_is_not_perturbed(model, molecules):
    model.network_.eval()
    anchors, _ = model._pair(molecules, generator())
    for theta in model.network_.encoder.parameters():
        theta.data.zero_()  # of no spread, so that the copy is the same
    model.network_.encoder.layers[-1].norm.bias.data.fill_(1.0)
    anchors, candidates = model._pair(molecules, generator())
    assert anchors.equal(candidates)


def test_the_running_averages_see_only_clean_graphs(model, molecules):
    norm = model.network_.encoder.layers[0].norm
    model.network_.train()
    before = norm.running_mean.clone()
    model._perturbed_projections(molecules, generator())
    assert norm.running_mean.equal(before)


@pytest.mark.parametrize("eta", [0.1, 100.0, 1e6])
def test_any_eta_trains_to_something_finite(molecules, eta):
    found = losses(SimGRACE(eta=eta, **QUICK).fit(molecules))
    assert torch.tensor(found).isfinite().all()
    assert found != losses(SimGRACE(**QUICK).fit(molecules))
