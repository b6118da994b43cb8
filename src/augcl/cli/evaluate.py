"""`augcl evaluate`: evaluate embeddings in a file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from augcl.cli.options import Json
from augcl.errors import InputError


def evaluate(
    file: Annotated[
        Path,
        typer.Argument(help="Embeddings with labels (.npz, .csv or .parquet), or folder of a run."),
    ],
    protocol: Annotated[
        str,
        typer.Option(
            help="auto, tu-svm-10fold (graphs), linear-10-10-80, wikics-20 or grace-liblinear "
            "(nodes). auto follows what the file says about itself, else takes tu-svm-10fold."
        ),
    ] = "auto",
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of runs, each with other splits.",
            show_default="set by the protocol",
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Number of folds of tu-svm-10fold, for small classes.",
            show_default="set by the protocol",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first run.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Number of folds or runs at the same time.")] = 2,
    clusters: Annotated[
        bool,
        typer.Option("--clustering", help="Also compare clusters of k-means with the classes."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Evaluate embeddings by a named protocol.

    For the folder of a run, print the result of augcl train over all seeds. The embeddings.npz of
    a run holds seed 0 and is evaluated again.

    Example: augcl evaluate runs/mine

    Example: augcl evaluate runs/mine/embeddings.npz

    Example: augcl evaluate z.csv --clustering
    """
    from augcl.evaluation import clustering
    from augcl.evaluation import evaluate as judge
    from augcl.runs.embedding_file import read_embeddings

    asked = protocol != "auto" or repeats or folds or seed or clusters
    if file.is_dir() and not asked and _print_run(file, as_json):
        return
    file = _file_of(file)
    found = read_embeddings(file)
    if found.y is None:
        raise InputError(
            f"{file} has no labels: add an array y (.npz) or a column label (.csv, .parquet)"
        )
    if clusters and found.kernel:
        raise InputError(f"{file} holds a kernel, which has no clusters: leave out --clustering")
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
        if seed_0 := _whole_run(file):
            typer.echo(seed_0)
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


def _print_run(folder: Path, as_json: bool) -> bool:
    """Print what `augcl train` found over all seeds; False if the run was not evaluated."""
    from augcl.runs.seeds import RESULT, accuracy_text, read_result

    if not (folder / RESULT).is_file() or read_result(folder)["accuracy"] is None:
        return False
    accuracy = read_result(folder)["accuracy"]
    if as_json:
        typer.echo(json.dumps({"file": str(folder / RESULT), **accuracy}, indent=1))
        return True
    protocol, seeds = accuracy["protocol"], _seeds(accuracy)
    typer.echo(f"{accuracy_text(accuracy)} ({seeds}, {protocol})")
    over = accuracy.get("std_over", "seeds")
    typer.echo(f"Result of augcl train over all seeds. ±: standard deviation over the {over}.")
    return True


def _whole_run(file: Path) -> str | None:
    """Return the result of the run that these embeddings belong to; None if they do to none."""
    from augcl.runs.seeds import RESULT, accuracy_text, read_result

    if file.name != "embeddings.npz" or not (file.parent / RESULT).is_file():
        return None
    accuracy = read_result(file.parent)["accuracy"]
    if accuracy is None:
        return None
    return (
        f"These embeddings are of seed 0. Accuracy of the whole run over {_seeds(accuracy)}: "
        f"{accuracy_text(accuracy)} (augcl evaluate {file.parent})."
    )


def _seeds(accuracy: dict[str, Any]) -> str:
    count = len(accuracy["runs"])
    return f"{count} seed{'s' * (count > 1)}"


def _file_of(path: Path) -> Path:
    """Return the file of embeddings if the folder of a run is given."""
    if not path.is_dir():
        return path
    if not (path / "embeddings.npz").is_file():
        raise InputError(
            f"{path} is a folder without embeddings.npz: give the folder of a finished run (--out "
            "of augcl train) or a file that augcl embed wrote"
        )
    return path / "embeddings.npz"


def _explanation(level: str) -> str:
    """Say why this protocol was taken, and what the spread is over."""
    reasons = {
        "graph": "The file holds graphs, so the protocol is the one for graphs.",
        "node": "The file holds nodes, so the protocol is the one for nodes.",
        "any": "The file does not say what it holds, so the protocol is the one for graphs. For "
        "nodes, add --protocol linear-10-10-80.",
        "asked for": "The protocol is the one of --protocol.",
    }
    return f"{reasons[level]} ±: standard deviation over the runs."
