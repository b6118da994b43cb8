"""Records of finished cells: first one small file per cell, then one JSON-lines file per data set.

    python -m augcl.paper.records results [--from FOLDER]

`augcl reproduce --out FOLDER` writes each finished cell to a small file of its own, so that several
processes can share the folder and a killed one loses nothing::

    FOLDER/cells/MUTAG/GraphCL+augcl-44a6d52a6b55/seed-0.json    a training
    FOLDER/time/MUTAG-27f5e95e6f29.json                          a measurement of time
    FOLDER/liveness/MUTAG.json, FOLDER/collapse/MUTAG/seed-0.json    fits of the uncertainty model

The command above merges these *loose files* into FOLDER/MUTAG.jsonl: one line per cell with its
`key` (label-digest), `seed` and `record`, sorted by key and seed. Readers use both; a loose file
has precedence over the line of the same cell.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from augcl.errors import InputError
from augcl.files import read_record, write_text

CELLS, TIME, LIVENESS, COLLAPSE = "cells", "time", "liveness", "collapse"
PATTERNS = (
    f"{CELLS}/*/*/seed-*.json",
    f"{COLLAPSE}/*/seed-*.json",
    f"{LIVENESS}/*.json",
    f"{TIME}/*.json",
)

Record = dict[str, Any]


class Place(NamedTuple):
    """The place of a record: `dataset` names its JSON-lines file, `key` and `seed` its line."""

    dataset: str
    key: str
    seed: int

    @classmethod
    def of(cls, path: Path, folder: Path) -> Place:
        """Return the place of a loose file below `folder`.

        >>> Place.of(Path("out/cells/MUTAG/GraphCL-1f/seed-2.json"), Path("out"))
        Place(dataset='MUTAG', key='GraphCL-1f', seed=2)
        >>> Place.of(Path("out/time/IMDB-BINARY-6aa6.json"), Path("out"))
        Place(dataset='IMDB-BINARY', key='time-6aa6', seed=0)
        """
        kind, *parts = path.relative_to(folder).with_suffix("").parts
        if kind == CELLS:
            dataset, key, seed = parts
        elif kind == COLLAPSE:
            (dataset, seed), key = parts, COLLAPSE
        elif kind == LIVENESS:
            (dataset,), key, seed = parts, LIVENESS, "seed-0"
        else:
            dataset, _, digest = parts[0].rpartition("-")
            key, seed = f"{TIME}-{digest}", "seed-0"
        return cls(dataset, key, int(seed.removeprefix("seed-")))


def cell_file(folder: Path, dataset: str, key: str, seed: int) -> Path:
    """Return the loose file of a cell of a table."""
    return folder / CELLS / dataset / key / f"seed-{seed}.json"


def is_finished(path: Path, folder: Path) -> bool:
    """Return whether the record exists, as the loose file `path` or merged."""
    return path.exists() or Place.of(path, folder) in merged_lines(folder, path)


def read(path: Path, folder: Path) -> Record | None:
    """Return the record from the loose file `path` or from the merged files; None if missing."""
    loose = read_record(path)
    return merged_lines(folder, path).get(Place.of(path, folder)) if loose is None else loose


def read_seeds(path: Path, folder: Path) -> dict[int, Record]:
    """Return the records of all seeds of a cell; `path` is the loose file of any of them."""
    own = Place.of(path, folder)
    found = {
        place.seed: record
        for place, record in merged_lines(folder, path).items()
        if place.key == own.key
    }
    for file in path.parent.glob("seed-*.json"):
        record = read_record(file)
        if record is not None:  # another process may merge and remove the loose file
            found[Place.of(file, folder).seed] = record
    return dict(sorted(found.items()))


def merged_lines(folder: Path, path: Path) -> Mapping[Place, Record]:
    """Return all merged records of the data set to which a loose file belongs."""
    return read_lines(folder / f"{Place.of(path, folder).dataset}.jsonl")


def read_lines(file: Path) -> Mapping[Place, Record]:
    """Return the records of one JSON-lines file; empty if there is no such file."""
    if not file.exists():
        return {}
    now = file.stat()
    return _read_lines(file, now.st_mtime_ns, now.st_size)


@lru_cache(maxsize=64)  # tables read once per cell; a changed file has another time or size
def _read_lines(file: Path, time: int, size: int) -> Mapping[Place, Record]:
    found = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            one = json.loads(line)
            found[Place(file.stem, one["key"], one["seed"])] = one["record"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"line {number} of {file} is damaged ({error}): restore the file"
            ) from None
    return found


def write_lines(file: Path, records: Mapping[Place, Record]) -> None:
    """Write a JSON-lines file: sorted lines, sorted keys, so that differences are small."""
    lines = []
    for place in sorted(records):
        record = json.dumps(records[place], sort_keys=True, allow_nan=False)
        lines.append(
            f'{{"key": {json.dumps(place.key)}, "seed": {place.seed}, "record": {record}}}\n'
        )
    write_text(file, "".join(lines))


def loose_files(folder: Path) -> Iterator[Path]:
    """Yield the files of finished cells that are not merged yet."""
    for pattern in PATTERNS:
        yield from folder.glob(pattern)


def merge(folder: Path, source: Path | None = None) -> dict[str, int]:
    """Merge the loose files of `source` into the JSON-lines files of `folder`.

    Parameters
    ----------
    folder : Path
        Folder of the JSON-lines files.
    source : Path, optional
        Another folder, which is not changed; its JSON-lines files are merged too. By default
        `folder` itself, whose loose files are removed after merging. No process may compute
        cells there at the same time.

    Returns
    -------
    dict
        Number of new or changed records by data set.
    """
    every: dict[str, dict[Place, Record]] = defaultdict(dict)
    loose = sorted(loose_files(source or folder))
    if source is not None:
        for file in sorted(source.glob("*.jsonl")):
            every[file.stem].update(read_lines(file))
    for path in loose:
        record = read_record(path)
        if record is not None:
            place = Place.of(path, source or folder)
            every[place.dataset][place] = record
    changed = {}
    for dataset, records in every.items():
        file = folder / f"{dataset}.jsonl"
        before = read_lines(file)
        new = {p: r for p, r in records.items() if p not in before or before[p] != r}
        if new:
            write_lines(file, {**before, **new})
            changed[dataset] = len(new)
    if source is None:
        for path in loose:
            path.unlink()
            _remove_empty(path.parent, folder)
    return changed


def _remove_empty(folder: Path, top: Path) -> None:
    """Remove a folder and its parents below `top` if they are empty."""
    with suppress(OSError):  # the folder is not empty
        while folder != top:
            folder.rmdir()
            folder = folder.parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder of the JSON-lines files")
    parser.add_argument(
        "--from",
        dest="source",
        type=Path,
        help="folder of the loose files, which is not changed; default: the same folder",
    )
    options = parser.parse_args()
    changed = merge(options.folder, options.source)
    for dataset, count in sorted(changed.items()):
        print(f"{options.folder / dataset}.jsonl: {count} new or changed")
    print(f"{sum(changed.values())} records merged")


if __name__ == "__main__":
    main()
