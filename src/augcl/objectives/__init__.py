"""Losses as pure functions."""

from augcl.objectives.info_nce import info_nce
from augcl.objectives.triplet import negative_shares, triplet_form

__all__ = ["info_nce", "negative_shares", "triplet_form"]
