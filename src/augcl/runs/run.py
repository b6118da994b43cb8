"""One training with one seed, from data to score: the unit of every table and of `augcl train`."""

from __future__ import annotations

import contextlib
import math
import os
import platform
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.checks import parameters
from augcl.data import GraphSet, NodeGraph, Reading, load_graph, load_graphs
from augcl.data.catalogue import known_name
from augcl.errors import InputError, one_of
from augcl.evaluation.inputs import check_two_classes
from augcl.evaluation.score import Score
from augcl.evaluation.splits import random_parts
from augcl.evaluation.svm import check_classes
from augcl.files import packaged_toml
from augcl.hardness import Hardness, named_hardness
from augcl.hardness.diagnostics import MASSES
from augcl.methods.beside import Beside
from augcl.methods.presets import PUBLISHED, preset_for, presets
from augcl.methods.recipes import get_recipe, left_to_recipe
from augcl.rivals.gensim_models import FittedOnly
from augcl.runs.explored import WeightWatcher
from augcl.runs.models import METHODS
from augcl.training.method import EDGE_SWITCHES, Method, fingerprint, plain_settings
from augcl.training.processes import check_shared
from augcl.training.progress import phase
from augcl.training.threads import give_back_memory

NODE_RUNS = 20
"""Splits of the nodes that judge one training at most; those of two seeds do not overlap."""

FIRST_PROTOCOL, SECOND_PROTOCOL = "linear-10-10-80", "logistic-10-10-80"
"""The customary protocol for nodes, and one with a stronger classifier on the same splits."""

JUDGED = 100_000
"""Nodes at most that judge the embeddings of one graph: they tell a tenth of a percent apart."""

LARGE_RUNS = 2
"""Splits that judge a training on more than half of `JUDGED` nodes: one tells nearly as much."""

FOLDS = 10  # of the protocols for targets that are no classes
EMBEDDED = 32  # graphs whose embedding is timed
BY_FEATURES = "by features"
"""In place of an augmentation that depends on the data."""


AS_BEFORE: dict[str, Any] = {
    "norm": "none",
    "preset": PUBLISHED,
    "affinity": "projection",
    "cap": False,
    "among": None,
    "top": 0.1,
    "precision": 1.0,
    "recall": 1.0,
    "Oracle.refresh": None,
    "Oracle.random_state": 0,  # others have had these from the start
    "half_hop": None,
    "batches": "random",
}
"""Parameters younger than some records, each with the value at which a method or a hardness is what
it was without it: these do not enter the name of a record."""


@dataclass(frozen=True)
class Spec:
    """Everything that decides a result, except the seed.

    `options` are further parameters of the method, for instance ``{"tau": 0.5}``, and
    `hardness_options` those of the hardness, over what the recipe says. `preset` "published" takes
    the settings that were published for the data set, or for data in general; None takes them for
    another recipe than "default", else ours. `epochs` None: as the preset says; `protocol` None:
    the customary one. `beside` is a method whose embeddings stand beside those of `method`.
    `target`, `task`, `missing`, `smiles` and
    `skip_bad` say how the data are read, see :func:`augcl.load`.
    """

    dataset: str
    method: str = "GraphCL"
    hardness: str = "augcl"
    recipe: str = "default"
    preset: str | None = None
    beside: str | None = None
    epochs: int | None = None
    features: str = "auto"
    augmentation: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    hardness_options: dict[str, Any] = field(default_factory=dict)
    protocol: str | None = None
    target: str | None = None
    task: str = "auto"
    missing: str = "error"
    smiles: str | None = None
    skip_bad: bool = False

    @property
    def reading(self) -> Reading:
        """How the data are read."""
        return Reading(self.target, self.task, self.missing, self.smiles, self.skip_bad)

    @property
    def level(self) -> str:
        """What is embedded: "graph" or "node"."""
        return METHODS[one_of(self.method, METHODS, "method")].level

    @property
    def all_epochs(self) -> int:
        """How many there will be."""
        method = self._method(self._published(known_name(self.dataset) or self.dataset))
        return int(method.settings().get("epochs", 0))

    def load(self, data_dir: str | None = None) -> GraphSet | NodeGraph:
        """The data set, as the method needs it."""
        read = load_graphs if self.level == "graph" else load_graph
        return read(self.dataset, data_dir=data_dir, features=self.features, how=self.reading)

    def estimator(self, data: GraphSet | NodeGraph, seed: int, **more: Any) -> Method:
        """The method with these settings."""
        usual = "random2" if data.num_features > 1 else "random3"
        method = self._method(self._published(data.name, usual), random_state=seed, **more)
        if self.beside is None:
            return method
        return Beside(method, self._other(random_state=seed, **more))

    def _other(self, **more: Any) -> Method:
        """The method that stands beside, with its own defaults."""
        assert self.beside is not None
        kind = METHODS[one_of(self.beside, METHODS, "method beside another")]
        known = parameters(kind)
        return kind(**{name: value for name, value in more.items() if name in known})

    def fingerprint(self, data: GraphSet | NodeGraph) -> str:
        """A hash of the data; edge features are a part of it where the method may use them."""
        used = False
        for part in _parts(self.estimator(data, 0)):
            switch = getattr(part, "edge_switch", None)
            used = used or (switch is not None and getattr(part, switch) is not False)
        return fingerprint(data, edge_features=used)

    def _published(self, dataset: str, augmentation: str = BY_FEATURES) -> dict[str, Any]:
        """The settings of a data set; `augmentation` is for graphs without a published one."""
        kind = METHODS[one_of(self.method, METHODS, "method")]
        asked = self.preset or ("default" if self.recipe == "default" else PUBLISHED)
        preset = {}
        if kind.preset_file is None:
            one_of(asked, ("default", PUBLISHED), "preset")
        else:
            by_name = PUBLISHED not in presets(kind.preset_file)  # all of them are published
            if (by_name and self.preset is None) or asked == PUBLISHED:
                asked = preset_for(dataset, kind.preset_file)
            preset = {"preset": asked}
        if self.level == "node":
            return preset
        published = packaged_toml("augcl.runs", "presets.toml")
        usual = published["augmentation"].get(dataset, augmentation)
        own = {}
        if asked == PUBLISHED:
            own = published["published"].get(self.method, {})
            if dataset in published["edges"]["unused"]:
                own = {**own, **dict.fromkeys(EDGE_SWITCHES, False)}
        return {**preset, "augmentation": self.augmentation or usual, **own}

    def _method(self, preset: dict[str, Any], **more: Any) -> Method:
        """With the options, and those of the general settings that the method has."""
        kind = METHODS[one_of(self.method, METHODS, "method")]
        known = parameters(kind)
        for name in [*self.options, *(["augmentation"] if self.augmentation else [])]:
            if name not in known:
                option = name.replace("_", "-")
                raise InputError(f"{self.method} has no option {option}: leave it out")
        if self.hardness != "none" and "hardness" not in known:
            raise InputError(f"{self.method} has no negatives to weigh: use hardness none")
        general = {
            "hardness": self.hardness_object() if self.hardness_options else self.hardness,
            "recipe": self.recipe,
            **({} if self.epochs is None else {"epochs": self.epochs}),
            **preset,
            **more,
        }
        fitting = {name: value for name, value in general.items() if name in known}
        return kind(**{**fitting, **self.options})

    def decides(self) -> dict[str, Any]:
        """All settings that decide a result, the defaults among them, as plain JSON values.

        The augmentation of graphs without a published one depends on the data, see `estimator`.
        """
        name = known_name(self.dataset) or Path(self.dataset).name
        published = self._published(name)
        method = self._method(published)
        settings = method.settings()
        # A set with a published setting of the edges is what it was before there were others; one
        # that leaves this setting to the data says so.
        usual = {s for s in EDGE_SWITCHES if s in published and settings.get(s) == published[s]}
        of_tables = packaged_toml("augcl.runs", "presets.toml")["edges"]["unused"]
        switch = getattr(method, "edge_switch", None)
        by_data = name in of_tables and switch is not None and getattr(method, switch) is None
        recipe, left = {}, {"random_state", "hardness"} | usual
        if "recipe" in settings:
            recipe, left = get_recipe(self.recipe).shared(), left | left_to_recipe(method)
        revision = METHODS[self.method].revision
        return {
            **({"revision": revision} if revision > 1 else {}),
            "dataset": name,
            "method": self.method,
            "settings": _decisive(
                {k: v for k, v in settings.items() if k not in left}, self.method
            ),
            "recipe": recipe,
            "hardness": hardness_settings(self.hardness_object()),
            "features": self.features,
            "protocol": self.protocol,
            **({"edges": "by the data"} if by_data else {}),
            **({} if self.beside is None else {"beside": self._beside_decides()}),
            **({"reading": self.reading.mark} if self.reading.mark else {}),
        }

    def _beside_decides(self) -> dict[str, Any]:
        other = self._other()
        settings = {k: v for k, v in other.settings().items() if k != "random_state"}
        return {"method": self.beside, "revision": other.revision, "settings": settings}

    def hardness_object(self) -> Hardness:
        """The hardness with the settings of the recipe and those given here."""
        return named_hardness(self.hardness, self.recipe, self.hardness_options)


def hardness_settings(hardness: Hardness) -> dict[str, Any]:
    """The settings of a hardness, without the label that says where they come from."""
    settings: dict[str, Any] = plain_settings(hardness)
    settings["params"].pop("recipe", None)
    settings["params"] = _decisive(settings["params"], settings["class"])
    return settings


def _decisive(settings: dict[str, Any], owner: str) -> dict[str, Any]:
    """Return the settings without those that leave everything as it was before they existed."""
    before = {name: AS_BEFORE.get(f"{owner}.{name}", AS_BEFORE.get(name, ...)) for name in settings}
    return {name: value for name, value in settings.items() if value != before[name]}


@dataclass(frozen=True)
class Outcome:
    """What one run found; `record` is plain JSON."""

    record: dict[str, Any]
    model: Method
    embeddings: NDArray[np.float32]
    data: GraphSet | NodeGraph
    score: Score | None = None
    watcher: WeightWatcher | None = None


def run(
    spec: Spec,
    seed: int,
    *,
    data_dir: str | None = None,
    folder: Path | None = None,
    resume: bool = False,
    device: str = "cpu",
    jobs: int = 1,
    judge: bool = True,
    also: bool = False,
    progress: bool = True,
    watch: bool = False,
    data: GraphSet | NodeGraph | None = None,
) -> Outcome:
    """Load, train, embed and (with labels, and if `judge`) evaluate; `watch` the weights.

    Data that are loaded already are not read again. With `also`, evaluate an embedding of nodes by
    `SECOND_PROTOCOL` too, on the same splits.
    """
    if data is None:
        with warnings.catch_warnings():  # who asks for seeds was told when they were checked
            warnings.filterwarnings("ignore", message=".*(not used|left out)")
            with phase(f"reading {Path(spec.dataset).name}", show=progress):
                data = spec.load(data_dir)
    if data.num_nodes > JUDGED:
        give_back_memory()
    watcher = WeightWatcher(data, folder) if watch else None
    watching = {} if watcher is None else {"callbacks": [watcher]}
    model = spec.estimator(data, seed, device=device, progress=progress, **watching)
    start_watching_memory()
    started = time.perf_counter()
    model.fit(data, folder=folder, resume=resume)
    elapsed = time.perf_counter() - started
    beside = model.second_seconds_ if isinstance(model, Beside) else 0.0
    training = sum(m["seconds"] for m in model.history_) + beside or elapsed
    embedding = time.perf_counter()
    embeddings = model.transform(data)
    embedding = time.perf_counter() - embedding
    new = not any(isinstance(part, FittedOnly) for part in _parts(model))  # else no other data
    if new and isinstance(data, GraphSet):
        embedding = _seconds_to_embed_one(model, data)
    used = {
        "embedding": embedding if new else None,
        "memory": peak_memory() or None,
    }
    record: dict[str, Any] = {
        "spec": asdict(spec),
        "seed": seed,
        "settings": model.settings(),
        "hardness_settings": plain_settings(spec.hardness_object()),
        "data": spec.fingerprint(data),
        "labelled": data.y is not None,
        "accuracy": None,
        "weights": weight_summary(model.history_),
        "collapse": model.collapse_,
        "seconds": {"training": training},
        "use": used,
        "losses": [round(m["loss"], 6) for m in model.history_],
    }
    score = None
    if judge and data.y is not None:
        from augcl.evaluation.protocol import evaluate  # slow to import: scikit-learn

        started = time.perf_counter()
        nodes, of = judged_nodes(data)

        def judged(protocol: str) -> Score:
            return evaluate(
                embeddings if nodes is None else embeddings[nodes.numpy()],
                data if nodes is None else data.among(nodes),  # type: ignore[union-attr]
                kernel=model.gives_kernel,
                protocol=protocol,
                repeats=1 if spec.level == "graph" else _splits_of(data),
                random_state=seed if spec.level == "graph" else NODE_RUNS * seed,
                jobs=jobs,
                progress=progress,
            )

        score = judged(spec.protocol or "auto")
        record["accuracy"] = _recorded(score, of, data)
        record["seconds"]["evaluation"] = time.perf_counter() - started
        if also and record["accuracy"]["protocol"] == FIRST_PROTOCOL:
            record["also"] = {SECOND_PROTOCOL: _recorded(judged(SECOND_PROTOCOL), of, data)}
        if nodes is not None:
            score = score.spread(np.isin(np.arange(data.num_nodes), nodes.numpy()))
    record["versions"] = versions()
    return Outcome(record, model, embeddings, data, score, watcher)


def train_along(spec: Spec, seed: int, *, data_dir: str | None, resume: bool, device: str) -> None:
    """Do the training of `run` as one of several processes that is not the first: write nothing."""
    data = spec.load(data_dir)
    model = spec.estimator(data, seed, device=device, progress=False)
    _parts(model)[0].fit(data, resume=resume)


def _splits_of(data: GraphSet | NodeGraph) -> int | None:
    """Return how many random splits judge the nodes of a graph; None: as many as usual."""
    large = data.num_nodes > JUDGED // 2 and (isinstance(data, GraphSet) or data.splits is None)
    return LARGE_RUNS if large and data.task == "classification" else None


def _recorded(score: Score, of: str, data: GraphSet | NodeGraph) -> dict[str, Any]:
    """Return a score as plain JSON; `of` says which nodes it is of."""
    return {
        "mean": score.mean,
        "folds": _numbers(score.folds),
        "inner": _numbers(score.inner),
        "protocol": score.protocol + of,
        "split_hash": score.split_hash,
        "scoring": score.scoring,
        "floor": score.floor,
        **({"majority": _majority(data)} if data.task == "classification" else {}),
    }


def judged_nodes(data: GraphSet | NodeGraph) -> tuple[Tensor | None, str]:
    """Return the nodes of a large graph that judge it, and words that say so; None: all of them.

    The same nodes judge every method: drawn at random, unless the graph has splits of its own.
    """
    if isinstance(data, GraphSet) or data.splits is not None or data.num_nodes <= JUDGED:
        return None, ""
    order = torch.randperm(data.num_nodes, generator=torch.Generator().manual_seed(0))
    return order[:JUDGED].sort().values, f" on {JUDGED:,} nodes"


def _parts(model: Method) -> tuple[Method, ...]:
    """Return the methods that stand side by side."""
    return (model.first, model.second) if isinstance(model, Beside) else (model,)


def _seconds_to_embed_one(model: Method, graphs: GraphSet) -> float:
    """Return the seconds to embed a graph, of a few at once."""
    some = graphs.select(range(min(len(graphs), EMBEDDED)))
    started = time.perf_counter()
    model.transform(some)
    return (time.perf_counter() - started) / len(some)


def start_watching_memory() -> float:
    """Reset the peak of memory, where the system can; return the bytes in use."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory()


def peak_memory() -> float:
    """Return the peak memory of this process in bytes; 0 if the system does not report it."""
    with contextlib.suppress(OSError, StopIteration):  # ru_maxrss includes the parent process
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def _numbers(folds: Sequence[Sequence[float]]) -> list[float | None]:
    """List the scores of all folds; None where one is not defined, as R² of equal targets is."""
    return [None if math.isnan(fold) else float(fold) for run in folds for fold in run]


def check(
    spec: Spec, data: GraphSet | NodeGraph, *, device: str = "cpu", judge: bool = True
) -> None:
    """Raise `InputError` for whatever would go wrong in `run`, before any work is done."""
    model = spec.estimator(data, 0, device=device)
    check_shared(type(_parts(model)[0]))
    model.check()
    if isinstance(data, GraphSet) and len(data) < 2:
        raise InputError(
            f"{spec.dataset} has one graph: contrasting needs two or more; "
            "to embed its nodes, choose a method for nodes (augcl methods --level node)"
        )
    if judge and data.y is not None and data.task != "classification":
        known = ~data.y.isnan().cpu().reshape(len(data.y), -1)
        if int(known.any(dim=1).sum()) < 2 * FOLDS:
            raise InputError(
                f"the embeddings of {spec.dataset} cannot be evaluated: {FOLDS} folds need targets "
                f"of {2 * FOLDS} samples or more; augcl train --no-evaluate trains without an "
                "evaluation"
            )
    elif judge and data.labels is not None:
        known = data.labels[data.labels >= 0].cpu()
        classes, codes = known.unique(return_inverse=True)
        called = [data.classes[c] if data.classes else c for c in classes.tolist()]
        try:
            if isinstance(data, GraphSet):
                check_classes(codes.numpy(), called, folds=10)
            else:
                check_two_classes(called)
                random_parts(len(known), seeds=[0])
        except InputError as error:
            reason = str(error).replace("use folds=", "use augcl evaluate --folds ")
            reason = reason.replace("task=", "--task ")
            raise InputError(
                f"the embeddings of {spec.dataset} cannot be evaluated: {reason}; "
                "augcl train --no-evaluate trains without an evaluation"
            ) from None


def _majority(data: GraphSet | NodeGraph) -> float:
    """Return the share of the largest class."""
    assert data.y is not None
    counts = torch.bincount(data.y[data.y >= 0])
    return float(counts.max() / counts.sum())


def weight_summary(history: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The last fit's vital signs, the last epoch's weights and masses; None if there are none."""
    fits = [m["hardness"] for m in history if "hardness" in m]
    keys = ("weight_std", "near_one", "weight_true_negatives", "weight_false_negatives", *MASSES)
    last = {key: history[-1][key] for key in keys if history and key in history[-1]}
    return {**{f"fit_{k}": v for k, v in (fits or [{}])[-1].items()}, **last} or None


def versions() -> dict[str, str]:
    """What the numbers were computed with."""
    parts = ("augcl", "torch", "torch_geometric", "scikit-learn", "numpy")
    return {"python": platform.python_version(), **{p: version(p) for p in parts}}


def one_thread() -> None:
    """Small graphs gain nothing from threads, and workers that share a machine lose by them."""
    torch.set_num_threads(1)


def share_threads(workers: int) -> None:
    """All pairs of nodes are work for many threads: each worker gets its part of the machine."""
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // workers))
