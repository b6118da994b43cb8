"""Our speed against the textbook way, both measured in one run: ``python -m benchmarks``."""
