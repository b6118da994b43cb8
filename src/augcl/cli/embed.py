"""`augcl embed`: embeddings of any graphs from a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def embed(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or of a saved model.")],
    dataset: Annotated[
        str, typer.Argument(help="Graphs, seen in training or not, with labels or without.")
    ],
    out: Annotated[
        Path, typer.Option(help="File to write; its ending decides: .npz, .csv or .parquet.")
    ] = Path("embeddings.npz"),
    data_dir: Annotated[str | None, typer.Option(help="Where names are looked for first.")] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1 or auto.")] = "cpu",
) -> None:
    """Embed graphs with a trained model.

    Example: augcl embed runs/mine new.zip --out z.csv
    """
    import json

    from augcl.data import load
    from augcl.experiments.embedding_file import check_ending, write_embeddings
    from augcl.methods import load_model

    check_ending(out)
    folder = run / "model" if (run / "model").is_dir() else run
    result = run / "result.json"
    features = "auto"
    if result.exists():
        features = json.loads(result.read_text())["spec"]["features"]
    graphs = load(dataset, data_dir=data_dir, features=features)
    embeddings = load_model(folder, device=device).transform(graphs)
    write_embeddings(out, embeddings, graphs)
    typer.echo(f"{len(embeddings)} embeddings of width {embeddings.shape[1]} in {out}")
