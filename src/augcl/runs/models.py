"""Every method by its name, and trained models on disk: safetensors and JSON, never a pickle."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from augcl import methods, rivals
from augcl.attacks.classifier import Structure2VecClassifier
from augcl.checks import parameters
from augcl.data import GraphSet
from augcl.errors import InputError, one_of, ours
from augcl.hardness import CEILING, HARDNESS
from augcl.methods.beside import Beside, parts_of
from augcl.training.checkpoint import Snapshot
from augcl.training.method import MODEL_FILE, Method
from augcl.views import Augmentation

METHODS: dict[str, type[Method]] = {
    name: getattr(package, name) for package in (methods, rivals) for name in package.__all__
}
"""Every method by its name, for the command line and for model files."""

PAPER_NAMES = {
    "CCASSG": "CCA-SSG",
    "DeepGraphKernel": "DGK",
    "DeepWalkFeatures": "DeepWalk + features",
    "Graph2Vec": "graph2vec",
    "GraphMAEGraphs": "GraphMAE",
    "GraphletKernel": "GK",
    "MVGRLGraphs": "MVGRL",
    "Node2Vec": "node2vec",
    "Node2VecGraphs": "node2vec",
    "RawFeatures": "raw",
    "Sub2Vec": "sub2vec",
    "WLKernel": "WL",
}
"""Names of the methods in papers' tables, where they differ from ours."""


def method_name(name: str, level: str | None = None, *, also: Iterable[str] = ()) -> str:
    """Return our name of a method that is given by our name or the paper's, in any case.

    Two methods can share a name, one for graphs and one for nodes: `level` ("graph" or "node")
    decides between them. `also` are further names that the error may propose.

    >>> method_name("graphcl"), method_name("wl"), method_name("MVGRL", "graph")
    ('GraphCL', 'WLKernel', 'MVGRLGraphs')
    """

    def plain(text: str) -> str:
        return text.lower().replace(" ", "")

    found = [n for n in METHODS if plain(name) in (plain(n), plain(PAPER_NAMES.get(n, n)))]
    if not found:
        what = "method or hardness" if also else "method"
        one_of(name, dict.fromkeys([*METHODS, *PAPER_NAMES.values(), *also]), what)
    return next((n for n in found if METHODS[n].level == level), found[0])


def method_facts() -> list[dict[str, Any]]:
    """Return name, paper's name, level, year, cost class and purpose of every method."""
    return [
        {
            "method": name,
            "paper": PAPER_NAMES.get(name, name),
            "level": kind.level,
            "year": getattr(kind, "year", None),
            "cost": kind.cost,
            "kernel": kind.gives_kernel,
            "does": (kind.__doc__ or "").strip().splitlines()[0],
        }
        for name, kind in METHODS.items()
    ]


SHARED = {
    "activation": "Function after each layer.",
    "batch_size": "Number of graphs in a batch.",
    "device": '"cpu", "cuda", "cuda:1" or "auto".',
    "layers": "Number of layers of the encoder.",
    "lr": "Learning rate.",
    "norm": "Normalisation after each layer.",
    "pooling": "How the vectors of the nodes become the vector of their graph.",
    "positive_in_denominator": "Whether the positive is in the denominator of the loss, too.",
    "progress": "Show a progress bar when the error stream is a terminal.",
    "random_state": "Seed of every draw.",
    "symmetric": "Average the loss over both directions, so that each view is the anchor once.",
    "tau": "Temperature of the loss.",
    "weight_decay": "Weight decay of the optimizer.",
    "weights_every": "Epochs from one computation of live weights to the next.",
    "width": "Width of each layer of the encoder.",
}
"""What parameters mean that many methods have, for docstrings that only name their type."""
SEE = re.compile(r"(?:See|As in|As for) `(\w+)`")


def described_parameters(kind: type) -> dict[str, tuple[Any, str]]:
    """Return default and description of each constructor parameter, from signature and docstring.

    >>> default, description = described_parameters(METHODS["GRACE"])["recipe"]
    >>> default
    'default'
    """
    described: dict[str, str] = {}
    for base in reversed(kind.__mro__):  # a base class may document shared parameters
        documentation = inspect.cleandoc(base.__doc__ or "")
        section = re.search(r"Parameters\n-+\n(.*?)(\n\n\w+\n-+\n|\Z)", documentation, re.DOTALL)
        for entry in re.split(r"\n(?=\S)", section[1] if section else ""):
            head, _, rest = entry.partition("\n")
            names, text = re.split(r" :(?: |$)", head)[0], " ".join(rest.split())
            described |= {
                name.strip(): text.replace("``", "`") for name in names.split(",") if text
            }
    return {
        name: (default, _meaning(name, described)) for name, default in parameters(kind).items()
    }


def _meaning(name: str, described: Mapping[str, str]) -> str:
    """Return what a parameter means; follow "See `GraphCL`", and take "…" for what is not named."""
    text = described.get(name) or described.get("…", "")
    see = SEE.match(text)
    if see is None:
        return text or SHARED.get(name, "")
    classes = {found.__name__: found for found in (*METHODS.values(), *HARDNESS.values())}
    there = described_parameters(classes[see[1]]) if see[1] in classes else {}
    meant = there.get(name, (None, ""))[1] or SHARED.get(name, "")
    return meant.removesuffix(".") + text[see.end() :] if meant else text


CLASSIFIERS: dict[str, type[Method]] = {"Structure2VecClassifier": Structure2VecClassifier}
"""Classes that learn from labels: they are saved and loaded, but are not among the methods."""


def load_model(
    path: str | Path,
    *,
    device: str = "cpu",
    encoder: nn.Module | None = None,
    augmentation: Augmentation | None = None,
) -> Method:
    """Load a model that ``model.save(path)`` wrote.

    Parameters
    ----------
    path : str or Path
        The folder.
    device : str
        Device of the loaded model.
    encoder : Module, optional
        A network of the same shape, if the model was trained with an encoder of your own.
    augmentation : callable, optional
        The function, if the model was trained with an augmentation of your own and you want to
        train it again; embeddings need none.

    Examples
    --------
    >>> import augcl, tempfile
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.GraphCL(epochs=1).fit(graphs)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder)
    ...     again = augcl.load_model(folder)
    >>> bool((again.transform(graphs) == model.transform(graphs)).all())
    True
    """
    file = Path(path) / MODEL_FILE
    if not file.exists():
        raise InputError(f"{path} holds no model: {MODEL_FILE} is missing")
    snapshot = Snapshot.read(file)
    if "method" not in snapshot.facts:
        raise InputError(f"{file} holds tensors but no model of ours: save one with model.save")
    with ours(file, "train again"):
        return _restored(snapshot, path, encoder, augmentation, device)


def _restored(
    snapshot: Snapshot,
    path: str | Path,
    encoder: nn.Module | None,
    augmentation: Augmentation | None,
    device: str,
) -> Method:
    model: Method
    if snapshot.facts["method"] == Beside.__name__:
        both = (_restored(p, path, encoder, augmentation, device) for p in parts_of(snapshot))
        model = Beside(*both)
    else:
        kinds = METHODS | CLASSIFIERS
        method = kinds[one_of(snapshot.facts["method"], kinds, "method")]
        settings = dict(snapshot.facts["settings"])
        if settings.get("encoder") is not None:
            if encoder is None:
                raise InputError(
                    f"{path} was trained with an encoder of its own "
                    f"({settings['encoder']['class']}): "
                    "give load_model a network of the same shape as encoder="
                )
            settings["encoder"] = encoder
        if isinstance(settings.get("hardness"), dict):
            settings["hardness"] = _hardness(settings["hardness"])
        if isinstance(settings.get("augmentation"), dict):
            missing = MissingAugmentation(settings["augmentation"]["callable"])
            settings["augmentation"] = augmentation or missing
        if "device" in parameters(method):  # only networks have a device
            settings["device"] = device
        model = method(**settings)
    model.restore(snapshot)
    _ = model._n_features_out  # embeds one edge: what was learned fits together
    return model


class MissingAugmentation:
    """Stands for an augmentation of the user in a loaded model; raises `InputError` when called."""

    def __init__(self, name: str) -> None:
        self.__qualname__ = name

    def __call__(self, graphs: GraphSet, generator: torch.Generator) -> GraphSet:
        raise InputError(
            f"the model was trained with an augmentation of your own ({self.__qualname__}), which "
            "no file can hold: give it as load_model(…, augmentation=) to train again"
        )


def _hardness(saved: dict[str, Any]) -> Any:
    kinds = {kind.__name__: kind for kind in (HARDNESS | CEILING).values()}
    return kinds[one_of(saved["class"], kinds, "hardness")](**saved["params"])
