"""The one training loop, its checkpoints and progress, and the estimator around it."""
