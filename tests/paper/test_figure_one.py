"""The toy of the first figure: what it is made of, and that its words follow its numbers."""

import numpy as np
import pytest
import torch

from augcl.files import write_json
from augcl.paper.figure_one import (
    ANCHORS,
    READINGS,
    ROWS,
    SIZE,
    TOYS,
    ToyCell,
    colours,
    figure_one,
    points,
    toy_cells,
)
from augcl.paper.figures import save
from augcl.paper.study import Study
from augcl.paper.theorem import forms_of, shares_of, theorem

SHAPES = {"as claimed": (0.5, 1.5), "reversed": (1.5, 0.5)}


def record(toy, reading, seed, false, true):
    """The record of a fit with these weights for own and other group, by anchor."""
    own = {a: colours() == colours()[a - 1] for a in ANCHORS}
    rows = {str(a): np.where(own[a], false, true).tolist() for a in ANCHORS}
    return {
        "toy": toy,
        "reading": reading,
        "seed": seed,
        "vitals": {"state": "alive"},
        "weights": rows,
        "uncertainty": [0.1] * SIZE,
        "weight_false_negatives": false,
        "weight_true_negatives": true,
    }


@pytest.fixture
def asked(tmp_path):
    """Two readings on three draws: AUGCL always as claimed, AUGCL-paper in one of them."""
    study = Study(tmp_path, (), ("AUGCL", "AUGCL-paper"), seeds=3)
    for cell in toy_cells(study):
        claimed = cell.reading == "AUGCL" or cell.seed == 1
        shape = SHAPES["as claimed" if claimed else "reversed"]
        made = record(cell.toy, cell.reading, cell.seed, *shape)
        write_json(cell.path(tmp_path), made)
    return study


@pytest.mark.parametrize("toy", TOYS)
def test_both_anchors_lie_in_different_groups_of_twenty(toy):
    assert np.bincount(colours()).tolist() == [20, 20]
    assert {int(colours()[anchor - 1]) for anchor in ANCHORS} == {0, 1}
    drawn = points(toy, 0)
    assert np.array_equal(drawn, points(toy, 0))
    assert not np.allclose(drawn, points(toy, 1))


def test_the_centres_stand_at_the_angle_that_the_toy_is_named_for():
    for toy, degrees in TOYS.items():
        drawn = np.concatenate([points(toy, seed)[None] for seed in range(200)]).mean(0)
        blue, orange = drawn[:20].mean(0), drawn[20:].mean(0)
        cosine = blue @ orange / np.linalg.norm(blue) / np.linalg.norm(orange)
        assert np.degrees(np.arccos(cosine)) == pytest.approx(degrees, abs=1)


def test_every_reading_is_a_row_of_the_tables_with_its_own_cells(tmp_path):
    assert tuple(READINGS) == ROWS
    assert "AUGCL-paper" in READINGS
    paths = {ToyCell(toy, row, 0).path(tmp_path) for toy in TOYS for row in READINGS}
    assert len(paths) == len(TOYS) * len(READINGS)


def test_a_cell_holds_what_the_figure_shows():
    found = ToyCell("close", "AUGCL-authors-unit", 0).record()
    assert {len(row) for row in found["weights"].values()} == {SIZE}
    assert found["weights"].keys() == {str(anchor) for anchor in ANCHORS}
    assert all(0 <= u <= 1 for u in found["uncertainty"])
    # alpha "row" and temper 1: weights are the uncertainty over the mean of its row
    u = np.array(found["uncertainty"])
    assert np.allclose(u / u.mean(), found["weights"]["11"], rtol=1e-3, atol=1e-5)
    assert found["vitals"]["state"] in ("alive", "unlearned", "collapsed")


def test_the_sentence_counts_the_draws_in_which_the_claim_holds(asked):
    apart, close = figure_one(asked).sentences
    assert apart == (
        "Groups apart: false negatives weigh less than 1 and true ones more than 1 with AUGCL in "
        "every draw and with AUGCL-paper in 1 of 3 draws."
    )
    assert close.startswith("Groups close: ")


def test_the_table_tells_claimed_and_reversed(asked):
    (grid,) = figure_one(asked).grids
    rows = {row[0]: row[1:] for row in grid.rows}
    assert rows["apart: AUGCL"] == ("alive", "0.50 ± 0.00", "1.50 ± 0.00", "3 of 3", "0 of 3")
    assert rows["close: AUGCL-paper"][-2:] == ("1 of 3", "2 of 3")


def test_a_dead_model_is_told(asked):
    cell = ToyCell("close", "AUGCL", 0)
    dead = record("close", "AUGCL", 0, 1.0, 1.0) | {"vitals": {"state": "collapsed"}}
    write_json(cell.path(asked.out), dead)
    rows = {row[0]: row[1] for row in figure_one(asked).grids[0].rows}
    assert rows["close: AUGCL"] == "alive 2, collapsed 1"


def test_the_figure_is_the_same_bytes_when_it_is_drawn_again(asked, tmp_path):
    written = []
    for name in ("one", "two"):
        figures = {**figure_one(asked).figures, **theorem(asked).figures}
        assert figures.keys() == {"figure-1-apart", "figure-1-close", "theorem"}
        files = [save(figure, tmp_path / name / key, ["svg"]) for key, figure in figures.items()]
        written.append([path.read_bytes() for (path,) in files])
    assert written[0] == written[1]
    assert all(b"mathdefault" not in text for text in written[0])


def test_without_cells_nothing_is_shown(tmp_path):
    study = Study(tmp_path, (), ROWS, seeds=1)
    for found in (figure_one(study), theorem(study)):
        assert found.empty
        assert (found.figures, found.sentences) == ({}, [])


def test_only_squares_with_four_margins_are_the_first_order_term():
    z = torch.from_numpy(points("close", 3))
    weights = np.random.default_rng(0).uniform(0.01, 3, SIZE).tolist()
    found = forms_of(z, weights)
    exact = found["first-order term"]
    assert found["squares, 4 m"] == pytest.approx(exact, abs=1e-9)
    for name in ("squares, m", "norms, 4 m", "as printed"):
        assert abs(found[name] - exact) > 1


def test_shares_follow_weight_times_exponential_of_the_cosine():
    z = torch.from_numpy(points("apart", 0))
    weights = np.random.default_rng(0).uniform(0.01, 3, SIZE)
    unit = z.numpy() / np.linalg.norm(z.numpy(), axis=1, keepdims=True)
    mass = weights * np.exp(unit @ unit[10] / 0.2)
    mass[10] = np.exp(1 / 0.2)
    expected = mass / mass.sum()
    found = shares_of(z, weights.tolist()).numpy()
    others = np.arange(SIZE) != 10
    assert np.allclose(found[others], expected[others], atol=1e-12)
    assert found[10] == 0


def test_the_theorem_s_words_follow_its_numbers(asked):
    found = theorem(asked)
    first, second = found.sentences
    assert first.startswith("The first-order term of the loss is the form with squares, 4 m; other")
    assert "as printed by up to" in first
    assert "with all weights 1, false negatives make" in second
    shares = {row[0]: row[1:] for row in found.grids[1].rows}
    assert shares.keys() == {"all 1", "AUGCL", "AUGCL-paper"}
    total = sum(float(cell.removesuffix(" %")) for cell in shares["AUGCL"])
    assert total == pytest.approx(100, abs=0.02)
