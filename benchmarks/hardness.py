"""Time the two parts of AUGCL: the partition, and the forward pass over all pairs."""

from __future__ import annotations

import torch
from torch import Tensor

from augcl.hardness import two_means
from augcl.hardness.uncertainty import PairNetwork
from augcl.ops.cosine import cosine
from benchmarks import textbook
from benchmarks.measure import Row, faster, in_turns, one_thread, seconds


def partition(full: bool) -> list[Row]:
    """Time exact 2-means of all rows against one k-means per row."""
    size = 1024
    generator = torch.Generator().manual_seed(0)
    affinity = cosine(
        torch.randn(size, 16, generator=generator), torch.randn(size, 16, generator=generator)
    )
    labels: dict[str, Tensor] = {}

    def kmeans() -> None:
        labels["textbook"] = textbook.kmeans_labels(affinity, group="larger")

    def exact() -> None:
        labels["ours"] = two_means(affinity)

    exact()
    slow, fast = seconds(kmeans), seconds(exact, 5)
    ours, theirs = inertia(affinity, labels["ours"]), inertia(affinity, labels["textbook"])
    never_higher = bool((ours <= theirs * (1 + 1e-9)).all())
    return [faster("2-means of 1024 × 1024 cosines", slow, fast, 200, same=never_higher)]


def inertia(rows: Tensor, labels: Tensor) -> Tensor:
    """Return (N,) within-group sums of squares of values (N, M) in two groups."""
    total = torch.zeros(len(rows), dtype=torch.float64)
    for group in (labels.bool(), ~labels.bool()):
        count = group.sum(1, keepdim=True).clamp_min(1)
        values = rows.double() * group
        centre = values.sum(1, keepdim=True) / count
        total += (group * (rows.double() - centre) ** 2).sum(1)
    return total


def uncertainty(full: bool) -> list[Row]:
    """Time the pair network without concatenated pairs, against the concatenation.

    With 64 hidden units (our default) and with the paper's 128, where the second layer, which both
    sides compute for every pair, takes a larger share.
    """
    return [_forward(hidden=64, target=4), _forward(hidden=128, target=4)]


def _forward(hidden: int, target: float) -> Row:
    size, width = 128, 96
    generator = torch.Generator().manual_seed(0)
    a = torch.randn(size, width, generator=generator)
    b = torch.randn(size, width, generator=generator)
    affinity = cosine(a, b)
    network = PairNetwork(width, 3, hidden=hidden, generator=generator)
    gambler = textbook.Gambler(2 * width + 1, hidden=hidden)
    for theirs, ours in zip(
        (gambler[0], gambler[2], gambler[4]),
        (network.first, network.middle, network.last),
        strict=True,
    ):
        theirs.load_state_dict(ours.state_dict())
    outputs: dict[str, Tensor] = {}

    def concatenate() -> None:
        with torch.no_grad():
            outputs["textbook"] = gambler(textbook.pair_inputs(a, b, affinity))

    def factorise() -> None:
        outputs["ours"] = network.blocked(a, b, affinity)

    with one_thread():  # as in trainings on batches of this size
        slow, fast = in_turns(concatenate, factorise, repeats=31)
    same = torch.allclose(outputs["ours"].flatten(0, 1), outputs["textbook"], rtol=0, atol=1e-5)
    what = f"uncertainty of 128 × 128 pairs, width 96, {hidden} units"
    return faster(what, slow, fast, target, same=same)
