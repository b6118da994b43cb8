"""A cell of the table of attacks: plain numbers with intervals, and resumable."""

import json

import pytest

from augcl.errors import InputError
from augcl.paper.attacks import ATTACKS, PRETRAININGS, AttackSpec, attack_table_cell

TINY = {"per_class": 50, "epochs": 3, "updates": 2, "agent_graphs": 20}


@pytest.mark.parametrize("recipe", ["default", "authors"])
def test_a_cell_has_the_clean_accuracy_and_one_for_each_attack(recipe, tmp_path):
    spec = AttackSpec(**TINY, recipe=recipe)
    cell = attack_table_cell(spec, 1, folder=tmp_path, progress=False)
    assert json.loads(json.dumps(cell)) == cell
    assert list(cell["attacks"]) == list(ATTACKS)
    for found in (cell["clean"], *cell["attacks"].values()):
        assert found["graphs"] == 15
        assert found["accuracy"] == found["right"] / 15
        assert found["low"] <= found["accuracy"] <= found["high"]
    assert cell["attacks"]["GradArgmax"]["accuracy"] <= cell["clean"]["accuracy"]
    assert set(cell["seconds"]) == {"victim", *ATTACKS}
    again = attack_table_cell(spec, 1, folder=tmp_path, progress=False)
    assert {**again, "seconds": None} == {**cell, "seconds": None}


def test_every_pretraining_of_the_paper_has_its_victim():
    for name in PRETRAININGS:
        model = AttackSpec(pretraining=name, depth=3).victim(0)
        assert model.depth == 3
        assert model.pretrain == (name != "none")


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="pre-training"):
        attack_table_cell(AttackSpec(**TINY, pretraining="gcl"), 0)
    with pytest.raises(InputError, match="attack"):
        AttackSpec().attack("FGSM", 0)
    with pytest.raises(InputError, match="size"):
        attack_table_cell(AttackSpec(size="5-6"), 0)
