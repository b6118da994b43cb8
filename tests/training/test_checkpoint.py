import pytest
import torch

from augcl.errors import InputError
from augcl.training.checkpoint import (
    Snapshot,
    load_module,
    load_optimizer,
    optimizer_tensors,
    prefixed,
)
from augcl.training.loop import Run


def small_run(seed):
    torch.manual_seed(seed)
    network = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.1)
    return Run(network, optimizer, torch.Generator().manual_seed(seed))


def step(run):
    run.optimizer.zero_grad()
    run.network(torch.randn(8, 3, generator=run.generator)).square().mean().backward()
    run.optimizer.step()
    run.history.append({"loss": 0.1})


def test_a_snapshot_comes_back_as_it_was(tmp_path):
    tensors = {
        "whole": torch.arange(6).reshape(2, 3),
        "transposed": torch.randn(3, 5).t(),
        "scalar": torch.tensor(0.1, dtype=torch.float64),
        "empty": torch.empty(0, 4),
    }
    facts = {"settings": {"lr": 0.1, "encoder": None}, "history": [{"loss": 1 / 3}]}
    Snapshot(tensors, facts).write(tmp_path / "x.safetensors")
    again = Snapshot.read(tmp_path / "x.safetensors")
    assert again.facts == facts
    assert again.tensors.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert again.tensors[name].dtype == tensor.dtype
        assert torch.equal(again.tensors[name], tensor)


def test_parts_are_found_by_their_whole_prefix():
    tensors = prefixed("net", {"a.b": torch.ones(1)}) | prefixed("network", {"c": torch.ones(1)})
    assert Snapshot(tensors, {}).part("net").keys() == {"a.b"}


def test_network_optimizer_and_generator_go_on_as_if_never_stopped(tmp_path):
    calm, stopped = small_run(0), small_run(0)
    for run in (calm, stopped):
        for _ in range(3):
            step(run)
    stopped.snapshot({}).write(tmp_path / "x")
    resumed = small_run(1)
    resumed.restore(Snapshot.read(tmp_path / "x"))
    for run in (calm, resumed):
        for _ in range(3):
            step(run)
    assert resumed.history == calm.history
    assert torch.equal(resumed.generator.get_state(), calm.generator.get_state())
    pairs = (
        (resumed.network.state_dict(), calm.network.state_dict()),
        (optimizer_tensors(resumed.optimizer), optimizer_tensors(calm.optimizer)),
    )
    for found, expected in pairs:
        assert found.keys() == expected.keys()
        assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_fresh_optimizer_has_nothing_to_save():
    run = small_run(0)
    assert optimizer_tensors(run.optimizer) == {}
    load_optimizer(run.optimizer, {})
    step(run)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: b"",
        lambda content: b"not tensors at all",
        lambda content: content.replace(b'"augcl"', b'"auger"'),
        lambda content: content.replace(b'{\\"settings', b'[\\"settings'),
    ],
    ids=["cut short", "empty", "other text", "no facts", "facts are no JSON"],
)
def test_a_damaged_file_is_named(tmp_path, damage):
    path = tmp_path / "checkpoint.safetensors"
    Snapshot({"a": torch.ones(3)}, {"settings": {}}).write(path)
    content = path.read_bytes()
    assert damage(content) != content
    path.write_bytes(damage(content))
    with pytest.raises(InputError, match=r"checkpoint\.safetensors is damaged") as caught:
        Snapshot.read(path)
    assert "\n" not in str(caught.value)


def test_weights_of_another_network_are_refused_in_one_line():
    with pytest.raises(InputError, match="of another network") as caught:
        load_module(torch.nn.Linear(2, 3), torch.nn.Linear(2, 4).state_dict())
    assert "\n" not in str(caught.value)


def test_equal_snapshots_have_equal_bytes(tmp_path):
    files = [tmp_path / f"{i}.safetensors" for i in range(8)]
    for file in files:
        Snapshot({"b": torch.zeros(2), "a": torch.ones(1)}, {"x": 1, "y": 2}).write(file)
    assert len({file.read_bytes() for file in files}) == 1
