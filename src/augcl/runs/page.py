"""report.html: a run as one self-contained page."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
from jinja2 import Environment
from numpy.typing import NDArray
from plotly.offline import get_plotlyjs
from scipy.linalg import eigh

from augcl.errors import ours
from augcl.evaluation.scoring import NAMES, floor_text
from augcl.files import packaged_text, write_text
from augcl.hardness.affinity import MEANING
from augcl.runs.embedding_file import Embeddings, read_embeddings
from augcl.runs.seeds import (
    accuracy_text,
    collapses,
    has_spread,
    read_metrics,
    read_result,
    result_title,
)

Metrics = list[dict[str, Any]]


@dataclass(frozen=True)
class Figure:
    """A drawing, its title, and a sentence that explains it."""

    title: str
    text: str
    html: str


def write_report(run: Path) -> Path:
    """Write report.html into the folder of a finished run; return its path."""
    with ours(run, "train again"):
        text = _page(run)
    write_text(run / "report.html", text)
    return run / "report.html"


def _page(run: Path) -> str:
    result = read_result(run)
    template = packaged_text("augcl.runs", "template.html")
    page = Environment(autoescape=True).from_string(template)
    accuracy = result["accuracy"]
    return page.render(
        title=result_title(result),
        headline=accuracy and accuracy_text(accuracy),
        spread=_spread(accuracy) if accuracy else "",
        warnings=_warnings(result),
        facts=_facts(result),
        figures=_figures(read_metrics(run), run),
        settings=json.dumps(
            {**result["settings"], "hardness": result["hardness_settings"]}, indent=1
        ),
        versions=", ".join(f"{name} {number}" for name, number in result["versions"].items()),
    )


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


def _figures(metrics: Metrics, run: Path) -> list[Figure]:
    figures = []
    if metrics:
        text = "Mean over the batches of each epoch; one line per seed."
        weighted = min((m["epoch"] for m in metrics if "hardness" in m), default=None)
        if weighted is not None:
            text += " From the dotted line on, the negatives are weighted. The weighted loss is"
            text += " another function: do not compare it with the loss before the line."
        html = _curves(metrics, lambda m: m["loss"], "loss", mark=weighted)
        figures.append(Figure("Loss", text, html))
    if any("weight_std" in m for m in metrics):
        text = (
            "Standard deviation of the weights of the negatives, whose mean is 1. At 0, all "
            "weights are 1 and the loss is the unweighted one."
        )
        html = _curves(metrics, lambda m: m.get("weight_std"), "std of w")
        figures.append(Figure("Spread of the weights", text, html))
    if any("weight_true_negatives" in m for m in metrics):
        text = (
            "Mean weight of true negatives (other class) minus that of false ones (same class). "
            "Above 0, the weights carry information about the classes. The training does not use "
            "the labels."
        )
        gap = _curves(metrics, _class_gap, "true − false")
        figures.append(Figure("Do the weights know the classes?", text, gap))
    if any("false_mass" in m for m in metrics):
        figures.append(_mass(metrics))
    figures.append(_embeddings(run))
    # The first drawing contains plotly.js, so that the page needs no network.
    script = f"<script>{get_plotlyjs()}</script>"
    return [replace(figures[0], html=script + figures[0].html), *figures[1:]]


def _mass(metrics: Metrics) -> Figure:
    """Draw the mass of false negatives, and with the weights too if there are any."""
    text = (
        "Share of the mass Σ exp(s/τ) of an anchor's negatives that comes from false ones (same "
        "class), mean over anchors. The training does not use the labels."
    )
    html = _curves(metrics, lambda m: m.get("false_mass"), "share")
    if any("false_mass_weighted" in m for m in metrics):
        text += " Below: with the weights. Lower is better: the weights then act where they should."
        html += _curves(metrics, lambda m: m.get("false_mass_weighted"), "share, with weights")
    return Figure("How much of the negatives is false?", text, html)


def _embeddings(run: Path) -> Figure:
    stored = read_embeddings(run / "embeddings.npz")
    place = "in the space of the kernel" if stored.kernel else "of the embeddings"
    colours = "" if stored.y is None else f", coloured by {_numbers(stored)[0] or 'class'}"
    text = f"First two principal components {place} of seed 0{colours}."
    plane = _kernel_plane(stored.Z) if stored.kernel else _plane(stored.Z)
    return Figure("Embeddings", text, _scatter(plane, stored))


def _class_gap(metrics: dict[str, Any]) -> float:
    true, false = (metrics.get(f"weight_{kind}_negatives", np.nan) for kind in ("true", "false"))
    return float(true - false)


def _curves(
    metrics: Metrics,
    value: Callable[[dict[str, Any]], Any],
    label: str,
    mark: int | None = None,
) -> str:
    figure = go.Figure()
    for seed in sorted({m["seed"] for m in metrics}):
        points = [(m["epoch"], value(m)) for m in metrics if m["seed"] == seed]
        points = [(x, y) for x, y in points if y is not None and np.isfinite(y)]
        figure.add_scatter(
            x=[x for x, _ in points],
            y=[y for _, y in points],
            name=f"seed {seed}",
            mode="lines+markers" if len(points) < 10 else "lines",
        )
    if mark is not None:
        figure.add_vline(x=mark, line={"dash": "dot", "color": "#888"})
    figure.update_layout(xaxis_title="epoch", yaxis_title=label)
    return _html(figure)


def _plane(Z: Any) -> NDArray[np.float64]:
    """Return the first two principal components (n, 2) of embeddings."""
    centred = np.asarray(Z, dtype=np.float64)
    centred = centred - centred.mean(0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    plane: NDArray[np.float64] = centred @ axes[:2].T
    return plane


def _kernel_plane(K: Any) -> NDArray[np.float64]:
    """Return the first two kernel principal components (n, 2)."""
    centred = np.asarray(K, dtype=np.float64)
    centred = centred - centred.mean(0)
    centred = centred - centred.mean(1, keepdims=True)
    last = len(centred) - 1
    sizes, axes = eigh(centred, subset_by_index=[max(last - 1, 0), last])
    plane: NDArray[np.float64] = (axes * np.sqrt(np.maximum(sizes, 0)))[:, ::-1]
    return plane


def _numbers(stored: Embeddings) -> tuple[str | None, Any]:
    """Return name and values of the first target, if there are numbers instead of classes."""
    if stored.y is None or (stored.y.ndim == 1 and stored.y.dtype.kind != "f"):
        return None, None
    return (stored.targets or ["target"])[0], stored.y.reshape(len(stored.y), -1)[:, 0]


def _scatter(plane: NDArray[np.float64], stored: Embeddings) -> str:
    figure = go.Figure()
    numbers = np.arange(len(plane))
    y, called = stored.y, stored.classes
    y = None if y is None or y.dtype.kind == "f" else y  # numbers to predict are no classes
    noun = "node" if stored.level == "node" else "graph"
    texts = np.asarray(stored.names or [f"{noun} {i}" for i in numbers], dtype=object)
    target, values = _numbers(stored)
    colours = {}
    if target is not None:
        y, colours = None, {"color": values, "showscale": True, "colorbar": {"title": target}}
    for label in [None] if y is None else np.unique(y):
        rows = slice(None) if label is None else y == label
        second = plane[rows, 1] if plane.shape[1] > 1 else np.zeros(len(plane[rows]))
        name = f"{noun}s" if label is None else f"class {label}"
        if called is not None and label is not None and label >= 0:
            name = called[label]
        figure.add_scatter(
            x=plane[rows, 0],
            y=second,
            mode="markers",
            name=name,
            marker={"size": 6, "opacity": 0.7, **colours},
            text=texts[rows].tolist(),
        )
    figure.update_layout(xaxis_title="component 1", yaxis_title="component 2")
    return _html(figure)


def _html(figure: Any) -> str:
    figure.update_layout(template="plotly_white", height=420, margin={"t": 20})
    config = {"displaylogo": False, "responsive": True}
    html: str = figure.to_html(full_html=False, include_plotlyjs=False, config=config)
    return html
