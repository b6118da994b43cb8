"""The sentences say what the evidence supports, no more and no less."""

import numpy as np
import pytest

from augcl.paper.comparison import headroom, verdict
from augcl.paper.rows import GRAPHS, NODES, NODES_GRACE
from augcl.paper.study import Accuracies


def rows(means, *, level="graph", seeds=5, noise=0.02):
    """Rows around these means, each with noise of its own that is about 0 over the folds."""
    found = {}
    for number, (row, mean) in enumerate(means.items()):
        luck = np.random.default_rng(number).normal(0, noise, (seeds, 10))
        luck -= luck.mean()
        folds = {seed: tuple((mean + luck[seed]).tolist()) for seed in range(seeds)}
        found[row] = Accuracies(folds, {}, level)
    return found


def sentences(means, table=GRAPHS, **more):
    return verdict(rows(means, **more), table)


LEVEL = {"untrained": 0.80, "GraphCL": 0.85, "DCL": 0.851, "AUGCL": 0.849, "oracle": 0.852}


def test_where_nothing_beats_the_base_it_is_said():
    trained, methods, room = sentences(LEVEL)
    assert trained.startswith("GraphCL beats the untrained encoder here (+5.00 [")
    assert methods == "No method beats GraphCL here beyond noise."
    assert room.startswith("Even the oracle, which knows all false negatives, does not beat")
    assert "there is no evidence" in room


def test_a_base_that_learns_nothing_is_told():
    trained = sentences(LEVEL | {"untrained": 0.851})[0]
    assert trained.startswith("GraphCL itself does not beat the untrained encoder here beyond")
    trained = sentences(LEVEL | {"untrained": 0.90})[0]
    assert trained.startswith("GraphCL is worse than the untrained encoder here (-5.00 [")


def test_a_method_that_is_clearly_better_is_named():
    methods = sentences(LEVEL | {"AUGCL": 0.90})[1]
    assert methods.startswith("GraphCL is beaten here by AUGCL (+5.00 [")
    assert "DCL" not in methods


def test_methods_that_are_clearly_worse_are_named():
    methods = sentences(LEVEL | {"DCL": 0.80})[1]
    assert methods.startswith("No method beats GraphCL here beyond noise; DCL (-5.00 [")
    assert methods.endswith(" is worse than it.")
    methods = sentences(LEVEL | {"DCL": 0.80, "HCL": 0.78, "AUGCL": 0.9})[1]
    assert methods.startswith("GraphCL is beaten here by AUGCL (+5.00 [")
    assert methods.endswith(" are worse than it.")


def test_an_oracle_that_clearly_gains_shows_headroom():
    room = sentences(LEVEL | {"oracle": 0.90})[2]
    assert room.startswith(
        "A weighting of negatives could gain here: the oracle is above GraphCL (+5"
    )


def test_an_oracle_that_is_clearly_worse_shows_none():
    assert sentences(LEVEL | {"oracle": 0.80})[2].startswith("Even the oracle")


def test_among_many_methods_one_that_looks_better_by_chance_is_not_named():
    names = ("DCL", "HCL", "ProGCL", "AUGCL", "AUGCL-full", "ProGCL-mix")
    means = {"GraphCL": 0.85} | dict.fromkeys(names, 0.85) | {"AUGCL": 0.871}
    found = rows(means)
    assert 0.05 / 6 < found["AUGCL"].minus(found["GraphCL"]).p < 0.05
    assert verdict(found, GRAPHS) == [
        "No method beats GraphCL here beyond noise (AUGCL: not after Holm's correction for 6 "
        "methods)."
    ]
    alone = {row: found[row] for row in ("GraphCL", "AUGCL")}
    assert verdict(alone, GRAPHS)[0].startswith("GraphCL is beaten here by AUGCL")


def test_one_training_of_nodes_says_nothing():
    means = {"raw": 0.7, "untrained": 0.8, "GCA": 0.9, "AUGCL": 0.99, "oracle": 0.99}
    assert sentences(means, NODES, level="node", seeds=1) == [
        "One training cannot be tested for noise: use more seeds."
    ]
    trained, methods, room = sentences(means, NODES, level="node", seeds=3)
    assert trained.startswith("GCA beats the untrained encoder")
    assert methods.startswith("GCA is beaten here by AUGCL")
    assert room.startswith("A weighting of negatives could gain here")


@pytest.mark.parametrize(
    "names", [(), ("untrained",), ("GraphCL",), ("oracle",), ("untrained", "DCL", "oracle")]
)
def test_what_cannot_be_compared_gets_no_sentence(names):
    assert verdict(rows({row: LEVEL[row] for row in names}), GRAPHS) == []


def test_headroom_is_oracle_minus_base():
    found = rows(LEVEL | {"oracle": 0.90})
    assert headroom(found, GRAPHS) == found["oracle"].minus(found["GraphCL"])
    del found["oracle"]
    assert headroom(found, GRAPHS) is None


def test_a_row_judged_by_another_protocol_beats_nobody():
    means = {"GRACE": 0.82, "DCL": 0.82, "GRACE-liblinear": 0.90}
    (methods,) = sentences(means, NODES_GRACE, level="node")
    assert methods == "No method beats GRACE here beyond noise."


def test_what_beats_the_row_without_training_is_told():
    none = sentences(LEVEL | {"training-free": 0.86})[-1]
    assert none == "No row beats the training-free one here beyond noise."
    some = sentences(LEVEL | {"training-free": 0.80, "untrained": 0.9, "oracle": 0.99})[-1]
    assert some.startswith("The training-free row is beaten here by GraphCL (+5.00 [")
    assert "DCL (" in some
    assert "untrained" not in some
    assert "oracle" not in some
