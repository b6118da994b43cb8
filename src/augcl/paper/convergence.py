"""The paper's figure of convergence: the loss by epoch, and its drop at the onset.

The onset is the epoch at which AUGCL's weights begin to be used.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.files import write_json
from augcl.hardness import Hardness
from augcl.hardness.affinity import CollapseWarning
from augcl.losses import info_nce
from augcl.methods.graphcl import GraphCL
from augcl.methods.recipes import by_recipe, get_recipe
from augcl.paper.cells import CellLike, digest
from augcl.paper.figures import Line, line_panels
from augcl.paper.grid import Grid, Outcome
from augcl.paper.readings import base_of
from augcl.paper.records import cell_file
from augcl.paper.study import Study
from augcl.paper.table import Table
from augcl.runs.run import Spec, one_thread, versions
from augcl.training.batches import STATISTICS, batch_statistics, fixed_batches


def onset_of(spec: Spec) -> int:
    """Return the first epoch, counted from 0, that uses AUGCL's weights.

    >>> onset_of(Spec("MUTAG")), onset_of(Spec("MUTAG", recipe="paper"))
    (20, 10)
    """
    return get_recipe(spec.recipe).warmup(spec.all_epochs)


@dataclass(frozen=True)
class JumpCell:
    """The loss of GraphCL with AUGCL at the onset of the weights, with and without them."""

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
        return cell_file(out, Path(self.spec.dataset).name, f"onset-{decides}", self.seed)

    def compute(self, out: Path, data_dir: str | None) -> None:
        one_thread()
        write_json(self.path(out), {**self.record(data_dir), "versions": versions()})

    def record(self, data_dir: str | None = None) -> dict[str, Any]:
        """Return mean losses over the batches, and the state of the uncertainty model."""
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
            pairs = model.pairs(batches, generator)
            with STATISTICS[get_recipe(model.recipe).statistics](model.network_):
                hardness.fit(pairs, generator=generator)
            losses = jump([*pairs], hardness, tau=by_recipe(model, "tau"), generator=generator)
        return {"seed": self.seed, **losses, "state": hardness.diagnose()["state"]}


def jump(
    pairs: list[tuple[Tensor, Tensor]],
    hardness: Hardness,
    *,
    tau: float,
    generator: torch.Generator,
) -> dict[str, float]:
    """Return the mean loss of the batches with weights 1, with weights, with shuffled weights."""
    kinds = {"plain": None, "weighted": hardness, "shuffled": Shuffled(hardness, generator)}
    return {
        name: sum(float(info_nce(*pair, tau=tau, hardness=kind)) for pair in pairs) / len(pairs)
        for name, kind in kinds.items()
    }


class Shuffled(Hardness):
    """Shuffle the weights of another hardness among the negatives of each anchor."""

    def __init__(self, inner: Hardness, generator: torch.Generator) -> None:
        self.inner = inner
        self.generator = generator

    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor | None:
        """Return the other's log-weights (N, N), each row shuffled except for the diagonal."""
        log_w = self.inner.log_weights(anchors, candidates, affinity)
        if log_w is None:
            return None
        n = len(log_w)
        negative = ~torch.eye(n, dtype=torch.bool, device=log_w.device)
        keys = torch.rand(n, n - 1, generator=self.generator).to(log_w.device)
        values = log_w[negative].view(n, n - 1).gather(1, keys.argsort(1))
        return log_w.masked_scatter(negative, values)


ROWS = ("GraphCL", "AUGCL", "GraphCL-paper", "AUGCL-paper")

ABRUPT = 3.0
"""A step is a jump if it exceeds this number of standard deviations of the other steps."""

NOTE = (
    "The loss with weighted negatives is a different function from the loss before: a jump at the "
    "epoch where the weights begin is not learning progress, and losses of different methods "
    "cannot be compared."
)
JUMP = (
    "The base is trained up to the onset, the uncertainty model is fitted, and the loss is "
    "computed on the same projections: without weights, with weights, and with the weights of each "
    "anchor's negatives shuffled. Nothing is trained in between, so that only the weighting "
    "differs. "
    "Weight at the end: mean weight of true and of false negatives in the last epoch, lowest and "
    "highest seed. If α is one number for all anchors, it stays fixed after the fit while the "
    "network changes: the mean weight can move away from 1, and smaller weights make the loss "
    "smaller."
)

Curves = dict[str, dict[str, list[float]]]
"""Losses of all epochs by data set and row."""


@dataclass(frozen=True)
class Step:
    """The change of the loss at the onset of the weights, and the change of the base's loss."""

    dataset: str
    row: str
    base: str
    onset: int
    before: float
    after: float
    base_before: float
    base_after: float
    usual: float

    @property
    def kind(self) -> str:
        """Return the kind of the step, compared with the noise of the base's steps."""
        own = (self.after - self.before) - (self.base_after - self.base_before)
        if abs(own) <= ABRUPT * self.usual:
            return "no jump"
        return "drops abruptly" if own < 0 else "rises abruptly"

    def __str__(self) -> str:
        what = "does not jump" if self.kind == "no jump" else self.kind
        return (
            f"{self.dataset}, {self.row}: when the weights begin, after epoch {self.onset}, the "
            f"loss {what} ({self.before:.3f} to {self.after:.3f}; {self.base} "
            f"{self.base_before:.3f} to {self.base_after:.3f})"
        )


def convergence_cells(study: Study, table: Table) -> list[CellLike]:
    """Return the cells of all trainings, and of the jump of each row with AUGCL."""
    jumps = [
        JumpCell(cell.spec, seed, cell.data)
        for dataset in study.datasets
        for row in study.rows
        for cell in [study.cell(table, dataset, row)]
        for seed in range(study.seeds or 1)
        if cell.spec.hardness == "augcl"
    ]
    return [*study.cells(table), *jumps]


def convergence(study: Study, table: Table) -> Outcome:
    """Return the mean loss of each epoch over the seeds, by method, and the step at the onset."""
    curves = {dataset: _curves(study, table, dataset) for dataset in study.datasets}
    panels = {
        dataset: [Line(row, list(range(1, len(y) + 1)), y) for row, y in rows.items()]
        for dataset, rows in curves.items()
        if rows
    }
    figures = {}
    if panels:
        figures["convergence"] = line_panels(panels, xlabel="epoch", ylabel="loss")
    steps = _steps(study, table, curves)
    jumps = _jumps(study, table)
    data = {"losses": curves, "onset": {f"{s.dataset}, {s.row}": s.onset for s in steps}}
    return Outcome(
        "convergence",
        [_grid(curves), *([_jump_grid(jumps)] if jumps else [])],
        {**data, "jumps": jumps},
        figures,
        [f"{step}{_explained(jumps.get(f'{step.dataset}, {step.row}'))}." for step in steps],
        study.measured(table),
    )


def _curves(study: Study, table: Table, dataset: str) -> dict[str, list[float]]:
    found = {}
    for row in study.rows:
        records = study.records(study.cell(table, dataset, row)).values()
        losses = [record["losses"] for record in records if record.get("losses")]
        if losses:
            found[row] = np.mean(losses, axis=0).tolist()
    return found


def _steps(study: Study, table: Table, curves: Curves) -> list[Step]:
    """Return the steps of the rows with AUGCL whose base was also measured."""
    steps = []
    for dataset, rows in curves.items():
        for row in rows:
            spec = study.cell(table, dataset, row).spec
            base = base_of(row, table) if spec.hardness == "augcl" else ""
            if base not in rows:
                continue
            step = step_at(rows[row], rows[base], onset_of(spec))
            if step is not None:
                steps.append(Step(dataset, row, base, onset_of(spec), **step))
    return steps


def step_at(curve: list[float], base: list[float], onset: int) -> dict[str, float] | None:
    """Return the losses before and after the onset; None if there are too few epochs.

    `usual` is the standard deviation of the base's steps in the five epochs around the onset.
    """
    near = np.diff(base[max(onset - 5, 0) : onset + 6])
    if onset < 1 or onset >= min(len(curve), len(base)) or len(near) < 3:
        return None
    return {
        "before": curve[onset - 1],
        "after": curve[onset],
        "base_before": base[onset - 1],
        "base_after": base[onset],
        "usual": float(near.std()),
    }


def _jumps(study: Study, table: Table) -> dict[str, dict[str, Any]]:
    """Return the measurements at the onset, averaged over the seeds, by data set and row."""
    found = {}
    for dataset in study.datasets:
        for row in study.rows:
            cell = study.cell(table, dataset, row)
            if cell.spec.hardness != "augcl":
                continue
            records = list(study.records(JumpCell(cell.spec, 0, cell.data)).values())
            if records:
                found[f"{dataset}, {row}"] = {
                    **{
                        kind: float(np.mean([record[kind] for record in records]))
                        for kind in ("plain", "weighted", "shuffled")
                    },
                    "states": [record["state"] for record in records],
                    "weights_at_the_end": _weights_at_the_end(study.records(cell)),
                }
    return found


def _weights_at_the_end(records: dict[int, dict[str, Any]]) -> list[float]:
    """Return the mean weights of true and of false negatives of each seed, if classes are known."""
    kinds = ("weight_true_negatives", "weight_false_negatives")
    found = [record.get("weights") or {} for record in records.values()]
    return [sum(w[kind] for kind in kinds) / 2 for w in found if all(kind in w for kind in kinds)]


def _explained(jump: dict[str, Any] | None) -> str:
    """Return a sentence on how the weights change the loss of a fixed network."""
    if jump is None:
        return ""
    ends = jump["weights_at_the_end"]
    drift = f"; the mean weight of negatives in the last epoch is {_range(ends)}" if ends else ""
    return (
        f". On the fixed network at the onset, weights change the loss from {jump['plain']:.3f} "
        f"to {jump['weighted']:.3f}, shuffled weights to {jump['shuffled']:.3f}{drift}"
    )


def _range(values: list[float]) -> str:
    """
    >>> _range([0.2, 1.131, 0.9]), _range([1.001, 1.0])
    ('0.20 to 1.13', '1.00')
    """
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _grid(curves: Curves) -> Grid:
    rows = []
    for dataset, methods in curves.items():
        for row, y in methods.items():
            quarters = [y[0], *(y[max(len(y) * k // 4, 1) - 1] for k in (1, 2, 3, 4))]
            rows.append((f"{dataset}, {row}", *(f"{value:.4f}" for value in quarters)))
    header = ("loss after", "1 epoch", "¼", "½", "¾", "all")
    return Grid("Convergence", header, tuple(rows), (NOTE,))


def _jump_grid(jumps: dict[str, dict[str, Any]]) -> Grid:
    rows = [
        (
            name,
            *(f"{found[kind]:.3f}" for kind in ("plain", "weighted", "shuffled")),
            f"{found['states'].count('alive')} of {len(found['states'])}",
            _range(found["weights_at_the_end"]) if found["weights_at_the_end"] else "",
        )
        for name, found in jumps.items()
    ]
    losses = ("loss at the onset", "weights 1", "weights", "shuffled weights")
    header = (*losses, "alive", "weight at the end")
    return Grid("Effect of the weights on a fixed network's loss", header, tuple(rows), (JUMP,))
