"""Figures: nothing overlaps, nothing is cut off, and files repeat byte by byte."""

import subprocess
import sys
from itertools import combinations

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.legend import Legend
from matplotlib.text import Text

from augcl.evaluation import compare_ranks
from augcl.paper.figures import Dots, Line, critical_difference, dot_map, line_panels, save

ALPHAS = ["1/(μ−δ)", "1/(μ−0.5δ)", "1/μ", "1/(μ+0.5δ)", "1/(μ+δ)"]
SETS = ["NCI1", "PROTEINS", "DD", "MUTAG", "COLLAB", "REDDIT-BINARY", "IMDB-BINARY"]
METHODS = [f"GraphCL_{name}" for name in ("AUGCL", "ProGCL", "HCL", "DCL")]
METHODS += ["GraphCL", "SimGRACE", "JOAOv2", "InfoGraph", "graph2vec", "sub2vec", "WL", "DGK"]


def drawn_texts(figure):
    """All visible texts; an axis keeps labels beyond its end, which it does not draw."""
    texts = {text for text in figure.findobj(Text) if text.get_visible()}
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not axes.axison or not low <= tick.get_loc() <= high:
                    texts -= {tick.label1, tick.label2}
    return [text for text in texts if text.get_text().strip()]


def boxes(figure):
    renderer = FigureCanvasAgg(figure).get_renderer()
    return {text: text.get_window_extent(renderer) for text in drawn_texts(figure)}


def overlapping(figure):
    """Pairs of upright texts that share some area."""
    upright = {text: box for text, box in boxes(figure).items() if text.get_rotation() % 90 == 0}
    return [
        (one.get_text(), other.get_text())
        for one, other in combinations(upright, 2)
        if upright[one].shrunk(0.97, 0.97).overlaps(upright[other].shrunk(0.97, 0.97))
    ]


def cut_off(figure):
    page = figure.bbox
    return [
        text.get_text()
        for text, box in boxes(figure).items()
        if box.x0 < -0.5 or box.y0 < -0.5 or box.x1 > page.x1 + 0.5 or box.y1 > page.y1 + 0.5
    ]


def assert_readable(figure):
    assert overlapping(figure) == []
    assert cut_off(figure) == []


def curve(label, x=(1.5, 1.7, 1.9), **more):
    return Line(label, x, np.linspace(80, 81, len(x)), **more)


def ranks_of(methods, datasets=7, spread=1.0):
    scores = np.random.default_rng(methods).normal(size=(datasets, methods))
    return compare_ranks(scores - spread * np.arange(methods), METHODS[:methods])


def rows(groups=SETS[:2], names=("oracle − base", "AUGCL − base", "ProGCL − base")):
    points = {name: (k, k - 1.5, k + 1.0) for k, name in enumerate(names)}
    return [Dots(label, group, points) for group in groups for label in ("GraphCL", "GRACE")]


@pytest.mark.parametrize("methods", range(2, 13))
def test_labels_of_ranks_do_not_overlap(methods):
    assert_readable(critical_difference(ranks_of(methods, datasets=7 if methods % 2 else 1)))


@pytest.mark.parametrize("methods", [2, 5, 12])
def test_labels_of_equal_ranks_do_not_overlap(methods):
    figure = critical_difference(compare_ranks(np.ones((3, methods)), METHODS[:methods]))
    assert_readable(figure)


def test_a_bar_for_every_clique():
    ranks = ranks_of(9, datasets=20)
    (axes,) = critical_difference(ranks).axes
    bars = [line for line in axes.lines if line.get_gid() == "clique"]
    assert len(bars) == len(ranks.cliques) > 1
    spans = [(bar.get_ydata()[0], *bar.get_xdata()) for bar in bars]
    for (level, low, high), (other, start, end) in combinations(spans, 2):
        assert level != other or high < start or end < low


def test_ranks_stand_at_their_place_on_the_axis():
    ranks = compare_ranks([[3, 2, 1], [3, 2, 1], [3, 1, 2], [3, 2, 1]], ["a", "b", "c"])
    (axes,) = critical_difference(ranks).axes
    places = {text.get_text(): text.get_position()[0] for text in axes.texts}
    dots = sorted(line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o")
    expected = [places["1"] + (r - 1) * (places["2"] - places["1"]) for r in (1, 2.25, 2.75)]
    assert dots == pytest.approx(expected)


@pytest.mark.parametrize("panels", [1, 2, 3, 5, 7])
def test_panels_of_categories(panels):
    lines = [curve("AUGCL", ALPHAS, error=[1.0] * 5), curve("GraphCL", ALPHAS, dashed=True)]
    figure = line_panels(dict.fromkeys(SETS[:panels], lines), xlabel="α", ylabel="accuracy (%)")
    assert_readable(figure)
    shown = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title() for axes in shown] == SETS[:panels]
    assert [label.get_text() for label in shown[0].get_xticklabels()] == ALPHAS
    assert len(figure.findobj(Legend)) == 1


def test_a_label_has_one_colour_in_all_panels():
    panels = {"a": [curve("x"), curve("y")], "b": [curve("y")]}
    first, second = line_panels(panels, xlabel="o", ylabel="%").axes
    assert first.lines[1].get_color() == second.lines[0].get_color() != first.lines[0].get_color()


def test_long_legends_break_into_lines():
    lines = [curve(f"a method with a long name, number {k}") for k in range(6)]
    assert_readable(line_panels({"MUTAG": lines}, xlabel="o", ylabel="%"))


def test_errors_are_bars_at_few_points_and_a_band_at_many():
    few = curve("x", error=[1, 1, 1])
    many = curve("x", np.arange(50), error=np.ones(50))
    kinds = [
        type(line_panels({"": [line]}, xlabel="", ylabel="").axes[0].collections[0]).__name__
        for line in (few, many)
    ]
    assert kinds == ["LineCollection", "FillBetweenPolyCollection"]


def test_points_of_bars_stay_near_their_place():
    lines = [curve(label, error=[1, 1, 1]) for label in "abc"]
    (axes,) = line_panels({"": lines}, xlabel="", ylabel="").axes
    places = [line.get_xdata()[1] for line in axes.lines]
    assert places == sorted(places)
    assert places[1] == pytest.approx(1.7)
    assert max(places) - min(places) < 0.02


def test_odd_lines_are_drawn():
    one = Line("one", [3], [80.0], error=[1.0])
    gap = Line("gap", [1, 2, 300], [1.0, float("nan"), 2.0])
    figure = line_panels({"$x_1$": [one], "none": [], "gap": [gap]}, xlabel="x", ylabel="y")
    assert_readable(figure)
    assert not figure.axes[0].title.get_parse_math()


def test_mistakes_in_lines_are_told():
    with pytest.raises(ValueError, match="'x' differ in length"):
        Line("x", [1, 2], [1.0, 2.0], error=[1.0])
    with pytest.raises(ValueError, match="needs a line"):
        line_panels({"MUTAG": []}, xlabel="", ylabel="")


def test_dots_in_groups():
    few, many = rows(), rows(SETS)
    figure = dot_map(many, xlabel="difference (points)", zero_label="no difference")
    assert_readable(figure)
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels[:4] == ["NCI1", "GraphCL", "GRACE", "PROTEINS"]
    small = dot_map(few, xlabel="difference (points)", zero_label="no difference")
    assert_readable(small)
    assert small.get_figheight() < figure.get_figheight()


def test_a_row_may_lack_points_and_lie_far_from_zero():
    found = [Dots("a", "x", {"m": (5.0, 4.0, 6.0)}), Dots("b", "x", {}), *rows(["x"], ["n"])]
    figure = dot_map(found, xlabel="points", zero_label="a long explanation of what zero means")
    assert_readable(figure)
    low, high = figure.axes[0].get_xlim()
    assert low < -1.5 < 6 < high
    with pytest.raises(ValueError, match="with a point"):
        dot_map([Dots("a", "x", {})], xlabel="", zero_label="")


def make_figures():
    lines = {"DD": [curve("AUGCL", error=[1, 1, 1])], "MUTAG": [curve("GraphCL", dashed=True)]}
    return {
        "lines": line_panels(lines, xlabel="reward o", ylabel="accuracy (%)"),
        "ranks": critical_difference(ranks_of(4)),
    }


def test_files_repeat_byte_by_byte(tmp_path):
    settings = dict(matplotlib.rcParams)
    figures, twins = make_figures(), make_figures()
    for name, figure in figures.items():
        once = save(figure, tmp_path / "once" / name)
        anew = save(twins[name], tmp_path / "anew" / name)
        assert [path.name for path in once] == [f"{name}.svg", f"{name}.png", f"{name}.pdf"]
        for one, other in zip(once, anew, strict=True):
            assert one.read_bytes() == other.read_bytes()
    before = (tmp_path / "once" / "lines.svg").read_bytes()
    again = save(figures["lines"], tmp_path / "once" / "lines")
    assert again[0].read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "once").iterdir()) == sorted(
        f"{name}.{kind}" for name in figures for kind in ("svg", "png", "pdf")
    )
    assert "reward o</text>" in (tmp_path / "once" / "lines.svg").read_text()
    assert b"Type3" not in (tmp_path / "once" / "lines.pdf").read_bytes()
    assert dict(matplotlib.rcParams) == settings


def test_matplotlib_waits_until_it_is_needed():
    program = "import sys, augcl, augcl.cli.main; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
