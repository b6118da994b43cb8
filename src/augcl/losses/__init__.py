"""Losses as pure functions."""

from augcl.losses.info_nce import info_nce

__all__ = ["info_nce"]
