"""Our Adam takes the very steps of torch's."""

import pytest
import torch

from augcl.ops.adam import Adam


def trained(make, steps=20, saved=None):
    generator = torch.Generator().manual_seed(0)
    parameters = [torch.randn(n, generator=generator, requires_grad=True) for n in (5, 33, 1, 700)]
    parameters[2].requires_grad_(False)  # one that never has a gradient
    optimizer = make(list(parameters))
    for step in range(steps):
        if step == saved:
            state = optimizer.state_dict()
            optimizer = make(list(parameters))
            optimizer.load_state_dict(state)
        optimizer.zero_grad()
        loss = sum((p.sin() * (i + step)).sum() for i, p in enumerate(parameters))
        loss.backward()
        optimizer.step()
    return torch.cat([p.detach() for p in parameters])


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
def test_the_steps_are_those_of_torch_to_the_last_bit(fused, weight_decay):
    same = {"lr": 0.01, "weight_decay": weight_decay}
    ours = trained(lambda p: Adam(p, fused=fused, **same))
    theirs = trained(lambda p: torch.optim.Adam(p, fused=fused, **same))
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("fused", [True, False])
def test_it_goes_on_from_a_saved_state(fused):
    def make(parameters):
        return Adam(parameters, lr=0.01, fused=fused)

    assert torch.equal(trained(make, saved=7), trained(make))
    assert torch.equal(trained(make, saved=7), trained(make, saved=0))
