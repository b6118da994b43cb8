"""A second device on a machine that has none: the processor, under the name "cuda".

Memory of tensors that are made for "cuda", moved there or computed from such ones is marked, and
what CUDA would refuse is refused: tensors of both devices in one operation, a generator of the
CPU that draws on the other device, and NumPy's reading a tensor there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from torch.utils import checkpoint
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)


class WrongDeviceError(RuntimeError):
    """What would fail on a machine with CUDA."""


@contextmanager
def pretend_cuda() -> Iterator[Marks]:
    """While it lasts, "cuda" is a device."""
    marks = Marks()
    names, run_backward = _Names(marks), torch.autograd._engine_run_backward

    def with_names(*args: Any, **kwargs: Any) -> Any:
        with names:  # which torch has put aside; what runs in there asks for devices too
            return run_backward(*args, **kwargs)

    backward = patch.object(torch.autograd, run_backward.__name__, with_names)
    # Asked from within an operation, a tensor's device has no name: do not compare them there.
    checkpoints = patch.dict(checkpoint._allowed_determinism_checks_to_fns, default=lambda _: None)
    with _Operations(marks), names, backward, checkpoints:
        yield marks


class Marks:
    """Which tensors lie on "cuda"."""

    def __init__(self) -> None:
        self._marks: dict[int, StorageWeakRef] = {}

    def add(self, tensor: Tensor) -> None:
        for part in _parts(tensor):
            storage = part.untyped_storage()
            self._marks[storage._cdata] = StorageWeakRef(storage)

    def remove(self, tensor: Tensor) -> None:
        for part in _parts(tensor):
            self._marks.pop(part.untyped_storage()._cdata, None)

    def __contains__(self, tensor: Tensor) -> bool:
        return any(self._marked(part) for part in _parts(tensor))

    def _marked(self, tensor: Tensor) -> bool:
        mark = self._marks.get(tensor.untyped_storage()._cdata)
        return mark is not None and not mark.expired()


class _Names(TorchFunctionMode):
    """Sees what Python asks of torch: here devices have names."""

    def __init__(self, marks: Marks) -> None:
        super().__init__()
        self.marks = marks

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func == Tensor.device.__get__:  # type: ignore[attr-defined]
            return self._device_of(args[0])
        if func in (Tensor.numpy, Tensor.__array__) and args[0] in self.marks:
            raise WrongDeviceError("NumPy reads a tensor on cuda")
        if func == Tensor.__deepcopy__:  # copies memory behind torch's back
            return self._moved(func(*args, **kwargs), self._device_of(args[0]))
        if func in (torch.device, torch._C._nn._parse_to):  # talk of devices, and make nothing
            return func(*args, **kwargs)
        if func == Tensor.to and isinstance(args[-1], Tensor) and len(args) == 2:
            args = (args[0], self._device_of(args[1]), args[1].dtype)
        named = [device for value in (*args, *kwargs.values()) if (device := _device(value))]
        if func == Tensor.cpu:
            named = [CPU]
        if not named:
            return func(*args, **kwargs)
        if named[0].type == "cuda" and kwargs.get("generator") is not None:
            raise WrongDeviceError(f"{func.__name__}: a generator of the CPU draws on cuda")
        args = tuple(CPU if _device(value) else value for value in args)
        kwargs = {name: CPU if _device(value) else value for name, value in kwargs.items()}
        return self._moved(func(*args, **kwargs), named[0])

    def _device_of(self, tensor: Tensor) -> torch.device:
        return CUDA if tensor in self.marks else CPU

    def _moved(self, tensor: Tensor, device: torch.device) -> Tensor:
        there = device.type == "cuda"
        if (tensor in self.marks) == there:
            return tensor
        copied = tensor.clone()
        (self.marks.add if there else self.marks.remove)(copied)
        return copied


class _Operations(TorchDispatchMode):
    """Sees every operation, also those of the backward pass."""

    def __init__(self, marks: Marks) -> None:
        super().__init__()
        self.marks = marks

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        given = tree_leaves((args, kwargs))
        tensors = [value for value in given if isinstance(value, Tensor)]
        there = any(tensor in self.marks for tensor in tensors) and func.name() != "aten::copy_"
        if there:
            self._check(func.name(), given, tensors)
        found = func(*args, **kwargs)
        if there:
            for value in tree_leaves(found):
                if isinstance(value, Tensor):
                    self.marks.add(value)
        return found

    def _check(self, name: str, given: list[Any], tensors: list[Tensor]) -> None:
        if any(isinstance(value, torch.Generator) for value in given):
            raise WrongDeviceError(f"{name}: a generator of the CPU draws on cuda")
        if name.startswith("aten::index") and tensors[0] in self.marks:
            return  # indices may come from the CPU
        here = [tuple(tensor.shape) for tensor in tensors if tensor not in self.marks]
        if any(here):  # single numbers may mix
            raise WrongDeviceError(f"{name}: tensors {here} are on the CPU, others on cuda")


def _device(value: Any) -> torch.device | None:
    if isinstance(value, str) and value.partition(":")[0] in ("cpu", "cuda"):
        return torch.device(value)
    return value if isinstance(value, torch.device) else None


def _parts(tensor: Tensor) -> tuple[Tensor, ...]:
    """The tensors in whose memory it lies."""
    if tensor.layout == torch.sparse_csr:
        return tensor.crow_indices(), tensor.col_indices(), tensor.values()
    if tensor.layout == torch.sparse_coo:
        return tensor._indices(), tensor._values()
    return (tensor,)
