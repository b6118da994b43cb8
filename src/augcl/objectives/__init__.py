"""Losses as pure functions."""

from augcl.objectives.info_nce import info_nce

__all__ = ["info_nce"]
