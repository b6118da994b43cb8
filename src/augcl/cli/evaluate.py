"""`augcl evaluate`: judge embeddings in a file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from augcl.cli.options import Json
from augcl.errors import InputError


def evaluate(
    file: Annotated[
        Path,
        typer.Argument(help="Embeddings with labels: .npz, .csv, .parquet or the folder of a run."),
    ],
    protocol: Annotated[
        str,
        typer.Option(
            help="tu-svm-10fold (graphs); linear-10-10-80, wikics-20, grace-liblinear (nodes). "
            "auto: by what the file tells, else tu-svm-10fold."
        ),
    ] = "auto",
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Runs; as many as the protocol says if not given.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Of each cross-validation, 10 (tu-svm-10fold).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the first run.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Folds or runs at once.")] = 2,
    clusters: Annotated[
        bool, typer.Option("--clustering", help="Compare the clusters of k-means, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Judge embeddings by a named protocol.

    Example: augcl evaluate runs/mine/embeddings.npz
    """
    from augcl.evaluation import clustering
    from augcl.evaluation import evaluate as judge
    from augcl.experiments.embedding_file import read_embeddings

    file = _file_of(file)
    found = read_embeddings(file)
    if found.y is None:
        raise InputError(
            f"{file} has no labels to judge by: an array y (.npz) or a column label (table)"
        )
    if clusters and found.kernel:
        raise InputError(f"{file} has a kernel, no embeddings to cluster: drop --clustering")
    try:
        score = judge(
            found.Z,
            found.task,
            kernel=found.kernel,
            protocol=protocol,
            repeats=repeats,
            folds=folds,
            random_state=seed,
            jobs=jobs,
        )
        groups = clustering(found.Z, found.task, random_state=seed) if clusters else None
    except InputError as error:
        reason = str(error).replace("folds=", "--folds ")
        raise InputError(f"{file}: {reason}") from None
    if not as_json:
        typer.echo(str(score))
        typer.echo(_explanation(found.level if protocol == "auto" else "asked for"))
        if groups:
            typer.echo(str(groups))
        return
    record = {
        "file": str(file),
        "protocol": score.protocol,
        "mean": score.mean,
        "std": score.std,
        "runs": list(score.runs),
        "unit": "fraction",
        "split_hash": score.split_hash,
        **score.details,
    }
    if groups:
        record["clustering"] = asdict(groups)
    typer.echo(json.dumps(record, indent=1))


def _file_of(path: Path) -> Path:
    """The embeddings themselves, if the folder of a run is given."""
    if not path.is_dir():
        return path
    if not (path / "embeddings.npz").is_file():
        raise InputError(
            f"{path} is a folder without embeddings.npz: give a finished run (--out of augcl "
            "train), or a file that augcl embed wrote"
        )
    return path / "embeddings.npz"


def _explanation(level: str) -> str:
    """Why this protocol, and what its numbers are."""
    reasons = {
        "graph": "The file holds graphs, so the protocol is the one for graphs.",
        "node": "The file holds nodes, so the protocol is the one for nodes.",
        "any": "The file does not say what it holds: judged as graphs. For nodes, add --protocol "
        "linear-10-10-80.",
        "asked for": "The protocol is the one asked for.",
    }
    return f"{reasons[level]} ±: standard deviation over the runs."
