"""`augcl train`: from graphs to embeddings, a score and a report."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from augcl.cli.options import Candidates, DataDir, Features, Json
from augcl.errors import InputError, need, one_of


def train(
    dataset: Annotated[
        str,
        typer.Argument(
            help="A name (MUTAG, PROTEINS, Cora, digits …; see augcl data) or a path: a TU zip or "
            "folder, a folder with edges.csv, an .npz, GraphML or GML. Of one graph the nodes are "
            "embedded, of several the graphs."
        ),
    ] = "MUTAG",
    method: Annotated[
        str | None,
        typer.Option(help="For graphs: GraphCL. For nodes: GCA. All names: augcl methods."),
    ] = None,
    hardness: Annotated[
        str | None,
        typer.Option(
            help="How hard each negative is: none, augcl, dcl, hcl or progcl; augcl, if the method "
            "has negatives."
        ),
    ] = None,
    recipe: Annotated[
        str,
        typer.Option(help="default, authors (what the released code does) or paper (its text)."),
    ] = "default",
    epochs: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="All epochs; 0 is the untrained encoder. If not given, those published with the "
            "method (GraphCL: 40) or, of nodes, with the preset.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Independent runs: seeds 0, 1, … 5 for graphs, 1 for nodes (20 splits)."
        ),
    ] = None,
    features: Features = "auto",
    augmentation: Annotated[
        str | None,
        typer.Option(
            help="Graphs: random2, random3, random4, node-drop, edge-perturb, subgraph, "
            "attribute-mask or identity; by data set if not given."
        ),
    ] = None,
    batch_size: Annotated[
        int | None, typer.Option(min=2, help="Graphs: how many in a batch; 128.")
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            help="Nodes: published settings, e.g. Cora; those of the data set if any. Amazon-Photo "
            "takes ProGCL's: GCA's own (Amazon-Photo/published) collapse."
        ),
    ] = None,
    centrality: Annotated[
        str | None, typer.Option(help="GCA: degree, pagerank or eigenvector; degree.")
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Nodes: weights of the negatives frozen or live; frozen.")
    ] = None,
    candidates: Candidates = None,
    lr: Annotated[float | None, typer.Option(min=1e-9, help="Learning rate.")] = None,
    tau: Annotated[
        float | None, typer.Option(min=1e-3, max=1e3, help="Temperature of the loss.")
    ] = None,
    reward: Annotated[
        float | None, typer.Option(help="AUGCL: o of Deep Gamblers, 1.5 … 1.9 in the paper; 1.9.")
    ] = None,
    temper: Annotated[
        float | None,
        typer.Option(
            help="AUGCL: power of the weights; 0.25, milder than the published 1; 0 is GraphCL."
        ),
    ] = None,
    tau_plus: Annotated[
        float | None, typer.Option(help="DCL, HCL: prior share of false negatives; 0.1.")
    ] = None,
    beta: Annotated[
        float | None, typer.Option(help="HCL: how much more hard negatives count; 1, 0 is DCL.")
    ] = None,
    mode: Annotated[
        str | None, typer.Option(help="ProGCL: weight or mix (adds synthetic negatives); weight.")
    ] = None,
    data_dir: DataDir = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1 or auto.")] = "cpu",
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Seeds at once; as many as there are cores.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; runs/DATASET-METHOD-HARDNESS if absent.")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run in --out.")] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace the run in --out.")] = False,
    evaluate: Annotated[
        bool, typer.Option(help="Judge the embeddings, if there are labels.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Train without labels; write embeddings, model, score and report.

    Examples:

      augcl train                                 AUGCL on MUTAG, no network needed

      augcl train my.zip --out runs/mine          your graphs in the TU format

      augcl train PROTEINS --hardness none        plain GraphCL, for comparison

      augcl train digits-knn                      GCA + AUGCL, embeddings of nodes
    """
    if resume and overwrite:
        raise InputError("--resume goes on with a run and --overwrite replaces it: give one")

    from augcl.data.loading import level_of
    from augcl.runs.models import METHODS
    from augcl.runs.run import Spec, check
    from augcl.runs.seeds import Place, clear_run, run_seeds

    hardness_options = _given(reward=reward, temper=temper, tau_plus=tau_plus, beta=beta, mode=mode)
    if method is None:
        method = "GraphCL" if level_of(dataset, data_dir=data_dir) == "graph" else "GCA"
    known = METHODS[one_of(method, METHODS, "method")]().get_params(deep=False)
    if hardness is None:
        hardness = "augcl" if "hardness" in known else "none"
    _check_hardness(hardness, hardness_options)
    for option, asked in (("epochs", epochs is not None), ("recipe", recipe != "default")):
        if asked and option not in known:
            raise InputError(f"{method} has no option {option}: leave it out")
    spec = Spec(
        dataset=dataset,
        method=method,
        hardness=hardness,
        recipe=recipe,
        epochs=epochs,
        features=features,
        augmentation=augmentation,
        options=_given(
            batch_size=batch_size,
            preset=preset,
            centrality=centrality,
            weights=weights,
            candidates=candidates,
            lr=lr,
            tau=tau,
        ),
        hardness_options=hardness_options,
    )
    graphs = spec.level == "graph"
    if graphs and epochs is None:
        spec = replace(spec, epochs=spec.all_epochs or None)  # as the method says
    data = spec.load(data_dir)  # wrong input ends here
    check(spec, data, device=device, judge=evaluate)
    seeds = seeds or (5 if graphs else 1)
    out = out or Path("runs") / f"{data.name}-{method}-{hardness}"
    if out.exists() and any(out.iterdir()) and not resume:
        if not overwrite:
            raise InputError(f"{out} is not empty: add --resume or --overwrite, or another --out")
        clear_run(out)
    if resume and not out.exists():
        typer.echo(f"augcl: nothing to resume in {out}, starting anew", err=True)
    place = Place(
        out=out,
        data_dir=data_dir,
        device=device,
        jobs=jobs or os.cpu_count() or 1,
        resume=resume,
        judge=evaluate,
    )
    result = run_seeds(spec, seeds, place)
    page = _write_page(out)
    if as_json:
        typer.echo(json.dumps(result, indent=1))
    else:
        Console().print(result_table(result))
        written = "Embeddings, model and report.html" if page else "Embeddings and model"
        typer.echo(f"{written} are in {out}")


def _write_page(out: Path) -> bool:
    """Write report.html if the packages that draw it are installed, else say what is missing."""
    try:
        need("plotly", "report.html")
        need("jinja2", "report.html")
    except InputError as missing:
        typer.echo(f"augcl: warning: {missing}, then augcl report {out}", err=True)
        return False
    from augcl.runs.page import write_report

    write_report(out)
    return True


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _check_hardness(name: str, options: dict[str, Any]) -> None:
    from augcl.hardness import CEILING, HARDNESS

    if name in CEILING:
        raise InputError(
            f"{name} looks at the labels, so that it is no method but a ceiling: "
            "augcl compare shows it beside the methods"
        )
    known = HARDNESS[one_of(name, HARDNESS, "hardness")]().get_params()
    for option in options:
        if option not in known:
            fitting = [n for n, kind in HARDNESS.items() if option in kind().get_params()]
            flag = option.replace("_", "-")
            raise InputError(f"--{flag} is for --hardness {' or '.join(fitting)} only")


def result_table(result: dict[str, Any]) -> Table:
    """The result as people want to see it."""
    from augcl.runs.seeds import accuracy_text, collapses, has_spread

    table = Table(
        title=f"{result['method']} + {result['hardness']} on {Path(result['dataset']).name}"
    )
    table.add_column("what")
    table.add_column("value", justify="right")
    accuracy = result["accuracy"]
    if accuracy is not None and has_spread(accuracy):
        table.caption = f"±: standard deviation over the {accuracy.get('std_over', 'seeds')}"
    if accuracy is None:
        table.add_row("accuracy", "not judged")
    else:
        runs = len(accuracy["runs"])
        table.add_row(
            f"accuracy ({accuracy['protocol']}, {runs} seed{'s' * (runs > 1)})",
            accuracy_text(accuracy),
        )
    collapsed = collapses(result)
    if collapsed:
        table.add_row(
            "seeds that learned nothing (see augcl doctor)", ", ".join(map(str, collapsed))
        )
    weights = [w for w in result["weights"] if w]
    if weights:
        rows = {
            "spread of the weights (std)": ("weight_std", 2),
            "uncertainty model agrees with the partition": ("fit_agreement", 3),
            "mean weight of true negatives": ("weight_true_negatives", 3),
            "mean weight of false negatives": ("weight_false_negatives", 3),
        }
        for label, (key, digits) in rows.items():
            values = [w[key] for w in weights if key in w]
            if values:
                table.add_row(label, f"{sum(values) / len(values):.{digits}f}")
    for part, seconds in result["seconds"].items():
        table.add_row(f"seconds of {part}", f"{seconds:.1f}")
    return table
