"""What a hardness is fitted on."""

import pytest
import torch

from augcl import GraphCL
from augcl.methods.contrast import EmbeddedBatches
from augcl.training.batches import batch_statistics

QUICK = {"epochs": 1, "width": 8, "layers": 2}


def passes(model, batches, *, anchors_stay):
    """All pairs of two passes, and how many batches were projected."""
    projected = []
    count = model.network_.register_forward_hook(lambda *_: projected.append(1))
    generator = torch.Generator().manual_seed(0)
    with batch_statistics(model.network_):
        pairs = EmbeddedBatches(model._pair, batches, generator, anchors_stay=anchors_stay)
        found = [tensor for _ in range(2) for pair in pairs for tensor in pair]
    count.remove()
    return found, len(projected)


def test_anchors_that_stay_are_projected_once_and_are_the_same(molecules):
    model = GraphCL(**QUICK).fit(molecules)
    batches = [molecules.select(torch.arange(20)), molecules.select(torch.arange(20, 40))]
    found, projected = passes(model, batches, anchors_stay=True)
    expected, all_projected = passes(model, batches, anchors_stay=False)
    assert all(a.equal(b) for a, b in zip(found, expected, strict=True))
    assert (projected, all_projected) == (2 + 4, 4 + 4)
    assert not any(tensor.requires_grad for tensor in found)


@pytest.mark.parametrize("augment_anchor", [False, True])
def test_augmented_anchors_do_not_stay(molecules, augment_anchor):
    model = GraphCL(augment_anchor=augment_anchor, **QUICK).fit(molecules)
    assert model._anchors_stay is not augment_anchor


def test_a_graph_alone_in_its_batch_has_no_negatives(molecules):
    model = GraphCL(**QUICK).fit(molecules)
    found, _ = passes(model, [molecules.select(torch.tensor([3]))], anchors_stay=True)
    assert found == []
