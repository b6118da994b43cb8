"""A run: what is trained and judged, with which seeds, and the folder that keeps it."""
