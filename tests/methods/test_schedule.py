"""When a hardness is fitted, and from which epoch on it counts."""

import pytest
import torch

from augcl import DCL, AffinityUncertainty, InputError, Oracle, ProGCL
from augcl.hardness import Hardness, Uniform
from augcl.methods.contrast import HardnessSchedule


class Fixed(Hardness):
    """Gives weights and learns nothing."""

    def log_weights(self, anchors, candidates, affinity):
        return affinity


def first_epoch(hardness, **more):
    return HardnessSchedule(hardness, epochs=20, usual=10, **more).first_epoch


def test_what_learns_waits_and_all_else_counts_at_once():
    assert [first_epoch(h) for h in (AffinityUncertainty(), ProGCL())] == [10, 10]
    assert [first_epoch(h) for h in (DCL(), Oracle(), Fixed())] == [0, 0, 0]


def test_the_user_has_the_last_word_then_the_hardness():
    assert first_epoch(ProGCL(start=3)) == 3
    assert first_epoch(ProGCL(start=3), warmup=5) == 5
    assert first_epoch(DCL(), warmup=5) == 5


@pytest.mark.parametrize("wrong", [-1, 21, 1.5])
def test_an_epoch_outside_the_training_is_refused(wrong):
    with pytest.raises(InputError, match="warmup"):
        first_epoch(DCL(), warmup=wrong)
    with pytest.raises(InputError, match="start"):
        first_epoch(ProGCL(start=wrong))


@pytest.mark.parametrize(("refresh", "fits"), [(None, [10]), (4, [10, 14, 18])])
def test_it_is_refitted_every_refresh_epochs(refresh, fits):
    schedule = HardnessSchedule(AffinityUncertainty(refresh=refresh), epochs=20, usual=10)
    assert [epoch for epoch in range(20) if schedule.fits_before(epoch)] == fits


def test_a_uniform_hardness_is_never_active():
    schedule = HardnessSchedule(Uniform(), epochs=3, usual=1)
    assert schedule.before_epoch(2, [], torch.Generator()) == {}
    assert not schedule.active
