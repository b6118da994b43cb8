"""A model file with hostile or damaged content gives one message: no crash, no large memory."""

import json

import numpy as np
import pytest
import torch

from augcl import (
    AffinityUncertainty,
    Beside,
    Graph2Vec,
    GraphCL,
    InputError,
    WLFeatures,
    WLKernel,
    load_model,
)
from augcl.training.checkpoint import Snapshot
from limits import in_child

QUICK = {"epochs": 2, "width": 8, "layers": 2}


def change(folder, *, facts=None, tensors=None):
    """Write the model again with other facts and tensors; None removes one."""
    file = folder / "model.safetensors"
    snapshot = Snapshot.read(file)
    for old, new in ((snapshot.facts, facts or {}), (snapshot.tensors, tensors or {})):
        old |= {k: v for k, v in new.items() if v is not REMOVED}
        for name in [k for k, v in new.items() if v is REMOVED]:
            del old[name]
    snapshot.write(file)


REMOVED = object()


@pytest.fixture(scope="module")
def kernel(molecules, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernel")
    WLKernel(height=1).fit(molecules).save(folder)
    return folder


@pytest.fixture(scope="module")
def network(molecules, tmp_path_factory):
    folder = tmp_path_factory.mktemp("network")
    GraphCL(**QUICK).fit(molecules).save(folder)
    return folder


@pytest.fixture
def restored(kernel, network):
    """Both folders; their models are put back after the test."""
    files = [folder / "model.safetensors" for folder in (kernel, network)]
    content = [file.read_bytes() for file in files]
    yield
    for file, before in zip(files, content, strict=True):
        file.write_bytes(before)


HOSTILE = {
    "count_column": lambda t: torch.cat([torch.tensor([2**40]), t[1:]]),
    "count_ptr": lambda t: t.flip(0),
    "count": lambda t: t[:3],
    "vocabulary": lambda t: t.flip(0),
}


def use(folder, graphs):
    """What a child does: load a model, and embed."""
    load_model(folder).transform(graphs)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_kernel_with_counts_outside_of_its_memory_is_refused(kernel, molecules, restored, name):
    tensors = Snapshot.read(kernel / "model.safetensors").tensors
    changed = HOSTILE[name](tensors[f"learned.{name}"])
    change(kernel, tensors={f"learned.{name}": changed.contiguous()})
    assert in_child(use, kernel, molecules) == "InputError"  # it was a segmentation fault


@pytest.mark.parametrize("last", [-1, -7, 0, 2**40])
def test_a_kernel_with_pointers_that_fall_is_refused(kernel, molecules, restored, last):
    name = "learned.count_ptr"
    pointers = Snapshot.read(kernel / "model.safetensors").tensors[name].clone()
    pointers[-1] = last
    change(kernel, tensors={name: pointers})
    assert in_child(use, kernel, molecules) == "InputError"  # it was a traceback of scipy
    with pytest.raises(InputError, match=r"model\.safetensors"):
        load_model(kernel)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_scales_of_two_methods_that_are_no_numbers_are_refused(molecules, tmp_path, value):
    Beside(WLFeatures(height=1), WLFeatures(height=2)).fit(molecules).save(tmp_path)
    change(tmp_path, tensors={"scales": torch.tensor([1.0, value])})
    with pytest.raises(InputError, match=r"model\.safetensors.*'scales' holds NaN"):
        load_model(tmp_path)


@pytest.mark.parametrize("count", [1e200, -1.0, float("nan")])
def test_a_kernel_with_impossible_counts_is_refused(kernel, restored, count):
    tensors = Snapshot.read(kernel / "model.safetensors").tensors
    changed = tensors["learned.count"].clone()
    changed[0] = count
    change(kernel, tensors={"learned.count": changed})
    with pytest.raises(InputError, match=r"model\.safetensors.*no counts"):
        load_model(kernel)


def test_every_fact_of_a_model_is_checked(network, restored):
    file = network / "model.safetensors"
    content = file.read_bytes()
    names = list(Snapshot.read(file).facts)
    assert {"features", "columns", "history", "settings", "method"} <= set(names)
    for name in names:
        for value in (REMOVED, {"a": 1}, [[1]], -1, 1e300, "\x1b[2J"):
            if (name, value) in [("collapse", "\x1b[2J"), ("best_epoch", -1)]:
                continue  # a sentence and a number like any other
            file.write_bytes(content)
            change(network, facts={name: value})
            with pytest.raises(InputError) as caught:
                load_model(network)
            assert str(file) in str(caught.value), (name, value)
            assert "\n" not in str(caught.value)


def test_settings_that_are_not_those_of_the_network_are_refused(network, restored):
    settings = Snapshot.read(network / "model.safetensors").facts["settings"]
    hostile = {"width": 10**9, "layers": 10**9, "tau": "x", "hardness": {"class": "DCL"}, "no": 1}

    for name, value in hostile.items():
        change(network, facts={"settings": settings | {name: value}})
        assert in_child(load_model, network, seconds=5) == "InputError", name


def test_a_hardness_larger_than_its_tensors_is_refused(molecules, tmp_path):
    hardness = AffinityUncertainty(warmup=2, passes=2, hidden=8)
    GraphCL(hardness=hardness, **QUICK).fit(molecules).save(tmp_path)
    settings = Snapshot.read(tmp_path / "model.safetensors").facts["settings"]
    settings["hardness"]["params"]["hidden"] = 10**9
    change(tmp_path, facts={"settings": settings})
    assert in_child(load_model, tmp_path) == "InputError"


@pytest.mark.parametrize("tensor", ["network", "dtype", "missing"])
def test_tensors_of_another_network_are_refused(network, restored, tensor):
    tensors = Snapshot.read(network / "model.safetensors").tensors
    name = next(k for k, v in tensors.items() if v.dim() == 2)
    value = {
        "network": torch.zeros(1, 1),
        "dtype": torch.zeros(tensors[name].shape, dtype=torch.complex64),
        "missing": REMOVED,
    }[tensor]
    change(network, tensors={name: value})
    with pytest.raises(InputError, match=r"model\.safetensors.*of another network"):
        load_model(network)


def test_weights_that_are_not_numbers_give_no_embeddings(network, molecules, restored):
    tensors = Snapshot.read(network / "model.safetensors").tensors
    name = next(k for k, v in tensors.items() if v.dim() == 2)
    change(network, tensors={name: torch.full_like(tensors[name], np.nan)})
    with pytest.raises(InputError, match="finite"):
        load_model(network).transform(molecules)


def test_words_of_gensim_that_do_not_fit_are_refused(molecules, tmp_path):
    pytest.importorskip("gensim", reason="optional: gensim is not installed")
    Graph2Vec(height=1, dimensions=4, passes=1).fit(molecules).save(tmp_path)
    tensors = Snapshot.read(tmp_path / "model.safetensors").tensors
    change(tmp_path, tensors={"learned.weights": tensors["learned.weights"][:2].contiguous()})
    with pytest.raises(InputError, match="do not belong together"):
        load_model(tmp_path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
def test_weights_of_gensim_that_no_table_holds_are_refused(molecules, tmp_path, value):
    pytest.importorskip("gensim", reason="optional: gensim is not installed")
    Graph2Vec(height=1, dimensions=4, passes=1).fit(molecules).save(tmp_path)
    weights = Snapshot.read(tmp_path / "model.safetensors").tensors["learned.weights"]
    change(tmp_path, tensors={"learned.weights": torch.full_like(weights, value)})
    half = molecules.select(range(20))
    assert in_child(use, tmp_path, half) == "InputError"  # it was a segmentation fault
    with pytest.raises(InputError, match=r"model\.safetensors.*not finite, or too large"):
        load_model(tmp_path)


def test_a_checkpoint_without_its_facts_is_named(molecules, tmp_path):
    GraphCL(**QUICK).fit(molecules, folder=tmp_path)
    file = tmp_path / "checkpoint.safetensors"
    whole = Snapshot.read(file)
    optimizer = next(name for name in whole.tensors if name.startswith("optimizer."))
    damaged = [
        Snapshot(whole.tensors, {}),
        Snapshot(whole.tensors, whole.facts | {"history": 3}),
        Snapshot({k: v for k, v in whole.tensors.items() if k != "generator"}, whole.facts),
        Snapshot(whole.tensors | {"optimizer.x.exp_avg": whole.tensors[optimizer]}, whole.facts),
    ]
    for snapshot in damaged:
        snapshot.write(file)
        with pytest.raises(InputError, match=r"checkpoint\.safetensors is damaged or not ours"):
            GraphCL(**QUICK).fit(molecules, folder=tmp_path, resume=True)


def test_a_model_json_is_only_for_people(network, molecules):
    (network / "model.json").write_text(json.dumps({"method": "None"}))
    assert load_model(network).transform(molecules).shape[0] == len(molecules)
