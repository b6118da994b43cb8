"""Small pairs of embeddings, and fits of affinity uncertainty that take no time."""

import warnings

import torch

from augcl.hardness import AffinityUncertainty, CollapseWarning

ESTIMATORS = ["gamblers", "softmax", "entropy", "distance"]
QUICK = {"temper": 1.0, "warmup": 1, "passes": 2, "restarts": 0}


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def pair(n=24, d=6, *, seed=0):
    z1, noise = torch.randn(2, n, d, generator=generator(seed))
    return z1, z1 + 0.5 * noise


def fit(batches, **options):
    """Fit without minding whether such a short training is alive."""
    hardness = AffinityUncertainty(**{**QUICK, **options})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        return hardness.fit(batches)
