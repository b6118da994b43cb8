"""Protocols `linear-10-10-80` and `wikics-20`: softmax regression on the embeddings of nodes.

As GCA and its kin judge: embeddings as they are, Adam with rate 0.01 and no weight decay; of each
run the test accuracy at the first of every 20 steps with the best validation accuracy counts.
"""

from __future__ import annotations

import torch
from sklearn.metrics import f1_score
from torch import Tensor

from augcl.errors import InputError
from augcl.evaluation.inputs import Request
from augcl.evaluation.score import Score
from augcl.evaluation.softmax_regression import CHECK_EVERY, softmax_regressions
from augcl.evaluation.splits import TEST, TRAIN, VALIDATION, check_parts, random_parts
from augcl.training.progress import one_more, progress_bar


def linear_10_10_80(request: Request) -> Score:
    """10 % of the nodes to train, 10 % to choose the step, 80 % to test; drawn anew for each run.

    3000 steps, 20 runs.
    """
    seeds = request.seeds(20)
    parts = random_parts(len(request.y), seeds)
    return _score("linear-10-10-80", request, parts, seeds, steps=3000)


def wikics_20(request: Request) -> Score:
    """The splits that came with the data, 20 for Wiki-CS; 800 steps, one run per split."""
    parts = request.parts
    if parts is None:
        raise InputError(
            "protocol wikics-20 needs the splits that came with the data: give a graph that has "
            "them instead of its labels, or splits="
        )
    seeds = request.seeds(len(parts))
    if len(seeds) > len(parts):
        raise InputError(f"repeats={len(seeds)}: there are only {len(parts)} splits, a run each")
    name = "wikics-20" if len(seeds) == 20 else f"wikics-20, but {len(seeds)} splits"
    return _score(name, request, parts[: len(seeds)], seeds, steps=800)


def _score(name: str, request: Request, parts: Tensor, seeds: list[int], *, steps: int) -> Score:
    y = torch.from_numpy(request.y)
    check_parts(parts, y, request.names, needed=(TRAIN, VALIDATION, TEST))
    checks = len(seeds) * (steps // CHECK_EVERY)
    with progress_bar(f"evaluate: {name}", checks, show=request.progress, stay=False) as report:
        fits = softmax_regressions(
            request.single(),
            y,
            parts,
            seeds,
            classes=len(request.names),
            steps=steps,
            jobs=request.jobs,
            on_check=one_more(report),
        )
    macro = []
    for fit, part in zip(fits, parts, strict=True):
        test = part == TEST
        macro.append(float(f1_score(y[test], fit.predicted.cpu()[test], average="macro")))
    accuracies = tuple((fit.accuracy,) for fit in fits)
    held = (parts == VALIDATION).sum(1).tolist()
    inner = tuple((fit.correct / count,) for fit, count in zip(fits, held, strict=True))
    return Score(name, accuracies, parts.numpy(), {"macro_f1": tuple(macro)}, inner)
