"""`augcl attack`: how easily is a classifier of graphs fooled?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from augcl.cli.options import DataDir, Features, Json
from augcl.errors import InputError, one_of

if TYPE_CHECKING:
    from augcl.data import GraphSet


def attack(
    dataset: Annotated[
        str,
        typer.Argument(
            help="Graphs with labels: components (15 to 20 nodes), components-40-50, "
            "components-90-100, a name or a path."
        ),
    ] = "components",
    model: Annotated[
        Path | None,
        typer.Option(help="A saved Structure2VecClassifier; if not given one is trained."),
    ] = None,
    attack: Annotated[
        str, typer.Option(help="RandSampling, GradArgmax (needs gradients) or RLS2V (learns).")
    ] = "GradArgmax",
    budget: Annotated[int, typer.Option(min=1, help="Edges changed in each graph, at most.")] = 1,
    changes: Annotated[str, typer.Option(help="add, delete or both.")] = "add",
    depth: Annotated[int, typer.Option(min=1, help="Of the victim that is trained.")] = 2,
    pretraining: Annotated[
        str, typer.Option(help="Of that victim: none, graphcl, progcl or augcl.")
    ] = "none",
    epochs: Annotated[int, typer.Option(min=1, help="Of that victim.")] = 50,
    updates: Annotated[int, typer.Option(min=1, help="Of the agent of RLS2V.")] = 1000,
    recipe: Annotated[
        str, typer.Option(help="default, or authors: as the released code, quirks included.")
    ] = "default",
    seed: Annotated[int, typer.Option(min=0, help="Of victim and attack.")] = 0,
    features: Features = "auto",
    data_dir: DataDir = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the victim, result.json and the changed edges.")
    ] = Path("runs/attack"),
    resume: Annotated[
        bool, typer.Option(help="Go on with a stopped training of victim and agent in --out.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Attack a classifier by changing few edges, without changing what a graph is.

    A change must keep the number of connected components. Without --model a structure2vec victim
    is trained on 90 % of each class and attacked on the rest; with it, --depth, --pretraining and
    --epochs are the saved victim's. The agent of RLS2V learns on the 90 %, too.

        augcl attack components --attack GradArgmax --depth 3 --pretraining augcl
    """
    from augcl.attacks import RLS2V
    from augcl.data.generators import first_and_last
    from augcl.files import write_json, write_text
    from augcl.paper.attacks import PRETRAININGS, AttackSpec, accuracy_of
    from augcl.runs.models import load_model
    from augcl.training.method import plain_settings

    one_of(pretraining, PRETRAININGS, "pre-training")
    spec = AttackSpec(
        depth=depth,
        pretraining=pretraining,
        epochs=epochs,
        budget=budget,
        changes=changes,
        updates=updates,
        recipe=recipe,
    )
    attacker = spec.attack(attack, seed)
    attacker._check()  # before minutes of training
    train, test = first_and_last(_labelled_graphs(dataset, features, data_dir))
    written = []
    if model is None:
        victim: Any = spec.victim(seed)
        victim.fit(
            train,
            test=test if victim.selects_on_test else None,
            folder=out / "model",
            resume=resume,
        )
        victim.save(out / "model")
        written.append("model")
    else:
        victim = load_model(model)
        if not hasattr(victim, "predict"):
            raise InputError(f"{model} holds a {type(victim).__name__}, which does not classify")
    if isinstance(attacker, RLS2V):
        seen = test if attacker.learns_on_attacked else train
        attacker.fit(victim, seen, folder=out / "agent", resume=resume)
        attacker.save(out / "agent")
        written.append("agent")
    changed = attacker.perturb(victim, test)
    settings = plain_settings(attacker)["params"]
    result = {
        "dataset": dataset,
        "attack": attack,
        "budget": budget,
        "changes": changes,
        "recipe": recipe,
        "seed": seed,
        "victim": {"method": type(victim).__name__, "settings": victim.settings()},
        "settings": {k: v for k, v in settings.items() if k != "progress"},
        "clean": accuracy_of(victim, test),
        "attacked": accuracy_of(victim, changed),
    }
    write_json(out / "result.json", result)
    write_text(out / "changed_edges.csv", changed_edges(test, changed))
    if as_json:
        typer.echo(json.dumps(result, indent=1))
    else:
        Console().print(_table(result))
        typer.echo(f"In {out}: {', '.join([*written, 'result.json, changed_edges.csv'])}")


def _labelled_graphs(dataset: str, features: str, data_dir: str | None) -> GraphSet:
    from augcl.data import GraphSet, load

    graphs = load(dataset, data_dir=data_dir, features=features)
    if not isinstance(graphs, GraphSet):
        raise InputError(
            f"{dataset} is one graph, but augcl attack needs a set of graphs with labels "
            "(components, MUTAG, a TU zip …); single nodes are attacked from Python, with "
            "augcl.attacks.NodeVictim and NodeGradientFlips"
        )
    if graphs.y is None:
        raise InputError(
            f"{dataset} has no labels, so whether a classifier errs cannot be told: give every "
            "graph a class (graphs.csv: column label; TU: NAME_graph_labels.txt)"
        )
    return graphs


def changed_edges(before: GraphSet, after: GraphSet) -> str:
    """One line per undirected edge that was added or deleted; nodes counted in their graph."""
    import numpy as np

    nodes = before.num_nodes
    keys = [
        set_.edge_index[0].numpy() * nodes + set_.edge_index[1].numpy() for set_ in (before, after)
    ]
    lines = ["graph,source,target,change"]
    ptr = before.node_ptr.numpy()
    for change, (here, there) in {"add": (1, 0), "delete": (0, 1)}.items():
        pair = np.setdiff1d(keys[here], keys[there])
        source, target = pair // nodes, pair % nodes
        once = source < target
        graph = np.searchsorted(ptr, source[once], side="right") - 1
        rows = zip(graph, source[once] - ptr[graph], target[once] - ptr[graph], strict=True)
        lines += [f"{g},{s},{t},{change}" for g, s, t in rows]
    return "\n".join(lines) + "\n"


def _table(result: dict[str, Any]) -> Table:
    table = Table(title=f"{result['attack']} on {Path(result['dataset']).name}")
    for name in ("", "accuracy", "95 % interval", "graphs"):
        table.add_column(name, justify="right" if name else "left")
    for name in ("clean", "attacked"):
        one = result[name]
        table.add_row(
            name,
            f"{100 * one['accuracy']:.2f} %",
            f"{100 * one['low']:.1f} to {100 * one['high']:.1f}",
            str(one["graphs"]),
        )
    return table
