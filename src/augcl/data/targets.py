"""What is to be predicted: classes, numbers or several columns, chosen by name from any table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from augcl.data.graph import GraphSet
from augcl.data.labels import class_names, class_numbers
from augcl.data.node_graph import NodeGraph
from augcl.data.table import MISSING, Table
from augcl.errors import InputError, did_you_mean, one_of

D = TypeVar("D", GraphSet, NodeGraph)

TASKS = ("auto", "classification", "regression", "multilabel")
LARGEST = 2.0**62  # whole numbers of labels beyond it are classes in order of size
LIKE_LABELS = ("labels", "class", "classes", "target", "targets", "y")
"""Other common names of the class column."""


class NoTargetError(InputError):
    """The data lack the column to predict."""


@dataclass(frozen=True)
class Reading:
    """How tables are read: what to predict, and what becomes of missing values.

    Parameters
    ----------
    target : str or sequence of str, optional
        Names of the columns to predict, ``*`` stands for any text; ``label`` or ``y`` if None.
    task : {"auto", "classification", "regression", "multilabel"}
        "auto": several columns are targets of their own, words and whole numbers are classes,
        fractions are a regression.
    missing : {"error", "zero"}
        A missing value is an error, or 0 with a column that says so.
    smiles : str, optional
        Name of the column with SMILES, of a table of molecules.
    skip_bad : bool
        Leave out the molecules that RDKit refuses.
    """

    target: str | tuple[str, ...] | None = None
    task: str = "auto"
    missing: str = "error"
    smiles: str | None = None
    skip_bad: bool = False

    def __post_init__(self) -> None:
        one_of(self.task, TASKS, "task")
        one_of(self.missing, MISSING, "way to treat missing values")
        if self.target is not None and not isinstance(self.target, str):
            object.__setattr__(self, "target", tuple(self.target))

    @property
    def mark(self) -> str:
        """Return what differs from the defaults, as text; empty if nothing does."""
        usual = Reading()
        given = {k: v for k, v in vars(self).items() if v != getattr(usual, k)}
        return str(sorted(given.items())) if given else ""

    @property
    def wanted(self) -> tuple[str, ...] | None:
        """Return the names of the targets as given, or None."""
        return (self.target,) if isinstance(self.target, str) else self.target


class Targets(NamedTuple):
    """Targets `y`, the names of the classes and the names of the targets."""

    y: Tensor | None = None
    classes: list[str] | None = None
    targets: list[str] | None = None


def chosen_columns(columns: Sequence[str], wanted: Sequence[str], where: str) -> list[str]:
    """Return the columns with the wanted names, in their order; ``*`` stands for any text.

    >>> chosen_columns(["id", "group_a", "group_b"], ["group_*"], "graphs.csv")
    ['group_a', 'group_b']
    """
    for name in wanted:
        if not any(fnmatchcase(column, name) for column in columns):
            raise NoTargetError(
                f"{where}: no column {name!r} to predict: {did_you_mean(name, columns)}"
                f"the columns are {', '.join(columns) or 'none'}"
            )
    return [column for column in columns if any(fnmatchcase(column, name) for name in wanted)]


def read_targets(table: Table, names: Sequence[str], how: Reading, *, of_nodes: bool) -> Targets:
    """Return the columns `names` of a table as targets.

    Blanks are targets that are not known: −1 for classes, NaN for numbers. For nodes, −1 in the
    table means the same; a class of graphs may be called −1.

    >>> table = Table.from_rows([{"logP": 0.5}, {"logP": None}], "graphs", "graph {}".format)
    >>> read_targets(table, ["logP"], Reading(), of_nodes=False)
    Targets(y=tensor([0.5000,    nan]), classes=None, targets=['logP'])
    """
    if not names:
        return Targets()
    alone = names[0] if len(names) == 1 else None
    if how.task == "classification" and alone is None:
        raise InputError(
            f"{table.label}: {len(names)} columns ({', '.join(names)}) for a classification: "
            "choose one of them, or task multilabel for 0 and 1 in each"
        )
    if alone is not None and how.task in ("auto", "classification"):
        fractions = how.task == "auto" and table.has_fractions(alone)
        if not fractions:
            found = _classes(table, alone, of_nodes)
            return found if how.target is None else found._replace(targets=[alone])
    values = np.stack([_numbers(table, name, how.task) for name in names], axis=1)
    y = torch.from_numpy(values.astype(np.float32))
    if bool(y.isnan().all()):
        return Targets()
    if alone is not None and how.task != "multilabel":
        y = y[:, 0].contiguous()
    return Targets(y, None, list(names))


def _classes(table: Table, name: str, of_nodes: bool) -> Targets:
    labels: Any
    if table.is_text(name) or table.is_boolean(name):
        labels = table.strings(name)
        unknown = ("", "-1", "nan") if of_nodes else ("",)
        known = np.array([label.lower() not in unknown for label in labels], dtype=bool)
        labels = [label for label, there in zip(labels, known, strict=True) if there]
        called = class_names(labels) if labels else None
    else:
        values = table.values(name)
        known = np.isfinite(values) & ~(of_nodes & (values == -1))
        labels, called = values[known], None
        whole = not (labels % 1).any() and (np.abs(labels) <= LARGEST).all()
        labels = labels.astype(np.int64) if whole else np.unique(labels, return_inverse=True)[1]
    if not known.any():
        return Targets()
    y = torch.full((len(known),), -1)
    y[torch.from_numpy(known)] = class_numbers(labels)
    return Targets(y, called, None)


def _numbers(table: Table, name: str, task: str) -> np.ndarray[Any, Any]:
    """Return (rows,) numbers to predict, NaN where they are not known."""
    if table.is_text(name):
        strings = table.strings(name)
        row = next((i for i, text in enumerate(strings) if text and not _is_number(text)), None)
        if row is not None:
            raise InputError(
                f"{table.at(row)}: column {name!r} is {strings[row]!r}, but a number is needed "
                "here: words can only be the classes of a single target"
            )
        values = np.array([float(text) if text else np.nan for text in strings])
    else:
        values = table.values(name)
    bad = np.abs(values) > np.finfo(np.float32).max
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"{table.at(row)}: column {name!r} is {values[row]:g}: scale the column, a target is "
            "kept in single precision"
        )
    bad = ~np.isnan(values) & (values != 0) & (values != 1)
    if task == "multilabel" and bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"{table.at(row)}: column {name!r} is {values[row]:g}: a multi-label target is 0, 1 or "
            "blank"
        )
    return values


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


LARGEST_WHOLE = 2**53
"""Whole numbers in double precision end here: beyond, they are names of classes."""


def stacked_targets(y: Tensor | None, task: str, *, of_nodes: bool) -> Tensor | None:
    """Return the (n,) or (n, T) numbers of a PyG ``y`` as targets.

    Whole numbers in one column are classes, used directly; NaN (for nodes also −1) is not known.

    >>> stacked_targets(torch.tensor([[0.5], [1.0]]), "auto", of_nodes=False).tolist()
    [0.5, 1.0]
    """
    if y is None:
        return None
    one_of(task, TASKS, "task")
    y = y.detach().cpu()
    y = y[:, 0] if y.dim() == 2 and y.shape[1] == 1 and task != "multilabel" else y
    if y.dim() not in (1, 2):
        raise InputError(f"y has shape {tuple(y.shape)}: give one number, or one row, for each")
    values = y.double()
    if bool(values.isinf().any()):
        raise InputError("y holds infinity: give finite numbers, NaN where one is not known")
    known = ~values.isnan()
    whole = not bool((values[known] % 1).any())
    if task in ("regression", "multilabel") or y.dim() == 2 or (task == "auto" and not whole):
        if task == "classification":
            raise InputError(f"y has {y.shape[1]} columns: a classification has one")
        if task == "multilabel":
            y = y.unsqueeze(1) if y.dim() == 1 else y
            if not bool(((values == 0) | (values == 1) | ~known).all()):
                raise InputError("y holds more than 0, 1 and NaN: that is no multi-label target")
        return y.to(torch.float32) if bool(known.any()) else None
    if of_nodes:
        known &= values != -1
    if not bool(known.any()):
        return None
    if whole and of_nodes and bool((values[known] < 0).any()):
        node = int((known & (values < 0)).nonzero()[0])
        raise InputError(
            f"the class of node {node}, counted from 0, is {y[node]}: classes are whole "
            "numbers from 0 on, or -1 if the class is not known"
        )
    if not whole or bool((values[known].abs() >= LARGEST_WHOLE).any()):
        known_classes = torch.from_numpy(np.unique(values[known].numpy(), return_inverse=True)[1])
    else:
        known_classes = values[known].long()
        if bool((known_classes < 0).any()):
            known_classes = class_numbers(known_classes.numpy())
    classes = torch.full((len(y),), -1)
    classes[known] = known_classes
    return classes


def with_task(data: D, how: Reading) -> D:
    """Return data of a format with nothing but classes as `how` says, or raise `InputError`.

    >>> from augcl.data.node_graph import NodeGraph
    >>> pair = NodeGraph.from_arrays(
    ...     pairs=torch.tensor([[0], [1]]), num_nodes=2, y=torch.tensor([3, -1])
    ... )
    >>> with_task(pair, Reading(task="regression")).y
    tensor([3., nan])
    """
    if how.wanted is not None and (data.y is None or set(how.wanted) - {"label", "y"}):
        has = "no targets" if data.y is None else "only its own classes (label)"
        raise InputError(f"{data.name} has {has}, no column {', '.join(how.wanted)!r} to predict")
    if how.task == "auto" or data.y is None or how.task == data.task:
        return data
    if how.task == "regression" and data.task == "classification":
        y = torch.where(data.y >= 0, data.y.to(torch.float32), torch.nan)
        return replace(data, y=y, classes=None, targets=["label"])
    raise InputError(f"{data.name} is for {data.task}: its targets are none for {how.task}")
