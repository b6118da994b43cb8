"""`augcl data`: which data sets there are, and what is in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from augcl.cli.options import (
    DataDir,
    Features,
    Json,
    Listing,
    Missing,
    SkipBad,
    Smiles,
    Targets,
    Task,
    two_columns,
)


def data(
    dataset: Annotated[
        str | None,
        typer.Argument(
            help="Name or path of the data set to describe.", show_default="list the names"
        ),
    ] = None,
    features: Features = "auto",
    target: Targets = None,
    task: Task = "auto",
    missing: Missing = "error",
    smiles: Smiles = None,
    skip_bad: SkipBad = False,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """List the data sets, or describe one: sizes, classes or targets, and columns of features.

    Example: augcl data my.zip

    Example: augcl data molecules.csv --target logP
    """
    from augcl.data import Reading, load_graph, load_graphs, names, statistics
    from augcl.data.catalogue import GRAPH_SETS, NODE_SETS
    from augcl.data.formats import KNOWN
    from augcl.data.loading import level_of
    from augcl.data.summary import described_columns
    from augcl.training.progress import phase

    if dataset is None:
        if as_json:
            typer.echo(json.dumps(names()))
            return
        levels = (("graphs", GRAPH_SETS), ("nodes", NODE_SETS))
        sets = [(name, level, text) for level, of in levels for name, text in of.items()]
        planted = ("planted-N", "nodes", "N nodes drawn at random, 10 classes (no download)")
        listed = (*sets, planted, ("or a path", "", KNOWN))
        Console().print(Listing(("data set", "of", "what"), listed))
        return
    with phase(f"reading {Path(dataset).name}"):
        how = Reading(target, task, missing, smiles, skip_bad)
        of_nodes = level_of(dataset, data_dir=data_dir) == "node"
        read = load_graph if of_nodes else load_graphs
        facts = statistics(read(dataset, data_dir=data_dir, features=features, how=how))
    if as_json:
        typer.echo(json.dumps(facts, indent=1))
        return
    if "task" in facts:  # what is to be predicted are no classes
        del facts["classes"], facts["class_sizes"]
    elif not facts["classes"]:
        del facts["class_sizes"]
        facts["classes"] = "none: --target names their column"
    called = facts.pop("class_names", None)
    if called is not None:
        sizes = zip(called, facts["class_sizes"], strict=True)
        facts["class_sizes"] = ", ".join(f"{name}: {size}" for name, size in sizes)
    for key in ("columns", "edge_columns"):
        if key in facts:
            facts[key] = described_columns(facts[key])
    for name, found in facts.pop("targets", {}).items():
        values = f"{found['least']:.4g} to {found['most']:.4g}, mean {found['mean']:.4g}"
        facts[f"target {name}"] = f"{found['known']} known, {values}"
    title = facts.pop("name")
    rows = [(_LABELS.get(name, name.replace("_", " ")), _text(v)) for name, v in facts.items()]
    Console().print(two_columns(title, rows))


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


_LABELS = {
    "level": "embeddings of",
    "columns": "node columns",
    "avg_nodes": "average nodes",
    "avg_edges": "average edges",
    "nonzero_features": "share of nonzero features",
}
