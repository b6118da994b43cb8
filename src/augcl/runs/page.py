"""report.html: a run, or two side by side, as one self-contained page to explore.

Python packs the numbers; the scripts in `web` draw them. The page loads nothing.
"""

from __future__ import annotations

import base64
import html
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import stdtrit
from torch.nn.functional import normalize

from augcl.errors import InputError, ours
from augcl.evaluation.scoring import NAMES, floor_text
from augcl.files import packaged_text, write_text
from augcl.hardness.affinity import MEANING
from augcl.runs.beside_run import read_floors, read_tsne
from augcl.runs.embedding_file import Embeddings, read_embeddings
from augcl.runs.explored import (
    DRAWN_EDGES,
    FILE,
    NODE_EDGES,
    Arrays,
    kernel_plane,
    plane_of,
    read_explored,
)
from augcl.runs.seeds import (
    accuracy_text,
    collapses,
    has_spread,
    read_metrics,
    read_result,
    result_title,
)

Metrics = list[dict[str, Any]]
Ints = NDArray[np.int64]
Target = tuple[str, list[str] | None, NDArray[Any]]

POINTS = 10_000
"""Points at most on a map; of more, a random sample is shown."""
NEIGHBOURS = 5
EDGE_ENTRIES = 500_000
"""Edge entries at most of a graph whose neighbourhoods are drawn: the page stays below 6 MB."""
PAGE_BYTES = 6_000_000
"""Bytes at most of a page; of many seeds, so many are on the map as fit."""
TARGETS = 24
"""Targets at most that a page offers."""
CURVE_POINTS = 250
"""Points at most of a curve of one seed."""
SCRIPTS = ("draw", "graph", "map", "weights", "run")
KINDS = {"uint8": "u8", "uint16": "u16", "int16": "i16", "int32": "i32", "float32": "f32"}


def write_report(run: Path) -> Path:
    """Write report.html into the folder of a finished run; return its path."""
    return _write([run], run / "report.html")


def write_side_by_side(first: Path, second: Path) -> Path:
    """Write explore.html, two runs with one selection, into the folder of the first."""
    return _write([first, second], first / "explore.html")


def _write(runs: Sequence[Path], target: Path) -> Path:
    described = []
    for run in runs:
        with ours(run, "train again"):
            described.append(_described(run, PAGE_BYTES // len(runs)))
    levels = {run["noun"] for run, _ in described}
    if len(levels) > 1:
        raise InputError(f"{runs[0]} and {runs[1]} differ: one embeds graphs, the other nodes")
    write_text(target, _page(described))
    return target


def _page(described: list[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """Return the page of runs, each as its data and its result."""
    lead = []
    for run, result in described:
        accuracy = result["accuracy"]
        if len(described) > 1:
            lead.append(f"<h2>{html.escape(run['title'])}</h2>")
        if accuracy:
            classes = run["targets"] and all(target["classes"] for target in run["targets"])
            judge = "classifier" if classes else "predictor"
            words = f"score of a {judge} on the embeddings: mean{_spread(accuracy)}"
            lead.append(f'<p class="big">{html.escape(accuracy_text(accuracy))}</p>')
            lead.append(f'<p class="small">{html.escape(words)}</p>')
        lead += [f'<p class="warning">{html.escape(text)}</p>' for text in _warnings(result)]
    versions = described[0][1]["versions"]
    computed = ", ".join(f"{name} {number}" for name, number in versions.items())
    # Points of two runs are the same ones if the data are.
    same = {(result["dataset"], run["total"]) for run, result in described}
    return self_contained(
        " · ".join(run["title"] for run, _ in described),
        lead="\n".join(lead),
        footer=f"Computed with {computed}.",
        data={"runs": [run for run, _ in described], "linked": len(same) == 1},
        scripts=SCRIPTS,
    )


def self_contained(
    title: str, *, lead: str, footer: str, data: Mapping[str, Any], scripts: Sequence[str]
) -> str:
    """Return a page that loads nothing: style, scripts of `web` and their data; `lead` is HTML."""
    packed = json.dumps(data, allow_nan=False)
    return Template(packaged_text("augcl.runs", "web/page.html")).substitute(
        title=html.escape(title),
        style=packaged_text("augcl.runs", "web/page.css"),
        lead=lead,
        footer=html.escape(footer),
        data=packed.replace("<", "\\u003c"),  # no name can end the script
        script="\n".join(_packaged(scripts).values()),
    )


def _packaged(scripts: Sequence[str]) -> dict[str, str]:
    return {name: packaged_text("augcl.runs", f"web/{name}.js") for name in scripts}


def _described(folder: Path, most: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the scripts draw of a run, in `most` bytes, and its result."""
    result, metrics = read_result(folder), read_metrics(folder)
    stored = read_embeddings(folder / "embeddings.npz")
    kept = {seed: read_explored(folder / f"seed-{seed}" / FILE) for seed in result["seeds"]}
    count = len(stored.Z)
    ids = shown_points(count)
    kept = {seed: arrays for seed, arrays in kept.items() if len(arrays.get("plane", ())) == count}
    first = kept.get(result["seeds"][0], {})
    tsne = read_tsne(folder, stored, len(ids))
    noun = "node" if stored.level == "node" else "graph"
    targets = _targets(stored)
    graphs, missing = _graphs(first, ids, noun)
    run: dict[str, Any] = {
        "title": result_title(result),
        "noun": noun,
        "total": count,
        "axes": "principal components" + " in the space of the kernel" * stored.kernel,
        "ids": _packed(ids.astype(np.int32)),
        "names": stored.names and [stored.names[i] for i in ids],
        "targets": [
            {"name": name, "classes": classes, "y": _packed(y[ids])} for name, classes, y in targets
        ],
        "tsne": None if tsne is None else _packed(tsne),
        "parts": ["train", "validation", "test"] if noun == "node" else None,
        "several": noun == "node",
        "sampled": _sampled(count, noun),
        "notes": [],
        "near": _near(stored, ids),
        "graphs": graphs,
        "missing": missing,
        "weights": _weights(first, result, stored, targets),
        "score": _score(result, read_floors(folder, result) if result["accuracy"] else {}, folder),
        "curves": _curves(metrics),
        "onset": min((m["epoch"] for m in metrics if "hardness" in m), default=None),
        "trained": len(result["seeds"]),
        "facts": _facts(result),
        "settings": json.dumps(
            {**result["settings"], "hardness": result["hardness_settings"]}, indent=1
        ),
    }
    names = stored.targets or []
    if len(names) > len(targets):
        run["notes"].append(f"The first {TARGETS} of {len(names)} targets are offered.")
    left = most - len(json.dumps(run)) - sum(len(text) for text in _packaged(SCRIPTS).values())
    run["seeds"] = _seeds(result["seeds"], kept, stored, ids, targets, left)
    if len(run["seeds"]) < len(kept):
        run["notes"].append(
            f"The map and the predictions show the first {len(run['seeds'])} of {len(kept)} "
            f"seeds: the page stays below {PAGE_BYTES // 1_000_000} MB."
        )
    return run, result


def shown_points(count: int) -> Ints:
    """Return the numbers of the points that a map shows."""
    if count <= POINTS:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).permutation(count)[:POINTS])


def _packed(values: NDArray[Any]) -> dict[str, str]:
    """Return an array as little-endian bytes in base64, and its kind."""
    kind = KINDS[values.dtype.name]
    little = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<"))
    return {"kind": kind, "data": base64.b64encode(little.tobytes()).decode("ascii")}


def _targets(stored: Embeddings) -> list[Target]:
    """Return the name of each target, the names of its classes (None: numbers), its values (n,)."""
    if stored.y is None:
        return []
    if stored.y.ndim == 1 and stored.y.dtype.kind in "iub":
        codes = stored.y.astype(np.int32)
        names = stored.classes or [f"class {c}" for c in range(int(codes.max(initial=0)) + 1)]
        return [("class", list(names), codes)]
    values = stored.y.reshape(len(stored.y), -1)
    usual = ["target"] if values.shape[1] == 1 else [f"y{t}" for t in range(values.shape[1])]
    found: list[Target] = []
    for name, column in zip(stored.targets or usual, values.T[:TARGETS], strict=False):
        known = column[np.isfinite(column)]
        if len(known) and np.isin(known, (0, 1)).all():  # one of several labels
            codes = np.where(np.isfinite(column), column, -1).astype(np.int16)
            found.append((name, ["class 0", "class 1"], codes))
        else:
            found.append((name, None, column.astype(np.float32)))
    return found


def _seeds(
    seeds: list[int],
    kept: dict[int, Arrays],
    stored: Embeddings,
    ids: Ints,
    targets: list[Target],
    left: int,
) -> list[dict[str, Any]]:
    """Return the points of each seed, of as many seeds as need no more than `left` bytes."""
    if seeds[0] not in kept:  # of an earlier version
        plane = kernel_plane(stored.Z) if stored.kernel else plane_of(stored.Z)
        kept = {seeds[0]: {"plane": plane}}
    found: list[dict[str, Any]] = []
    for seed, arrays in kept.items():
        parts = {
            "plane": arrays["plane"].astype(np.float32),
            "wrong": arrays.get("wrong"),
            "part": arrays.get("part"),
            "loss": arrays.get("loss"),
        }
        packed: dict[str, Any] = {
            k: None if v is None else _packed(v[ids]) for k, v in parts.items()
        }
        packed["predicted"] = None
        if (predicted := arrays.get("predicted")) is not None:
            columns = predicted[ids].reshape(len(ids), -1).T
            packed["predicted"] = [
                _predicted(column, classes)
                for column, (_, classes, _) in zip(columns, targets, strict=False)
            ]
        left -= len(json.dumps(packed))
        if found and left < 0:
            break
        found.append({"seed": seed, **packed})
    return found


def _predicted(values: NDArray[Any], classes: list[str] | None) -> dict[str, str]:
    """Pack the predictions of one target; of a label, the share of the parts that say 1 (bytes)."""
    if values.dtype.kind != "f":
        return _packed(values.astype(np.int32))
    if classes is None:
        return _packed(values.astype(np.float32))
    share = np.clip(np.nan_to_num(values) * 200, 0, 200).round()
    return _packed(np.where(np.isnan(values), 255, share).astype(np.uint8))


def _sampled(count: int, noun: str) -> str:
    if count <= POINTS:
        return ""
    also = " Neighbourhoods show the edges among these." if noun == "node" else ""
    return f"A random sample of {POINTS:,} of {count:,} {noun}s is shown.{also}"


def _near(stored: Embeddings, ids: Ints) -> dict[str, Any] | None:
    k = min(NEIGHBOURS, len(ids) - 1)
    if stored.kernel or k < 1:
        return None
    unit = normalize(torch.from_numpy(np.asarray(stored.Z[ids], dtype=np.float32)), dim=1)
    found = []
    for start in range(0, len(unit), 1024):
        cosines = unit[start : start + 1024] @ unit.T
        cosines.diagonal(start).fill_(-torch.inf)
        found.append(cosines.topk(k))
    index = torch.cat([best.indices for best in found]).numpy().astype(np.int32)
    similarity = torch.cat([best.values for best in found]).numpy()
    return {"k": k, "index": _packed(index), "similarity": _packed(similarity)}


def _graphs(kept: Arrays, ids: Ints, noun: str) -> tuple[dict[str, Any] | None, str]:
    """Return the graphs to draw, or the edges of the one of all nodes; and why one is not drawn."""
    if not kept:
        return None, "This run kept no graphs to draw: train it again with this version."
    if noun == "node":
        if "edges" not in kept:
            why = f"more than {NODE_EDGES:,} edge entries are not kept for drawings"
            return None, f"Neighbourhoods are not drawn: {why}."
        edges = _edges(kept["edges"], ids)
        why = f"there are more than {EDGE_ENTRIES:,} edge entries among the points shown"
        return edges, "" if edges else f"Neighbourhoods are not drawn: {why}."
    why = f"a page holds {DRAWN_EDGES:,} nodes and edges of graphs at most"
    if "graphs.ids" not in kept:
        return None, f"No graph is drawn: {why}."
    place = np.full(max(int(ids.max(initial=0)), int(kept["graphs.ids"].max())) + 1, -1, np.int32)
    place[kept["graphs.ids"]] = np.arange(len(kept["graphs.ids"]), dtype=np.int32)
    parts = ("nodePtr", "edgePtr", "source", "target", "nodeKind", "edgeKind")
    found: dict[str, Any] = {
        part: _packed(kept[f"graphs.{part}"]) for part in parts if f"graphs.{part}" in kept
    }
    for part in ("kindNames", "edgeNames"):
        if f"graphs.{part}" in kept:
            found[part] = kept[f"graphs.{part}"].tolist()
    views = [number for number in (0, 1) if f"view{number}.node" in kept]
    found["views"] = [
        {
            "node": _packed(kept[f"view{number}.node"]),
            "edge": _packed(kept[f"view{number}.edge"]),
            "addedPtr": _packed(kept[f"view{number}.addedPtr"].astype(np.int32)),
            "added": _packed(kept[f"view{number}.added"].astype(np.int32)),
        }
        for number in views
    ]
    found["place"] = _packed(place[ids])
    return found, f"This graph is not drawn: {why}, a random sample of them."


def _edges(edges: NDArray[Any], ids: Ints) -> dict[str, Any] | None:
    place = np.full(max(int(ids.max()), int(edges.max(initial=0))) + 1, -1, dtype=np.int64)
    place[ids] = np.arange(len(ids))
    source, target = place[edges[0]], place[edges[1]]
    both = (source >= 0) & (target >= 0)
    source, target = source[both], target[both]
    if len(source) > EDGE_ENTRIES:
        return None
    order = np.lexsort((target, source))
    degrees = np.bincount(source, minlength=len(ids))
    pointer = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)
    return {
        "edgePtr": _packed(pointer),
        "target": _packed(target[order].astype(np.uint16)),
        "views": [],
    }


def _weights(
    kept: Arrays, result: dict[str, Any], stored: Embeddings, targets: list[Target]
) -> dict[str, Any] | None:
    """Return the kept weights of some anchors and candidates."""
    if "weights.ids" not in kept:
        return None
    ids = kept["weights.ids"]
    noun = "node" if stored.level == "node" else "graph"
    params = result["hardness_settings"].get("params", {})
    packed = {
        part: _packed(kept[f"weights.{part}"]) if f"weights.{part}" in kept else None
        for part in ("similarity", "weight", "uncertainty", "group")
    }
    notes = ["The weights were computed after these epochs, on fresh views, without dropout."]
    if noun == "graph":
        notes.append("These graphs were taken as one batch.")
    if result["hardness"] == "oracle":
        notes.append("The oracle looks at the labels: it is a ceiling, no method.")
    return {
        **packed,
        "names": [stored.names[i] if stored.names else f"{noun} {i}" for i in ids],
        "epochs": kept["weights.epochs"].tolist(),
        "active": kept["weights.active"].tolist(),
        "ids": ids.tolist(),
        "y": [None if classes is None else y[ids].tolist() for _, classes, y in targets],
        "hardness": result["hardness"],
        "tau": float(result["settings"].get("tau", 0.2)),
        "tau_plus": float(params.get("tau_plus", 0.1)),
        "beta": float(params.get("beta", 1.0)),
        "top": float(params.get("top", 0.1)),
        "notes": notes,
    }


def _score(
    result: dict[str, Any], computed: Mapping[str, list[float]], folder: Path
) -> dict[str, Any] | None:
    accuracy = result["accuracy"]
    if accuracy is None:
        return None
    scoring, runs = accuracy.get("scoring", "accuracy"), accuracy["runs"]
    bounded = scoring not in ("r2", "mae", "rmse")
    floors: list[dict[str, Any]] = []
    if accuracy.get("floor") is not None:
        what = floor_text(scoring, accuracy["floor"]).partition(": ")[0]
        floors.append({"name": what, "mean": accuracy["floor"]})
    for name, scores in computed.items():
        floors.append({"name": name, **_interval(float(np.mean(scores)), scores, bounded)})
    words = f"Protocol {accuracy['protocol']}."
    if not computed:
        words += f" augcl explore {shlex.quote(str(folder))} --floors adds what needs no training"
        words += " and the untrained network."
    if len(runs) > 1:
        words += " Circles are seeds, the wide bar is the 95 % interval of their mean."
    return {
        **_interval(accuracy["mean"], runs, bounded),
        "percent": bounded,
        "what": NAMES[scoring],
        "words": words,
        "floors": floors,
    }


def _interval(mean: float, runs: list[float], bounded: bool) -> dict[str, Any]:
    """Return a mean, its runs and the ends of its 95 % interval, if there are several runs.

    A score that is `bounded` by 0 and 1 has no interval beyond them.
    """
    low = high = None
    if len(runs) > 1:
        half = float(stdtrit(len(runs) - 1, 0.975) * np.std(runs, ddof=1) / len(runs) ** 0.5)
        low, high = mean - half, mean + half
        if bounded:
            low, high = max(low, 0.0), min(high, 1.0)
    return {"mean": mean, "runs": runs, "low": low, "high": high}


def _curves(metrics: Metrics) -> list[dict[str, Any]]:
    """Return the curves over the epochs that these metrics have, with a text on each."""
    figures = []
    if metrics:
        text = "Mean over the batches of each epoch."
        if any("hardness" in m for m in metrics):
            text += " From the dotted line on, the negatives are weighted. The weighted loss is"
            text += " another function: do not compare it with the loss before the line."
        figures.append(_figure("Loss", text, "loss", {"": lambda m: m["loss"]}, metrics))
    if any("weight_std" in m for m in metrics):
        text = (
            "Standard deviation of the weights of the negatives, whose mean is 1. At 0, all "
            "weights are 1 and the loss is the unweighted one."
        )
        of = {"": lambda m: m.get("weight_std")}
        figures.append(_figure("Spread of the weights", text, "std of w", of, metrics))
    if any("weight_true_negatives" in m for m in metrics):
        text = (
            "Mean weight of true negatives (other class) minus that of false ones (same class). "
            "Above 0, the weights carry information about the classes. The training does not use "
            "the labels."
        )
        title = "Do the weights know the classes?"
        figures.append(_figure(title, text, "true − false", {"": _class_gap}, metrics))
    if any("false_mass" in m for m in metrics):
        text = (
            "Share of the mass Σ exp(s/τ) of an anchor's negatives that comes from false ones "
            "(same class), mean over anchors. The training does not use the labels."
        )
        of = {"without weights": lambda m: m.get("false_mass")}
        if any("false_mass_weighted" in m for m in metrics):
            text += " Lower with weights is better: they then act where they should."
            of["with weights"] = lambda m: m.get("false_mass_weighted")
        title = "How much of the negatives is false?"
        figures.append(_figure(title, text, "share", of, metrics))
    return figures


def _figure(
    title: str,
    text: str,
    label: str,
    of: dict[str, Callable[[dict[str, Any]], Any]],
    metrics: Metrics,
) -> dict[str, Any]:
    lines = []
    for group, value in of.items():
        for seed in sorted({m["seed"] for m in metrics}):
            points = [(m["epoch"], value(m)) for m in metrics if m["seed"] == seed]
            points = [(x, float(y)) for x, y in points if y is not None and np.isfinite(y)]
            if len(points) > CURVE_POINTS:  # every curve of all seeds is in the page
                points = points[: -1 : -(-len(points) // CURVE_POINTS)] + points[-1:]
            points = [(x, float(f"{y:.5g}")) for x, y in points]
            if points:
                lines.append({"group": group, "seed": seed, "points": points})
    return {"title": title, "text": text, "label": label, "lines": lines}


def _class_gap(metrics: dict[str, Any]) -> float:
    true, false = (metrics.get(f"weight_{kind}_negatives", np.nan) for kind in ("true", "false"))
    return float(true - false)


def _spread(accuracy: dict[str, Any]) -> str:
    over = accuracy.get("std_over", "seeds")
    return f" and standard deviation over {over}" if has_spread(accuracy) else ""


def _warnings(result: dict[str, Any]) -> list[str]:
    pairs = list(zip(result["seeds"], result["weights"], strict=True))
    found = [f"Seed {seed} learned nothing: {why}." for seed, why in collapses(result).items()]
    for state, meaning in MEANING.items():
        seeds = [str(seed) for seed, w in pairs if w and w.get("fit_state") == state]
        if seeds:
            many = "s" * (len(seeds) > 1)
            found.append(
                f"The uncertainty model is {state} for seed{many} {', '.join(seeds)}. {meaning}."
            )
    return found


def _facts(result: dict[str, Any]) -> list[tuple[str, str]]:
    facts = [("seeds", str(len(result["seeds"])))]
    if result["accuracy"] is None:
        facts.append(("accuracy", "not evaluated"))
    else:
        facts.append(("protocol", result["accuracy"]["protocol"]))
        scoring = result["accuracy"].get("scoring", "accuracy")
        percent = scoring == "accuracy"
        runs = ", ".join(
            f"{100 * r:.2f}" if percent else f"{r:.3f}" for r in result["accuracy"]["runs"]
        )
        name = "accuracy of each seed (%)" if percent else f"{NAMES[scoring]} of each seed"
        facts.append((name, runs))
        if result["accuracy"].get("floor") is not None:
            what, _, value = floor_text(scoring, result["accuracy"]["floor"]).partition(": ")
            facts.append((what, value))
    facts += [(f"seconds of {k}", f"{v:.1f}") for k, v in result["seconds"].items()]
    return facts
