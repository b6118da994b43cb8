"""GRACE and GCA small enough to train in an instant."""

import numpy as np

from augcl import GRACE, AffinityUncertainty

QUICK = {"epochs": 4, "width": 8, "projection": 8, "lr": 0.01, "tau": 0.5}


def quick(kind=GRACE, **options):
    return kind(**{**QUICK, **options})


def uncertainty(**options):
    """Fast to fit; whether it lives is not the point."""
    return AffinityUncertainty(**{"warmup": 1, "passes": 1, "hidden": 8, "restarts": 0, **options})


def losses(model):
    return [entry["loss"] for entry in model.history_]


def same(one, other, graph):
    return np.array_equal(one.transform(graph), other.transform(graph))
