import math

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from augcl.rivals.convolution import discrimination


def test_it_is_binary_cross_entropy_of_the_logits():
    true, false = torch.randn(2, 7, generator=torch.Generator().manual_seed(0))
    expected = binary_cross_entropy_with_logits(
        torch.cat([true, false]), torch.cat([torch.ones(7), torch.zeros(7)])
    )
    torch.testing.assert_close(discrimination(true, false), expected)


def test_as_many_false_scores_as_one_likes_count_as_the_true_ones():
    found = discrimination(torch.tensor([2.0]), torch.tensor([1.0, -1.0]))
    false = (math.log1p(math.e) + math.log1p(1 / math.e)) / 2
    assert found.item() == pytest.approx((math.log1p(math.exp(-2)) + false) / 2)


def test_huge_scores_stay_finite():
    assert discrimination(torch.tensor([-1e30]), torch.tensor([1e30])).isfinite()
