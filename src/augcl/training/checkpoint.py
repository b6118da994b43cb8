"""Snapshots: files from which a run continues bit for bit, and checks that it may."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor, nn

from augcl.errors import InputError, ours
from augcl.files import FORMAT, atomic_path, check_format


@dataclass(frozen=True)
class Snapshot:
    """Named tensors, and facts as JSON values."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]

    def part(self, prefix: str) -> dict[str, Tensor]:
        """Return the tensors whose names start with `prefix.`, without the prefix."""
        start = prefix + "."
        return {k.removeprefix(start): v for k, v in self.tensors.items() if k.startswith(start)}

    def copy(self) -> Snapshot:
        """Return a copy that shares no memory with this snapshot."""
        tensors = {name: tensor.detach().clone() for name, tensor in self.tensors.items()}
        return Snapshot(tensors, json.loads(json.dumps(self.facts)))

    def write(self, path: str | Path) -> None:
        """Write atomically, in the safetensors format."""
        tensors = {k: v.detach().cpu().clone().contiguous() for k, v in self.tensors.items()}
        # One entry: safetensors writes several in random order, and equal models must have equal
        # bytes.
        about = json.dumps({"format": FORMAT, "facts": self.facts})
        content = save(tensors, metadata={"augcl": about})
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)

    @classmethod
    def read(cls, path: str | Path) -> Snapshot:
        """Read a file that `write` wrote; no code in the file is ever run."""
        with ours(path, "delete it"), safe_open(str(path), framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            metadata = file.metadata() or {}
            older = "facts" in metadata
            about = {} if older else json.loads(metadata["augcl"])
            check_format(about.get("format"), path)
            if not isinstance(about["facts"], dict):
                raise ValueError("its facts are no record")
            return cls(tensors, about["facts"])


def prefixed(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors with `prefix.` before each name."""
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Return the optimizer's running averages and counts, one tensor each."""
    state = optimizer.state_dict()["state"]
    return {f"{i}.{name}": value for i, entry in state.items() for name, value in entry.items()}


def load_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Restore the optimizer from the tensors of `optimizer_tensors`."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def weights_of(module: nn.Module) -> dict[str, Tensor]:
    """Return a copy of a module's weights."""
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


def load_module(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Load saved weights into a module of the same shape."""
    try:
        module.load_state_dict(dict(tensors))
    except RuntimeError as error:  # PyTorch's error for another shape
        reason = " ".join(str(error).split())
        raise InputError(f"the saved weights are of another network: {reason}") from None


def same_settings(
    old: dict[str, Any],
    new: dict[str, Any],
    run: str | Path,
    cure: str = "use the old value or another folder",
) -> None:
    """Raise `InputError` that names the first setting that differs, unless all are equal.

    `run` is the folder of the run that cannot be resumed, or another name for it.
    """
    before, now = flattened(old), flattened(new)
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) == now.get(name):
            continue
        if name == "data":
            raise InputError(
                f"cannot resume {run}: the graphs are not those it was started with; "
                f"{cure.replace('the old value', 'the old ones')}"
            )
        raise InputError(
            f"cannot resume {run}: it was started with {name} = {_shown(before, name)}, "
            f"now it is {_shown(now, name)}; {cure}"
        )


def _shown(settings: dict[str, Any], name: str) -> str:
    return repr(settings[name]) if name in settings else "the default"


def flattened(nested: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten nested settings or metrics; join names with a dot.

    >>> flattened({"loss": 1.5, "hardness": {"state": "alive"}})
    {'loss': 1.5, 'hardness.state': 'alive'}
    """
    flat: dict[str, Any] = {}
    for name, value in nested.items():
        inner = flattened(value) if isinstance(value, dict) else None
        flat |= {name: value} if inner is None else {f"{name}.{k}": v for k, v in inner.items()}
    return flat
