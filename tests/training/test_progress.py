import io
import sys
import time

from augcl.training import progress
from augcl.training.progress import one_more, phase, print_warning, progress_bar


def test_a_bar_tells_a_person_what_is_done_and_how_it_goes(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("FORCE_COLOR", "1")  # rich takes that for a terminal
    with progress_bar("GraphCL on MUTAG", 40) as report:
        report(7, "loss 3.1416")
    for part in ("GraphCL on MUTAG", "7/40", "loss 3.1416", "left"):
        assert part in screen.getvalue()


def test_a_bar_counts_for_those_who_do_not_and_may_vanish(monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("evaluate", 2, stay=False) as report:
        step = one_more(report)
        step()
        step()
    assert "2/2" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")  # the line is empty again


def test_a_bar_can_be_switched_off(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("GraphCL on MUTAG", 40, show=False) as report:
        report(7)
    assert capsys.readouterr() == ("", "")


def test_a_bar_is_silent_in_a_file(capsys):
    with progress_bar("GraphCL on MUTAG", 40) as report:
        report(7)
    assert capsys.readouterr() == ("", "")


def test_a_warning_is_one_line_without_our_source_and_said_once(capsys):
    for _ in range(2):  # as by two cells of one comparison
        print_warning(UserWarning("all weights are 1"), UserWarning, "/some/file.py", 7)
    assert capsys.readouterr().err == "augcl: warning: all weights are 1\n"


def test_a_long_work_says_in_a_file_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(progress, "LINE_EVERY", 0.05)
    with progress_bar("GCA on planted-9000", 40) as report:
        report(7, "fitting AffinityUncertainty")
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert lines[-1].startswith("GCA on planted-9000: 7 of 40, fitting AffinityUncertainty, ")


def test_a_phase_says_in_a_file_that_it_goes_on_and_leaves_a_terminal_as_it_was(
    monkeypatch, capsys
):
    monkeypatch.setattr(progress, "LINE_EVERY", 0.05)
    with phase("reading planted-9000"):
        time.sleep(0.3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1].startswith("reading planted-9000, ")
    with phase("silent", show=False):
        time.sleep(0.1)
    assert capsys.readouterr().err == ""
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with phase("reading planted-9000"):
        pass
    assert "reading planted-9000" in screen.getvalue()
    assert screen.getvalue().endswith("\x1b[2K")
