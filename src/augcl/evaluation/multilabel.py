"""Protocol `deepwalk-multilabel`: several labels a node, micro- and macro-F1 by training share.

The protocol of DeepWalk (Perozzi, Al-Rfou and Skiena, KDD 2014, arXiv:1403.6652), used by node2vec
and others: one-vs-rest logistic regression with C = 1 on unscaled embeddings, trained on 10 % to
90 % of the nodes. The number of labels of a test node is known: the labels with the largest
probabilities are predicted. In each run the nodes are put into a random order, of which the first
10 %, 20 % … are for training. (The released code uses liblinear, which also penalises the
intercept; ours does not.)
"""

from __future__ import annotations

import joblib
import numpy as np
from numpy.typing import NDArray

from augcl.errors import InputError
from augcl.evaluation.inputs import Ints, Samples
from augcl.evaluation.penalised import logistic_columns
from augcl.evaluation.score import Score
from augcl.evaluation.scoring import macro_f1, micro_f1
from augcl.training.progress import one_more, progress_bar
from augcl.training.threads import one_blas_thread

Floats = NDArray[np.float64]

TENTHS = range(1, 10)
RUNS = 10


def deepwalk_multilabel(samples: Samples) -> Score:
    """Score every share of training nodes; 10 runs by default.

    ``folds`` has one column per share, 10 % first; ``details`` has both F1 of every share, such as
    ``"f1_macro_at_50"``; ``splits`` the tenth of the random order in which each node is.
    """
    assert samples.targets is not None
    X = np.ascontiguousarray(samples.X.cpu().numpy(), dtype=np.float64)
    Y = samples.targets
    if np.isnan(Y).any():
        raise InputError(
            "protocol deepwalk-multilabel needs every label of a node to be known: use "
            "logistic-10fold, which leaves out blanks"
        )
    if len(X) < 10:
        raise InputError(f"{len(X)} labelled nodes are too few for shares of 10 %: give 10 or more")
    tenths = np.stack([tenth_of_node(len(X), seed) for seed in samples.seeds(RUNS)])
    total = len(tenths) * len(TENTHS)
    with (
        one_blas_thread(),
        progress_bar(
            "evaluate: deepwalk-multilabel", total, show=samples.progress, stay=False
        ) as report,
    ):
        step = one_more(report)

        def one_run(tenth: Ints) -> Floats:
            """Return (9, 4): micro- and macro-F1, and those of the floor, for every share."""
            out = np.empty((len(TENTHS), 4))
            W = None
            for row, share in enumerate(TENTHS):
                train, test = tenth < share, tenth >= share
                # The fit of the smaller share is a good start.
                W = logistic_columns(X[train], Y[train], np.ones(Y.shape[1]), start=W)
                values = X[test] @ W[:-1] + W[-1]
                often = np.broadcast_to(Y[train].mean(axis=0), values.shape)
                found = [most_probable(v, Y[test].sum(axis=1)) for v in (values, often)]
                out[row] = [f1(Y[test], guess) for guess in found for f1 in (micro_f1, macro_f1)]
                step()
            return out

        parallel = joblib.Parallel(samples.jobs, prefer="threads")
        table = np.stack(parallel(joblib.delayed(one_run)(tenth) for tenth in tenths))
    column = {"f1_micro": 0, "f1_macro": 1}[samples.scoring]
    details = {
        f"{name}_at_{10 * share}": tuple(table[:, row, which].tolist())
        for which, name in enumerate(("f1_micro", "f1_macro"))
        for row, share in enumerate(TENTHS)
    }
    return Score(
        "deepwalk-multilabel",
        tuple(tuple(run) for run in table[:, :, column].tolist()),
        tenths,
        details,
        scoring=samples.scoring,
        floor=float(table[:, :, 2 + column].mean()),
    )


def tenth_of_node(N: int, seed: int) -> Ints:
    """Return (N,) the tenth, 0 … 9, in which each node is in a random order.

    >>> np.bincount(tenth_of_node(20, seed=0)).tolist()
    [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]
    """
    out = np.empty(N, dtype=np.int64)
    # Share k has ⌊kN / 10⌋ nodes.
    sizes = np.diff(np.arange(11) * N // 10)
    out[np.random.default_rng(seed).permutation(N)] = np.repeat(np.arange(10), sizes)
    return out


def most_probable(values: Floats, count: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 0/1 (n, T): in row i the `count[i]` columns with the largest values.

    >>> most_probable(np.array([[0.1, 0.7, 0.2]]), np.array([2])).tolist()
    [[0.0, 1.0, 1.0]]
    """
    rank = np.empty(values.shape, dtype=np.int64)
    order = np.argsort(-values, axis=1, kind="stable")
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(values.shape[1]), rank.shape), axis=1)
    return (rank < np.asarray(count)[:, None]).astype(np.float64)
