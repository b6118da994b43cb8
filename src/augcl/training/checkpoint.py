"""One file that holds everything a run needs to go on, bit for bit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from augcl.errors import InputError
from augcl.files import FORMAT, atomic_path, check_format


@dataclass(frozen=True)
class Snapshot:
    """Tensors by name and plain facts beside them."""

    tensors: dict[str, Tensor]
    facts: dict[str, Any]

    def part(self, prefix: str) -> dict[str, Tensor]:
        """The tensors whose names start with `prefix.`, without it."""
        start = prefix + "."
        return {k.removeprefix(start): v for k, v in self.tensors.items() if k.startswith(start)}

    def write(self, path: str | Path) -> None:
        """Write atomically, in the safetensors format."""
        tensors = {k: v.detach().cpu().clone().contiguous() for k, v in self.tensors.items()}
        content = save(tensors, metadata={"format": str(FORMAT), "facts": json.dumps(self.facts)})
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)

    @classmethod
    def read(cls, path: str | Path) -> Snapshot:
        """Read what `write` wrote; no code in the file is ever run."""
        try:
            with safe_open(str(path), framework="pt") as file:
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
                about = file.metadata() or {}
                facts = json.loads(about["facts"])
        except (SafetensorError, KeyError, json.JSONDecodeError) as error:
            raise InputError(f"{path} is damaged or not ours ({error}): delete it") from error
        check_format(about.get("format"), path)
        return cls(tensors, facts)


def prefixed(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors under `prefix.name`."""
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's running averages and counts, one tensor each."""
    state = optimizer.state_dict()["state"]
    return {f"{i}.{name}": value for i, entry in state.items() for name, value in entry.items()}


def load_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Take back what `optimizer_tensors` gave."""
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def load_module(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put saved weights into a module of the same shape."""
    try:
        module.load_state_dict(dict(tensors))
    except RuntimeError as error:  # PyTorch's way to say so
        reason = " ".join(str(error).split())
        raise InputError(f"the saved weights are of another network: {reason}") from None
