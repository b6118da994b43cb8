"""`augcl compare`: what should I use on my data? And: does a weighting of negatives help there?"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from augcl.cli.options import (
    METHOD,
    OUTPUT,
    TRAINING,
    Candidates,
    Cluster,
    DataDir,
    Features,
    Jobs,
    Json,
    Missing,
    Select,
    SkipBad,
    Smiles,
    Targets,
    Task,
    say,
)
from augcl.cli.reproduce import show, split_names
from augcl.cli.settings import read_settings
from augcl.errors import InputError, one_of, ours

if TYPE_CHECKING:
    from augcl.data import GraphSet, NodeGraph
    from augcl.paper.cells import Cell, Failure
    from augcl.paper.grid import Grid, Outcome
    from augcl.paper.table import Table
    from augcl.runs.recommend import Costs, LeftOut, Scores
    from augcl.runs.run import Spec
    from augcl.runs.workers import Workers


def compare(
    dataset: Annotated[
        str,
        typer.Argument(
            help="Name or path of a data set with labels, as for augcl train.",
        ),
    ] = "MUTAG",
    features: Features = "auto",
    target: Targets = None,
    task: Task = "auto",
    missing: Missing = "error",
    smiles: Smiles = None,
    skip_bad: SkipBad = False,
    data_dir: DataDir = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            help="Rows, separated by commas or one per option: any of augcl methods, untrained, or "
            "METHOD+HARDNESS.",
            show_default="those that suit the data",
            rich_help_panel=METHOD,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Base method: GraphCL for graphs, GCA or GRACE for nodes.",
            show_default="GraphCL or GCA",
            rich_help_panel=METHOD,
        ),
    ] = None,
    hardness_study: Annotated[
        bool,
        typer.Option(
            "--hardness-study",
            help="Ask another question: does a weighting of negatives help? Floor, base, each "
            "hardness, and an oracle that knows the labels.",
            rich_help_panel=METHOD,
        ),
    ] = False,
    select: Select = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Any other parameter of the base method, in all rows, for instance tau=0.1. "
            "Repeatable. augcl methods NAME lists the parameters.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of training epochs of each row, except the untrained one.",
            show_default="set by the method",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of trainings of each row, with seeds 0, 1, 2 and so on.",
            show_default="5 for graphs, 3 for nodes",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME",
            help="Time for this command, such as 90s, 10m or 2h; none runs all rows.",
            rich_help_panel=TRAINING,
        ),
    ] = "10m",
    candidates: Candidates = None,
    jobs: Jobs = None,
    cluster: Cluster = None,
    out: Annotated[
        Path,
        typer.Option(help="Folder for finished cells and tables.", rich_help_panel=OUTPUT),
    ] = Path("comparison"),
    as_json: Json = False,
) -> None:
    """Compare methods on your data, and recommend one.

    All rows are scored on the same splits, the cheapest first: training-free embeddings, the
    untrained encoder, the base method, the base with each hardness. What does not fit into
    --budget is listed with its estimate. Repeat the command to continue a stopped comparison.

    Examples:

        augcl compare my.zip

        augcl compare my.csv --target logP --budget 1h

        augcl compare my_graph --methods Propagation,GCA,DGI

        augcl compare my.zip --hardness-study
    """
    from augcl.data.catalogue import known_name
    from augcl.data.loading import level_of
    from augcl.paper.rows import GRAPHS, NODES, NODES_GRACE
    from augcl.runs.recommend import read_budget
    from augcl.runs.run import Spec
    from augcl.runs.workers import check_cluster, open_workers

    check_cluster(cluster)
    if select is not None:
        one_of(select, ("inner",), "way to select")
        if not hardness_study:
            raise InputError("--select chooses settings of a hardness: add --hardness-study")
    if hardness_study and methods:
        raise InputError("--hardness-study has rows of its own: leave out --methods")
    time_left = read_budget(budget)
    dataset = known_name(dataset) or dataset
    level = level_of(dataset, data_dir=data_dir)
    every = (GRAPHS, NODES, NODES_GRACE)
    tables = {table.base: table for table in every if table.level == level}
    table = tables[next(iter(tables)) if method is None else _base(method, tables, level)]
    seeds = seeds or (5 if level == "graph" else 3)
    options, _ = read_settings(settings, table.base, None, {"candidates": candidates})
    reading: dict[str, Any] = {"target": target, "task": task, "missing": missing}
    reading |= {"smiles": smiles, "skip_bad": skip_bad}
    jobs = jobs or os.cpu_count() or 1
    if hardness_study:
        from augcl.paper.study import Study

        study = Study(
            out=out,
            datasets=(dataset,),
            rows=table.compared,
            seeds=seeds,
            epochs=epochs,
            features=features,
            options=options,
            select=select is not None,
            data_dir=data_dir,
            reading=reading,
        )
        with open_workers(cluster, jobs) as workers:
            _study_hardness(study, table, workers, as_json=as_json)
        return
    base = Spec(
        dataset, table.base, "none", epochs=epochs, features=features, options=options, **reading
    )
    asked = split_names(methods, lambda text: False)
    with open_workers(cluster, jobs) as workers:
        work = Work(out, seeds, workers, time_left, data_dir)
        outcome, failures = _side_by_side(base, asked, work)
    show(outcome, out, failures, as_json=as_json)


# What should I use?


@dataclass
class Work:
    """Where and how long the rows are computed, and what came of it."""

    out: Path
    seeds: int
    workers: Workers
    budget: float | None
    data_dir: str | None
    scores: dict[str, Scores] = field(default_factory=dict)
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


def _side_by_side(base: Spec, asked: tuple[str, ...], work: Work) -> tuple[Outcome, list[Failure]]:
    """Compute the rows within the budget; return table, recommendation and failures."""
    from augcl.paper.cells import Cell
    from augcl.paper.table import identity
    from augcl.runs.recommend import Costs, cost_rank, row_name, spec_of, usual_rows
    from augcl.runs.run import check

    names = list(dict.fromkeys(row_name(text, base.level) for text in asked))
    data = base.load(work.data_dir)
    if data.y is None:
        raise InputError(
            f"{base.dataset} has no labels: a comparison needs some, of a part at least "
            "(--target names their column); augcl train needs none"
        )
    check(base, data)
    names = sorted(names, key=cost_rank) or usual_rows(data, base.method)
    specs = {name: spec_of(name, base) for name in names}
    for spec in specs.values() if asked else ():
        spec.estimator(data, 0).check()
    cells = {name: Cell(s, 0, identity(s, work.data_dir)) for name, s in specs.items()}
    _compute(cells, Costs(data), work, strict=bool(asked))
    if not work.scores:
        reason = work.failures[0].reason if work.failures else str(work.left_out[0])
        raise InputError(f"no row could be computed: {reason}")
    return _advice(specs, data, work), work.failures


def _compute(cells: Mapping[str, Cell], costs: Costs, work: Work, *, strict: bool) -> None:
    """Compute the rows in their order, as far as they fit into the budget.

    The first row is always computed. With `strict`, wrong input of a row is a failure; else the
    row is left out, because nobody asked for it.
    """
    from augcl.paper.cells import compute_missing
    from augcl.paper.records import is_finished, read_seeds
    from augcl.runs.cost import duration
    from augcl.runs.recommend import LeftOut, Scores
    from augcl.training.progress import progress_bar

    end = math.inf if work.budget is None else time.monotonic() + work.budget
    with progress_bar("trainings", len(cells) * work.seeds) as report:
        for number, (name, cell) in enumerate(cells.items()):
            wanted = [cell.with_seed(seed) for seed in range(work.seeds)]
            missing = [one for one in wanted if not is_finished(one.path(work.out), work.out)]
            reason, seconds = "", None
            while missing and not reason:
                at_once = work.workers.count
                rounds = math.ceil(len(missing) / at_once)
                if work.scores:
                    costs.try_if_tight(name, cell.spec, rounds, end - time.monotonic())
                seconds = rounds * costs.seconds(name, cell.spec)
                left = end - time.monotonic()
                if seconds > left and work.scores:
                    rest = duration(left) if left > 0 else "nothing"
                    reason = f"it takes about {duration(seconds)}, {rest} of the budget was left"
                    break
                note = "" if left == math.inf else f", budget {duration(max(0, left))}"
                report(number * work.seeds + len(wanted) - len(missing), f"{name}{note}")
                now, missing = missing[:at_once], missing[at_once:]
                failed = compute_missing(
                    now, work.out, data_dir=work.data_dir, jobs=work.workers, progress=False
                )
                if failed:
                    reason, seconds = failed[0].reason, None
                    if strict or not reason.startswith("InputError"):
                        work.failures += failed
                    reason = reason.removeprefix("InputError: ")
                _learn(costs, name, cell, work)
            _learn(costs, name, cell, work)
            if not reason:
                with ours(cell.path(work.out).parent, "delete it"):
                    records = read_seeds(cell.path(work.out), work.out)
                    found = [records[seed] for seed in range(work.seeds) if seed in records]
                    undefined = [r["undefined"] for r in found if r["accuracy"] is None]
                    if found and not undefined:
                        work.scores[name] = Scores.of(found, cell.spec.level)
                        work.settings[name] = _settings(found[0])
                        continue
                reason, seconds = (undefined or ["it has no result"])[0], None
            work.left_out.append(LeftOut(name, seconds, reason))


def _settings(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was trained, with all settings."""
    spec = record.get("spec", {})
    what = {name: spec.get(name) for name in ("method", "hardness", "beside")}
    own = {k: v for k, v in record.get("settings", {}).items() if k not in (*what, "random_state")}
    of_hardness = record.get("hardness_settings", {}).get("params", {})
    return {**what, **own, **({"hardness_settings": of_hardness} if of_hardness else {})}


def _learn(costs: Costs, name: str, cell: Cell, work: Work) -> None:
    """Correct the estimates by what a row has cost."""
    from augcl.paper.records import read_seeds

    with ours(cell.path(work.out).parent, "delete it"):
        records = read_seeds(cell.path(work.out), work.out).values()
        known = [record["seconds"] for record in records if "seconds" in record]
        if known:
            costs.measured(name, cell.spec, known[-1])


def _advice(specs: Mapping[str, Spec], data: GraphSet | NodeGraph, work: Work) -> Outcome:
    """Return the table, the recommendation and all numbers."""
    from augcl.data import GraphSet
    from augcl.evaluation.scoring import NAMES
    from augcl.paper.grid import Outcome
    from augcl.runs import recommend
    from augcl.runs.rows_page import Row

    rows = work.scores
    things = "graphs" if isinstance(data, GraphSet) else "nodes"
    free = {name: row for name, row in rows.items() if name in recommend.TRAINING_FREE}
    reference = recommend.best_row(free or dict(list(rows.items())[:1]))
    best, chosen = recommend.best_row(rows), recommend.recommended_row(rows)
    scoring = rows[best].scoring
    sentences = recommend.recommendation(rows, work.left_out, things=things)
    nested = recommend.nested_choice(rows)
    if nested is not None:
        text = recommend.with_interval(scoring, nested.scores.mean, nested.scores.interval())
        unit = " %" if scoring == "accuracy" else ""
        sentences.append(
            f"Expected {NAMES[scoring]} of this recommendation: {text}{unit}. In each split the "
            "row is chosen without the test part, by the same rule, and scored on the test part, "
            "so that the choice does not flatter it."
        )
    commands = {
        name: recommend.train_command(
            specs[name], recommend.run_folder(specs[name], name), data_dir=work.data_dir
        )
        for name in rows
    }
    for name in dict.fromkeys((chosen, best)):
        sentences += [f"Command for {name}:", f"    {commands[name]}"]
    numbers = {
        "dataset": specs[chosen].dataset,
        "task": data.task,
        "protocol": rows[best].protocol,
        "scoring": scoring,
        "seeds": work.seeds,
        "floor": rows[best].floor,
        "rows": [
            {
                "name": name,
                **_numbers(row, rows[reference]),
                "settings": work.settings[name],
                "command": commands[name],
            }
            for name, row in rows.items()
        ],
        "left_out": [asdict(out) for out in work.left_out],
        "best_training_free": reference if free else None,
        "best": best,
        "recommended": chosen,
        "expected": nested
        and {
            "mean": nested.scores.mean,
            "interval": nested.scores.interval(),
            "chosen": nested.chosen,
        },
    }
    grid = _table(data.name, work, reference, things)
    shown = [Row(n, data.name, rows[n], specs[n], commands[n]) for n in rows]
    name = f"recommendation-{recommend.file_name(specs[chosen])}"
    title = f"Methods compared on {data.name}"
    return Outcome(name, [grid], numbers, sentences=sentences, rows=shown, title=title)


def _table(title: str, work: Work, reference: str, things: str) -> Grid:
    """Return the table of all rows; `reference` is the row from which differences are taken."""
    from augcl.evaluation.scoring import NAMES
    from augcl.paper.grid import Grid
    from augcl.runs.cost import size
    from augcl.runs.recommend import (
        ALIKE,
        BESIDE,
        difference_text,
        score_text,
        seconds_text,
        with_interval,
    )

    rows = work.scores
    first = next(iter(rows.values()))
    scoring = first.scoring
    lines = []
    if first.floor is not None:
        name = "mean" if scoring == "r2" else "majority"
        lines.append((name, score_text(scoring, first.floor), "", "", "", ""))
    for name, row in rows.items():
        lines.append(
            (
                name,
                with_interval(scoring, row.mean, row.interval()),
                "" if name == reference else difference_text(scoring, row, rows[reference]),
                seconds_text(row.training),
                seconds_text(row.embedding),
                "" if row.memory is None else size(row.memory),
            )
        )
    percent = " in %" if scoring == "accuracy" else ""
    header = ("", f"{NAMES[scoring]}{percent}", f"− {reference}", "train", "embed", "memory")
    embedded = "a new graph" if things == "graphs" else "all nodes"
    notes = [
        f"{first.protocol}, {work.seeds} seed{'s' * (work.seeds > 1)}, the same splits for all "
        f"rows. ±: half of the 95 % interval. train: one training on one core. embed: {embedded}. "
        "memory: peak, with Python and torch. Cheap is what takes few seconds to train and to "
        f"embed; costs within {ALIKE:g} s are alike."
    ]
    parts = list(dict.fromkeys(f"+{part}" for name in rows for part in name.split("+")[1:]))
    weighted = [part for part in parts if part[1:] not in BESIDE]
    notes += [f"{', '.join(weighted)}: weighted negatives."] if weighted else []
    notes += [f"{part}: with {BESIDE[part[1:]]} beside." for part in parts if part[1:] in BESIDE]
    notes += _not_run(work.left_out)
    return Grid(title, header, tuple(lines), tuple(notes))


def _not_run(left_out: Sequence[LeftOut]) -> list[str]:
    """Return one sentence on the rows that did not fit into the budget, and one per other reason.

    >>> from augcl.runs.recommend import LeftOut
    >>> slow = [LeftOut("A", 3600.0, ""), LeftOut("B", 120.0, "")]
    >>> failed = [LeftOut("C", None, "it failed"), LeftOut("D", None, "it failed")]
    >>> for line in _not_run([*slow, *failed]):
    ...     print(line)
    Not run, too slow for --budget: A (60 min), B (2 min).
    Not run: C, D: it failed.
    """
    from augcl.runs.cost import duration

    slow = [f"{out.row} ({duration(out.seconds)})" for out in left_out if out.seconds is not None]
    sentences = [f"Not run, too slow for --budget: {', '.join(slow)}."] if slow else []
    reasons: dict[str, list[str]] = {}
    for out in left_out:
        if out.seconds is None:
            reasons.setdefault(out.reason, []).append(out.row)
    return sentences + [f"Not run: {', '.join(rows)}: {why}." for why, rows in reasons.items()]


def _numbers(row: Scores, reference: Scores) -> dict[str, Any]:
    """Return the numbers of a row as plain JSON."""
    apart = None if row is reference else row.minus(reference)
    low, high = row.interval() or (None, None)
    return {
        "score": row.mean,
        "low": low,
        "high": high,
        "training_seconds": row.training,
        "embedding_seconds": row.embedding,
        "memory_bytes": row.memory,
        "against_training_free": None if apart is None else asdict(apart),
        "splits": [[None if math.isnan(v) else v for v in seed] for seed in row.outer.tolist()],
    }


# Does a weighting of negatives help?


def _study_hardness(study: Any, table: Table, workers: Workers, *, as_json: bool) -> None:
    """Show floor, base, every hardness and the oracle, and what the evidence supports."""
    from augcl.paper.cells import compute_missing
    from augcl.paper.reproductions import compared
    from augcl.runs.recommend import file_name
    from augcl.runs.run import check

    (dataset,) = study.datasets
    graphs = table.level == "graph"
    spec = table.spec(dataset, table.base, study.setting(table))
    data = spec.load(study.data_dir)
    if data.y is None:
        raise InputError(f"{dataset} has no labels: a comparison needs them")
    if data.labels is None:
        raise InputError(
            f"the target of {dataset} is for {data.task}: a comparison of weightings needs "
            "classes, because they say which negatives are false; see --target and --task"
        )
    check(spec, data)
    enough = 2 if graphs else 3
    if study.seeds < enough:
        say(
            f"augcl: warning: {study.seeds} seed{'s' * (study.seeds > 1)} per row cannot separate "
            f"a difference from chance: --seeds {enough} or more gives a verdict",
            err=True,
        )
    failures = compute_missing(study.cells(table), study.out, data_dir=study.data_dir, jobs=workers)
    name = f"comparison-{file_name(spec)}"
    outcome = replace(compared(study, table, name), title=f"Weights of negatives on {data.name}")
    show(outcome, study.out, failures, as_json=as_json)


def _base(method: str, known: Iterable[str], level: str) -> str:
    """Return the name of a base method, or raise `InputError` that says why it is none."""
    from augcl.runs.models import METHODS, method_name

    name = method_name(method, level)
    if name in known:
        return name
    kind = METHODS[name]
    reason = "is not a base method of augcl compare"
    if kind.level != level:
        reason = f"embeds {kind.level}s, but this data set is for embeddings of {level}s"
    elif "hardness" not in kind().get_params(deep=False):
        reason = "has no negatives to weigh"
    raise InputError(f"{name} {reason}: choose from {', '.join(known)}")
