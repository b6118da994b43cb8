"""The training loop, its callbacks and checkpoints, and the base classes of all methods."""
