"""When does the uncertainty model learn? Fits by input, reward, optimiser, loss and batch norm.

    python -m augcl.experiments.collapse MUTAG --data-dir DIR

Plain GraphCL for 20 epochs, ten times; after each, one fit for every combination of settings, with
128 units, ten passes over all pairs, no warm-up and no restart, as published. One file per
training, so that a stopped study goes on.
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
from augcl.data.batches import fixed_batches
from augcl.experiments.cells import read_record
from augcl.experiments.liveness import WARMUP_EPOCHS
from augcl.experiments.published import REWARDS
from augcl.experiments.run import Spec, one_thread
from augcl.files import write_json
from augcl.hardness import AffinityUncertainty, CollapseWarning
from augcl.methods.graphcl import GraphCL
from augcl.methods.onset import EmbeddedBatches
from augcl.training.statistics import batch_statistics, running_statistics

FOLDER = "collapse"
STATISTICS = {"batch": batch_statistics, "running": running_statistics}


class Fit(NamedTuple):
    """What may decide whether the model learns."""

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


def every_fit() -> Iterator[Fit]:
    """All combinations; the rewards of one change fastest."""
    choices = (
        ("unit", "raw"),
        ("embedding", "affinity"),
        ("sgd", "adam"),
        ("sum", "mean"),
        tuple(STATISTICS),
        REWARDS,
    )
    return itertools.starmap(Fit, itertools.product(*choices))


def states(dataset: str, seed: int, *, data_dir: str | None = None) -> dict[str, str]:
    """The state of the model ("alive", "unlearned", "collapsed") after each fit, by its name."""
    graphs = load_graphs(dataset, data_dir=data_dir)
    spec = Spec(dataset, hardness="none", epochs=WARMUP_EPOCHS)
    model = spec.estimator(graphs, seed, progress=False).fit(graphs)
    assert isinstance(model, GraphCL)
    found = {}
    for fit in every_fit():
        generator = torch.Generator().manual_seed(seed)
        pairs = EmbeddedBatches(
            model._pair, fixed_batches(graphs, model.batch_size, generator), generator
        )
        with STATISTICS[fit.batch_norm](model.network_), warnings.catch_warnings():
            warnings.simplefilter("ignore", CollapseWarning)
            found[fit.name] = fit.hardness().fit(pairs, generator=generator).vitals_.state
    return found


def counts(folder: Path, dataset: str) -> tuple[dict[str, Counter[str]], int]:
    """How often each state was met, by the name of the fit; and the number of trainings."""
    records = [read_record(path) for path in sorted((folder / FOLDER / dataset).glob("*.json"))]
    every: dict[str, Counter[str]] = {}
    for record in records:
        for name, state in (record or {}).get("states", {}).items():
            every.setdefault(name, Counter())[state] += 1
    return every, len(records)


def _store(dataset: str, seed: int, out: Path, data_dir: str | None) -> None:
    one_thread()
    path = out / FOLDER / dataset / f"seed-{seed}.json"
    if not path.exists():
        record: dict[str, Any] = {"dataset": dataset, "seed": seed}
        write_json(path, {**record, "states": states(dataset, seed, data_dir=data_dir)})


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
