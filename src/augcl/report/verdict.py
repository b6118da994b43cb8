"""What the evidence supports, in sentences."""

from __future__ import annotations

from collections.abc import Mapping

from augcl.evaluation.statistics import PairedDifference, holm
from augcl.experiments.measured import Measured
from augcl.experiments.table import Table

LEVEL = 0.05


def headroom(rows: Mapping[str, Measured], table: Table) -> PairedDifference | None:
    """Oracle − base: what the best weighting of negatives could gain."""
    return _difference(rows, table.ceiling, table.base)


def verdict(rows: Mapping[str, Measured], table: Table) -> list[str]:
    """Is the base worth training, does a method beat it, and could one?"""
    sentences = []
    trained = _difference(rows, table.base, table.floor)
    if trained is not None:
        sentences.append(_trained(table.base, trained))
    methods = table.competing(rows)
    differences = {row: _difference(rows, row, table.base) for row in methods}
    tested = {row: found for row, found in differences.items() if found is not None}
    if tested:
        sentences.append(_methods(table.base, tested))
    elif methods and table.base in rows:
        sentences.append("One training says nothing about noise: use more seeds.")
    room = headroom(rows, table)
    if room is not None:
        sentences.append(_room(table.base, room))
    return sentences


def _difference(rows: Mapping[str, Measured], a: str, b: str) -> PairedDifference | None:
    return rows[a].minus(rows[b]) if a in rows and b in rows else None


def _trained(base: str, gain: PairedDifference) -> str:
    if gain.p >= LEVEL:
        return f"{base} itself does not beat the untrained encoder here beyond noise ({gain})."
    verb = "beats" if gain.mean > 0 else "is worse than"
    return f"{base} {verb} the untrained encoder here ({gain})."


def _methods(base: str, tested: Mapping[str, PairedDifference]) -> str:
    """Holm's correction: among many methods one looks better by chance."""
    adjusted = dict(zip(tested, holm([found.p for found in tested.values()]), strict=True))
    sure = [row for row, p in adjusted.items() if p < LEVEL]
    better = [f"{row} ({tested[row]})" for row in sure if tested[row].mean > 0]
    worse = [f"{row} ({tested[row]})" for row in sure if tested[row].mean < 0]
    text = f"No method beats {base} here beyond noise"
    lucky = [r for r, d in tested.items() if d.p < LEVEL and d.mean > 0 and r not in sure]
    if lucky:
        text += f" ({', '.join(lucky)}: not after Holm's correction for {len(tested)} methods)"
    if better:
        text = f"{base} is beaten here by {', '.join(better)}"
    if worse:
        text += f"; {', '.join(worse)} {'is' if len(worse) == 1 else 'are'} worse than it"
    return text + "."


def _room(base: str, room: PairedDifference) -> str:
    """Of the oracle: perfect knowledge of which negatives are false."""
    if room.p < LEVEL and room.mean > 0:
        return f"Weighting negatives could gain here: the oracle is above {base} ({room})."
    return (
        f"Even the oracle, which knows all false negatives, does not beat {base} here beyond "
        f"noise ({room}): that any weighting of negatives could help here is not shown."
    )
