"""Time our default and the training-free methods against the published schedules."""

from __future__ import annotations

from typing import Any

import augcl
from augcl.methods.presets import get_preset
from benchmarks.data import graphs, one_graph
from benchmarks.measure import Row, faster, seconds


def default_time(full: bool) -> list[Row]:
    """Time the default on Amazon-Photo, and what needs no training, in the same run.

    The published schedule of GCA (2,500 epochs, 512 sampled negatives) is computed from a few of
    its epochs, unless `full`.
    """
    photo, proteins = one_graph("Amazon-Photo"), graphs("PROTEINS")
    epochs = get_preset("Amazon-Photo")["epochs"]
    some = epochs if full else 10

    def published(count: int) -> Any:
        options = {"preset": "Amazon-Photo", "candidates": 512, "epochs": count}
        return augcl.GCA(**options, progress=False).fit(photo)

    start = seconds(lambda: published(0))
    slow = start + (seconds(lambda: published(some)) - start) * epochs / some
    ours = augcl.Beside(augcl.GCA(progress=False), augcl.Propagation())
    default = seconds(lambda: ours.fit(photo))
    free = seconds(lambda: augcl.Propagation().fit_transform(photo), repeats=2)
    trained = seconds(lambda: augcl.GraphCL(progress=False).fit(proteins))
    counted = seconds(lambda: augcl.WLFeatures().fit_transform(proteins), repeats=2)
    note = "" if full else f"{some} epochs, scaled up"
    return [
        faster(
            f"default against GCA's {epochs:,} epochs, Amazon-Photo", slow, default, 20, note=note
        ),
        faster("Propagation against the same", slow, free, 100, note=note),
        faster("WLFeatures against GraphCL's 40 epochs, PROTEINS", trained, counted, None),
    ]
