import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from augcl.ops.segments import (
    pointer,
    random_below,
    random_element,
    random_subset,
    ranges,
    segment_ids,
    segment_sum,
)

LENGTHS = st.lists(st.integers(0, 6), min_size=1, max_size=8)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@given(LENGTHS)
def test_pointer_and_segment_ids_are_running_totals(lengths):
    ptr = pointer(torch.tensor(lengths))
    assert ptr.tolist() == [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    slow = [segment for segment, n in enumerate(lengths) for _ in range(n)]
    assert segment_ids(ptr).tolist() == slow


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), min_size=1, max_size=8))
def test_ranges_are_the_ranges_one_after_the_other(parts):
    starts, lengths = (torch.tensor(column) for column in zip(*parts, strict=True))
    slow = [v for start, n in parts for v in range(start, start + n)]
    assert ranges(starts, lengths).tolist() == slow


@given(LENGTHS)
def test_segment_sum_adds_each_segment_and_an_empty_one_is_zero(lengths):
    x = torch.randn(sum(lengths), 2, dtype=torch.float64, generator=generator())
    parts = torch.split(x, lengths)
    slow = torch.stack([part.sum(0) for part in parts])
    assert segment_sum(x, pointer(torch.tensor(lengths))).allclose(slow)


def test_segment_sum_has_the_right_gradient():
    x = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(segment_sum, (x, torch.tensor([0, 2, 2, 5])))


@given(LENGTHS, st.integers(0, 10**6), st.data())
def test_random_subset_takes_exactly_the_count_of_every_segment(lengths, seed, data):
    count = [data.draw(st.integers(0, n)) for n in lengths]
    ptr = pointer(torch.tensor(lengths))
    mask = random_subset(ptr, torch.tensor(count), generator(seed))
    assert mask.shape == (sum(lengths),)
    assert [int(part.sum()) for part in mask.split(lengths)] == count


def test_random_subset_takes_every_element_and_pair_equally_often():
    # Every trial is a segment of its own: one call, all trials.
    trials, n, k = 20_000, 5, 2
    ptr = torch.arange(0, trials * n + 1, n)
    mask = random_subset(ptr, torch.full((trials,), k), generator()).view(trials, n).double()
    each = mask.sum(0)
    expected = trials * k / n
    assert ((each - expected) ** 2 / expected).sum() < 25  # 4 degrees of freedom
    together = (mask.t() @ mask).triu(1)
    expected = trials * k * (k - 1) / (n * (n - 1))
    pairs = together[together > 0]
    assert len(pairs) == 10
    assert ((pairs - expected) ** 2 / expected).sum() < 40


def test_random_element_and_random_below_stay_in_bounds_and_reach_all():
    ptr = pointer(torch.tensor([1, 3]).repeat(500))
    picked = random_element(ptr, generator()) - ptr[:-1]
    assert picked[::2].unique().tolist() == [0]
    assert picked[1::2].unique().tolist() == [0, 1, 2]
    assert random_below(torch.zeros(3, dtype=torch.long), generator()).tolist() == [0, 0, 0]


@settings(max_examples=20)
@given(st.integers(0, 100))
def test_same_seed_same_subset(seed):
    ptr, count = torch.tensor([0, 7, 20]), torch.tensor([3, 5])
    first, again = (random_subset(ptr, count, generator(seed)) for _ in range(2))
    assert first.equal(again)


def test_sum_of_nothing_is_no_error():
    ptr = torch.tensor([0, 0])
    assert segment_sum(torch.empty(0, 3), ptr).tolist() == [[0.0, 0.0, 0.0]]
    assert random_subset(ptr, torch.tensor([0]), generator()).tolist() == []
