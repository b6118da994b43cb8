"""What a reproduction found, as tables, figures and data, and how it is written down."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from augcl.files import write_json, write_text
from augcl.report.figures import save
from augcl.report.grid import Grid

SPREAD = (
    "±: standard deviation over seeds, of nodes over all splits of all seeds; of published numbers "
    "as published."
)


@dataclass(frozen=True)
class Findings:
    """Tables to read, figures by name, sentences that sum up, and all numbers as plain JSON."""

    name: str
    grids: list[Grid]
    data: dict[str, Any]
    figures: dict[str, Figure] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        """Whether there is no line in any table."""
        return not any(grid.rows for grid in self.grids)

    def explained(self) -> Findings:
        """With a note on ±, if a table has one: for a table that stands alone."""
        cells = (cell for grid in self.grids for row in grid.rows for cell in row)
        if not any("±" in cell for cell in cells):
            return self
        *others, last = self.grids
        return replace(self, grids=[*others, replace(last, notes=(*last.notes, SPREAD))])

    def markdown(self) -> str:
        return "\n\n".join([*(grid.markdown() for grid in self.grids), *self.sentences]) + "\n"

    def write(self, out: Path) -> list[Path]:
        """NAME.md, NAME.tex, NAME.json and the figures; returns the paths."""
        stem = out / self.name
        text, tex, data = (stem.with_suffix(ending) for ending in (".md", ".tex", ".json"))
        write_text(text, self.markdown())
        write_text(tex, "\n\n".join(grid.latex() for grid in self.grids) + "\n")
        write_json(data, {"name": self.name, **self.data, "sentences": self.sentences})
        drawn = [save(figure, out / name) for name, figure in self.figures.items()]
        return [text, tex, data, *(path for paths in drawn for path in paths)]
