"""Figures for papers and pages, drawn by matplotlib without touching its global state."""

from augcl.report.figures.differences import Dots, dot_map
from augcl.report.figures.image_files import save
from augcl.report.figures.lines import Line, line_panels
from augcl.report.figures.rank_diagram import critical_difference

__all__ = ["Dots", "Line", "critical_difference", "dot_map", "line_panels", "save"]
