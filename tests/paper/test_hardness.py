"""The rows of the study of hardness, and what its tables say about invented results."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import references
from augcl.errors import InputError
from augcl.files import write_json
from augcl.hardness import AffinityUncertainty, Oracle
from augcl.methods.grace import GCA
from augcl.methods.presets import get_preset
from augcl.ops.cosine import cosine
from augcl.paper.hardness import (
    BASE,
    DATASETS,
    EPOCHS,
    GAIN,
    TABLE,
    TELLERS,
    LeakCell,
    _splits_of,
    hardness_cells,
    hardness_study,
    leaked,
    pair_statistics,
)
from augcl.paper.results import Everything, _hardness
from augcl.paper.study import Study
from augcl.runs.run import check


@pytest.mark.parametrize("row", [row for row in TABLE.rows if row != TABLE.free])
def test_every_row_can_be_trained_on_the_base(row):
    spec = TABLE.spec("Cora", row)
    check(spec, replace(references.communities(60), name="Cora"), judge=False)
    assert BASE.items() <= spec.options.items()
    assert spec.all_epochs == (
        0 if row == "untrained" else EPOCHS or get_preset("default")["epochs"]
    )


def test_all_rows_differ():
    study = Study(Path(), ("Cora", "digits-knn"), TABLE.compared, seeds=2)
    cells = hardness_cells(study)
    assert len({cell.path(Path()) for cell in cells}) == len(cells)
    assert len(cells) == 2 * (2 * len(TABLE.rows) + 1 + 2)  # pairs; a leak for each seed


def test_the_published_weights_are_those_of_the_paper_s_recipe():
    made = TABLE.spec("Cora", "AUGCL-published").hardness_object().get_params()
    assert made == AffinityUncertainty.from_recipe("paper").get_params()


def test_what_uses_labels_does_not_compete():
    competing = TABLE.competing(TABLE.rows)
    assert not any("oracle" in row for row in competing)
    assert {"DCL", "AUGCL-propagated", "nearest 10 %"} <= set(competing)


def store(out, row, mean, *, seeds=3, weights=None):
    luck = np.random.default_rng(len(row)).normal(0, 0.001, (seeds, 20))
    folds = mean + luck - luck.mean()
    for seed in range(seeds):
        record = {"seed": seed, "accuracy": {"folds": folds[seed].tolist()}, "weights": weights}
        write_json(TABLE.cell("Cora", row, seed=seed).path(out), record)


@pytest.fixture
def study(tmp_path):
    store(tmp_path, "GCA", 0.8, weights={"false_mass": 0.4})
    masses = {"false_mass": 0.4, "false_mass_weighted": 0.3}
    store(tmp_path, "nearest 10 %", 0.81, weights=masses)
    store(tmp_path, "oracle, nearest 5 %", 0.83, weights=masses)
    store(tmp_path, "oracle", 0.85)
    return Study(tmp_path, DATASETS, TABLE.compared, seeds=None)


def test_the_tables_tell_the_share_of_the_oracle_s_gain_and_the_mass(study):
    tables = {grid.title: grid for grid in hardness_study(study).grids}
    gains = {row[0]: row[1] for row in tables[GAIN].rows}
    assert list(gains) == ["nearest 10 %", "oracle, nearest 5 %", "oracle"]
    assert gains["nearest 10 %"].startswith("+1.00 (")
    assert gains["nearest 10 %"].endswith(", 20 %)")
    assert gains["oracle, nearest 5 %"].endswith(", 60 %)")
    assert "%" not in gains["oracle"]
    masses = {row[0]: row[1] for row in tables["Mass of false negatives"].rows}
    assert masses == {
        "GCA": "40.0",
        "nearest 10 %": "40.0 → 30.0",
        "oracle, nearest 5 %": "40.0 → 30.0",
    }


def test_the_leak_is_the_gain_over_the_base_by_what_the_oracle_knows(study):
    for seed, gain in enumerate((0.0, 0.02)):
        rows = zip(TELLERS, (0, gain, 0.1), (0, 0.01, 0.1), strict=True)
        found = {
            row: {"known": [0.8 + known], "hidden": [0.7 + hidden]} for row, known, hidden in rows
        }
        write_json(LeakCell("Cora", seed).path(study.out), {"leak": found})
    tables = {grid.title: grid for grid in hardness_study(study).grids}
    (line,) = tables["How much of the oracle's gain is a leak"].rows
    assert line == ("Cora", "2", "+1.00 ± 1.00", "+1.00 ± 0.00", "+10.00 ± 0.00", "+10.00 ± 0.00")


def test_an_oracle_never_sees_the_classes_of_hidden_nodes(monkeypatch):
    graph = references.communities(60)
    seen = []

    def fit(model, data):
        seen.append((model.hardness, data.labels))
        return model

    monkeypatch.setattr(GCA, "fit", fit)
    monkeypatch.setattr(GCA, "transform", lambda model, data: data.x.to_dense().numpy())
    leaked(graph)
    (plain, _), (half, told), (whole, everything) = seen
    assert plain is None
    assert isinstance(half, Oracle)
    assert isinstance(whole, Oracle)
    assert everything.equal(graph.labels)
    assert (told == -1).sum() == 30
    assert told[told >= 0].equal(graph.labels[told >= 0])


def test_splits_train_on_known_nodes_only_and_judge_each_once():
    known = torch.arange(0, 60, 2)
    for judged in (None, torch.arange(1, 60, 2)):
        splits = _splits_of(known, judged, 60, seed=0)
        assert splits.train.sum(1).tolist() == splits.val.sum(1).tolist() == [6] * 5
        assert not (splits.train | splits.val)[:, 1::2].any()
        assert not (splits.test & (splits.train | splits.val)).any()
        assert splits.test.sum(1).tolist() == [18 if judged is None else 30] * 5


def test_the_page_is_made_of_what_was_measured(study):
    page = _hardness(Everything(study.out))
    text = page.long()
    assert text.startswith("# Does hardness help on a strong base?")
    assert "Mass of false negatives" in text
    assert "nearest 10 %" in page.short()


def test_without_records_there_is_no_page(tmp_path):
    page = _hardness(Everything(tmp_path))
    assert page.long() == page.short() == ""


def test_pair_statistics_are_those_of_plain_loops():
    graph = references.communities(40)
    found = pair_statistics(graph)
    x = graph.x.to_dense() if graph.x.layout == torch.sparse_csr else graph.x
    x = x / x.sum(1, keepdim=True).clamp_min(1)
    a = torch.zeros(40, 40)
    a[graph.edge_index[0], graph.edge_index[1]] = 1
    a += torch.eye(40)
    root = a.sum(1).rsqrt()
    x = z = x - x.mean(0)
    for _ in range(10):
        z = 0.9 * (root[:, None] * a * root) @ z + 0.1 * x
    s, y = cosine(z - z.mean(0), z - z.mean(0)), graph.labels
    pairs = [(float(s[i, j]), bool(y[i] == y[j])) for i in range(40) for j in range(40) if i != j]
    true = [score for score, same in pairs if same]
    false = [score for score, same in pairs if not same]
    right = np.mean([(t > f) + 0.5 * (t == f) for t in true for f in false])
    assert found["share"] == pytest.approx(len(true) / len(pairs))
    assert found["auc"] == pytest.approx(right, abs=1e-3)
    top = [
        [bool(y[i] == y[j]) for j in sorted(set(range(40)) - {i}, key=lambda j: -s[i, j])][:2]
        for i in range(40)
    ]
    assert found["precision_5"] == pytest.approx(np.mean(top), abs=0.03)


def test_pairs_without_classes_are_refused():
    with pytest.raises(InputError, match="has no classes"):
        pair_statistics(replace(references.communities(40), y=None))
