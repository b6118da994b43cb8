"""Every reading of AUGCL is judged against the same method without weights."""

from dataclasses import replace
from pathlib import Path

import pytest

from augcl.files import write_json
from augcl.paper.readings import READINGS, base_of, reading_rows, readings
from augcl.paper.rows import GRAPHS, NODES
from augcl.paper.study import Study


def store(out: Path, row: str, seed: int, folds, state=None) -> None:
    cell = GRAPHS.cell("MUTAG", row, seed=seed)
    weights = None if state is None else {"fit_state": state}
    accuracy = {"folds": folds, "inner": []}
    write_json(cell.path(out), {"accuracy": accuracy, "weights": weights, "losses": []})


def test_a_base_has_the_views_of_its_reading():
    for table in (GRAPHS, NODES):
        for row in READINGS:
            own, base = (table.spec("MUTAG", name) for name in (row, base_of(row, table)))
            assert base.hardness == "none"
            assert base.method == own.method
            # Of graphs the released code differs from the default in the hardness alone.
            same = {own.recipe} if table is NODES else {own.recipe, "default"}
            assert base.recipe in same
    assert base_of("AUGCL-paper", GRAPHS) == "GraphCL-paper"
    assert base_of("AUGCL-authors", GRAPHS) == "GraphCL"
    assert base_of("AUGCL-authors-unit", NODES) == "GCA-authors"


def test_each_reading_stands_beside_its_own_base_with_its_states(tmp_path):
    for seed in range(2):
        store(tmp_path, "GraphCL", seed, [0.8, 0.9] * 5)
        store(tmp_path, "GraphCL-paper", seed, [0.6, 0.7] * 5)
        store(tmp_path, "AUGCL", seed, [0.8, 0.9] * 5, "alive")
        store(tmp_path, "AUGCL-paper", seed, [0.7, 0.8] * 5, ["alive", "unlearned"][seed])
    found = readings(Study(tmp_path, ("MUTAG",), reading_rows(GRAPHS), seeds=None), GRAPHS)
    lines = {line[0]: line for line in found.grids[0].rows}
    assert set(lines) == {"our default", "paper, clusters of embeddings"}
    paper = lines["paper, clusters of embeddings"]
    assert paper[1:4] == ("GraphCL-paper", "65.00 ± 0.00", "75.00 ± 0.00")
    assert paper[4].startswith("+10.00")
    assert paper[6] == "1 alive, 1 unlearned"
    assert lines["our default"][4].startswith("+0.00")
    assert found.data["MUTAG"]["AUGCL-paper"]["states"] == {"alive": 1, "unlearned": 1}
    assert "paper, clusters of embeddings is above its base" in found.sentences[0]


@pytest.mark.parametrize("recipe", ["paper", "authors"])
def test_a_recipe_reaches_every_row_of_the_base_but_the_floor(recipe):
    study = Study(Path(), ("MUTAG",), ("GraphCL", "AUGCL", "oracle"), recipe=recipe)
    for row in study.rows:
        assert study.cell(GRAPHS, "MUTAG", row).spec.recipe == recipe
    assert study.cell(GRAPHS, "MUTAG", "untrained").spec.recipe == "default"
    assert study.cell(GRAPHS, "MUTAG", "graph2vec").spec.recipe == "default"
    assert study.cell(GRAPHS, "MUTAG", "AUGCL-authors").spec.recipe == "authors"
    assert study.named("alpha") == f"alpha-{recipe}"
    assert replace(study, recipe="default").named("alpha") == "alpha"
