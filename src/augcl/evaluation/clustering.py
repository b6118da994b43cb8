"""Clustering: compare k-means clusters of the embeddings with the classes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from augcl.checks import whole_number
from augcl.evaluation.inputs import Ints, Target, check_two_classes, classes_of, embeddings
from augcl.training.progress import one_more, progress_bar


@dataclass(frozen=True)
class ClusteringScore:
    """Agreement of clusters and classes, one number per run; 1 means full agreement.

    Parameters
    ----------
    nmi : tuple of float
        Normalised mutual information.
    ari : tuple of float
        Adjusted Rand index: 0 for clusters drawn at random.
    accuracy : tuple of float
        Share of samples in the correct cluster, under the best one-to-one matching of clusters
        with classes.

    Examples
    --------
    >>> print(ClusteringScore(nmi=(0.5, 0.7), ari=(0.4, 0.4), accuracy=(0.8, 0.9)))
    NMI 0.600 ± 0.100, ARI 0.400 ± 0.000, accuracy 85.00 ± 5.00 % (k-means, 2 runs)
    """

    nmi: tuple[float, ...]
    ari: tuple[float, ...]
    accuracy: tuple[float, ...]

    def __str__(self) -> str:
        def text(values: NDArray[Any], digits: int) -> str:
            return f"{values.mean():.{digits}f} ± {values.std():.{digits}f}"

        nmi, ari = (text(np.array(values), 3) for values in (self.nmi, self.ari))
        accuracy = text(100 * np.array(self.accuracy), 2)
        runs = "1 run" if len(self.nmi) == 1 else f"{len(self.nmi)} runs"
        return f"NMI {nmi}, ARI {ari}, accuracy {accuracy} % (k-means, {runs})"


def clustering(
    Z: Any,
    y: Any,
    *,
    repeats: int = 5,
    starts: int = 10,
    random_state: int = 0,
    progress: bool = True,
) -> ClusteringScore:
    """Cluster the embeddings by k-means, with as many clusters as classes, and compare.

    Parameters
    ----------
    Z : (N, D) array or tensor
        Embeddings.
    y : (N,) array, tensor or list; GraphSet, NodeGraph or PyG Data
        Class of each sample, or the graphs or the graph that was embedded. Graphs or nodes of those
        with class −1 (unlabelled) are left out.
    repeats : int
        Runs; run r is seeded with ``random_state + r``.
    starts : int
        Random starts of k-means in each run; the tightest clusters count.
    random_state : int
        Seed of the first run.
    progress : bool
        Show a progress bar on standard error if that is a terminal.

    Examples
    --------
    >>> y = np.repeat(["a", "b", "c"], 20)
    >>> Z = np.random.default_rng(0).normal(size=(60, 2)) + 20.0 * np.repeat([0, 1, 2], 20)[:, None]
    >>> clustering(Z, y, repeats=2).accuracy
    (1.0, 1.0)
    """

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    whole_number("repeats", repeats, least=1)
    whole_number("starts", starts, least=1)
    task = Target.of(y)
    X = embeddings(Z).cpu().numpy()
    from sklearn.cluster import KMeans  # half a second; the protocols do not need it

    labels, names = classes_of(task.y, count=len(X), unlabelled=task.level != "any")
    check_two_classes(task.called(names))
    X, labels = X[labels >= 0], labels[labels >= 0]
    found: list[Ints] = []
    with (
        progress_bar("evaluate: k-means", repeats, show=progress, stay=False) as report,
        warnings.catch_warnings(),
    ):
        step = one_more(report)
        # Fewer different embeddings than classes: the scores show it.
        warnings.filterwarnings("ignore", message="Number of distinct", category=ConvergenceWarning)
        for seed in range(random_state, random_state + repeats):
            kmeans = KMeans(len(names), n_init=starts, random_state=seed)
            found.append(kmeans.fit_predict(X))
            step()
    return ClusteringScore(
        nmi=tuple(float(normalized_mutual_info_score(labels, c)) for c in found),
        ari=tuple(float(adjusted_rand_score(labels, c)) for c in found),
        accuracy=tuple(matched_accuracy(labels, c) for c in found),
    )


def matched_accuracy(y: Sequence[int] | Ints, clusters: Sequence[int] | Ints) -> float:
    """Return the accuracy of the best one-to-one matching of clusters with classes.

    >>> matched_accuracy([0, 0, 1, 1, 2], [5, 5, 3, 3, 3])
    0.8
    """

    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    table = contingency_matrix(y, clusters)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / len(y))
