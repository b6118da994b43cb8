"""The same run with several seeds, side by side, kept in one folder that can be continued."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from augcl.data import GraphSet, NodeGraph
from augcl.errors import InputError, one_of, ours, shortened
from augcl.evaluation.scoring import NAMES, floor_text, written
from augcl.files import FORMAT, check_format, read_record, read_text, write_json, write_text
from augcl.methods.recipes import get_recipe
from augcl.ops.processes import of_first
from augcl.runs.embedding_file import write_embeddings
from augcl.runs.explored import FILE, WATCHED_FILE, explored, read_explored, write_explored
from augcl.runs.models import METHODS
from augcl.runs.run import Spec, one_thread, run, share_threads, train_along, versions
from augcl.runs.workers import Local, open_workers
from augcl.training.checkpoint import same_settings
from augcl.training.progress import phase, progress_bar, training_note

RESULT = "result.json"
RECORD = "record.json"
METRICS = "metrics.jsonl"
CURE = "resume the run"
AGAIN = "train again"
IMBALANCED = 0.8
"""Share of the largest class from which on the table shows it."""
KEPT = ("model", "embeddings.npz")
"""What the first seed leaves for the whole run."""


@dataclass(frozen=True)
class Place:
    """Where a run finds its data, is computed and kept."""

    out: Path
    data_dir: str | None = None
    device: str = "cpu"
    jobs: int = 1
    cluster: str | None = None
    resume: bool = False
    judge: bool = True

    def seed_folder(self, seed: int) -> Path:
        return self.out / f"seed-{seed}"

    def alone(self, seeds: int) -> bool:
        """Return whether this process trains all seeds, one after the other."""
        return self.cluster is None and min(self.jobs, seeds) == 1


def run_seeds(
    spec: Spec, seeds: int, place: Place, data: GraphSet | NodeGraph | None = None
) -> dict[str, Any]:
    """Train with seeds 0 … `seeds` − 1; returns what is written to result.json.

    Seeds that are trained in this process take `data`, if they are loaded already.

    The folder holds result.json, metrics.jsonl of all seeds, and the model and embeddings of
    seed 0. Finished seeds are not computed again when a run is resumed.
    """
    place.out.mkdir(parents=True, exist_ok=True)
    finished: dict[int, dict[str, Any] | None] = dict.fromkeys(range(seeds))
    if place.resume:
        mark = spec.fingerprint(spec.load(place.data_dir) if data is None else data)
        finished = {seed: _finished(spec, seed, place, mark) for seed in finished}
    missing = of_first([seed for seed, record in finished.items() if record is None])
    if missing and not place.alone(seeds):
        new = _train_elsewhere(spec, missing, seeds, place)
    else:
        new = [_one_seed(spec, seed, place, False, data) for seed in missing]
    finished |= zip(missing, new, strict=True)
    result = summarise(spec, [record for record in finished.values() if record is not None])
    lines = [
        json.dumps({"seed": seed, **metrics}) + "\n"
        for seed in range(seeds)
        for metrics in read_metrics(place.seed_folder(seed))
    ]
    write_text(place.out / METRICS, "".join(lines))
    for name in KEPT:
        _move(place.seed_folder(0) / name, place.out / name)
    (place.seed_folder(0) / WATCHED_FILE).unlink(missing_ok=True)  # its seed is done
    write_json(place.out / RESULT, result)
    return result


def join_seeds(spec: Spec, place: Place) -> None:
    """Train the same models as the first of several processes, which calls `run_seeds`."""
    for seed in of_first(list[int]()):
        if spec.level == "graph":
            one_thread()
        train_along(spec, seed, data_dir=place.data_dir, resume=place.resume, device=place.device)


def _train_elsewhere(
    spec: Spec, missing: list[int], seeds: int, place: Place
) -> list[dict[str, Any]]:
    """Train the missing seeds in other processes, here or on a cluster; return their records."""
    tasks = [SeedTask(spec, seed, place) for seed in missing]
    with open_workers(place.cluster, place.jobs) as workers, _watching(spec, seeds, place):
        if isinstance(workers, Local):
            workers = replace(workers, again=False)
        with closing(workers.outcomes(tasks)) as outcomes:
            for _, trouble in outcomes:
                if trouble is not None and not trouble.trace:
                    raise InputError(
                        f"a worker of {place.out} was killed, perhaps for lack of memory: the same "
                        "command with --resume and a smaller --jobs continues"
                    )
                if trouble is not None:
                    raise trouble.error()
    records = [read_record(place.seed_folder(seed) / RECORD, CURE) for seed in missing]
    return [record for record in records if record is not None]


@dataclass(frozen=True)
class SeedTask:
    """The training of one seed: a `Task` of `Workers`. The folder of the run is locked already."""

    spec: Spec
    seed: int
    place: Place
    wait: bool = False
    finished: bool = False

    @property
    def out(self) -> Path:
        return self.place.out

    @property
    def data_dir(self) -> str | None:
        return self.place.data_dir

    @property
    def dataset(self) -> str:
        return self.spec.dataset

    def begun(self) -> list[Path]:
        folder = self.place.seed_folder(self.seed)
        return [f for f in folder.rglob("*") if f.is_file()] if self.place.resume else []

    @contextmanager
    def claim(self, *, wait: bool) -> Iterator[bool]:
        yield True

    def compute(self, out: Path, data_dir: str | None) -> None:
        _one_seed(self.spec, self.seed, replace(self.place, out=out, data_dir=data_dir), True)


def read_result(out: Path) -> dict[str, Any]:
    """The result.json of a finished run."""
    result = read_record(out / RESULT, CURE)
    if result is None:
        raise InputError(f"{out} holds no finished run: {RESULT} is missing")
    check_format(result.get("format"), out / RESULT)
    with ours(out / RESULT, AGAIN):
        _check_result(result)
    return result


def _check_result(result: dict[str, Any]) -> None:
    """Raise ValueError unless a result has the parts and types that `summarise` writes."""
    kinds = {
        **dict.fromkeys(("dataset", "method", "hardness"), str),
        **dict.fromkeys(("spec", "settings", "hardness_settings", "seconds", "versions"), dict),
        **dict.fromkeys(("seeds", "weights"), list),
    }
    for name, kind in kinds.items():
        if not isinstance(result[name], kind):
            raise ValueError(f"{name!r} is {shortened(result[name])}")
    Spec(**result["spec"])
    if not (result["seeds"] and all(type(seed) is int for seed in result["seeds"])):
        raise ValueError(f"'seeds' is {shortened(result['seeds'])}")
    accuracy = result["accuracy"]
    if accuracy is not None:
        numbers = [accuracy["mean"], accuracy["std"], *accuracy["runs"]]
        if len(numbers) < 3 or not all(type(number) in (int, float) for number in numbers):
            raise ValueError(f"'accuracy' is {shortened(accuracy)}")
        accuracy_text(accuracy)
        one_of(accuracy.get("scoring", "accuracy"), NAMES, "scoring")
        accuracy["protocol"] + ""
    result_rows(result)


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """The lines of the metrics.jsonl of a run or of one seed."""
    file = folder / METRICS
    with ours(file, AGAIN):
        lines = [json.loads(line) for line in read_text(file).splitlines()]
        for number, line in enumerate(lines, 1):
            wrong = [k for k in ("epoch", "loss") if type(line[k]) not in (int, float)]
            if wrong or not isinstance(line.get("hardness", {}), dict):
                raise ValueError(f"line {number} is no epoch")
    return lines


def accuracy_text(accuracy: dict[str, Any]) -> str:
    """The accuracy of a result as people write it; over one seed there is no spread to tell."""
    std = accuracy["std"] if has_spread(accuracy) else None
    return written(accuracy.get("scoring", "accuracy"), accuracy["mean"], std)


def result_title(result: dict[str, Any]) -> str:
    """Return what was trained on what, in one line."""
    beside = result["spec"].get("beside")
    method = f"{result['method']} beside {beside}" if beside else result["method"]
    weighted = "" if result["hardness"] == "none" else f" + {result['hardness']}"
    return f"{method}{weighted} on {Path(result['dataset']).name}"


def has_spread(accuracy: dict[str, Any]) -> bool:
    """Whether the standard deviation of a result is over more than one number."""
    return len(accuracy["runs"]) > 1 or accuracy.get("std_over") == "splits"


def result_rows(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what people want to see of a result, as pairs of a name and a value."""
    accuracy = result["accuracy"]
    rows = [("accuracy", "not evaluated")]
    if accuracy is not None:
        count = len(accuracy["runs"])
        scoring = accuracy.get("scoring", "accuracy")  # earlier versions had no other
        name = f"{NAMES[scoring]} ({accuracy['protocol']}, {count} seed{'s' * (count > 1)})"
        rows = [(name, accuracy_text(accuracy).removeprefix(f"{NAMES[scoring]} "))]
        if accuracy.get("floor") is not None:
            what, _, value = floor_text(scoring, accuracy["floor"]).partition(": ")
            rows.append((what, value.removeprefix(f"{NAMES[scoring]} ")))
        if accuracy.get("majority", 0) >= IMBALANCED:
            rows.append(("share of the largest class", f"{100 * accuracy['majority']:.1f} %"))
    collapsed = collapses(result)
    if collapsed:
        name = "seeds that learned nothing (see augcl doctor)"
        rows.append((name, ", ".join(map(str, collapsed))))
    shown = {
        "spread of the weights (std)": ("weight_std", 2),
        "uncertainty model agrees with the partition": ("fit_agreement", 3),
        "mean weight of true negatives": ("weight_true_negatives", 3),
        "mean weight of false negatives": ("weight_false_negatives", 3),
        "mass of false negatives": ("false_mass", 3),
        "mass of false negatives with weights": ("false_mass_weighted", 3),
    }
    for name, (key, digits) in shown.items():
        values = [weights[key] for weights in result["weights"] if weights and key in weights]
        if values:
            rows.append((name, f"{sum(values) / len(values):.{digits}f}"))
    rows += [(f"seconds of {part}", f"{s:.1f}") for part, s in result["seconds"].items()]
    return rows


def collapses(result: dict[str, Any]) -> dict[int, str]:
    """Seeds of a result that learned nothing, and why one must say so."""
    reasons = result.get("collapse") or [None] * len(result["seeds"])  # of an earlier version
    return {s: why for s, why in zip(result["seeds"], reasons, strict=True) if why is not None}


def clear_run(out: Path) -> None:
    """Remove what an earlier run left in its folder, and nothing else."""
    seeds = [path for path in out.glob("seed-*") if _is_seed_folder(path)]
    if not seeds:
        raise InputError(f"{out} holds files that are not a run's: choose another --out")
    files = [
        out / name for name in (RESULT, METRICS, "embeddings.npz", "report.html", "explore.html")
    ]
    folders = [path for path in (out / "model", *seeds) if os.path.lexists(path)]
    for path in folders:  # before anything is deleted
        if path.is_symlink() or not path.is_dir():
            raise InputError(f"{path} is no folder of ours: remove it or choose another --out")
    for path in files:
        if path.is_dir() and not path.is_symlink():
            raise InputError(f"{path} is a folder: remove it or choose another --out")
    for path in files:
        path.unlink(missing_ok=True)
    for path in folders:  # seeds last: by them we know a run
        shutil.rmtree(path)


def _is_seed_folder(path: Path) -> bool:
    """Whether we made it: called seed-3, and nothing in it that we would not write."""
    written = {
        METRICS,
        "checkpoint.safetensors",
        RECORD,
        "model",
        "embeddings.npz",
        FILE,
        WATCHED_FILE,
    }
    return (
        path.name.removeprefix("seed-").isdigit()
        and path.is_dir()
        and all(file.name in written or file.suffix == ".tmp" for file in path.iterdir())
    )


def summarise(spec: Spec, records: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean and population standard deviation, and everything needed to repeat it.

    The deviation is over seeds and, of nodes, over all splits of all seeds, as the papers have it.
    """
    first = records[0]
    judged = [r["accuracy"] for r in records if r["accuracy"] is not None]
    accuracy = None
    if judged:
        runs = [found["mean"] for found in judged]
        nodes = spec.level == "node"
        fraction = judged[0].get("scoring", "accuracy") not in ("r2", "mae", "rmse")
        spread = [s for found in judged for s in found["folds"] if s is not None] if nodes else runs
        accuracy = {
            "mean": float(np.mean(runs)),
            "std": float(np.std(spread)),
            "std_over": "splits" if nodes else "seeds",
            "runs": runs,
            "unit": "fraction" if fraction else "as the target",
            "protocol": judged[0]["protocol"],
            "split_hashes": [found["split_hash"] for found in judged],
            "scoring": judged[0].get("scoring", "accuracy"),
            "floor": _mean_floor(judged),
            **({"majority": judged[0]["majority"]} if "majority" in judged[0] else {}),
        }
    parts = {name for r in records for name in r["seconds"]}
    return {
        "format": FORMAT,
        "dataset": spec.dataset,
        "method": spec.method,
        "hardness": spec.hardness,
        "recipe": spec.recipe,
        "spec": asdict(spec),
        "settings": _used(spec, first["settings"]),
        "hardness_settings": first["hardness_settings"],
        "seeds": [r["seed"] for r in records],
        "accuracy": accuracy,
        "weights": [r["weights"] for r in records],
        "collapse": [r.get("collapse") for r in records],
        "seconds": {p: sum(r["seconds"].get(p, 0.0) for r in records) for p in sorted(parts)},
        "versions": versions(),
    }


def _used(spec: Spec, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with the values of the recipe, where the method leaves them to it."""
    recipe = get_recipe(spec.recipe)
    values = {**recipe.shared(), **recipe.of_method(METHODS[spec.method])}
    return {name: values.get(name) if v is None else v for name, v in settings.items()}


def _mean_floor(judged: list[dict[str, Any]]) -> float | None:
    floors = [found["floor"] for found in judged if found.get("floor") is not None]
    return float(np.mean(floors)) if floors else None


def _one_seed(
    spec: Spec,
    seed: int,
    place: Place,
    shared: bool,
    data: GraphSet | NodeGraph | None = None,
) -> dict[str, Any]:
    if spec.level == "graph":
        one_thread()  # always, so that --jobs does not change the result
    elif shared and place.cluster is None:  # else it has the threads that the user gave it
        share_threads(place.jobs)
    folder = place.seed_folder(seed)
    outcome = run(
        spec,
        seed,
        data_dir=place.data_dir,
        folder=folder,
        resume=place.resume,
        device=place.device,
        jobs=1 if shared else max(1, place.jobs),
        judge=place.judge,
        progress=not shared,
        watch=seed == 0,
        data=data,
    )
    with phase("writing embeddings and model", show=not shared):
        found = explored(
            outcome.data, outcome.model, outcome.embeddings, outcome.score, outcome.watcher
        )
        if outcome.watcher is not None and not outcome.watcher.found and place.resume:
            before = read_explored(folder / FILE)  # nothing was left to train
            found |= {name: a for name, a in before.items() if name.startswith("weights.")}
        write_explored(folder / FILE, found)
        if seed == 0:
            outcome.model.save(folder / "model")
            kernel = outcome.model.gives_kernel
            file = folder / "embeddings.npz"
            write_embeddings(file, outcome.embeddings, outcome.data, kernel=kernel)
    write_json(folder / RECORD, {"format": FORMAT, **outcome.record})
    return outcome.record


def _finished(spec: Spec, seed: int, place: Place, data: str) -> dict[str, Any] | None:
    """The record of a seed that is done, if the run is resumed with the same settings."""
    done = place.seed_folder(seed) / RECORD
    record = read_record(done, CURE)
    if record is None:
        return None
    check_format(record.get("format"), done, "use --overwrite or another --out")
    with ours(done, f"delete it and {CURE}"):
        before, same_data = asdict(Spec(**record["spec"])), record["data"] == data
        judged = record["accuracy"] is not None or not record["labelled"]
        summarise(spec, [record])
    same_settings(before, asdict(spec), place.out)
    if not same_data:
        raise InputError(
            f"cannot resume {place.out}: the data of {spec.dataset} have changed since seed "
            f"{seed} was trained; use --overwrite or another --out"
        )
    complete = (judged or not place.judge) and _has_its_files(seed, place)
    return record if complete else None


def _has_its_files(seed: int, place: Place) -> bool:
    """Whether nobody removed what a finished seed has left."""
    here = place.seed_folder(seed)
    kept = KEPT if seed == 0 else ()
    moved = all((here / name).exists() or (place.out / name).exists() for name in kept)
    return moved and (here / METRICS).exists()


def _move(source: Path, target: Path) -> None:
    """Put a finished file or folder in its place; nothing to do if that happened before."""
    if not source.exists():
        return
    if target.is_symlink():
        target.unlink()
    elif target.is_dir():
        shutil.rmtree(target)
    source.replace(target)


@contextmanager
def _watching(spec: Spec, seeds: int, place: Place) -> Iterator[None]:
    """A line over the epochs of all workers, read from the metrics that they write."""
    stop = threading.Event()
    folders = [place.seed_folder(seed) for seed in range(seeds)]
    title, epochs = f"{spec.method} on {Path(spec.dataset).name}", spec.all_epochs
    unit = "epoch" if epochs else "seed"
    with progress_bar(title, seeds * (epochs or 1), unit=unit) as report:

        def watch() -> None:
            while not stop.wait(0.3):
                ended = sum((folder / RECORD).exists() for folder in folders)
                if epochs:
                    done, note = _epochs_done([folder / METRICS for folder in folders])
                    report(done, f"{note}  seeds {ended}/{seeds}")
                else:
                    report(ended)

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            stop.set()
            watcher.join()


def _epochs_done(files: list[Path]) -> tuple[int, str]:
    """Return how many epochs all seeds have done, and the note on one of the newest."""
    done, note = 0, ""
    for file in files:
        lines = file.read_bytes().splitlines() if file.exists() else []
        done += len(lines)
        with suppress(LookupError, ValueError):  # none yet, or half written
            note = training_note(json.loads(lines[-1]))
    return done, note
