"""Works that take turns: in order, with what they return, and stopped together."""

from threading import active_count

import pytest

from augcl.paper.training_time import in_relay


def counting(word, times, said, fails=False):
    def work(rest):
        for number in range(times):
            said.append(f"{word}{number}")
            rest()
        if fails:
            raise ValueError(word)
        return word

    return work


def test_each_goes_on_where_it_rested_and_the_last_ones_end_alone():
    said = []
    works = [counting("a", 1, said), counting("b", 3, said), counting("c", 2, said)]
    assert in_relay(works) == ["a", "b", "c"]
    assert said == ["a0", "b0", "c0", "b1", "c1", "b2"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_that_fails_stops_all_and_says_why(place):
    said = []
    works = [counting(str(i), 2 if i == place else 9, said, fails=i == place) for i in range(3)]
    before = active_count()
    with pytest.raises(ValueError, match=str(place)):
        in_relay(works)
    assert len(said) <= 8
    assert active_count() == before


def test_no_work_gives_nothing():
    assert in_relay([]) == []
