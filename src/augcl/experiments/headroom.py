"""Where could a weighting of negatives help at all? The settings in which that is asked."""

from __future__ import annotations

from augcl.data.catalogue import GRAPH_SETS, NODE_SETS
from augcl.errors import InputError
from augcl.experiments import graph_classification, node_classification
from augcl.experiments.table import PLAIN, Setting, Table
from augcl.methods.presets import get_preset, preset_for

GRAPHS = ("MUTAG", "PROTEINS", "IMDB-BINARY", "NCI1")
NODES = ("Cora", "Amazon-Photo")

GRAPH_SETTINGS: dict[str, Setting] = {
    "as published": PLAIN,
    "two views": Setting(options={"augment_anchor": True, "symmetric": True}),
    **{
        f"views: {name}": Setting(options={"augmentation": name})
        for name in ("node-drop", "edge-perturb", "subgraph", "attribute-mask", "random4")
    },
    **{f"τ {tau}": Setting(options={"tau": tau}) for tau in (0.05, 0.5, 1.0)},
    **{f"batch {size}": Setting(options={"batch_size": size}) for size in (32, 512)},
    "width 128": Setting(options={"width": 128}),
    "1 layer": Setting(options={"layers": 1}),
    "5 layers": Setting(options={"layers": 5}),
    "mean pooling": Setting(options={"pooling": "mean"}),
    "10 epochs": Setting(epochs=10),
    "160 epochs": Setting(epochs=160),
    "degree features": Setting(features="degree"),
}


def table_for(dataset: str) -> Table:
    """GraphCL's rows for sets of graphs, GRACE's or GCA's for nodes."""
    if _is_set_of_graphs(dataset):
        return graph_classification.TABLE
    return node_classification.GRACE if dataset == "Cora" else node_classification.TABLE


def settings_for(dataset: str) -> dict[str, Setting]:
    """By name; of nodes around the data set's published settings."""
    return GRAPH_SETTINGS if _is_set_of_graphs(dataset) else _node_settings(dataset)


def _is_set_of_graphs(dataset: str) -> bool:
    if dataset not in GRAPH_SETS and dataset not in NODE_SETS:
        raise InputError(f"{dataset} has no map of headroom: take a data set of augcl data")
    return dataset in GRAPH_SETS


def _node_settings(dataset: str) -> dict[str, Setting]:
    """Amazon-Photo with fewer epochs and sampled negatives: the whole schedule takes hours."""
    large = dataset != "Cora"
    usual = node_classification.setting(
        epochs=200 if large else None, candidates=512 if large else None
    )
    preset = get_preset(preset_for(dataset))
    epochs = usual.epochs or preset["epochs"]
    tau, width = preset["tau"], preset["width"]

    def other(epochs: int | None = usual.epochs, **options: object) -> Setting:
        return Setting(epochs=epochs, options={**usual.options, **options})

    return {
        f"{epochs} epochs, 512 negatives" if large else "as published": usual,
        "half the τ": other(tau=tau / 2),
        "twice the τ": other(tau=2 * tau),
        "half the width": other(width=width // 2),
        "a quarter of the epochs": other(epochs // 4),
        "twice the epochs": other(epochs * 2),
        "views: milder": other(edge_drop=(0.1, 0.1), feature_drop=(0.1, 0.1)),
        "views: stronger": other(edge_drop=(0.5, 0.5), feature_drop=(0.5, 0.5)),
        "128 negatives": other(candidates=128),
    }
