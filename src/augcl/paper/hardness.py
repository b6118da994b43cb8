"""Hardness on a strong base: does a weighting help there, and how much can it know without labels?

Every row is the same training of GCA with other weights of the negatives. Partial oracles show how
much of the oracle's gain is left if only those false negatives are known that a label-free score
ranks first, or if errors are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor

from augcl.data import load_graph
from augcl.data.catalogue import known_name
from augcl.data.node_graph import NodeGraph, Splits
from augcl.errors import InputError
from augcl.evaluation.protocol import evaluate
from augcl.evaluation.statistics import p_text
from augcl.files import packaged_toml, write_json
from augcl.hardness import Oracle
from augcl.methods.grace import GCA
from augcl.ops.cosine import cosine
from augcl.ops.diffusion import smoothed
from augcl.paper.cells import CellLike, digest
from augcl.paper.comparison import comparison
from augcl.paper.grid import Grid, Outcome
from augcl.paper.records import cell_file
from augcl.paper.rows import NODE_FREE
from augcl.paper.study import Accuracies, Study
from augcl.paper.table import Table
from augcl.runs.run import one_thread
from augcl.training.method import normalised_features
from augcl.views.nodes import NodeViews

BASE: dict[str, Any] = {}
"""Options of GCA that all rows share, over our default for any graph."""

EPOCHS = None  # as the default says
REFRESH = 10
"""A hardness of embeddings starts after half of the epochs and is refreshed twice."""

DATASETS = ("digits-knn", "Cora", "Amazon-Photo", "Amazon-Computers")
"""Data sets of the study, the fastest first."""

SHARES = (0.01, 0.05, 0.1, 0.5)
"""Shares of the candidates, by the cosine of propagated features, that partial oracles know."""

LEFT_OUT = (0.01, 0.05, 0.1, 0.2)
"""Shares of the candidates, by the same cosine, that are left out without knowing labels."""

ERRORS = ((0.77, 1.0), (0.77, 0.1), (1.0, 0.1))
"""Precision and recall of oracles that err."""


BESIDE = ", beside"
"""What a row is called that has propagated features beside its embedding."""


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


def _rows() -> dict[str, dict[str, Any]]:
    def augcl(**options: Any) -> dict[str, Any]:
        return {"hardness": "augcl", "hardness_options": options}

    def nearest(affinity: str, top: float, **more: Any) -> dict[str, Any]:
        return {
            "hardness": "nearest",
            "hardness_options": {"affinity": affinity, "top": top, **more},
        }

    def oracle(**options: Any) -> dict[str, Any]:
        return {"hardness": "oracle", "hardness_options": options}

    published = {**packaged_toml("augcl.hardness", "recipes.toml")["paper"], "recipe": "paper"}
    propagated = {"affinity": "propagated", "refresh": REFRESH}
    rows: dict[str, dict[str, Any]] = {
        "untrained": {"hardness": "none", "epochs": 0},
        "GCA": {"hardness": "none"},
        **{name: {"hardness": name.lower()} for name in ("DCL", "HCL", "ProGCL")},
        "AUGCL-published": augcl(**published),
        "AUGCL": augcl(),
        "AUGCL-cap": augcl(cap=True),
        "AUGCL-propagated": augcl(**propagated),
        "AUGCL-propagated-cap": augcl(**propagated, cap=True),
        "nearest 10 %": nearest("propagated", 0.1, refresh=REFRESH),
        **{f"nearest {_percent(q)}, features": nearest("features", q) for q in LEFT_OUT},
        **{f"oracle, nearest {_percent(q)}": oracle(among="features", top=q) for q in SHARES},
        **{
            f"oracle, precision {p:g}, recall {r:g}": oracle(precision=p, recall=r)
            for p, r in ERRORS
        },
        "oracle": {"hardness": "oracle"},
        **{
            f"{name}{BESIDE}": {**given, "beside": "Propagation"}
            for name, given in (
                ("GCA", {"hardness": "none"}),
                ("AUGCL-propagated", augcl(**propagated)),
                ("nearest 10 %", nearest("propagated", 0.1, refresh=REFRESH)),
                ("oracle", {"hardness": "oracle"}),
            )
        },
    }
    base = {"method": "GCA", "preset": "default", "options": BASE}
    trained = {row: {**base, **given} for row, given in rows.items()}
    return {"training-free": NODE_FREE["training-free"], **trained}


TABLE = Table("hardness", _rows(), base="GCA", compared=tuple(_rows()), epochs=EPOCHS)
"""The base, every weighting of its negatives, partial oracles and the oracle."""


SIDE_BY_SIDE = replace(TABLE, base=f"GCA{BESIDE}", ceiling=f"oracle{BESIDE}")
"""Rows with propagated features beside the embedding have a base of their own."""

GAIN = "Gain over the base"


def hardness_cells(study: Study) -> list[CellLike]:
    """Return the trainings, the statistics of pairs and the leak of labels of every data set."""
    return [*study.cells(TABLE), *_pair_cells(study), *_leak_cells(study)]


def hardness_study(study: Study) -> Outcome:
    """Return one table per data set, and what the weights reach, weigh and could know."""
    every = study.results(TABLE)
    found = _some(every, lambda row: not row.endswith(BESIDE))
    both = _some(every, lambda row: row.endswith(BESIDE) or row == TABLE.free)
    whole = comparison("hardness", found, TABLE)
    second = comparison("hardness", both, SIDE_BY_SIDE)
    beside = [replace(grid, title=f"{grid.title}{BESIDE} Propagation") for grid in second.grids]
    pairs = {
        cell.dataset: record
        for cell in _pair_cells(study)
        for record in study.records(cell).values()
    }
    leaks = {
        dataset: leaks
        for dataset in study.datasets
        if (leaks := list(study.records(_leak_cell(study, dataset, 0)).values()))
    }
    more = [reached(found), *beside, _masses(study, found), _knowledge(pairs), _leaks(leaks)]
    grids = [*whole.grids, *(grid for grid in more if grid.rows)]
    data = {**whole.data, "beside": second.data, "pairs": pairs, "leaks": leaks}
    return replace(whole, grids=grids, data=data, rows=study.measured(TABLE))


def _some(
    results: Mapping[str, Mapping[str, Accuracies]], keep: Callable[[str], bool]
) -> dict[str, dict[str, Accuracies]]:
    """Return these rows of the data sets that have any trained one."""
    some = {
        dataset: {row: one for row, one in rows.items() if keep(row)}
        for dataset, rows in results.items()
    }
    return {dataset: rows for dataset, rows in some.items() if rows.keys() - {TABLE.free}}


def reached(found: Mapping[str, Mapping[str, Accuracies]]) -> Grid:
    """Return row − base in points, with p, and which share of the oracle's gain that is."""
    rows = dict.fromkeys(row for rows in found.values() for row in rows)
    lines = []
    for row in (row for row in rows if row not in (TABLE.floor, TABLE.free, TABLE.base)):
        cells = [_gain(rows, row) for rows in found.values()]
        if any(cells):
            lines.append((row, *cells))
    note = (
        f"Row − {TABLE.base} in points; in parentheses the p value of this single paired t-test "
        "over trainings, and the share of the oracle's gain where that is above 0."
    )
    return Grid(GAIN, ("", *found), tuple(lines), (note,))


def _gain(rows: Mapping[str, Accuracies], row: str) -> str:
    if row not in rows or TABLE.base not in rows:
        return ""
    base = rows[TABLE.base]
    gap, tested = rows[row].gap(base), rows[row].minus(base)
    if gap is None:
        return ""
    facts = [] if tested is None else [p_text(tested.p).removeprefix("= ")]
    most = rows[TABLE.ceiling].gap(base) if TABLE.ceiling in rows else None
    if most is not None and most > 0 and row != TABLE.ceiling:
        facts.append(f"{100 * gap / most:.0f} %")
    return f"{100 * gap:+.2f}" + (f" ({', '.join(facts)})" if facts else "")


def _masses(study: Study, found: Mapping[str, Iterable[str]]) -> Grid:
    """Return the share of the mass of negatives that is false, without and with weights."""
    lines = []
    for row in (row for row in TABLE.rows if row in study.rows):
        cells = []
        for dataset in found:
            records = study.records(study.cell(TABLE, dataset, row)).values()
            weights = [record["weights"] for record in records if record.get("weights")]
            masses = [
                [w[name] for w in weights if name in w]
                for name in ("false_mass", "false_mass_weighted")
            ]
            cells.append(" → ".join(f"{100 * np.mean(m):.1f}" for m in masses if m))
        if any(cells):
            lines.append((row, *cells))
    note = (
        "Percent of Σ exp(s/τ) of an anchor's negatives that comes from its own class, mean over "
        "anchors and trainings in the last epoch; after the arrow with the weights."
    )
    return Grid("Mass of false negatives", ("", *found), tuple(lines), (note,))


# What a label-free score knows of the classes of pairs

ANCHORS = 512
"""Anchors drawn at random; their pairs with all other nodes are ranked."""


def pair_statistics(graph: NodeGraph, *, seed: int = 0) -> dict[str, float]:
    """Measure the cosine of propagated features as a detector of pairs of the same class.

    Returns
    -------
    dict
        `share` of the pairs that have the same class, `auc` over all pairs, and `precision_1`,
        `precision_5` and `precision_share`: the share of same-class pairs in the top 1 %, 5 % and
        `share` of the candidates of each anchor. Nodes without a class are left out.

    Examples
    --------
    >>> import augcl
    >>> found = pair_statistics(augcl.data.load_graph("digits-knn"))
    >>> round(found["auc"], 2), round(found["share"], 2)
    (0.95, 0.1)
    """
    view = NodeViews(normalised_features(graph)).clean
    if graph.labels is None:
        raise InputError(f"{graph.name} has no classes: pairs of one class are not known")
    known = (graph.labels >= 0).nonzero()[:, 0]
    z, labels = smoothed(view.x(), view.edges)[known], graph.labels[known]
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randperm(len(z), generator=generator)[:ANCHORS].to(z.device)
    others = rows[:, None] != torch.arange(len(z), device=z.device)
    score = cosine(z[rows], z)[others].view(len(rows), -1)
    same = (labels[rows, None] == labels)[others].view(len(rows), -1)
    share = float(same.float().mean())
    found = {"share": share, "auc": float(roc_auc_score(same.flatten(), score.flatten()))}
    for name, top in (("1", 0.01), ("5", 0.05), ("share", share)):
        nearest = score.topk(max(1, round(top * score.shape[1])), dim=1).indices
        found[f"precision_{name}"] = float(same.gather(1, nearest).float().mean())
    return found


@dataclass(frozen=True)
class PairCell:
    """The statistics of the pairs of a data set; `data` is as in `Cell`."""

    dataset: str
    data: str | None = None

    @property
    def name(self) -> str:
        return f"pairs of {Path(self.dataset).name}"

    @property
    def order(self) -> tuple[Any, ...]:
        return (True, 0, "", 0)

    def path(self, out: Path) -> Path:
        name = known_name(self.dataset) or Path(self.dataset).name
        return cell_file(out, name, f"pairs-{digest([name, ANCHORS, self.data])}", 0)

    def compute(self, out: Path, data_dir: str | None) -> None:
        found = pair_statistics(load_graph(self.dataset, data_dir=data_dir))
        write_json(self.path(out), {"dataset": self.dataset, "accuracy": None, **found})


def _pair_cells(study: Study) -> list[PairCell]:
    every = study.datasets
    return [PairCell(dataset, study.cell(TABLE, dataset, TABLE.base).data) for dataset in every]


def _knowledge(pairs: Mapping[str, Mapping[str, float]]) -> Grid:
    columns = {
        "share": "pairs of one class",
        "auc": "AUC",
        "precision_1": "top 1 %",
        "precision_5": "top 5 %",
        "precision_share": "top share of one class",
    }
    lines = [(name, *(f"{facts[c]:.3f}" for c in columns)) for name, facts in pairs.items()]
    note = (
        "The cosine of propagated features as a detector of pairs of the same class: area under "
        "the curve, and precision among the candidates of an anchor that it ranks first; "
        f"{ANCHORS} random anchors, nothing is trained."
    )
    return Grid("What a label-free score knows", ("", *columns.values()), tuple(lines), (note,))


# How much of the oracle's gain is the leak of test labels

KNOWN = 0.5
"""Share of the nodes whose classes the oracle knows."""
TELLERS = ("GCA", "oracle that knows half", "oracle")


def leaked(graph: NodeGraph, *, seed: int = 0, epochs: int | None = None) -> dict[str, Any]:
    """Train with an oracle that knows the classes of half of the nodes; judge both halves.

    The classifier learns from known nodes, for all rows the same. What this oracle gains on the
    nodes that it knows and not on the others is the leak of test labels.

    Returns
    -------
    dict
        For each row the accuracies in five splits on the nodes that are "known" to it, and
        "hidden" from it: the ceiling knows both, the base none, on the same nodes.

    Examples
    --------
    >>> found = leaked(load_graph("digits-knn"), epochs=1)
    >>> sorted(found), sorted(found["GCA"])
    (['GCA', 'oracle', 'oracle that knows half'], ['hidden', 'known'])
    """
    if graph.labels is None:
        raise InputError(f"{graph.name} has no classes: there is nothing to leak")
    labels = graph.labels.cpu()
    generator = torch.Generator().manual_seed(seed)
    classed = (labels >= 0).nonzero()[:, 0]
    classed = classed[torch.randperm(len(classed), generator=generator)]
    known, hidden = classed.split([half := round(KNOWN * len(classed)), len(classed) - half])
    half_told = labels.index_fill(0, hidden, -1)
    found: dict[str, Any] = {}
    for row, told in zip(TELLERS, (None, half_told, labels), strict=True):
        model = GCA(
            hardness=None if told is None else Oracle(),
            epochs=epochs,
            random_state=seed,
            progress=False,
        )
        Z = model.fit(graph if told is None else replace(graph, y=told)).transform(graph)
        found[row] = {}
        for name, judged in (("known", None), ("hidden", hidden)):
            splits = _splits_of(known, judged, len(labels), seed)
            score = evaluate(Z, labels, protocol="public-split", splits=splits, scoring="accuracy")
            found[row][name] = list(score.runs)
    return found


def _splits_of(known: Tensor, judged: Tensor | None, N: int, seed: int, count: int = 5) -> Splits:
    """Draw a tenth of all nodes to train and one to choose among `known`; test the others."""
    masks = torch.zeros(3, count, N, dtype=torch.bool)
    generator = torch.Generator().manual_seed(seed)
    tenth = N // 10
    for split in range(count):
        order = known[torch.randperm(len(known), generator=generator)]
        test = order[2 * tenth :] if judged is None else judged
        for part, nodes in enumerate((order[:tenth], order[tenth : 2 * tenth], test)):
            masks[part, split, nodes] = True
    return Splits(*masks)


@dataclass(frozen=True)
class LeakCell:
    """The accuracies of `leaked` for one seed; `data` is as in `Cell`."""

    dataset: str
    seed: int
    epochs: int | None = None
    data: str | None = None

    @property
    def name(self) -> str:
        return f"leak of labels on {Path(self.dataset).name}, seed {self.seed}"

    @property
    def order(self) -> tuple[Any, ...]:
        return (True, 0, "", self.seed)

    def path(self, out: Path) -> Path:
        name = known_name(self.dataset) or Path(self.dataset).name
        decides = [] if self.epochs is None else [self.epochs]
        return cell_file(out, name, f"leak-{digest([name, KNOWN, *decides, self.data])}", self.seed)

    def compute(self, out: Path, data_dir: str | None) -> None:
        one_thread()
        graph = load_graph(self.dataset, data_dir=data_dir)
        found = leaked(graph, seed=self.seed, epochs=self.epochs)
        write_json(self.path(out), {"dataset": self.dataset, "accuracy": None, "leak": found})


def _leak_cell(study: Study, dataset: str, seed: int) -> LeakCell:
    return LeakCell(dataset, seed, study.epochs, study.cell(TABLE, dataset, TABLE.base).data)


def _leak_cells(study: Study) -> list[LeakCell]:
    seeds = range(study.seeds or 1)
    return [_leak_cell(study, dataset, seed) for dataset in study.datasets for seed in seeds]


def _leaks(leaks: Mapping[str, list[dict[str, Any]]]) -> Grid:
    base, half, whole = TELLERS
    columns = ((half, "known"), (half, "hidden"), (whole, "known"), (whole, "hidden"))
    lines = []
    for dataset, records in leaks.items():
        means = [
            {(row, which): np.mean(one["leak"][row][which]) for row, which in columns}
            | {(base, which): np.mean(one["leak"][base][which]) for which in ("known", "hidden")}
            for one in records
        ]
        gains = [[100 * (m[row, which] - m[base, which]) for m in means] for row, which in columns]
        lines.append((dataset, str(len(means)), *(_spread(gain) for gain in gains)))
    header = ("", "trainings", *(f"{row}, {which} nodes" for row, which in columns))
    note = (
        f"Gain over {base} in points, mean ± standard deviation over trainings. One oracle knows "
        "the classes of half of the nodes, the other those of all. Known nodes: the half that both "
        "know; hidden: the other half. All classifiers learn from known nodes (logistic "
        "regression, a tenth of all nodes to train, a tenth to choose the penalty, five splits). "
        "What an oracle gains only where it knows the classes is the leak of test labels."
    )
    return Grid("How much of the oracle's gain is a leak", header, tuple(lines), (note,))


def _spread(gains: list[float]) -> str:
    return f"{np.mean(gains):+.2f} ± {np.std(gains):.2f}" if len(gains) > 1 else f"{gains[0]:+.2f}"
