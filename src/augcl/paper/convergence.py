"""The loss over the epochs: the paper's figure of convergence, and its drop at the onset."""

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
from augcl.methods.recipes import get_recipe
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
        return cell_file(out, Path(self.spec.dataset).name, f"onset-{decides}", self.seed)

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
            pairs = model.pairs(batches, generator)
            with STATISTICS[get_recipe(model.recipe).statistics](model.network_):
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


ROWS = ("GraphCL", "AUGCL", "GraphCL-paper", "AUGCL-paper")

ABRUPT = 3.0
"""So many standard deviations of the other steps make a jump."""

NOTE = (
    "The loss with weighted negatives is another one than the loss before: its jump where the "
    "weights set in is no progress, and losses of different methods cannot be compared."
)
JUMP = (
    "The base is trained up to the onset, the uncertainty model is fitted, and the loss is taken "
    "on the same projections: without weights, with them, and with the weights of each anchor's "
    "negatives shuffled. Nothing is learned in between, so that what differs is the weighting. "
    "Weight at the end: mean of true and of false negatives in the last epoch of the trainings, "
    "lowest and highest seed. Where α is one number for all anchors, it is that of the fit, and "
    "the network moves on: the weights need not stay at a mean of 1, and a loss whose negatives "
    "weigh less is smaller."
)

Curves = dict[str, dict[str, list[float]]]
"""Losses by data set and row."""


@dataclass(frozen=True)
class Step:
    """How the loss changes where the weights of a row set in, and that of its base there."""

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
        """What the step is, against the noise of the base's steps from epoch to epoch."""
        own = (self.after - self.before) - (self.base_after - self.base_before)
        if abs(own) <= ABRUPT * self.usual:
            return "no jump"
        return "drops abruptly" if own < 0 else "rises abruptly"

    def __str__(self) -> str:
        what = "does not jump" if self.kind == "no jump" else self.kind
        return (
            f"{self.dataset}, {self.row}: where the weights set in, after epoch {self.onset}, the "
            f"loss {what} ({self.before:.3f} to {self.after:.3f}; {self.base} "
            f"{self.base_before:.3f} to {self.base_after:.3f})"
        )


def convergence_cells(study: Study, table: Table) -> list[CellLike]:
    """All trainings, and what the weights of AUGCL do at their onset."""
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
    """Mean loss of each epoch over the seeds, by method; and the step at the onset."""
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
    """Of the rows with AUGCL whose base was measured too."""
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
    """The losses in the epochs before and after the onset; None if there are too few epochs.

    `usual` is the standard deviation of the base's steps in the five epochs around it.
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
    """Means over the seeds of what was measured at the onset, by data set and row."""
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
    """Of each seed the mean weight of true and of false negatives, where classes are known."""
    kinds = ("weight_true_negatives", "weight_false_negatives")
    found = [record.get("weights") or {} for record in records.values()]
    return [sum(w[kind] for kind in kinds) / 2 for w in found if all(kind in w for kind in kinds)]


def _explained(jump: dict[str, Any] | None) -> str:
    """What the weights alone do to the loss of the network as it stands."""
    if jump is None:
        return ""
    ends = jump["weights_at_the_end"]
    drift = f"; in the last epoch negatives weigh {_range(ends)} on average" if ends else ""
    return (
        f". On the network as it stands the weights alone take the loss from {jump['plain']:.3f} "
        f"to {jump['weighted']:.3f}, shuffled ones to {jump['shuffled']:.3f}{drift}"
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
    return Grid("What the weights alone do to the loss", header, tuple(rows), (JUMP,))
