"""A run: training and evaluation with several seeds, and the folder that keeps the results."""
