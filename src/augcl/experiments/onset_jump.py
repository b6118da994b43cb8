"""What the weights do to the loss where they set in, on a network that does not change meanwhile.

The paper explains the drop of its loss curves at epoch 10 by learning that concentrates on hard
negatives. Here nothing is learned in between: the base is trained up to that epoch, the hardness
is fitted, and the loss of the same projections is taken without weights, with them, and with the
weights of each anchor's negatives shuffled, which leaves their size and takes their meaning.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from augcl.data.batches import fixed_batches
from augcl.data.graph import GraphSet
from augcl.experiments.cells import FOLDER, digest
from augcl.experiments.run import Spec, one_thread, versions
from augcl.files import write_json
from augcl.hardness import Hardness
from augcl.hardness.affinity import CollapseWarning
from augcl.methods.graphcl import GraphCL
from augcl.methods.onset import EmbeddedBatches
from augcl.methods.recipes import get_recipe
from augcl.objectives import info_nce
from augcl.training.statistics import batch_statistics


def onset_of(spec: Spec) -> int:
    """The first epoch, counted from 0, in which AUGCL's weights count.

    >>> onset_of(Spec("MUTAG")), onset_of(Spec("MUTAG", recipe="paper"))
    (20, 10)
    """
    return get_recipe(spec.recipe).warmup(spec.all_epochs)


@dataclass(frozen=True)
class JumpCell:
    """One row of GraphCL with AUGCL, at the epoch where its weights set in."""

    spec: Spec
    seed: int
    data: str | None = None

    @property
    def name(self) -> str:
        return f"onset of {self.spec.recipe} AUGCL on {self.spec.dataset}, seed {self.seed}"

    @property
    def order(self) -> tuple[Any, ...]:
        return (-onset_of(self.spec), self.spec.dataset, self.seed)

    def path(self, out: Path) -> Path:
        decides = digest({**self.spec.decides(), "data": self.data, "onset": onset_of(self.spec)})
        folder = out / FOLDER / Path(self.spec.dataset).name / f"onset-{decides}"
        return folder / f"seed-{self.seed}.json"

    def compute(self, out: Path, data_dir: str | None) -> None:
        one_thread()
        write_json(self.path(out), {**self.record(data_dir), "versions": versions()})

    def record(self, data_dir: str | None = None) -> dict[str, Any]:
        """Mean losses over the batches, and the state of the uncertainty model."""
        onset, graphs = onset_of(self.spec), self.spec.load(data_dir)
        plain = replace(self.spec, hardness="none", hardness_options={}, epochs=onset)
        model = plain.estimator(graphs, self.seed, progress=False).fit(graphs)
        assert isinstance(model, GraphCL)
        assert isinstance(graphs, GraphSet)
        generator = torch.Generator().manual_seed(self.seed)
        batches = fixed_batches(graphs, model.batch_size, generator)
        hardness = self.spec.hardness_object()
        with batch_statistics(model.network_), warnings.catch_warnings():
            warnings.simplefilter("ignore", CollapseWarning)  # the state is part of the record
            pairs = EmbeddedBatches(model._pair, batches, generator)
            with model._statistics(model.network_):
                hardness.fit(pairs, generator=generator)
            losses = jump([*pairs], hardness, tau=model.tau, generator=generator)
        return {"seed": self.seed, **losses, "state": hardness.diagnose()["state"]}


def jump(
    pairs: list[tuple[Tensor, Tensor]],
    hardness: Hardness,
    *,
    tau: float,
    generator: torch.Generator,
) -> dict[str, float]:
    """Mean loss of some batches with all weights 1, with weights, and with shuffled ones."""
    kinds = {"plain": None, "weighted": hardness, "shuffled": Shuffled(hardness, generator)}
    return {
        name: sum(float(info_nce(*pair, tau=tau, hardness=kind)) for pair in pairs) / len(pairs)
        for name, kind in kinds.items()
    }


class Shuffled(Hardness):
    """The weights of another hardness, dealt out at random among the negatives of each anchor."""

    def __init__(self, inner: Hardness, generator: torch.Generator) -> None:
        self.inner = inner
        self.generator = generator

    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor | None:
        """(N, N): rows of the other's in random order, the diagonal as it was."""
        log_w = self.inner.log_weights(anchors, candidates, affinity)
        if log_w is None:
            return None
        n = len(log_w)
        negative = ~torch.eye(n, dtype=torch.bool, device=log_w.device)
        keys = torch.rand(n, n - 1, generator=self.generator).to(log_w.device)
        values = log_w[negative].view(n, n - 1).gather(1, keys.argsort(1))
        return log_w.masked_scatter(negative, values)
