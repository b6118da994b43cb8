"""Several processes that train one model: connect them, and share a batch of graphs.

`torchrun`, `augcl train --devices` (see `augcl.training.launch`) and SLURM start the processes and
say in the environment which one is which; torch connects them by gloo on CPUs, Lightning Fabric by
NCCL on CUDA. What is summed and gathered in a step, and how its gradients arrive, is in
`augcl.ops.processes`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from augcl.data.graph import GraphSet
from augcl.errors import InputError
from augcl.ops import processes
from augcl.views.edit import Edit, View
from augcl.views.graphs import Augmentation

if TYPE_CHECKING:
    from lightning_fabric import Fabric

PATIENCE = timedelta(hours=24)
"""How long a process waits for the others: the first one evaluates while they wait."""

NODE_COST = 10
"""Time that a node takes in an encoder, in edges: measured on COLLAB and DD."""

SHARED = ("GraphCL", "SimGRACE", "JOAO", "JOAOv2", "GRACE", "GCA")
"""Methods whose steps can be shared."""


def check_shared(kind: type) -> None:
    """Raise `InputError` if there are to be several processes and a method cannot share a step."""
    name = kind.__name__
    if expected() > 1 and not any(base.__name__ in SHARED for base in kind.__mro__):
        raise InputError(
            f"several processes cannot train {name}: {', '.join(SHARED[:-1])} and {SHARED[-1]} can"
        )


def check_precision(kind: type, precision: str) -> None:
    """Raise `InputError` if a method does not train with other numbers than those of 32 bits."""
    if precision != "32-true" and not any(base.__name__ in SHARED for base in kind.__mro__):
        raise InputError(
            f"precision {precision} is not for {kind.__name__}: {', '.join(SHARED[:-1])} and "
            f"{SHARED[-1]} have it"
        )


def expected() -> int:
    """Return how many processes there are to be, by the environment."""
    return int(os.environ.get("WORLD_SIZE") or 1)


def same_start(settings: dict[str, Any]) -> None:
    """Raise `InputError` unless all processes have the settings and data of the first one.

    They also draw on from the same state of torch's own generator, for dropout of an own encoder.
    """
    first, state = processes.of_first((settings, torch.get_rng_state()))
    torch.set_rng_state(state)
    for name in settings.keys() | first.keys():
        if settings.get(name) != first.get(name):
            raise InputError(
                f"process {processes.rank()} has another {name} than process 0: give all of them "
                "the same data and settings"
            )


@cache
def connect(kind: str, precision: str = "32-true") -> Fabric | None:
    """Connect the processes; `kind` is "cpu" (returns None) or "cuda", which has a precision."""
    try:
        if kind == "cuda":
            return _connect_gpus(precision)
        _connect_cpus()
        return None
    except (RuntimeError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise InputError(
            f"the {expected()} processes cannot be connected: start them with augcl train "
            f"--devices or with torchrun ({reason})"
        ) from None


def _connect_cpus() -> None:
    """Do what Fabric does, whose import takes longer than a training on small graphs."""
    import torch.distributed as distributed

    if "MASTER_ADDR" not in os.environ and "SLURM_NTASKS" in os.environ:
        from lightning_fabric.plugins.environments.slurm import SLURMEnvironment

        slurm = SLURMEnvironment()
        os.environ.update(MASTER_ADDR=slurm.main_address, MASTER_PORT=str(slurm.main_port))
    if not distributed.is_initialized():
        distributed.init_process_group("gloo", timeout=PATIENCE)
    processes.join(distributed.get_rank(), distributed.get_world_size())


def _connect_gpus(precision: str) -> Fabric:
    from lightning_fabric import Fabric
    from lightning_fabric.strategies.ddp import DDPStrategy

    class Replicas(DDPStrategy):
        """The same model in every process; `average_gradients` does the rest of DDP."""

        def setup_module(self, module: nn.Module) -> nn.Module:  # type: ignore[override]
            return module

    size, local = expected(), int(os.environ.get("LOCAL_WORLD_SIZE") or expected())
    strategy = Replicas(timeout=PATIENCE)
    fabric = Fabric(
        accelerator="cuda",
        devices=local,
        num_nodes=size // local,
        strategy=strategy,
        precision=precision,  # type: ignore[arg-type]
    )
    fabric.launch()
    processes.join(fabric.global_rank, fabric.world_size)
    return fabric


@dataclass(frozen=True)
class Share:
    """The graphs of a batch that this process encodes: all of them where it is alone.

    Parameters
    ----------
    batch : GraphSet
    graphs : GraphSet
        Those of this process.
    cuts : list of int
        Process p has the graphs ``cuts[p]`` … ``cuts[p + 1] - 1``: about equal work for each.
    number : int
        Number of this process.

    Examples
    --------
    >>> import augcl
    >>> share = Share.of(augcl.load("MUTAG"))
    >>> len(share.graphs)
    188
    """

    batch: GraphSet
    graphs: GraphSet
    cuts: list[int]
    number: int

    @classmethod
    def of(cls, batch: GraphSet) -> Share:
        number, size = processes.share()
        if size == 1:
            return cls(batch, batch, [0, len(batch)], 0)
        cuts = processes.cuts(batch.edge_ptr + NODE_COST * batch.node_ptr, size)
        return cls(batch, batch.select(range(cuts[number], cuts[number + 1])), cuts, number)

    @property
    def _first_and_last(self) -> tuple[int, int]:
        return self.cuts[self.number], self.cuts[self.number + 1]

    def view(self, view: Augmentation, generator: torch.Generator) -> GraphSet:
        """Draw a view of the whole batch, and return that of the graphs of this process."""
        if self.graphs is self.batch:
            return view(self.batch, generator)
        if not isinstance(view, View):
            return view(self.batch, generator).select(range(*self._first_and_last))
        every = torch.ones(len(self.batch), dtype=torch.bool, device=self.batch.device)
        return self.changed(view.edit(self.batch, every, generator))

    def changed(self, edit: Edit) -> GraphSet:
        """Return the graphs of this process after an edit of the batch."""
        if self.graphs is not self.batch:
            edit = edit.of_graphs(self.batch, *self._first_and_last)
        return edit.apply(self.graphs)

    def take(self, rows: Tensor) -> Tensor:
        """Return the rows of the graphs of this process."""
        return rows[slice(*self._first_and_last)]

    def gather(self, rows: Tensor) -> Tensor:
        """Return the rows of all graphs of the batch, from those of every process."""
        sizes = [last - first for first, last in zip(self.cuts, self.cuts[1:], strict=False)]
        return processes.gathered(rows, sizes)
