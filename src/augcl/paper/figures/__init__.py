"""Draw figures for papers and pages with matplotlib, without changing its global state."""

from augcl.paper.figures.differences import Dots, dot_map
from augcl.paper.figures.lines import Line, line_panels
from augcl.paper.figures.rank_diagram import critical_difference
from augcl.paper.figures.style import save

__all__ = ["Dots", "Line", "critical_difference", "dot_map", "line_panels", "save"]
