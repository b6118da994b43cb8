"""`augcl embed`: embeddings of any graphs from a trained model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from augcl.cli.options import DATA, OUTPUT, DataDir, Json
from augcl.errors import InputError


def embed(
    run: Annotated[Path, typer.Argument(help="Folder of a run or of a saved model.")],
    dataset: Annotated[
        str,
        typer.Argument(
            help="Name or path of graphs to embed (one graph for a model of nodes), seen in "
            "training or not, with labels or without."
        ),
    ],
    features: Annotated[
        str | None,
        typer.Option(
            help="Node features: auto, constant, degree, log-degree or attributes.",
            show_default="those of the training",
            rich_help_panel=DATA,
        ),
    ] = None,
    data_dir: DataDir = None,
    device: Annotated[
        str, typer.Option(help="cpu, cuda, cuda:1 or auto.", rich_help_panel=OUTPUT)
    ] = "cpu",
    out: Annotated[
        Path,
        typer.Option(
            help="File to write; the ending .npz, .csv or .parquet selects the format.",
            rich_help_panel=OUTPUT,
        ),
    ] = Path("embeddings.npz"),
    as_json: Json = False,
) -> None:
    """Embed graphs with a trained model.

    Example: augcl embed runs/mine new.zip --out z.csv
    """
    from augcl.data import GraphSet, NodeGraph, load_graph, load_graphs
    from augcl.runs.embedding_file import check_ending, write_embeddings
    from augcl.runs.models import load_model
    from augcl.runs.seeds import RESULT, read_result
    from augcl.training.method import MODEL_FILE

    check_ending(out)
    folder = run / "model" if (run / "model").is_dir() else run
    if not (folder / MODEL_FILE).is_file():
        raise InputError(
            f"{run} holds no trained model: give the folder of a finished run "
            "(--out of augcl train) or one that model.save wrote"
        )
    if features is None:
        trained = (run / RESULT).exists()
        features = read_result(run)["spec"]["features"] if trained else "auto"
    model = load_model(folder, device=device)
    read = load_graphs if model.level == "graph" else load_graph
    data: GraphSet | NodeGraph = read(dataset, data_dir=data_dir, features=features)
    embeddings = model.transform(data)
    write_embeddings(out, embeddings, data, kernel=model.gives_kernel)
    count, width = embeddings.shape
    if as_json:
        typer.echo(json.dumps({"file": str(out), f"{model.level}s": count, "width": width}))
    else:
        typer.echo(f"wrote {count} embeddings of width {width} to {out}")
