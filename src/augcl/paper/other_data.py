"""Data sets that are not in the paper: molecules, public splits, several labels, bonds.

    python -m augcl.paper.other_data --data DIR --out results [--only NAME ...] [--seeds N]

computes the records that are missing in results/other-data.jsonl, one line per data set, protocol,
method and seed. It can be stopped at any time and continues where it was. `tables` shows what the
records say, for the results pages.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import augcl
from augcl.data import load, scaffold_groups
from augcl.evaluation import evaluate
from augcl.evaluation.scoring import NAMES
from augcl.methods.beside import Beside
from augcl.paper.grid import Grid
from augcl.paper.records import Place, Record, read_lines

FILE = "other-data"
MISSING = "–"

Method = Callable[[int], Any]
"""Make the method with a seed."""

FLOOR = "floor"
MORGAN, RAW, WL = "Morgan", "raw features", "WL kernel"
UNTRAINED, PLAIN, WEIGHTED = "untrained", "GraphCL", "GraphCL + augcl"
BESIDE, BESIDE_WEIGHTED = "GraphCL beside Morgan", "GraphCL + augcl beside Morgan"
DEEPWALK, NODE2VEC = "DeepWalk", "node2vec"
NODE_EPOCHS = 50
TRAINED = f"GCA ({NODE_EPOCHS} epochs)"
PROPAGATION = "Propagation"
NODE_BESIDE, NODE_WEIGHTED = "GCA beside Propagation", "GCA + augcl beside Propagation"


def _graphcl(**settings: Any) -> Method:
    return lambda seed: augcl.GraphCL(random_state=seed, progress=False, **settings)


def _beside_morgan(**settings: Any) -> Method:
    return lambda seed: Beside(_graphcl(**settings)(seed), augcl.MorganFingerprints())


def _gca(epochs: int) -> Method:
    settings: dict[str, Any] = {
        "preset": "published",
        "epochs": epochs,
        "candidates": 512,
        "progress": False,
    }
    return lambda seed: augcl.GCA(random_state=seed, **settings)


def _beside_propagation(hardness: str) -> Method:
    def make(seed: int) -> Beside:
        trained = augcl.GCA(hardness=hardness, random_state=seed, progress=False)
        return Beside(trained, augcl.Propagation(random_state=seed, progress=False))

    return make


def _bonds(used: bool) -> dict[str, Method]:
    return {
        WL: lambda seed: augcl.WLKernel(edge_labels=used),
        UNTRAINED: _graphcl(epochs=0, edge_features=used),
        PLAIN: _graphcl(edge_features=used),
    }


MOLECULES: dict[str, Method] = {
    MORGAN: lambda seed: augcl.MorganFingerprints(),
    UNTRAINED: _graphcl(epochs=0),
    PLAIN: _graphcl(),
    WEIGHTED: _graphcl(hardness="augcl"),
    BESIDE: _beside_morgan(),
    BESIDE_WEIGHTED: _beside_morgan(hardness="augcl"),
}
NODES: dict[str, Method] = {
    RAW: lambda seed: augcl.RawFeatures(),
    UNTRAINED: _gca(0),
    TRAINED: _gca(NODE_EPOCHS),
    PROPAGATION: lambda seed: augcl.Propagation(random_state=seed, progress=False),
    NODE_BESIDE: _beside_propagation("none"),
    NODE_WEIGHTED: _beside_propagation("augcl"),
}
LABELS: dict[str, Method] = {  # as published
    DEEPWALK: lambda seed: augcl.DeepWalk(walks=80, length=40, random_state=seed, progress=False),
    NODE2VEC: lambda seed: augcl.Node2Vec(p=0.25, q=0.25, random_state=seed, progress=False),
}
SHARES = range(10, 100, 10)
"""Training nodes, in percent."""
PUBLISHED: dict[str, dict[str, float]] = {
    DEEPWALK: {
        "f1_macro_at_50": 27.30,
        **{
            f"f1_micro_at_{share}": value
            for share, value in zip(
                SHARES, (36.0, 38.2, 39.6, 40.3, 41.0, 41.3, 41.5, 41.5, 42.0), strict=True
            )
        },
    },
    NODE2VEC: {"f1_macro_at_50": 25.81},
}
"""On BlogCatalog: table 2 of DeepWalk (arXiv:1403.6652) and table 2 of node2vec (arXiv:1607.00653),
in percent."""


@dataclass(frozen=True)
class Data:
    """A data set, its file below the data folder, the methods to compare and how to judge them."""

    name: str
    file: str
    methods: Mapping[str, Method]
    protocol: str
    scoring: str
    splits: tuple[str, ...]
    """What a row of the table says besides the name; "by scaffold" keeps scaffolds together."""
    target: str | None = None
    seeds: int = 5

    def seeds_of(self, method: str) -> int:
        """Return the number of seeds; what is not trained on fixed splits needs no second one."""
        return 1 if method in (RAW, PROPAGATION) else self.seeds

    def row(self, split: str) -> str:
        """Return the name of a row of the table.

        >>> SETS["ESOL"].row("random")
        'ESOL, random'
        """
        return f"{self.name}, {split}" if split else self.name


def _regression(name: str, file: str, target: str) -> Data:
    splits = ("random", "by scaffold")
    return Data(name, file, MOLECULES, "ridge-10fold", "r2", splits, target)


def _by_scaffold(name: str, file: str, target: str) -> Data:
    splits = ("by scaffold",)
    return Data(name, file, MOLECULES, "logistic-10fold", "roc_auc", splits, target)


def _nodes(name: str, file: str, splits: str, scoring: str = "accuracy") -> Data:
    return Data(name, file, NODES, "public-split", scoring, (splits,))


def _mutag(name: str, used: bool) -> Data:
    return Data(name, "TU/MUTAG.zip", _bonds(used), "tu-svm-10fold", "accuracy", ("",))


BONDS = ("MUTAG without bonds", "MUTAG with bonds")
SETS = {
    data.name: data
    for data in (
        _mutag(BONDS[0], False),
        _mutag(BONDS[1], True),
        _regression("FreeSolv", "molecules/freesolv.csv", "freesolv"),
        _regression("ESOL", "molecules/esol.csv", "logSolubility"),
        _by_scaffold("BBBP", "molecules/bbbp.csv", "p_np"),
        _nodes("Chameleon", "heterophilous/chameleon_filtered.npz", "ten splits"),
        _nodes("Cora", "planetoid/ind.cora.graph", "public split"),
        _nodes("Minesweeper", "heterophilous/minesweeper.npz", "ten splits", "roc_auc"),
        _nodes("Actor", "heterophilous/actor.npz", "ten splits"),
        _nodes("PubMed", "planetoid/ind.pubmed.graph", "public split"),
        Data(
            "BlogCatalog",
            "multilabel/blogcatalog",
            LABELS,
            "deepwalk-multilabel",
            "f1_micro",
            ("",),
            "group_*",
        ),
        _by_scaffold("Tox21", "molecules/tox21.csv", "?R-*"),
    )
}
"""All data sets, small ones first."""


class Task(NamedTuple):
    """One method with one seed on one data set; it is trained once for all `splits`."""

    data: Data
    method: str
    seed: int
    splits: tuple[str, ...]


def place(data: Data, split: str, method: str, seed: int) -> Place:
    """Return where the record of a measurement lies."""
    return Place(FILE, f"{data.row(split)}/{method}", seed)


def missing(folder: Path, data: Data) -> Iterator[Task]:
    """Yield what is not computed yet, all methods of a seed before the next seed."""
    for seed in range(data.seeds):
        for method in (m for m in data.methods if seed < data.seeds_of(m)):
            known = read_lines(folder / f"{FILE}.jsonl")
            splits = tuple(s for s in data.splits if place(data, s, method, seed) not in known)
            if splits:
                yield Task(data, method, seed, splits)


def compute(folder: Path, data_dir: Path, data: Data) -> int:
    """Compute and store the missing records of a data set; return how many there were."""
    count, samples = 0, None
    for task in missing(folder, data):
        if samples is None:  # only read if something is missing
            samples = load(data_dir / data.file, target=data.target, skip_bad=True)
        for split, record in measure(task, samples):
            store(folder, place(data, split, task.method, task.seed), record)
            say = f"{data.row(split)}, {task.method}, seed {task.seed}: {record['score']:.4f}"
            print(say, file=sys.stderr, flush=True)
            count += 1
    return count


def measure(task: Task, samples: Any) -> Iterator[tuple[str, Record]]:
    """Train the method once and evaluate it with every split; yield split and record."""
    data, start = task.data, time.perf_counter()
    method = data.methods[task.method](task.seed)
    Z = method.fit_transform(samples)
    seconds = time.perf_counter() - start
    public = data.protocol == "public-split"
    for split in task.splits:
        start = time.perf_counter()
        score = evaluate(
            Z,
            samples,
            protocol=data.protocol,
            scoring=data.scoring,
            kernel=isinstance(method, augcl.WLKernel),
            groups=scaffold_groups(samples.smiles) if split == "by scaffold" else None,
            repeats=None if public else 1,  # all splits that the data fix
            random_state=task.seed,
            progress=False,
        )
        yield (
            split,
            {
                "score": score.mean,
                "runs": list(score.runs),
                "floor": score.floor,
                "scoring": score.scoring,
                "protocol": score.protocol,
                "fit_seconds": round(seconds, 2),
                "evaluate_seconds": round(time.perf_counter() - start, 2),
                **({"details": dict(score.details)} if data.methods is LABELS else {}),
            },
        )


def store(folder: Path, where: Place, record: Record) -> None:
    """Append a line, so that several processes can work on different data sets."""
    line = {"key": where.key, "seed": where.seed, "record": record}
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{FILE}.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(line, sort_keys=True, allow_nan=False) + "\n")


class Found(NamedTuple):
    """The records of one row of a table: scores by method and seed, and the floor."""

    data: Data
    split: str
    records: dict[str, dict[int, Record]]

    @property
    def name(self) -> str:
        return self.data.row(self.split)

    def mean(self, method: str) -> float | None:
        """Return the mean over all runs of a method, or of the floor; None if there is none."""
        if method == FLOOR:
            floors = [one["floor"] for seeds in self.records.values() for one in seeds.values()]
            return float(np.mean(floors)) if floors else None
        seeds = self.records.get(method)
        return float(np.mean([one["score"] for one in seeds.values()])) if seeds else None

    def cell(self, method: str) -> str:
        """Write mean and spread over all runs, and the number of seeds if others have more."""
        mean = self.mean(method)
        if mean is None:
            return MISSING
        percent = self.data.scoring == "accuracy"
        scale, digits = (100, 2) if percent else (1, 3)
        text = f"{scale * mean:.{digits}f}"
        if method == FLOOR:
            return text
        seeds = self.records[method]
        runs = [run for one in seeds.values() for run in one["runs"]]
        if len(runs) > 1:
            text += f" ± {scale * np.std(runs):.{digits}f}"
        full = min(self.seeds(), self.data.seeds_of(method))
        return text if len(seeds) >= full else f"{text} ({len(seeds)})"

    def seeds(self) -> int:
        return max((len(seeds) for seeds in self.records.values()), default=0)

    def line(self, methods: tuple[str, ...]) -> tuple[str, ...]:
        cells = (self.cell(method) for method in methods)
        measured = str(self.seeds()) if self.records else MISSING
        return (self.name, NAMES[self.data.scoring], measured, *cells)


def found_rows(folder: Path) -> list[Found]:
    """Return all rows of all tables, with what the records hold of them."""
    lines = read_lines(folder / f"{FILE}.jsonl")
    rows = []
    for data in SETS.values():
        for split in data.splits:
            records: dict[str, dict[int, Record]] = {}
            for where, record in lines.items():
                row, _, method = where.key.rpartition("/")
                if row == data.row(split):
                    records.setdefault(method, {})[where.seed] = record
            rows.append(Found(data, split, records))
    return rows


SHORT = {
    "molecules": (FLOOR, MORGAN, UNTRAINED, BESIDE),
    "nodes": (FLOOR, PROPAGATION, UNTRAINED, NODE_BESIDE),
    "bonds": (FLOOR, WL, UNTRAINED, PLAIN),
}
"""Columns of the summary by table: floor, training-free, untrained, the default of ``train``."""

NOTE = (
    "Accuracy in percent. ±: over the seeds; for nodes, over all splits of all seeds. A number in "
    "parentheses counts the seeds of a cell with fewer than the others of its row; –: not measured."
)


def tables(folder: Path) -> dict[str, Grid]:
    """Return the tables "molecules", "nodes", "bonds" and "labels"; no rows: nothing measured."""
    rows = found_rows(folder)
    kinds: dict[str, tuple[str, Mapping[str, Method]]] = {
        "molecules": ("Molecules", MOLECULES),
        "nodes": ("Nodes with public splits", NODES),
        "bonds": ("With and without bonds", _bonds(True)),
    }
    grids = {}
    for kind, (title, methods) in kinds.items():
        columns = (FLOOR, *methods)
        shown = [row for row in rows if [*row.data.methods] == [*methods]]
        measured = any(row.records for row in shown)
        lines = tuple(row.line(columns) for row in shown) if measured else ()
        grids[kind] = Grid(title, ("", "score", "seeds", *columns), lines, (NOTE,))
    grids["labels"] = _labels(next(row for row in rows if row.data.methods is LABELS))
    return grids


def _labels(found: Found) -> Grid:
    """Return micro-F1 by the share of training nodes, measured and published."""
    columns = [*(f"f1_micro_at_{share}" for share in SHARES), "f1_macro_at_50"]
    lines = []
    for method in LABELS if found.records else ():
        seeds = found.records.get(method, {}).values()
        cells = [MISSING] * len(columns)
        if seeds:
            means = [np.mean([np.mean(one["details"][name]) for one in seeds]) for name in columns]
            cells = [f"{100 * mean:.1f}" for mean in means]
        lines.append((method, str(len(seeds)) if seeds else MISSING, *cells))
        known = [PUBLISHED[method].get(name) for name in columns]
        told = [MISSING if value is None else f"{value:.1f}" for value in known]
        lines.append((f"{method}, published", MISSING, *told))
    header = ("", "seeds", *(f"{share} %" for share in SHARES), "macro-F1 at 50 %")
    note = "Micro-F1 in percent, by the share of training nodes; –: not measured or not published."
    return Grid("Several labels per node", header, tuple(lines), (note,))


def findings(folder: Path) -> str:
    """Say what the tables show, from their numbers."""
    rows = found_rows(folder)
    pairs = (
        *((PLAIN, MORGAN), (BESIDE_WEIGHTED, MORGAN), (PLAIN, UNTRAINED), (WEIGHTED, PLAIN)),
        *((TRAINED, RAW), (TRAINED, UNTRAINED), (TRAINED, PROPAGATION)),
        (NODE_BESIDE, PROPAGATION),
    )
    said = [text for pair in pairs if (text := _against(rows, *pair))]
    if said:
        said.append("These sentences compare means only; the tables show the spread.")
    return " ".join(filter(None, [*said, _bond_gain(rows)]))


def _against(rows: list[Found], one: str, other: str) -> str:
    """Say where the mean of one method is above that of another."""
    means = {row.name: (row.mean(one), row.mean(other)) for row in rows}
    both = {name: (a, b) for name, (a, b) in means.items() if a is not None and b is not None}
    if not both:
        return ""
    above = [name for name, (a, b) in both.items() if a > b]
    where = f" ({'; '.join(above)})" if above and len(above) < len(both) else ""
    count = f"{len(above)} of {len(both)} {'row' if len(both) == 1 else 'rows'}"
    than = "the untrained encoder" if other == UNTRAINED else other
    return f"{one} has a higher mean than {than} in {count}{where}."


def _bond_gain(rows: list[Found]) -> str:
    """Say what the bonds change, by method, and how much the scores vary without them."""
    without, used = (next(row for row in rows if row.name == name) for name in BONDS)
    parts = []
    for method in used.data.methods:
        a, b = without.mean(method), used.mean(method)
        if a is not None and b is not None:
            spread = 100 * np.std([one["score"] for one in without.records[method].values()])
            parts.append(f"{method} {100 * (b - a):+.2f} ({spread:.2f})")
    said = "With bonds the accuracy on MUTAG changes by these points (in parentheses the standard "
    return f"{said}deviation over the seeds without bonds): {', '.join(parts)}." if parts else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the records")
    parser.add_argument("--only", nargs="+", choices=SETS, metavar="NAME", help="these data sets")
    parser.add_argument("--seeds", type=int, default=5, help="at most so many seeds; default: 5")
    options = parser.parse_args()
    for name in options.only or SETS:
        data = SETS[name]
        fewer = replace(data, seeds=min(data.seeds, options.seeds))
        compute(options.out, options.data, fewer)


if __name__ == "__main__":
    main()
