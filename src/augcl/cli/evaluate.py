"""`augcl evaluate`: evaluate embeddings in a file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from augcl.cli.options import DataDir, Json, say
from augcl.errors import InputError

if TYPE_CHECKING:
    from augcl.evaluation import Score
    from augcl.runs.embedding_file import Embeddings


def evaluate(
    file: Annotated[
        Path,
        typer.Argument(help="Embeddings with labels (.npz, .csv or .parquet), or folder of a run."),
    ],
    protocol: Annotated[
        str,
        typer.Option(
            help="auto, tu-svm-10fold (graphs), linear-10-10-80, logistic-10-10-80, wikics-20 or "
            "grace-liblinear (nodes), logistic-10fold, ridge-10fold or kernel-ridge-10fold "
            "(numbers), public-split, deepwalk-multilabel. auto follows what the file says about "
            "itself (public-split for data with several splits, or with one in a folder of OGB's "
            "layout or of arrays), else takes tu-svm-10fold for classes."
        ),
    ] = "auto",
    task: Annotated[
        str, typer.Option(help="auto (by the labels), classification, regression or multilabel.")
    ] = "auto",
    scoring: Annotated[
        str,
        typer.Option(
            help="auto, accuracy, balanced-accuracy, roc-auc, average-precision, f1-macro, "
            "f1-micro; r2, mae or rmse for numbers."
        ),
    ] = "auto",
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|FILE",
            help="Groups (scaffolds, patients) that are never in both parts of a split: a column "
            "of the file, or a text file with one group per line.",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN|FILE",
            help="A split of your own: train, val and test, or numbers of folds; a column of the "
            "file, or a text file with one value per line.",
        ),
    ] = None,
    links: Annotated[
        bool,
        typer.Option(
            "--links",
            help="Predict 10 % of the edges, held out before the model of this run is trained "
            "again; for the folder of a run on nodes.",
        ),
    ] = False,
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
            help="Number of folds of a protocol with folds, for small classes.",
            show_default="set by the protocol",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first run.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Number of folds or runs at the same time.")] = 2,
    clusters: Annotated[
        bool,
        typer.Option("--clustering", help="Also compare clusters of k-means with the classes."),
    ] = False,
    data_dir: DataDir = None,
    as_json: Json = False,
) -> None:
    """Evaluate embeddings by a named protocol.

    For the folder of a run, print the result of augcl train over all seeds. The embeddings.npz of
    a run holds seed 0 and is evaluated again.

    Example: augcl evaluate runs/mine

    Example: augcl evaluate runs/mine/embeddings.npz

    Example: augcl evaluate z.csv --clustering

    Example: augcl evaluate z.csv --scoring roc-auc --groups scaffold
    """
    from augcl.evaluation import clustering
    from augcl.evaluation import evaluate as judge
    from augcl.runs.embedding_file import read_embeddings

    if links:
        _links(file, repeats, seed, data_dir, as_json)
        return
    named = {protocol, task, scoring} != {"auto"}
    asked = named or repeats or folds or seed or clusters or groups or split
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
            task=task,
            scoring=scoring,
            groups=None if groups is None else _values(groups, found, "--groups"),
            splits=None if split is None else _own_split(_values(split, found, "--split")),
            kernel=found.kernel,
            protocol=protocol,
            repeats=repeats,
            folds=folds,
            random_state=seed,
            jobs=jobs,
        )
        compared = clustering(found.Z, found.task, random_state=seed) if clusters else None
    except InputError as error:
        reason = str(error).replace("folds=", "--folds ").replace("task=", "--task ")
        raise InputError(f"{file}: {reason}") from None
    if not as_json:
        say(str(score))
        say(_explanation(_reason(found.level, protocol, score.protocol)))
        say(f"{score.floor_text[:1].upper()}{score.floor_text[1:]}.")
        if seed_0 := _whole_run(file):
            say(seed_0)
        if compared:
            say(str(compared))
        return
    record = _record(file, score)
    if compared:
        record["clustering"] = asdict(compared)
    typer.echo(json.dumps(record, indent=1))


def _record(file: Path, score: Score) -> dict[str, Any]:
    number = score.scoring in ("r2", "mae", "rmse")
    return {
        "file": str(file),
        "protocol": score.protocol,
        "scoring": score.scoring,
        "mean": score.mean,
        "std": score.std,
        "runs": list(score.runs),
        "floor": score.floor,
        "unit": "as the target" if number else "fraction",
        "split_hash": score.split_hash,
        **score.details,
    }


def _links(
    folder: Path, repeats: int | None, seed: int, data_dir: str | None, as_json: bool
) -> None:
    """Train the model of a run again without 10 % of the edges, and predict these."""
    from augcl.data import NodeGraph
    from augcl.evaluation import evaluate_links
    from augcl.runs.models import load_model
    from augcl.runs.run import Spec
    from augcl.runs.seeds import read_result

    if not folder.is_dir():
        raise InputError(f"{folder}: --links trains again, so it needs the folder of a run")
    graph = Spec(**read_result(folder)["spec"]).load(data_dir)
    if not isinstance(graph, NodeGraph):
        raise InputError(f"{folder} embeds whole graphs, but links join nodes: leave out --links")
    score = evaluate_links(load_model(folder / "model"), graph, repeats=repeats, random_state=seed)
    if as_json:
        typer.echo(json.dumps(_record(folder, score), indent=1))
        return
    say(str(score))
    precision = score.details["average_precision"]
    say(f"Average precision {sum(precision) / len(precision):.3f}; {score.floor_text}.")
    say("The model was trained again without the edges to predict.")


def _values(given: str, found: Embeddings, option: str) -> list[Any]:
    """Return the values of a column of the file, or of a text file with one per line."""
    if given in found.columns:
        values: list[Any] = found.columns[given].tolist()
        return values
    path = Path(given)
    if not path.is_file():
        known = ", ".join(found.columns) or "none"
        raise InputError(f"{option} {given} is neither a file nor a column; columns are: {known}")
    return path.read_text(encoding="utf-8").splitlines()


def _own_split(values: list[Any]) -> list[Any]:
    """Return numbers where all values are; text files hold words."""
    whole = all(str(value).strip().isdigit() for value in values)
    return [int(value) for value in values] if whole else values


def _reason(level: str, asked: str, taken: str) -> str:
    if asked != "auto":
        return "asked for"
    usual = {"node": ("linear-10-10-80", "wikics-20")}.get(level, ("tu-svm-10fold",))
    return level if taken.startswith(usual) else "other"


def _print_run(folder: Path, as_json: bool) -> bool:
    """Print what `augcl train` found over all seeds; False if the run was not evaluated."""
    from augcl.evaluation.scoring import floor_text
    from augcl.runs.seeds import RESULT, accuracy_text, read_result

    if not (folder / RESULT).is_file() or read_result(folder)["accuracy"] is None:
        return False
    accuracy = read_result(folder)["accuracy"]
    if as_json:
        typer.echo(json.dumps({"file": str(folder / RESULT), **accuracy}, indent=1))
        return True
    protocol, seeds = accuracy["protocol"], _seeds(accuracy)
    say(f"{accuracy_text(accuracy)} ({seeds}, {protocol})")
    if accuracy.get("floor") is not None:
        text = floor_text(accuracy["scoring"], accuracy["floor"])
        say(f"{text[:1].upper()}{text[1:]}.")
    over = accuracy.get("std_over", "seeds")
    say(f"Result of augcl train over all seeds. ±: standard deviation over the {over}.")
    return True


def _whole_run(file: Path) -> str | None:
    """Return the result of the run that these embeddings belong to; None if they do to none."""
    from augcl.runs.seeds import RESULT, accuracy_text, read_result

    if file.name != "embeddings.npz" or not (file.parent / RESULT).is_file():
        return None
    accuracy = read_result(file.parent)["accuracy"]
    if accuracy is None:
        return None
    what = "Accuracy" if accuracy.get("scoring", "accuracy") == "accuracy" else "Score"
    return (
        f"These embeddings are of seed 0. {what} of the whole run over {_seeds(accuracy)}: "
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
        "other": "The protocol follows from the labels, the splits and --scoring.",
    }
    return f"{reasons[level]} ±: standard deviation over the runs."
