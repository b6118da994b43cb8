"""This process and its helpers do all tasks, and none is lost without a word."""

import os
import threading

import pytest

from augcl.paper.cells import early_helpers, share

WHO = "__import__('time').sleep(0.2) or __import__('os').getpid()"
FATAL = f"{WHO} == {os.getpid()} or __import__('os').kill(__import__('os').getpid(), 9)"


def shared(tasks, helpers):
    results = []
    lost = lambda task, reason: f"lost: {reason}"  # noqa: E731
    share(eval, tasks, results.append, lost, helpers=helpers)
    return results


def test_alone_it_goes_through_the_tasks_in_order():
    assert shared(["1 + 1", "'b' * 2", "3"], helpers=0) == [2, "bb", 3]


def test_helpers_take_tasks_beside_it():
    pids = shared([WHO] * 40, helpers=1)
    assert len(pids) == 40
    assert len(set(pids)) == 2
    assert os.getpid() in pids


def test_what_a_killed_helper_was_doing_is_told_and_all_else_is_done():
    results = shared([FATAL] * 40, helpers=1)
    assert len(results) == 40
    (lost,) = {str(result) for result in results if result is not True}
    assert lost.startswith("lost: A worker process managed by the executor was unexpectedly")


def test_an_interruption_ends_the_helpers_too():
    done = []

    def interrupted(result):
        done.append(result)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        share(eval, [WHO] * 200, interrupted, lambda task, reason: "lost", helpers=1)
    assert done == [os.getpid()]
    assert threading.active_count() <= before + 1  # the one that hears that its helper ended


def test_helpers_that_started_early_are_those_that_help():
    with early_helpers(1):
        assert len(set(shared([WHO] * 4, helpers=1))) == 2
