"""Compare our speed with a textbook implementation in one run: ``python -m benchmarks``."""
