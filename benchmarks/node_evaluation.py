"""The linear protocol for nodes against nn.Linear with torch.optim.Adam, on the same splits."""

from __future__ import annotations

import torch

from augcl.evaluation.softmax_regression import initial_weights, softmax_regressions
from augcl.evaluation.splits import random_parts
from augcl.training.threads import threads_for
from benchmarks.measure import Row, faster, seconds, seconds_text
from benchmarks.textbook.linear import linear_evaluation

N, D, C = 7650, 256, 8  # Amazon-Photo, embeddings of width 256
RUNS = 20


def node_evaluation(full: bool) -> list[Row]:
    """20 runs on one core; 600 of the 3000 steps and a tenth of the textbook's runs, or all."""
    steps, slow_runs = (3000, RUNS) if full else (600, RUNS // 10)
    generator = torch.Generator().manual_seed(0)
    y = torch.randint(C, (N,), generator=generator)
    Z = torch.randn(N, D, generator=generator) + 0.2 * torch.randn(C, D, generator=generator)[y]
    parts = random_parts(N, range(RUNS))
    ours: list[float] = []
    theirs: list[float] = []

    def at_once(runs: int) -> None:
        fits = softmax_regressions(Z, y, parts[:runs], range(runs), classes=C, steps=steps)
        ours[:] = [fit.accuracy for fit in fits]

    def one_by_one() -> None:
        for seed in range(slow_runs):
            start = initial_weights(C, D, seed)
            theirs.append(linear_evaluation(Z, y, parts[seed], start, steps=steps)[0])

    one = seconds(lambda: at_once(1), repeats=3)
    all_runs = seconds(lambda: at_once(RUNS), repeats=2)
    with threads_for(0):  # two threads would only wait for each other
        slow = seconds(one_by_one) * RUNS / slow_runs
    nodes = 0.8 * N
    same = all(abs(a - b) * nodes < 2.5 for a, b in zip(ours, theirs, strict=False))
    what = f"linear evaluation of {N} nodes, {RUNS} runs"
    note = f"{steps} of 3000 steps, one core"
    return [
        faster(what, slow, all_runs, 3, same=same, note=note),
        Row(
            f"{what} against one of them",
            textbook=f"one {seconds_text(one)}",
            ours=seconds_text(all_runs),
            ratio=f"{all_runs / one:.1f} times one",
        ),
    ]
