"""Protocols `linear-10-10-80` and `wikics-20`: softmax regression on the embeddings of nodes.

The protocol of GCA and related papers: unscaled embeddings, Adam with rate 0.01 and no weight
decay. Validation accuracy is computed every 20 steps; the test accuracy at the first best step
counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import joblib
import torch
from sklearn.metrics import f1_score
from torch import Tensor

from augcl.errors import InputError
from augcl.evaluation.inputs import Samples
from augcl.evaluation.score import Score
from augcl.evaluation.scoring import score_classes
from augcl.evaluation.splits import TEST, TRAIN, VALIDATION, check_parts, random_parts
from augcl.ops.threads import threads_for
from augcl.training.progress import one_more, progress_bar

LEARNING_RATE, MOMENTUM, DECAY, EPSILON = 0.01, 0.9, 0.999, 1e-8
CHECK_EVERY = 20
# Size of the inputs of the runs that are trained together. On a CPU they should stay in the cache;
# on a GPU calls dominate the time, so train as many runs together as reasonably fit.
BYTES_AT_ONCE = {"cpu": 4 << 20, "cuda": 1 << 30}


@dataclass(frozen=True)
class Regression:
    """A trained layer (C, D + 1), bias last, at the first step with the best validation accuracy.

    `correct` counts validation nodes; `accuracy` is the fraction of test nodes predicted correctly.
    """

    weight: Tensor
    step: int
    correct: int
    accuracy: float
    predicted: Tensor


def softmax_regressions(
    Z: Tensor,
    y: Tensor,
    parts: Tensor,
    seeds: Sequence[int],
    *,
    classes: int,
    steps: int = 3000,
    jobs: int = 1,
    on_check: Callable[[], None] = lambda: None,
) -> list[Regression]:
    """Train one softmax regression per split and keep the best by validation.

    Parameters
    ----------
    Z : (N, D) float
        Embeddings, not scaled; they decide device and precision.
    y : (N,) int64
        Classes 0 … `classes` − 1.
    parts : (R, N) int64
        For each run the part of each node: `TRAIN`, `VALIDATION`, `TEST` or `UNUSED`.
    seeds : sequence of R int
        Seeds of the initial weights.
    steps : int
        Steps of Adam; the validation accuracy is computed every 20 steps.
    jobs : int
        Groups of runs trained at the same time (threads); does not change the result.
    on_check : callable
        Called after each validation of each run, from its thread.

    Examples
    --------
    >>> from augcl.evaluation.splits import random_parts
    >>> y = torch.arange(100) % 2
    >>> Z = torch.stack([y + 0.0, 1.0 - y], dim=1)
    >>> parts = random_parts(100, seeds=[0, 1])
    >>> fits = softmax_regressions(Z, y, parts, seeds=[0, 1], classes=2, steps=100)
    >>> [fit.accuracy for fit in fits]
    [1.0, 1.0]
    """
    inputs = torch.cat([Z, Z.new_ones(len(Z), 1)], dim=1)  # the bias is one more weight
    y, parts = y.to(Z.device), parts.to(Z.device)

    def group(runs: Sequence[int]) -> list[Regression]:
        return _train(inputs, y, parts[runs], [seeds[r] for r in runs], classes, steps, on_check)

    groups = list(_groups(parts, inputs))
    # Each thread uses one core; calls of torch release the interpreter lock.
    with threads_for(nodes_per_batch=0):
        found = joblib.Parallel(jobs, prefer="threads")(joblib.delayed(group)(g) for g in groups)
    return [fit for fits in found for fit in fits]


def _groups(parts: Tensor, inputs: Tensor) -> Iterator[list[int]]:
    """Yield groups of consecutive runs with parts of equal size, to be trained together."""
    sizes = torch.stack([(parts == TRAIN).sum(1), (parts == VALIDATION).sum(1)], dim=1).tolist()
    allowed = BYTES_AT_ONCE["cpu" if inputs.device.type == "cpu" else "cuda"]
    for (train, _), equal in groupby(range(len(parts)), key=lambda r: tuple(sizes[r])):
        runs = list(equal)
        most = max(1, allowed // (train * inputs.shape[1] * inputs.element_size()))
        pieces = -(-len(runs) // most)
        for piece in range(pieces):  # of nearly equal size, so that threads end together
            yield runs[piece * len(runs) // pieces : (piece + 1) * len(runs) // pieces]


def _rows(parts: Tensor, part: int) -> Tensor:
    """Return (R, n) the nodes of a part that has n nodes in every run."""
    return (parts == part).nonzero()[:, 1].view(len(parts), -1)


@torch.no_grad()
def _train(
    inputs: Tensor,
    y: Tensor,
    parts: Tensor,
    seeds: Sequence[int],
    classes: int,
    steps: int,
    on_check: Callable[[], None],
) -> list[Regression]:
    R, D = len(parts), inputs.shape[1]
    train, held = _rows(parts, TRAIN), _rows(parts, VALIDATION)
    n = train.shape[1]
    X = inputs[train]  # (R, n, D)
    columns = X.transpose(1, 2)
    target = torch.zeros(R, classes, n, dtype=X.dtype, device=X.device)
    target.scatter_(1, y[train].unsqueeze(1), 1.0)
    held_columns, held_y = inputs[held].transpose(1, 2), y[held]

    W = torch.zeros(R, classes, D, dtype=X.dtype, device=X.device)
    for layer, seed in zip(W, seeds, strict=True):
        layer[:, :-1] = initial_weights(classes, D - 1, seed)
    mean, square, gradient, root = (torch.zeros_like(W) for _ in range(4))
    error = torch.empty_like(target)
    best = W.clone()
    correct = torch.full((R,), -1, device=W.device)
    best_step = torch.zeros_like(correct)
    for step in range(1, steps + 1):
        torch.bmm(W, columns, out=error)
        torch.softmax(error, dim=1, out=error)
        error -= target
        torch.baddbmm(gradient, error, X, beta=0, alpha=1 / n, out=gradient)
        # Adam: W −= rate · (mean / c₁) / (√(square / c₂) + ε), with √c₂ taken out of the fraction.
        mean.lerp_(gradient, 1 - MOMENTUM)
        square.mul_(DECAY).addcmul_(gradient, gradient, value=1 - DECAY)
        scale = math.sqrt(1 - DECAY**step)
        torch.sqrt(square, out=root).add_(EPSILON * scale)
        W.addcdiv_(mean, root, value=-LEARNING_RATE * scale / (1 - MOMENTUM**step))
        if step % CHECK_EVERY == 0:
            right = (torch.bmm(W, held_columns).argmax(1) == held_y).sum(1)
            better = right > correct
            correct = torch.where(better, right, correct)
            best_step = torch.where(better, step, best_step)
            best = torch.where(better[:, None, None], W, best)
            for _ in range(R):
                on_check()
    fits = []
    for r in range(R):
        predicted = (best[r] @ inputs.T).argmax(0)
        test = parts[r] == TEST
        accuracy = (predicted[test] == y[test]).sum().item() / int(test.sum())
        fits.append(Regression(best[r], int(best_step[r]), int(correct[r]), accuracy, predicted))
    return fits


def initial_weights(classes: int, width: int, seed: int) -> Tensor:
    """Draw (C, D) uniform Xavier weights.

    >>> initial_weights(2, 4, seed=0).abs().max() < 1  # √(6 / (C + D))
    tensor(True)
    """
    bound = math.sqrt(6 / (width + classes))
    draw = torch.rand(classes, width, generator=torch.Generator().manual_seed(seed))
    return (2 * draw - 1) * bound


def linear_10_10_80(samples: Samples) -> Score:
    """Train on 10 % of the nodes, choose the step on 10 %, test on 80 %; 3000 steps, 20 runs."""
    seeds = samples.seeds(20)
    parts = random_parts(len(samples.y), seeds)
    return _score("linear-10-10-80", samples, parts, seeds, steps=3000)


def wikics_20(samples: Samples) -> Score:
    """Use the splits of the data, 20 for Wiki-CS; 800 steps, one run per split."""
    parts = samples.parts
    if parts is None:
        raise InputError(
            "protocol wikics-20 needs the splits of the data: give a graph with splits instead of "
            "its labels, or splits="
        )
    seeds = samples.seeds(len(parts))
    if len(seeds) > len(parts):
        raise InputError(
            f"repeats={len(seeds)}: there are {len(parts)} splits, and each gives one run"
        )
    name = "wikics-20" if len(seeds) == 20 else f"wikics-20, but {len(seeds)} splits"
    return _score(name, samples, parts[: len(seeds)], seeds, steps=800)


def _score(name: str, samples: Samples, parts: Tensor, seeds: list[int], *, steps: int) -> Score:
    y = torch.from_numpy(samples.y)
    check_parts(parts, y, samples.names, needed=(TRAIN, VALIDATION, TEST))
    checks = len(seeds) * (steps // CHECK_EVERY)
    with progress_bar(f"evaluate: {name}", checks, show=samples.progress, stay=False) as report:
        fits = softmax_regressions(
            samples.single(),
            y,
            parts,
            seeds,
            classes=len(samples.names),
            steps=steps,
            jobs=samples.jobs,
            on_check=one_more(report),
        )
    macro = []
    for fit, part in zip(fits, parts, strict=True):
        test = part == TEST
        samples.tested.append((test.nonzero()[:, 0].numpy(), fit.predicted.cpu()[test].numpy()))
        macro.append(float(f1_score(y[test], fit.predicted.cpu()[test], average="macro")))
    found = tuple((fit.accuracy,) for fit in fits)
    if samples.scoring != "accuracy":
        found = tuple(
            (_rescored(samples, fit, part),) for fit, part in zip(fits, parts, strict=True)
        )
    held = (parts == VALIDATION).sum(1).tolist()
    inner = tuple((fit.correct / count,) for fit, count in zip(fits, held, strict=True))
    details = {"macro_f1": tuple(macro)}
    return Score(name, found, parts.numpy(), details, inner, scoring=samples.scoring)


def _rescored(samples: Samples, fit: Regression, part: Tensor) -> float:
    """Score the test part otherwise; the step was still chosen by the validation accuracy."""
    test = part == TEST
    X = samples.single()[test.to(samples.X.device)]
    logits = X @ fit.weight[:, :-1].T + fit.weight[:, -1]
    values = logits.softmax(1).cpu().double().numpy()
    predicted = fit.predicted.cpu()[test].numpy()
    return score_classes(samples.scoring, samples.y[test.numpy()], predicted, values)
