"""Numerics that two or more rooms share; nothing here knows data sets, methods or files."""
