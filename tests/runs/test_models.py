"""Models go to a folder and come back the same."""

import json

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCN

from augcl import AffinityUncertainty, GraphCL, InputError, load_model
from augcl.hardness import Hardness
from augcl.training.checkpoint import Snapshot

QUICK = {"epochs": 2, "width": 8, "layers": 2}


def uncertainty(**options):
    return AffinityUncertainty(warmup=2, passes=2, hidden=8, **options)


@pytest.fixture
def saved(molecules, tmp_path):
    """A model with weights of its own, and the folder that it was saved to."""
    model = GraphCL(hardness=uncertainty(reward=1.8, alpha="global"), tau=0.3, **QUICK)
    model.fit(molecules).save(tmp_path)
    return model, tmp_path


def test_a_model_comes_back_with_embeddings_settings_history_and_weights(molecules, saved):
    model, folder = saved
    again = load_model(folder)
    assert np.array_equal(again.transform(molecules), model.transform(molecules))
    assert again.history_ == model.history_
    assert again.settings() == model.settings()
    assert isinstance(again.hardness, AffinityUncertainty)
    assert again.hardness.get_params() == model.hardness.get_params()
    z = torch.randn(2, 5, 16, generator=torch.Generator().manual_seed(0))
    assert again.hardness_.weights(*z).equal(model.hardness_.weights(*z))


def test_a_loaded_model_can_be_saved_and_fitted_again(molecules, saved, tmp_path):
    model, folder = saved
    again = load_model(folder)
    again.save(tmp_path / "copy")
    copy = load_model(tmp_path / "copy")
    assert np.array_equal(copy.transform(molecules), model.transform(molecules))
    again.fit(molecules)
    assert np.array_equal(again.transform(molecules), model.transform(molecules))


def test_a_folder_holds_tensors_and_readable_settings_and_no_pickle(saved):
    _, folder = saved
    assert sorted(p.name for p in folder.iterdir()) == ["model.json", "model.safetensors"]
    facts = json.loads((folder / "model.json").read_text())
    assert facts["method"] == "GraphCL"
    assert facts["settings"]["hardness"]["params"]["reward"] == 1.8


def test_an_encoder_of_ones_own_must_be_given_again(molecules, tmp_path):
    model = GraphCL(encoder=GCN(7, 12, num_layers=2), epochs=1).fit(molecules)
    model.save(tmp_path)
    with pytest.raises(InputError, match=r"encoder of its own \(GCN\).*encoder="):
        load_model(tmp_path)
    again = load_model(tmp_path, encoder=GCN(7, 12, num_layers=2))
    assert np.array_equal(again.transform(molecules), model.transform(molecules))


@pytest.mark.parametrize("damage", ["cut", "emptied", "overwritten"])
def test_a_damaged_file_is_told(saved, damage):
    _, folder = saved
    file = folder / "model.safetensors"
    content = file.read_bytes()
    file.write_bytes(
        {
            "cut": content[: len(content) // 2],
            "emptied": b"",
            "overwritten": b"\x80" * len(content),
        }[damage]
    )
    with pytest.raises(InputError, match=r"model\.safetensors is damaged or not ours"):
        load_model(folder)


def test_a_folder_without_a_model_is_told(tmp_path):
    with pytest.raises(InputError, match="holds no model"):
        load_model(tmp_path)
    with pytest.raises(InputError, match="holds no model"):
        load_model(tmp_path / "nowhere")


def test_a_device_that_is_not_there_is_told(saved):
    with pytest.raises(InputError, match="cannot be used here"):
        load_model(saved[1], device="nonsense")


def test_a_hardness_of_ones_own_cannot_be_loaded_by_name(molecules, tmp_path):
    class Mine(Hardness):
        pass

    GraphCL(hardness=Mine(), **QUICK).fit(molecules).save(tmp_path)
    with pytest.raises(InputError, match="unknown hardness 'Mine'"):
        load_model(tmp_path)


def test_tensors_that_are_no_model_are_refused_in_one_line(tmp_path):
    Snapshot({"w": torch.zeros(1)}, {"other": 1}).write(tmp_path / "model.safetensors")
    with pytest.raises(InputError, match="no model of ours"):
        load_model(tmp_path)


def test_an_encoder_for_other_features_is_named(molecules):
    encoder = GCN(3, 8, num_layers=2)
    with pytest.raises(InputError, match="encoder GCN cannot read nodes with 7 features"):
        GraphCL(epochs=1, encoder=encoder).fit(molecules)
