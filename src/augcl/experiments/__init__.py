"""Runs and tables: what is trained, how it is judged, and where the numbers are kept."""
