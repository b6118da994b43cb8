"""`augcl evaluate`: judge embeddings in a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from augcl.errors import InputError


def evaluate(
    file: Annotated[Path, typer.Argument(help="Embeddings with labels: .npz, .csv or .parquet.")],
    protocol: Annotated[str, typer.Option(help="tu-svm-10fold.")] = "tu-svm-10fold",
    repeats: Annotated[int, typer.Option(min=1, help="Cross-validations, each shuffled anew.")] = 5,
    folds: Annotated[int, typer.Option(min=2, help="Parts of each cross-validation.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of the first cross-validation.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Folds at once.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Judge embeddings by a named protocol.

    Example: augcl evaluate runs/mine/embeddings.npz
    """
    from augcl.evaluation import evaluate as judge
    from augcl.experiments.embedding_file import read_embeddings

    Z, y = read_embeddings(file)
    if y is None:
        raise InputError(
            f"{file} has no labels to judge by: an array y (.npz) or a column label (table)"
        )
    try:
        score = judge(
            Z,
            y,
            protocol=protocol,
            repeats=repeats,
            folds=folds,
            random_state=seed,
            jobs=jobs,
            progress=True,
        )
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    if not as_json:
        typer.echo(str(score))
        return
    found = {
        "file": str(file),
        "protocol": score.protocol,
        "mean": score.mean,
        "std": score.std,
        "runs": list(score.runs),
        "unit": "fraction",
        "split_hash": score.split_hash,
    }
    typer.echo(json.dumps(found, indent=1))
