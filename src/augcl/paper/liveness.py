"""Is the uncertainty model alive? Fit it with every reward of the paper's grid.

    python -m augcl.paper.liveness MUTAG PROTEINS --data-dir DIR

Train plain GraphCL for 20 epochs, then fit once per reward on the same encoder; one file per data
set. With labels, also measure the mean weights of true and of false negatives, about which the
paper's Figure 1 makes a claim.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
from joblib import Parallel, delayed

from augcl.data import load_graphs
from augcl.files import write_json
from augcl.hardness import AffinityUncertainty
from augcl.hardness.diagnostics import WeightStatistics
from augcl.methods.graphcl import GraphCL
from augcl.methods.presets import PUBLISHED
from augcl.paper.published import REWARDS
from augcl.paper.records import LIVENESS, is_finished
from augcl.runs.run import Spec, one_thread
from augcl.training.batches import batch_statistics, fixed_batches

WARMUP_EPOCHS = 20


def measure(dataset: str, *, data_dir: str | None = None, seed: int = 0) -> list[dict[str, Any]]:
    """Return the vitals after one fit for each reward."""
    graphs = load_graphs(dataset, data_dir=data_dir)
    spec = Spec(dataset, hardness="none", preset=PUBLISHED, epochs=WARMUP_EPOCHS)
    model = spec.estimator(graphs, seed, progress=False).fit(graphs)
    assert isinstance(model, GraphCL)
    found = []
    for reward in REWARDS:
        generator = torch.Generator().manual_seed(seed)
        batches = fixed_batches(graphs, model.batch_size, generator)
        hardness = AffinityUncertainty(reward=reward)
        statistics = WeightStatistics()
        with batch_statistics(model.network_):
            pairs = model.pairs(batches, generator)
            hardness.fit(pairs, generator=generator)
            for batch, (anchors, candidates) in zip(batches, pairs, strict=True):
                statistics.add(hardness.weights(anchors, candidates), batch.labels)
        found.append({"reward": reward, **hardness.diagnose(), **statistics.read()})
    return found


def _store(dataset: str, out: Path, data_dir: str | None) -> None:
    one_thread()
    path = out / LIVENESS / f"{dataset}.json"
    if not is_finished(path, out):
        write_json(path, {"dataset": dataset, "fits": measure(dataset, data_dir=data_dir)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data-dir")
    parser.add_argument("--out", type=Path, default=Path("results"))
    options = parser.parse_args()
    Parallel(n_jobs=options.jobs)(
        delayed(_store)(dataset, options.out, options.data_dir) for dataset in options.datasets
    )


if __name__ == "__main__":
    main()
