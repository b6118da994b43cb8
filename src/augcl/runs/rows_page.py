"""The page of a comparison: rows as intervals, score against cost, tables, figures, settings."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from augcl.evaluation.scoring import NAMES
from augcl.files import write_text
from augcl.hardness import CEILING
from augcl.runs.models import METHODS
from augcl.runs.page import self_contained
from augcl.runs.recommend import TRAINING_FREE, Scores
from augcl.runs.run import Spec, versions

PAIRS = 24
"""Rows of a data set at most for which all pairs are compared."""
SENTENCES = 8
"""Sentences at most that are not folded."""
SECONDS = "seconds"
"""The scoring of rows that are not scored but timed."""
KINDS = ("needs no training", "untrained", "trained", "weighted negatives", "uses the labels")


@dataclass(frozen=True)
class Row:
    """A measured row: its scores, and everything that decided them.

    Parameters
    ----------
    name, dataset : str
        As in the tables.
    scores : Scores
    spec : Spec, optional
        None where it is no method of augcl train that was measured; then `settings` and `kind` are
        needed.
    command : str
        A command that trains the row.
    settings : mapping
        All settings, as plain JSON; those of `spec` if empty.
    published : (float, float or None), optional
        Mean and standard deviation in percent.
    kind : str
        What the row needs, one of `KINDS`; by `spec` if empty.
    interval : (float, float), optional
        95 % interval of the mean; that of the scores if None.
    """

    name: str
    dataset: str
    scores: Scores
    spec: Spec | None
    command: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    published: tuple[float, float | None] | None = None
    kind: str = ""
    interval: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.spec is not None and not self.kind:
            object.__setattr__(self, "kind", _kind(self.spec))

    @classmethod
    def of(
        cls,
        name: str,
        spec: Spec,
        records: Sequence[Mapping[str, Any]],
        published: tuple[float, float] | None = None,
    ) -> Row:
        """Read a row from the records of its trainings."""
        first = records[0]
        names = {"method": "settings", "hardness": "hardness_settings"}
        settings = {part: first[name] for part, name in names.items() if name in first}
        scores = Scores.of(records, spec.level)
        return cls(name, spec.dataset, scores, spec, "", settings, published)


def _kind(spec: Spec) -> str:
    """Return what a row with these settings needs, one of `KINDS`."""
    if spec.epochs == 0:
        return KINDS[1]
    if spec.hardness in CEILING:
        return KINDS[4]
    if spec.hardness != "none":
        return KINDS[3]
    free = spec.method in TRAINING_FREE or METHODS[spec.method].gives_kernel
    return KINDS[0] if free else KINDS[2]


class TextTable(NamedTuple):
    """A table of text; the first column names the rows."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]


def write_rows_page(
    path: Path,
    title: str,
    rows: Sequence[Row],
    tables: Sequence[TextTable],
    *,
    sentences: Sequence[str] = (),
    figures: Mapping[str, str] | None = None,
) -> Path:
    """Write one self-contained page.

    Parameters
    ----------
    path : Path
    title : str
    rows : sequence of Row
        Shown as intervals, and against their cost.
    tables : sequence of TextTable
        Their numbers are links to the settings of the row with the same name and data set.
    sentences : sequence of str
        What follows from the rows; lines that begin with four blanks are commands.
    figures : mapping, optional
        Further figures by name, as SVG.
    """
    data = {
        "kinds": KINDS,
        "rows": [_plain(row) for row in rows],
        "pairs": _pairs(rows),
        "tables": [
            {**table._asdict(), "links": [_links(table, line, rows) for line in table.rows]}
            for table in tables
        ],
        "figures": [{"name": name, "data": _packed_svg(svg)} for name, svg in _given(figures)],
    }
    computed = ", ".join(f"{name} {number}" for name, number in versions().items())
    page = self_contained(
        title,
        lead=_lead(sentences),
        footer=f"Written by {computed}.",
        data=data,
        scripts=("draw", "rows"),
    )
    write_text(path, page)
    return path


def _given(figures: Mapping[str, str] | None) -> list[tuple[str, str]]:
    return [] if figures is None else list(figures.items())


def _lead(sentences: Sequence[str]) -> str:
    """Return the sentences as HTML; of many, the later ones can be unfolded."""
    lines = list(map(_sentence, sentences))
    if len(lines) <= SENTENCES:
        return "\n".join(lines)
    more = f"<details><summary>All {len(lines)} sentences</summary>"
    return "\n".join([*lines[:3], more, *lines[3:], "</details>"])


def _sentence(text: str) -> str:
    if text.startswith("    "):
        return f'<pre tabindex="0">{html.escape(text.strip())}</pre>'
    return f"<p>{html.escape(text)}</p>"


def _packed_svg(svg: str) -> str:
    return base64.b64encode(svg.encode()).decode("ascii")


def _plain(row: Row) -> dict[str, Any]:
    scores = row.scores
    low, high = row.interval or scores.interval() or (None, None)
    percent = scores.scoring not in ("r2", "mae", "rmse", SECONDS)
    runs = [float(np.nanmean(seed)) for seed in scores.outer if not np.isnan(seed).all()]
    settings = dict(row.settings) or (_told(row.spec) if row.spec is not None else {})
    return {
        "name": row.name,
        "dataset": row.dataset,
        "kind": row.kind,
        "mean": None if np.isnan(scores.outer).all() else scores.mean,
        "low": _number(low),
        "high": _number(high),
        "runs": runs,
        "percent": percent,
        "what": NAMES.get(scores.scoring, scores.scoring),
        "protocol": scores.protocol,
        "floor": _number(scores.floor),
        "training": _number(scores.training),
        "embedding": _number(scores.embedding),
        "memory": _number(scores.memory),
        "published": row.published and [v if v is None else v / 100 for v in row.published],
        "command": row.command,
        "settings": json.dumps(settings, indent=1, default=str),
    }


def _number(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _told(spec: Spec) -> dict[str, Any]:
    """The settings of a row that are not the usual ones."""
    usual = Spec(spec.dataset)
    told = {"dataset": spec.dataset, "method": spec.method, "hardness": spec.hardness}
    return told | {k: v for k, v in vars(spec).items() if v != getattr(usual, k)}


def _pairs(rows: Sequence[Row]) -> dict[str, list[float]]:
    """Return row − other of the same splits, as [mean, low, high, p], by "row,other"."""
    found = {}
    for dataset in dict.fromkeys(row.dataset for row in rows):
        some = [i for i, row in enumerate(rows) if row.dataset == dataset][:PAIRS]
        for i in some:
            for j in some:
                one, other = rows[i].scores, rows[j].scores
                alike = one.outer.shape == other.outer.shape and one.protocol == other.protocol
                apart = one.minus(other) if i != j and alike else None
                if apart is not None:
                    found[f"{i},{j}"] = [apart.mean, apart.low, apart.high, apart.p]
    return found


NOT_OURS = ("", "base", "its base", "published", "published ratio", "gap", "p")
"""Columns whose numbers are not those of the row."""


def _links(table: TextTable, line: Sequence[str], rows: Sequence[Row]) -> list[int]:
    """Return for each cell the number of the row whose settings gave it, or −1.

    The data set of a row is the table, a column, or part of the name of the line; or the line and
    the table together, if columns are the names of rows.
    """
    place = {(row.name, row.dataset): i for i, row in enumerate(rows)}
    whole = {f"{row.dataset}, {row.name}": i for i, row in enumerate(rows)}
    name, links = line[0], []
    for column, cell in zip(table.header, line, strict=True):
        keys = (name, table.title), (name, column), (column, f"{table.title}, {name}")
        found = [place[key] for key in keys if key in place]
        found += [whole[name]] if name in whole else []
        links.append(found[0] if found and cell and column not in NOT_OURS else -1)
    return links
