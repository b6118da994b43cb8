"""When does the uncertainty model learn? Fits by input, reward, optimiser, loss and batch norm.

    python -m augcl.paper.collapse MUTAG --data-dir DIR

Train plain GraphCL for 20 epochs, ten times. After each training, fit the uncertainty model once
for every combination of settings, with 128 units, ten passes over all pairs, no warm-up and no
restart, as published. Each training has its own file, so that a stopped study can continue.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from joblib import Parallel, delayed

from augcl.data import load_graphs
from augcl.files import write_json
from augcl.hardness import AffinityUncertainty, CollapseWarning
from augcl.methods.graphcl import GraphCL
from augcl.methods.presets import PUBLISHED
from augcl.paper.grid import Grid
from augcl.paper.liveness import WARMUP_EPOCHS
from augcl.paper.published import REWARDS
from augcl.paper.readings import STATES
from augcl.paper.records import COLLAPSE, LIVENESS, is_finished, read, read_seeds
from augcl.paper.rows import GRAPH_DATASETS
from augcl.runs.run import Spec, one_thread
from augcl.training.batches import STATISTICS, fixed_batches


class FitSettings(NamedTuple):
    """Settings that may decide whether the uncertainty model learns."""

    inputs: str
    partition_of: str
    optimizer: str
    reduction: str
    batch_norm: str
    reward: float

    @property
    def name(self) -> str:
        return ", ".join(map(str, self))

    def hardness(self) -> AffinityUncertainty:
        return AffinityUncertainty.from_recipe(
            "paper",
            normalize=self.inputs == "unit",
            partition_of=self.partition_of,
            optimizer=self.optimizer,
            reduction=self.reduction,
            reward=self.reward,
        )


def every_fit() -> Iterator[FitSettings]:
    """Yield all combinations; the reward changes fastest."""
    choices = (
        ("unit", "raw"),
        ("embedding", "affinity"),
        ("sgd", "adam"),
        ("sum", "mean"),
        tuple(STATISTICS),
        REWARDS,
    )
    return itertools.starmap(FitSettings, itertools.product(*choices))


def states(dataset: str, seed: int, *, data_dir: str | None = None) -> dict[str, str]:
    """Return the state ("alive", "unlearned", "collapsed") after each fit, by the fit's name."""
    graphs = load_graphs(dataset, data_dir=data_dir)
    spec = Spec(dataset, hardness="none", preset=PUBLISHED, epochs=WARMUP_EPOCHS)
    model = spec.estimator(graphs, seed, progress=False).fit(graphs)
    assert isinstance(model, GraphCL)
    found = {}
    for fit in every_fit():
        generator = torch.Generator().manual_seed(seed)
        batches = fixed_batches(graphs, model.batch_size, generator)
        pairs = model.pairs(batches, generator)
        with STATISTICS[fit.batch_norm](model.network_), warnings.catch_warnings():
            warnings.simplefilter("ignore", CollapseWarning)
            found[fit.name] = fit.hardness().fit(pairs, generator=generator).vitals_.state
    return found


def counts(folder: Path, dataset: str) -> tuple[dict[str, Counter[str]], int]:
    """Return the number of fits in each state by the fit's name, and the number of trainings."""
    records = read_seeds(_file(folder, dataset, 0), folder).values()
    every: dict[str, Counter[str]] = {}
    for record in records:
        for name, state in record["states"].items():
            every.setdefault(name, Counter())[state] += 1
    return every, len(records)


def _file(out: Path, dataset: str, seed: int) -> Path:
    return out / COLLAPSE / dataset / f"seed-{seed}.json"


def _store(dataset: str, seed: int, out: Path, data_dir: str | None) -> None:
    one_thread()
    path = _file(out, dataset, seed)
    if not is_finished(path, out):
        record: dict[str, Any] = {"dataset": dataset, "seed": seed}
        write_json(path, {**record, "states": states(dataset, seed, data_dir=data_dir)})


def vital_signs(folder: Path) -> Grid:
    """Return a table of the fits of `liveness`: one line per data set and reward."""
    rows = [
        (
            dataset,
            f"{fit['reward']:.1f}",
            fit["state"],
            f"{fit['uncertainty_mean']:.3f} ± {fit['uncertainty_std']:.3f}",
            f"{fit['weight_std']:.2f}",
            f"{100 * fit['near_one']:.1f} %",
            f"{100 * fit['agreement']:.1f} % ({100 * fit['majority']:.1f} %)",
            f"{fit['weight_true_negatives']:.3f}",
            f"{fit['weight_false_negatives']:.3f}",
        )
        for dataset in GRAPH_DATASETS
        for fit in fits_of(folder, dataset)
    ]
    header = (
        "",
        "reward o",
        "state",
        "u",
        "std of w",
        "w within 1 % of 1",
        "agreement (majority)",
        "w, true",
        "w, false",
    )
    return Grid("One fit per reward", header, tuple(rows))


def fits_of(folder: Path, dataset: str) -> list[dict[str, Any]]:
    """Return the fits of `liveness` on a data set, one per reward; empty if not measured."""
    found = read(folder / LIVENESS / f"{dataset}.json", folder)
    return [] if found is None else found["fits"]


def state_tables(folder: Path) -> list[Grid]:
    """Return one table per data set: the number of fits in each state by settings and reward."""
    return [
        _state_table(folder, dataset) for dataset in GRAPH_DATASETS if counts(folder, dataset)[1]
    ]


def _state_table(folder: Path, dataset: str) -> Grid:
    by_name, trainings = counts(folder, dataset)
    fits = [fit for fit in every_fit() if fit.name in by_name]
    rows = []
    for grid_row in zip(
        *[iter(fits)] * len(REWARDS), strict=True
    ):  # the fits of one line differ only in the reward
        found = [by_name[fit.name] for fit in grid_row]
        rows.append(
            (
                ", ".join(grid_row[0][:-1]),
                *(" / ".join(str(count[state]) for state in STATES) for count in found),
            )
        )
    notes = (
        f"{trainings} trainings; fits that are {', '.join(STATES)}.",
        *_by_inputs(fits, by_name),
    )
    header = ("inputs, clusters of, optimiser, loss, batch norm", *(f"o = {o}" for o in REWARDS))
    return Grid(f"{dataset}: states by settings", header, tuple(rows), notes)


def _by_inputs(fits: list[FitSettings], counts: dict[str, Counter[str]]) -> list[str]:
    sentences = []
    for rewards in (REWARDS[:1], REWARDS[2:]):
        shares = []
        for inputs in ("unit", "raw"):
            those = [counts[f.name] for f in fits if f.inputs == inputs and f.reward in rewards]
            alive, every = sum(c["alive"] for c in those), sum(c.total() for c in those)
            shares.append(f"{alive} of {every} fits with {inputs} inputs")
        span = f"{rewards[0]}" if len(rewards) == 1 else f"{rewards[0]} to {rewards[-1]}"
        sentences.append(f"At o = {span}, {' and '.join(shares)} are alive.")
    return sentences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--trainings", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=Path("results"))
    options = parser.parse_args()
    Parallel(n_jobs=options.jobs)(
        delayed(_store)(dataset, seed, options.out, options.data_dir)
        for dataset in options.datasets
        for seed in range(options.trainings)
    )


if __name__ == "__main__":
    main()
