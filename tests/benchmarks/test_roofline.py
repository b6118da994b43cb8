"""The counters of the roofline count what they say."""

import torch
from benchmarks.roofline import Traffic
from torch.utils.flop_counter import FlopCounterMode


def test_views_move_nothing_and_sums_move_inputs_and_outputs():
    a, b = torch.ones(10, 20), torch.ones(10, 20)
    with Traffic() as traffic:
        a.t()[:5]
        assert traffic.total == 0
        a + b
    assert traffic.total == 3 * 200 * 4


def test_what_is_written_in_place_counts_once():
    a, b = torch.ones(100), torch.ones(100)
    with Traffic() as traffic:
        a.add_(b)
    assert traffic.total == 2 * 100 * 4


def test_operations_of_the_backward_pass_count():
    a, b = (torch.ones(30, 30, requires_grad=True) for _ in range(2))
    with FlopCounterMode(display=False) as counter:
        (a @ b).sum().backward()
    assert counter.get_total_flops() == 3 * 2 * 30**3
