"""`augcl train`: from graphs to embeddings, a score and a report."""

from __future__ import annotations

import json
import os
import shlex
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from augcl.cli.options import (
    METHOD,
    OUTPUT,
    TRAINING,
    BatchNodes,
    Candidates,
    Cluster,
    DataDir,
    Device,
    Devices,
    Features,
    Jobs,
    Json,
    Missing,
    Nodes,
    Precision,
    SkipBad,
    Smiles,
    Targets,
    Task,
    any_case,
    say,
    two_columns,
)
from augcl.cli.settings import Settings, read_settings
from augcl.errors import InputError, one_of
from augcl.files import LOCK, locked
from augcl.training.launch import (
    environments,
    is_follower,
    run_together,
    this_command,
)

FLOORS = {"graph": "wl", "node": "propagation"}
"""What stands beside the default method."""

MOLECULES = "morgan"
"""The same for molecules: alone, GraphCL is below these fingerprints on some sets; beside them it
is above them on ESOL and BBBP, where this was chosen (docs/results/other_data.md)."""


def train(
    dataset: Annotated[
        str,
        typer.Argument(
            help="Name of a data set (augcl data lists them) or path: TU zip or folder, folder "
            "with edges.csv, molecules.csv, .npz, GraphML or GML. One graph gives embeddings of "
            "its nodes, several graphs give embeddings of graphs.",
        ),
    ] = "MUTAG",
    features: Features = "auto",
    target: Targets = None,
    task: Task = "auto",
    missing: Missing = "error",
    smiles: Smiles = None,
    skip_bad: SkipBad = False,
    data_dir: DataDir = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Name of the method; augcl methods lists them.",
            show_default="GraphCL for graphs, GCA for nodes",
            rich_help_panel=METHOD,
        ),
    ] = None,
    hardness: Annotated[
        str,
        typer.Option(
            help="How to weigh the negatives: none, augcl, dcl, hcl, progcl or nearest.",
            rich_help_panel=METHOD,
        ),
    ] = "none",
    recipe: Annotated[
        str,
        typer.Option(
            help="Settings: default, authors (the released code) or paper (the paper's text).",
            rich_help_panel=METHOD,
        ),
    ] = "default",
    preset: Annotated[
        str | None,
        typer.Option(
            help="Settings: published (those of the papers for this data set), default, or for "
            "nodes those published for another one, for instance Cora.",
            show_default="default; published for another recipe",
            rich_help_panel=METHOD,
        ),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            help="Put the embeddings of another method beside: wl, propagation, morgan, the name "
            "of any method, or none.",
            show_default="wl for graphs, morgan for molecules, propagation for nodes; none with "
            "--method",
            rich_help_panel=METHOD,
        ),
    ] = None,
    augmentation: Annotated[
        str | None,
        typer.Option(
            help="Views of graphs: random2, random3, random4, node-drop, edge-perturb, subgraph, "
            "attribute-mask or identity.",
            show_default="depends on the data set",
            rich_help_panel=METHOD,
        ),
    ] = None,
    tau: Annotated[
        float | None,
        typer.Option(
            help="Temperature of the loss.",
            show_default="set by the method",
            rich_help_panel=METHOD,
        ),
    ] = None,
    settings: Settings = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of training epochs; 0 gives the untrained encoder.",
            show_default="set by the method or preset",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of independent trainings, with seeds 0, 1, 2 and so on.",
            show_default="5 for graphs, 1 for nodes",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Number of graphs per batch.",
            show_default="set by the method",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    lr: Annotated[
        float | None,
        typer.Option(
            help="Learning rate.",
            show_default="set by the method",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    candidates: Candidates = None,
    batch_nodes: BatchNodes = None,
    device: Device = "cpu",
    precision: Precision = "32-true",
    devices: Devices = 1,
    nodes: Nodes = 1,
    jobs: Jobs = None,
    cluster: Cluster = None,
    evaluate: Annotated[
        bool,
        typer.Option(
            help="Evaluate the embeddings if the data set has labels.", rich_help_panel=OUTPUT
        ),
    ] = True,
    floors: Annotated[
        bool,
        typer.Option(
            "--floors",
            help="Also score what needs no training and the untrained network, for the page: about "
            "two evaluations more for each seed.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the run.",
            show_default="runs/DATASET-METHOD-HARDNESS",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Continue the run in --out.", rich_help_panel=OUTPUT),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option("--overwrite", help="Replace the run in --out.", rich_help_panel=OUTPUT),
    ] = False,
    as_json: Json = False,
) -> None:
    """Train without labels; write embeddings, model, score and report.

    Examples:

      augcl train my.zip --out runs/mine          your graphs in the TU format

      augcl train digits-knn                      embeddings of the nodes of one graph

      augcl train MUTAG --hardness augcl          with AUGCL's weights of the negatives

      augcl train PROTEINS --preset published     plain GraphCL, as published

      augcl train molecules.csv --target logP     a table with a column smiles

      augcl train --set method.layers=2           any other parameter
    """
    if resume and overwrite:
        raise InputError("--resume continues a run and --overwrite replaces it: give only one")
    ranks = environments(devices, nodes)
    if ranks is not None:
        raise typer.Exit(run_together(this_command(), ranks))
    if is_follower():
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - the first process speaks
        warnings.showwarning = lambda *_, **__: None

    from augcl.data.loading import level_of
    from augcl.evaluation.svm import HINT
    from augcl.runs.data_check import MANY_CLASSES, advice
    from augcl.runs.models import METHODS, method_name
    from augcl.runs.recommend import BESIDE
    from augcl.runs.run import Spec, check
    from augcl.runs.seeds import Place, clear_run, join_seeds, run_seeds
    from augcl.runs.workers import check_cluster
    from augcl.training.processes import expected
    from augcl.training.progress import phase

    check_cluster(cluster)
    if expected() > 1 and (cluster is not None or (jobs or 1) > 1):
        raise InputError(
            "several processes train one model after the other: leave --jobs and --cluster out"
        )
    if floors and not evaluate:
        raise InputError("--floors are scores: leave out --no-evaluate or --floors")
    if floors and expected() > 1:
        raise InputError("one process computes the floors: leave out --floors, then augcl explore")
    level = level_of(dataset, data_dir=data_dir)
    default = method is None and preset in (None, "default") and recipe == "default"
    floor = (beside or (FLOORS[level] if default else "none")).lower()
    other = None if floor == "none" else method_name(BESIDE.get(floor, floor), level)
    method = method_name(method or ("GraphCL" if level == "graph" else "GCA"), level)
    known = METHODS[method]().get_params(deep=False)
    hardness = _hardness_name(hardness)
    for option, asked in (("epochs", epochs is not None), ("recipe", recipe != "default")):
        if asked and option not in known:
            raise InputError(f"{method} has no option {option}: leave it out")
    flags = {"batch_size": batch_size, "candidates": candidates, "batch_nodes": batch_nodes}
    options, hardness_options = read_settings(
        settings, method, hardness, {**flags, "lr": lr, "tau": tau}
    )
    spec = Spec(
        dataset=dataset,
        method=method,
        hardness=hardness,
        recipe=recipe,
        preset=preset,
        beside=other,
        epochs=epochs,
        features=features,
        augmentation=augmentation,
        options=options,
        hardness_options=hardness_options,
        target=target,
        task=task,
        missing=missing,
        smiles=smiles,
        skip_bad=skip_bad,
        precision=precision,
    )
    graphs = spec.level == "graph"
    with phase(f"reading {Path(dataset).name}"):
        data = spec.load(data_dir)  # wrong input ends here
    if graphs and epochs is None:  # as the method says
        spec = replace(spec, epochs=spec.estimator(data, 0).settings().get("epochs") or None)
    if default and beside is None and getattr(data, "smiles", None) is not None:
        spec = replace(spec, beside=BESIDE[MOLECULES])
    findings = advice(data, spec.estimator(data, 0), dataset)
    try:
        check(spec, data, device=device, judge=evaluate)
    except InputError as error:  # the cause may be a target that is no class
        cures = [finding.cure for finding in findings if finding.about == MANY_CLASSES]
        said = str(error).replace(HINT, "") if cures else str(error)  # the cure says the same
        raise InputError("; ".join([said, *cures])) from None
    for finding in [] if as_json or is_follower() else findings:
        say(f"{finding.level}: {finding.about}: {finding.what}; {finding.cure}")
    seeds = seeds or (5 if graphs else 1)
    out = out or Path("runs") / f"{data.name}-{method}-{hardness}"
    if resume and not out.exists() and not is_follower():
        say(f"augcl: no run to resume in {out}: starting a new one", err=True)
    place = Place(
        out=out,
        data_dir=data_dir,
        device=device,
        jobs=jobs or (os.cpu_count() or 1 if expected() == 1 else 1),
        cluster=cluster,
        resume=resume,
        judge=evaluate,
    )
    if is_follower():
        join_seeds(spec, place)
        return
    with locked(out):
        if not resume and any(path.name != LOCK for path in out.iterdir()):
            if not overwrite:
                raise InputError(
                    f"{out} is not empty: add --resume or --overwrite, or another --out"
                )
            clear_run(out)
        loaded = data if place.alone(seeds) else None
        del data  # workers load it themselves: a large graph need not be there twice
        result = run_seeds(spec, seeds, place, loaded)
        if floors and result["accuracy"] is not None:
            from augcl.runs.beside_run import compute_floors

            compute_floors(out, data_dir=data_dir, data=loaded)
        del loaded
        with phase("writing the report"):
            from augcl.runs.page import write_report  # slow to import, by scipy.special

            write_report(out)
    if as_json:
        typer.echo(json.dumps(result, indent=1))
    else:
        Console().print(result_table(result))
        say(f"Embeddings, model and report.html are in {out}")
        say(f"See it: augcl explore {shlex.quote(str(out))}")


def _hardness_name(name: str) -> str:
    """Return the name in lower case, if it is one of a method."""
    from augcl.hardness import CEILING, HARDNESS

    if name.lower() in CEILING:
        raise InputError(
            f"{name} uses the labels: it is not a method but an upper bound; "
            "augcl compare --hardness-study shows it beside the methods"
        )
    return one_of(any_case(name, HARDNESS), HARDNESS, "hardness")


def result_table(result: dict[str, Any]) -> Table:
    """Draw a result."""
    from augcl.runs.seeds import has_spread, result_rows, result_title

    accuracy, caption = result["accuracy"], None
    if accuracy is not None and has_spread(accuracy):
        caption = f"±: standard deviation over the {accuracy.get('std_over', 'seeds')}"
    return two_columns(result_title(result), result_rows(result), caption)
