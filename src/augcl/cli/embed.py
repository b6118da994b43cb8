"""`augcl embed`: embeddings of any graphs from a trained model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from augcl.cli.options import DATA, OUTPUT, DataDir, Json, SkipBad, Smiles, Targets, Task, say
from augcl.errors import InputError, one_of


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
    target: Targets = None,
    task: Task = "auto",
    missing: Annotated[
        str | None,
        typer.Option(
            help="A missing feature is an error, or zero: 0 and a column that says so.",
            show_default="as in the training",
            rich_help_panel=DATA,
        ),
    ] = None,
    smiles: Smiles = None,
    skip_bad: SkipBad = False,
    unknown: Annotated[
        str,
        typer.Option(
            help="A value that the training has not seen is an error; ignore: it counts as none; "
            "skip: graphs that have one are left out.",
            rich_help_panel=DATA,
        ),
    ] = "error",
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

    Example: augcl embed runs/mine new_folder --unknown skip
    """
    from augcl.data import GraphSet, NodeGraph, Reading, load_graph, load_graphs
    from augcl.data.features import UNKNOWN, known_columns
    from augcl.data.targets import NoTargetError
    from augcl.runs.cost import counted
    from augcl.runs.embedding_file import check_ending, write_embeddings
    from augcl.runs.models import load_model
    from augcl.runs.seeds import RESULT, read_result
    from augcl.training.method import MODEL_FILE

    check_ending(out)
    one_of(unknown, UNKNOWN, "way to treat unknown values")
    folder = run / "model" if (run / "model").is_dir() else run
    if not (folder / MODEL_FILE).is_file():
        raise InputError(
            f"{run} holds no trained model: give the folder of a finished run "
            "(--out of augcl train) or one that model.save wrote"
        )
    spec = read_result(run)["spec"] if (run / RESULT).exists() else {}
    features = features or spec.get("features", "auto")
    missing = missing or spec.get("missing", "error")
    wanted = target or spec.get("target")
    task = spec.get("task", task) if task == "auto" else task
    how = Reading(wanted, task, missing, smiles or spec.get("smiles"), skip_bad)
    model = load_model(folder, device=device)
    read = load_graphs if model.level == "graph" else load_graph
    data: GraphSet | NodeGraph
    try:
        data = read(dataset, data_dir=data_dir, features=features, how=how)
    except NoTargetError:
        if target is not None:
            raise
        how = replace(how, target=None, task="auto")  # new data need not have what was predicted
        data = read(dataset, data_dir=data_dir, features=features, how=how)
    edge_columns = getattr(model, "edge_columns_", None)
    data, left_out = known_columns(data, model.columns_, edge_columns, unknown=unknown)
    if left_out:
        what = counted(len(left_out), "column" if unknown == "ignore" else "graph")
        why = "never seen in training" if unknown == "ignore" else "with values never seen"
        say(
            f"augcl: warning: {what} {why} left out: "
            f"{', '.join(left_out[:20])}{' …' if len(left_out) > 20 else ''}",
            err=True,
        )
    embeddings = model.transform(data)
    write_embeddings(out, embeddings, data, kernel=model.gives_kernel)
    count, width = embeddings.shape
    if as_json:
        written = {"file": str(out), f"{model.level}s": count, "width": width}
        typer.echo(json.dumps(written | ({"left_out": left_out} if left_out else {})))
    else:
        say(f"wrote {count} embeddings of width {width} to {out}")
