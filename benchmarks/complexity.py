"""Measure how the cost of AUGCL's two parts grows, against the paper's O(2NMT) and O(KLNMd²).

The partition is timed (processor time, median of many turns), because it is mostly a sort. The work
of the uncertainty model is counted with `torch.utils.flop_counter`: the floating-point operations
of its products, forward and backward. A count has no noise.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from unittest.mock import patch

import numpy as np
import torch
from sklearn.cluster import KMeans
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from augcl.hardness import AffinityUncertainty, partition, two_means
from augcl.hardness.uncertainty import PairNetwork
from augcl.ops.cosine import cosine
from benchmarks import textbook
from benchmarks.measure import Row, exponent, in_turns, one_thread

WIDTH = 96  # width of GraphCL's embeddings
EVERY_PAIR = 1_000_000_000
PUBLISHED = {"n": 64, "m": 64, "passes": 10, "hidden": 128}
TOLERANCE = 0.05  # for exponents of counted work
SORTING = 0.3  # for timed sorts: M log M looks like M^1.16 from 128 to 2,048, and caches matter


def complexity(full: bool) -> list[Row]:
    """Return exponents of N, M and T (both partitions), and of N, M, K, L and d (model)."""
    return [*_partition(31 if full else 15), *_clusters(), *_model()]


def _partition(turns: int) -> list[Row]:
    """Compare with 2NMT: N anchors, M candidates, T iterations of k-means."""
    sizes = (128, 256, 512, 1024, 2048)
    with one_thread():
        in_n = _seconds([_cosines(n, 256) for n in sizes], turns)
        in_m = _seconds([_cosines(256, m) for m in sizes], turns)
    iterations = [_iterations(row) for row in _cosines(64, 512)]
    needed = f"T = {min(iterations)} to {max(iterations)}"
    return [
        _row("partition, N from 128 to 2,048 (timed)", "N^1", "N", sizes, in_n, 1 + SORTING),
        _row("partition, M from 128 to 2,048 (timed)", "M^1", "M", sizes, in_m, 1 + SORTING),
        Row(
            "partition, T: k-means of scikit-learn iterates; ours of cosines is exact by one sort",
            textbook=f"T^1, {needed}",
            ours="no T",
        ),
    ]


def _clusters() -> list[Row]:
    """Do the same for clusters of embeddings (recipe "paper"): one clustering for all anchors."""
    sizes, T, most = (128, 256, 512, 1024), (2, 4, 8), 1 + TOLERANCE
    in_n = [work_of_clusters(n=n) for n in sizes]
    in_m = [work_of_clusters(m=m) for m in sizes]
    in_t = [work_of_clusters(m=2048, steps=t) for t in T]
    what = "clusters of embeddings"
    return [
        _row(f"{what}, N (counted; one serves all anchors)", "N^1", "N", sizes, in_n, most),
        _row(f"{what}, M (counted)", "M^1", "M", sizes, in_m, most),
        _row(f"{what}, T (counted)", "T^1", "T", T, in_t, most),
    ]


def work_of_clusters(*, n: int = 128, m: int = 128, steps: int = 2) -> int:
    """Count the work for the groups of n anchors among m candidates in `steps` steps of 2-means."""
    rng = np.random.default_rng(0)
    rows = torch.from_numpy(rng.standard_normal((n + m, WIDTH)))
    with patch.object(partition, "STEPS", steps):  # on noise, 2-means would need more steps
        return counted(lambda: partition.embedding_groups(rows[:n], rows[n:], "kmeans"))


def _seconds(tables: Sequence[Tensor], turns: int) -> list[float]:
    for table in tables:
        two_means(table)
    works = [partial(two_means, table) for table in tables]
    return in_turns(*works, repeats=turns, clock=time.process_time)


def _cosines(n: int, m: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return cosine(*(torch.randn(size, WIDTH, generator=generator) for size in (n, m)))


def _iterations(row: Tensor) -> int:
    return int(KMeans(2, n_init=1, random_state=0).fit(row.numpy()[:, None]).n_iter_)


def _model() -> list[Row]:
    """Compare with KLNMd²: K passes, L layers, d units."""
    N, M, K, d = (32, 64, 128, 256), (16, 32, 64, 128), (2, 4, 8, 16), (32, 64, 128, 256)
    most = 1 + TOLERANCE
    deep = (3, 4, 6, 10, 18)
    theirs, ours = (work(**PUBLISHED) for work in (work_of_textbook, work_of_fit))
    cut = [work_of_fit(n=n, pairs_per_pass=1024) for n in N]
    return [
        _row("model, N (counted)", "N^1", "N", N, [work_of_fit(n=n) for n in N], most),
        _row("model, M (counted)", "M^1", "M", M, [work_of_fit(n=128, m=m) for m in M], most),
        _row("model, K (counted)", "K^1", "K", K, [work_of_fit(passes=k) for k in K], most),
        _row(
            "model, L (counted; the first layer is factorised and the last has 3 outputs, so that "
            "L − 2 layers cost d² a pair)",
            "L^1",
            "(L−2)",
            [layers - 2 for layers in deep],
            [work_of_layers(layers) for layers in deep],
            most,
        ),
        _row("model, d (counted)", "d^2", "d", d, [work_of_fit(hidden=h) for h in d], 1 + most),
        _row(
            "model, N, with at most 1,024 pairs a pass (counted; by default 32,768)",
            "N^1",
            "N",
            N,
            cut,
            most,
        ),
        Row(
            "model, operations of a whole fit with the paper's K, L and d, and 64 candidates",
            textbook=f"{theirs:.1e}",
            ours=f"{ours:.1e}",
            ratio=f"{theirs / ours:.1f}×",
            target="≥ 1.5×",
            ok=theirs >= 1.5 * ours,
        ),
    ]


def _row(
    what: str, paper: str, letter: str, sizes: Sequence[int], costs: Sequence[float], most: float
) -> Row:
    """Return a row with the exponent of `costs` and the paper's; above `most` it misses."""
    found = exponent(sizes, costs)
    return Row(
        what=what,
        textbook=f"O({paper})",
        ours=f"{letter}^{found:.2f}",
        target=f"≤ {letter}^{most:.2f}",
        ok=found <= most,
    )


def counted(work: Callable[[], object]) -> int:
    """Count the floating-point operations of all products in `work`."""
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def work_of_fit(
    *,
    n: int = 64,
    m: int = 32,
    passes: int = 4,
    hidden: int = 64,
    pairs_per_pass: int = EVERY_PAIR,
) -> int:
    """Count the work of `AffinityUncertainty.fit` on n anchors in batches of m, without warm-up."""
    batches = _batches(n, m)
    hardness = AffinityUncertainty(
        warmup=0, passes=passes, hidden=hidden, pairs_per_pass=pairs_per_pass, restarts=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise has no groups that a model could learn
        return counted(lambda: hardness.fit(batches))


def work_of_layers(layers: int, *, n: int = 32, hidden: int = 128) -> int:
    """Count one step on n × n pairs, forward and backward, with extra layers in our network."""
    generator = torch.Generator().manual_seed(0)
    network = PairNetwork(WIDTH, 3, hidden=hidden, generator=generator)
    middle = [nn.Linear(hidden, hidden) for _ in range(layers - 2)]
    network.middle = nn.Sequential(*middle)  # type: ignore[assignment]
    ((anchors, candidates),) = _batches(n, n)
    affinity = cosine(anchors, candidates)
    return counted(lambda: network(anchors, candidates, affinity).sum().backward())


def work_of_textbook(*, n: int, m: int, passes: int, hidden: int) -> int:
    """Count the same fit with every pair concatenated: one pass times the number of passes."""
    gambler = textbook.Gambler(2 * WIDTH, hidden=hidden)

    def one_pass() -> None:
        for anchors, candidates in _batches(n, m):
            gambler(textbook.pair_inputs(anchors, candidates)).sum().backward()

    return passes * counted(one_pass)


def _batches(n: int, m: int) -> list[tuple[Tensor, Tensor]]:
    """Return n anchors in batches of m, each with its m candidates."""
    rng = np.random.default_rng(0)
    views = torch.from_numpy(rng.standard_normal((2, n, WIDTH)).astype(np.float32))
    return list(zip(views[0].split(m), views[1].split(m), strict=True))
