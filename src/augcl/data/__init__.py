"""Graphs in memory and where they come from."""

from augcl.data.graph import GraphSet

__all__ = ["GraphSet"]
