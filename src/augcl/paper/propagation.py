"""Where the accuracy of propagated features comes from: features, hops, columns, classifier.

    python -m augcl.paper.propagation --data DIR --out results [--only NAME ...]

computes the records that are missing in results/propagation.jsonl, one line per data set and
setting of `augcl.Propagation`, each judged by both protocols for nodes. It can be stopped at any
time and continues where it was. `table` shows what the records say, for the results pages.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from augcl.data import load
from augcl.evaluation import evaluate
from augcl.methods.propagation import Propagation
from augcl.paper.grid import Grid
from augcl.paper.records import Place, Record, read_lines

FILE = "propagation"
PROTOCOLS = ("linear-10-10-80", "logistic-10-10-80")
SPLITS = 5
"""Random splits that judge each setting; there is nothing random in the embedding that matters."""

SETS = {
    "Cora": "npz/cora.npz",
    "Amazon-Photo": "npz/amazon_electronics_photo.npz",
    "Amazon-Computers": "npz/amazon_electronics_computers.npz",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "default (hops 0, 1, 2, 4)": {},
    "features only": {"steps": 0},
    "hop 1": {"steps": 1},
    "hop 2": {"steps": 2},
    "hop 4": {"steps": 4},
    "PageRank, α 0.1": {"steps": 10, "alpha": 0.1},
    "PageRank, α 0.2": {"steps": 10, "alpha": 0.2},
    "default, rows over their sums": {"normalize_features": True},
    "default, not centred": {"center": False},
    "default, rows not of length 1": {"unit_rows": False},
    "default, not rotated": {"rotate": False},
    "default, 256 columns": {"width": 256},
    "PageRank, α 0.2, all columns, not rotated": {
        "steps": 10,
        "alpha": 0.2,
        "width": None,
        "rotate": False,
    },
}
"""What is changed in the default of `Propagation`, by row."""


def compute(folder: Path, data_dir: Path, name: str) -> int:
    """Compute and store the missing records of a data set; return how many there were."""
    known = read_lines(folder / f"{FILE}.jsonl")
    missing = [row for row in SETTINGS if Place(FILE, f"{name}/{row}", 0) not in known]
    if missing:
        graph = load(data_dir / SETS[name])
    for row in missing:
        record = measure(graph, SETTINGS[row])
        line = {"key": f"{name}/{row}", "seed": 0, "record": record}
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{FILE}.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, sort_keys=True, allow_nan=False) + "\n")
        said = ", ".join(f"{100 * record[p]['score']:.2f}" for p in PROTOCOLS)
        print(f"{name}, {row}: {said}", file=sys.stderr, flush=True)
    return len(missing)


def measure(graph: Any, settings: dict[str, Any], *, splits: int = SPLITS) -> Record:
    """Embed the nodes once and judge them by both protocols, on the same splits."""
    start = time.perf_counter()
    Z = Propagation(**settings).fit_transform(graph)
    record: Record = {"fit_seconds": round(time.perf_counter() - start, 2), "columns": Z.shape[1]}
    for protocol in PROTOCOLS:
        score = evaluate(Z, graph, protocol=protocol, repeats=splits, progress=False)
        record[protocol] = {"score": score.mean, "runs": list(score.runs), "floor": score.floor}
    return record


def table(folder: Path) -> Grid:
    """Return the table; without rows if nothing is measured."""
    found = read_lines(folder / f"{FILE}.jsonl")
    lines = []
    for row in SETTINGS:
        records = [found.get(Place(FILE, f"{name}/{row}", 0)) for name in SETS]
        cells = [
            "–" if record is None else f"{100 * record[protocol]['score']:.2f}"
            for record in records
            for protocol in PROTOCOLS
        ]
        if any(records):
            lines.append((row, *cells))
    header = ("", *(f"{name}, {p.partition('-')[0]}" for name in SETS for p in PROTOCOLS))
    note = (
        f"Accuracy in percent over {SPLITS} random splits of 10 / 10 / 80 %, by linear-10-10-80 "
        "(linear) and logistic-10-10-80 (logistic); –: not measured."
    )
    return Grid("Parts of propagation", header, tuple(lines), (note,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--out", type=Path, default=Path("results"), help="folder of the records")
    parser.add_argument("--only", nargs="+", choices=SETS, metavar="NAME", help="these data sets")
    options = parser.parse_args()
    for name in options.only or SETS:
        compute(options.out, options.data, name)


if __name__ == "__main__":
    main()
