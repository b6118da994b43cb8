"""`evaluate`: score embeddings with a named protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from augcl.checks import whole_number
from augcl.data.node_graph import Splits
from augcl.errors import InputError, one_of
from augcl.evaluation.divisions import group_numbers, of_folds, of_parts, own_split
from augcl.evaluation.inputs import (
    Samples,
    Target,
    check_two_classes,
    classes_of,
    embeddings,
    kernel_matrix,
    numbers_of,
)
from augcl.evaluation.liblinear import grace_liblinear
from augcl.evaluation.linear import linear_10_10_80, wikics_20
from augcl.evaluation.multilabel import deepwalk_multilabel
from augcl.evaluation.penalised import (
    floor,
    kernel_ridge_10fold,
    logistic_10_10_80,
    logistic_10fold,
    public_split,
    ridge_10fold,
)
from augcl.evaluation.score import Predictions, Score
from augcl.evaluation.scoring import scoring_name
from augcl.evaluation.splits import fixed_parts
from augcl.evaluation.svm import tu_svm_10fold

PROTOCOLS: dict[str, Callable[[Samples], Score]] = {
    "tu-svm-10fold": tu_svm_10fold,
    "linear-10-10-80": linear_10_10_80,
    "logistic-10-10-80": logistic_10_10_80,
    "wikics-20": wikics_20,
    "grace-liblinear": grace_liblinear,
    "logistic-10fold": logistic_10fold,
    "ridge-10fold": ridge_10fold,
    "kernel-ridge-10fold": kernel_ridge_10fold,
    "public-split": public_split,
    "deepwalk-multilabel": deepwalk_multilabel,
}
TASKS = ("classification", "regression", "multilabel")
TASKS_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(PROTOCOLS, ("classification",)),
    "logistic-10fold": ("classification", "multilabel"),
    "ridge-10fold": ("regression",),
    "kernel-ridge-10fold": ("regression",),
    "public-split": TASKS,
    "deepwalk-multilabel": ("multilabel",),
}
"""The tasks of each protocol."""


def evaluate(
    Z: Any,
    y: Any,
    *,
    task: str = "auto",
    scoring: str = "auto",
    groups: Any = None,
    kernel: bool = False,
    protocol: str = "auto",
    repeats: int | None = None,
    folds: int | None = None,
    splits: Any = None,
    random_state: int = 0,
    jobs: int = 1,
    progress: bool = True,
) -> Score:
    """Measure how well a simple model predicts `y` from the embeddings `Z`.

    The protocol follows the task, and the task the type and shape of `y`: classes, numbers
    ("regression") or columns of 0 and 1 ("multilabel").

    ``tu-svm-10fold``, for graphs, as in GraphCL and related papers: stratified 10-fold
    cross-validation of an RBF support vector machine on unscaled embeddings; C is chosen from
    10⁻³ … 10³ by 5-fold cross-validation inside each training part. The numbers equal those of
    scikit-learn's ``GridSearchCV(SVC())`` on the same folds. 5 runs. With `kernel`, the support
    vector machine uses the given similarities instead of the RBF kernel.

    ``linear-10-10-80``, for nodes, as in GCA and related papers: softmax regression on unscaled
    embeddings, 3000 full-batch steps of Adam; a random 10 % of the nodes to train, 10 % to choose
    the step, 80 % to test. As in the original, splits are not stratified: a class without a
    training node cannot be predicted, and a warning says so. 20 runs.

    ``logistic-10-10-80``, for nodes: multinomial logistic regression on the embeddings scaled to
    length 1, on the same splits; C is chosen from 10⁻⁴ … 10 on the validation part. 20 runs.

    ``wikics-20``, for nodes with public splits: the same with these splits and 800 steps, one run
    per split.

    ``grace-liblinear``, for nodes, of GRACE: one-vs-rest logistic regression (liblinear) on the
    embeddings scaled to length 1; a random 10 % of the nodes to train, 90 % to test; C is chosen
    from 2⁻¹⁰ … 2⁹ by 5-fold cross-validation inside the training part. 3 runs.

    ``logistic-10fold``, for classes and multi-label: 10-fold cross-validation of logistic
    regression on centred embeddings; C is chosen from 10⁻⁴ … 10 by 5 inner folds. 5 runs.

    ``ridge-10fold`` and ``kernel-ridge-10fold``, for numbers: the same with ridge regression, or
    with ridge regression with an RBF kernel; penalty and width are chosen by 5 inner folds.

    ``public-split``, for data with training, validation and test parts, such as the planetoid
    files (one split) or Platonov's heterophilous graphs (ten): logistic regression (ridge
    regression for numbers), penalty chosen on the validation part, one run per split. Two classes
    are judged by ROC-AUC.

    ``deepwalk-multilabel``, for nodes with several labels, of DeepWalk: one-vs-rest logistic
    regression, the number of labels of a node is known; micro-F1 over 10 %, 20 % … 90 % of training
    nodes. ``.details["f1_macro_at_50"]`` is the macro-F1 at 50 %. 10 runs.

    Parameters
    ----------
    Z : (N, D) array or tensor
        Embeddings; or, with `kernel`, (N, N) similarities.
    y : (N,) array, tensor or list; GraphSet, NodeGraph or PyG Data
        Class of each sample, numbers or strings; or the graphs or the graph that was embedded.
        Samples with class −1 (unlabelled) are left out; but −1 is a class like others if bare
        labels are given to ``tu-svm-10fold``. Numbers (N,), or several targets (N, T), with NaN for
        blanks, which do not count; the score is the mean over targets.
    task : str
        "classification", "regression" or "multilabel"; "auto": as `y` is.
    scoring : str
        For classes "accuracy", "balanced_accuracy", "roc_auc", "average_precision" (several classes
        one-vs-rest) or "f1_macro"; for multi-label also "f1_micro"; for numbers "r2", "mae" or
        "rmse". "auto": accuracy, ROC-AUC for multi-label, R² for numbers, or as the protocol says.
    groups : (N,) array or list, optional
        Group of each sample, such as its scaffold or patient: samples of one group are never in
        both parts of a split.
    kernel : bool
        `Z` is a kernel, as `fit_transform` of a graph kernel gives it.
    protocol : str
        Name of the protocol. "auto": the one for nodes if `y` is one graph (``wikics-20`` if that
        has 20 splits, ``public-split`` if it has several, or one from a folder of OGB's layout or
        of arrays), else the one for graphs; for another scoring than accuracy ``logistic-10fold``;
        those named above for other tasks.
    repeats : int, optional
        Number of runs; the protocol decides if None. Run r draws its folds, split or initial
        weights with seed ``random_state + r``.
    folds : int, optional
        Folds of each run of the protocols with folds; 10 if None.
    splits : Splits or (N,) array or list, optional
        Splits for ``wikics-20`` and ``public-split`` if `y` has none; or a split of your own: the
        words train, val and test, or the number of the fold of each sample.
    random_state : int
        Seed of the first run.
    jobs : int
        Folds or runs computed at the same time; does not change the result.
    progress : bool
        Show a progress bar on standard error if that is a terminal.

    Returns
    -------
    Score
        ``.mean``, ``.std`` and ``.runs`` of what ``.scoring`` says; accuracy is a fraction between
        0 and 1 and for one class per sample the same as micro-F1. ``.floor`` is the score of the
        largest class, or of the mean, on the same splits. ``.details["macro_f1"]`` has the macro-F1
        of each run of the protocols for nodes.

    Examples
    --------
    >>> y = np.repeat(["active", "inactive"], 20)
    >>> Z = np.random.default_rng(0).normal(size=(40, 2)) + 5.0 * (y == "active")[:, None]
    >>> score = evaluate(Z, y, repeats=2)
    >>> print(score)
    100.00 ± 0.00 % (2 runs, tu-svm-10fold)
    >>> score.runs
    (1.0, 1.0)
    >>> y = np.arange(200) % 2
    >>> print(evaluate(y[:, None] - 0.5, y, protocol="linear-10-10-80", repeats=2))
    100.00 ± 0.00 % (2 runs, linear-10-10-80)
    >>> Z = np.random.default_rng(0).normal(size=(60, 3))
    >>> score = evaluate(Z, Z[:, 0] + 0.5, scoring="mae", groups=np.arange(60) % 20, repeats=1)
    >>> score.protocol, score.mean < 0.01 < score.floor
    ('ridge-10fold, by groups', True)
    """
    own = splits if splits is None or isinstance(splits, Splits) else own_split(splits, _count(Z))
    target = Target.of(y, own if isinstance(own, Splits) else None)
    own_parts = isinstance(own, Splits)
    wanted = target.task if task == "auto" else one_of(task, TASKS, "task")
    name = one_of(protocol, ("auto", *PROTOCOLS), "protocol")
    name = (
        protocol_for(target, wanted, scoring, grouped=groups is not None, own=own, kernel=kernel)
        if name == "auto"
        else name
    )
    _check_protocol(name, wanted, folds=folds, kernel=kernel, groups=groups, own=own)
    if repeats is not None:
        whole_number("repeats", repeats, least=1)
    X = kernel_matrix(embeddings(Z)) if kernel else embeddings(Z)
    targets, names = None, list[Any]()
    if wanted == "classification":
        # Bare labels of graphs may be −1 and 1; those of a GraphSet are numbered from 0.
        unlabelled = target.level != "any" or name != "tu-svm-10fold"
        labels, names = classes_of(target.y, count=len(X), unlabelled=unlabelled)
        names = target.called(names)
        check_two_classes(names)
        kept = labels >= 0
    else:
        targets = numbers_of(target.y, count=len(X), task=wanted)
        labels = np.zeros(len(X), dtype=np.int64)
        known = ~np.isnan(targets)
        # DeepWalk's protocol knows the number of labels of a node: none, nothing to find.
        kept = np.asarray(known.any(axis=1))
        if name == "deepwalk-multilabel":
            kept = np.logical_and(kept, np.nansum(targets, axis=1) > 0)
    group = None if groups is None else group_numbers(groups, len(X))
    if not kept.all():
        rows = torch.from_numpy(kept).to(X.device)
        X = X[rows][:, rows] if kernel else X[rows]
    samples = Samples(
        X=X,
        y=labels[kept],
        names=names,
        parts=None if target.splits is None else fixed_parts(target.splits, len(kept))[:, kept],
        repeats=repeats,
        folds=folds,
        random_state=random_state,
        jobs=jobs,
        progress=progress,
        kernel=kernel,
        task=wanted,
        scoring=_scoring_for(name, wanted, scoring, classes=len(names)),
        targets=None if targets is None else targets[kept],
        groups=None if group is None else group[kept],
        own_folds=own[kept] if isinstance(own, np.ndarray) else None,
        own_parts=own_parts,
    )
    score = PROTOCOLS[name](samples)
    if score.floor is None:
        several = len(score.folds[0]) > 1
        score = replace(
            score,
            floor=floor(
                samples,
                [of_folds(split) if several else [of_parts(split)] for split in score.splits],
            ),
        )
    predictions = None
    if samples.tested:
        predictions = Predictions.collect(samples.tested, samples.y, samples.targets)
    return replace(score, predictions=predictions).spread(kept)


def _count(Z: Any) -> int:
    return int(Z.shape[0]) if hasattr(Z, "shape") else len(Z)


def _scoring_for(name: str, task: str, scoring: str, *, classes: int) -> str:
    """Return the scoring that is meant; "auto" is the customary one of protocol and task."""
    if name == "deepwalk-multilabel":
        found = "f1_micro" if scoring == "auto" else scoring_name(scoring, task)
        return one_of(found, ("f1_micro", "f1_macro"), "scoring of deepwalk-multilabel")
    if scoring != "auto":
        return scoring_name(scoring, task)
    if task == "classification":
        # Platonov et al. judge their sets with two classes by ROC-AUC.
        return "roc_auc" if name == "public-split" and classes == 2 else "accuracy"
    return "roc_auc" if task == "multilabel" else "r2"


def _check_protocol(
    name: str, task: str, *, folds: int | None, kernel: bool, groups: Any, own: Any
) -> None:
    """Raise `InputError` for options that a protocol does not have."""
    fitting = [other for other, tasks in TASKS_OF.items() if task in tasks]
    if name not in fitting:
        raise InputError(f"protocol {name} is not for {task}: choose from {', '.join(fitting)}")
    has_folds = name.endswith("-10fold")
    if folds is not None and (not has_folds or own is not None):
        why = "has no folds" if own is None else "has the folds of the given split"
        raise InputError(
            f"folds={folds}: protocol {name} {why}, only a protocol such as tu-svm-10fold has"
        )
    if kernel and name not in ("tu-svm-10fold", "kernel-ridge-10fold"):
        raise InputError(f"protocol {name} takes embeddings, not a kernel: use tu-svm-10fold")
    if groups is not None and not has_folds:
        other = "ridge-10fold" if task == "regression" else "logistic-10fold"
        raise InputError(f"protocol {name} does not keep groups together: use {other}")
    if groups is not None and own is not None:
        raise InputError("give groups or a split of your own, not both")
    if isinstance(own, np.ndarray) and not has_folds:
        raise InputError(f"the split holds numbers of folds, but protocol {name} has no folds")
    if isinstance(own, Splits) and name == "tu-svm-10fold":
        raise InputError("protocol tu-svm-10fold takes numbers of folds: use public-split")


def protocol_for(
    target: Target,
    task: str = "classification",
    scoring: str = "auto",
    *,
    grouped: bool = False,
    own: Any = None,
    kernel: bool = False,
) -> str:
    """Return the usual protocol for a target.

    >>> protocol_for(Target([0, 1])), protocol_for(Target([0.5]), "regression")
    ('tu-svm-10fold', 'ridge-10fold')
    """
    if target.splits is not None and target.splits.usual and own is None and not grouped:
        return "public-split"
    if task == "regression":
        if isinstance(own, Splits):
            return "public-split"
        return "kernel-ridge-10fold" if kernel else "ridge-10fold"
    count = 0 if target.splits is None else len(target.splits.train)
    plain = own is None and not grouped
    if task == "multilabel":
        by_f1 = scoring == "auto" or scoring_name(scoring, task) in ("f1_micro", "f1_macro")
        if target.level == "node" and plain and by_f1 and not _has_blanks(target.y):
            return "deepwalk-multilabel"
        return "public-split" if count and not grouped else "logistic-10fold"
    by_accuracy = scoring == "auto" or scoring_name(scoring, task) == "accuracy"
    if target.level != "node":
        if isinstance(own, Splits):
            return "public-split"
        return "tu-svm-10fold" if by_accuracy or kernel else "logistic-10fold"
    if grouped or isinstance(own, np.ndarray):
        return "logistic-10fold"
    if count == 20:
        return "wikics-20"
    return "public-split" if count > 1 or own is not None else "linear-10-10-80"


def _has_blanks(y: Any) -> bool:
    values = y if isinstance(y, torch.Tensor) else torch.as_tensor(np.asarray(y, dtype=np.float64))
    return bool(values.isnan().any())
