"""`augcl attack`: how easily do changed edges fool a classifier of graphs?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from augcl.cli.options import OUTPUT, DataDir, Features, Json
from augcl.errors import InputError, one_of

if TYPE_CHECKING:
    from augcl.data import GraphSet

VICTIM, ATTACK = "Victim", "Attack"


def attack(
    dataset: Annotated[
        str,
        typer.Argument(
            help="Name or path of graphs with labels; components (15 to 20 nodes), "
            "components-40-50 and components-90-100 are generated.",
        ),
    ] = "components",
    features: Features = "auto",
    data_dir: DataDir = None,
    model: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a saved Structure2VecClassifier to attack.",
            show_default="train one",
            rich_help_panel=VICTIM,
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option(min=1, help="Number of layers of the victim.", rich_help_panel=VICTIM)
    ] = 2,
    pretraining: Annotated[
        str,
        typer.Option(
            help="Pre-training of the victim: none, graphcl, progcl or augcl.",
            rich_help_panel=VICTIM,
        ),
    ] = "none",
    epochs: Annotated[
        int, typer.Option(min=1, help="Training epochs of the victim.", rich_help_panel=VICTIM)
    ] = 50,
    attack: Annotated[
        str,
        typer.Option(
            help="RandSampling (random), GradArgmax (needs gradients) or RLS2V (trains an agent).",
            rich_help_panel=ATTACK,
        ),
    ] = "GradArgmax",
    budget: Annotated[
        int,
        typer.Option(
            min=1, help="Largest number of edges changed in a graph.", rich_help_panel=ATTACK
        ),
    ] = 1,
    changes: Annotated[
        str,
        typer.Option(help="Changes allowed: add, delete or both.", rich_help_panel=ATTACK),
    ] = "add",
    updates: Annotated[
        int,
        typer.Option(min=1, help="Training updates of the agent of RLS2V.", rich_help_panel=ATTACK),
    ] = 1000,
    recipe: Annotated[
        str,
        typer.Option(
            help="Settings of victim and attack: default or authors (the released code).",
            rich_help_panel=ATTACK,
        ),
    ] = "default",
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of victim and attack.", rich_help_panel=ATTACK)
    ] = 0,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the victim, result.json and changed_edges.csv.",
            rich_help_panel=OUTPUT,
        ),
    ] = Path("runs/attack"),
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue a stopped training of victim or agent in --out.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Attack a classifier of graphs by changing a few edges.

    A change must keep the number of connected components. Without --model, a structure2vec victim
    is trained on 90 % of each class and attacked on the other 10 %; the agent of RLS2V is trained
    on the same 90 %. With --model, --depth, --pretraining and --epochs are those of the saved
    victim.

    Example: augcl attack components --attack GradArgmax --depth 3 --pretraining augcl
    """
    from augcl.attacks import RLS2V
    from augcl.attacks.graph_attack import changed_edges
    from augcl.data.generators import first_and_last
    from augcl.files import locked, write_json, write_text
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
    attacker.check()  # before minutes of training
    train, test = first_and_last(_labelled_graphs(dataset, features, data_dir))
    with locked(out):
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
                raise InputError(f"{model} holds a {type(victim).__name__}, not a classifier")
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
        rows = [("graph", "source", "target", "change"), *changed_edges(test, changed)]
        text = "".join(",".join(map(str, row)) + "\n" for row in rows)
        write_text(out / "changed_edges.csv", text)
    if as_json:
        typer.echo(json.dumps(result, indent=1))
    else:
        Console().print(_table(result))
        typer.echo(f"wrote {', '.join([*written, 'result.json, changed_edges.csv'])} to {out}")


def _labelled_graphs(dataset: str, features: str, data_dir: str | None) -> GraphSet:
    from augcl.data import GraphSet, load

    graphs = load(dataset, data_dir=data_dir, features=features)
    if not isinstance(graphs, GraphSet):
        raise InputError(
            f"{dataset} is one graph, but augcl attack needs a set of graphs with labels "
            "(components, MUTAG, a TU zip …); to attack nodes, use augcl.attacks.NodeVictim and "
            "NodeGradientFlips from Python"
        )
    if graphs.y is None:
        raise InputError(
            f"{dataset} has no labels, which a classifier needs: give every graph a class "
            "(graphs.csv: column label; TU: NAME_graph_labels.txt)"
        )
    return graphs


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
