"""A trained model on disk: safetensors and JSON, never a pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from augcl.baselines import GAE, VGAE, DeepGraphKernel, GraphletKernel, WLKernel
from augcl.baselines.deepwalk import DeepWalk, DeepWalkFeatures
from augcl.baselines.graph2vec import Graph2Vec
from augcl.baselines.node2vec import Node2Vec
from augcl.baselines.node2vec_graphs import Node2VecGraphs
from augcl.baselines.sub2vec import Sub2Vec
from augcl.errors import InputError, one_of
from augcl.hardness import CEILING, HARDNESS
from augcl.methods.dgi import DGI
from augcl.methods.gca import GCA
from augcl.methods.gmi import GMI
from augcl.methods.grace import GRACE
from augcl.methods.graphcl import GraphCL
from augcl.methods.hsan import HSAN
from augcl.methods.infograph import InfoGraph
from augcl.methods.joao import JOAO
from augcl.methods.joao_v2 import JOAOv2
from augcl.methods.mvgrl import MVGRL
from augcl.methods.mvgrl_graphs import MVGRLGraphs
from augcl.methods.raw_features import RawFeatures
from augcl.methods.simgrace import SimGRACE
from augcl.methods.structure2vec import Structure2VecClassifier
from augcl.training.checkpoint import Snapshot
from augcl.training.method import MODEL_FILE, Method

METHODS: dict[str, type[Method]] = {
    "GraphCL": GraphCL,
    "GRACE": GRACE,
    "GCA": GCA,
    "RawFeatures": RawFeatures,
    "GraphletKernel": GraphletKernel,
    "WLKernel": WLKernel,
    "DeepGraphKernel": DeepGraphKernel,
    "InfoGraph": InfoGraph,
    "JOAO": JOAO,
    "JOAOv2": JOAOv2,
    "SimGRACE": SimGRACE,
    "MVGRLGraphs": MVGRLGraphs,
    "DGI": DGI,
    "GMI": GMI,
    "MVGRL": MVGRL,
    "HSAN": HSAN,
    "GAE": GAE,
    "VGAE": VGAE,
    "Node2Vec": Node2Vec,
    "DeepWalk": DeepWalk,
    "DeepWalkFeatures": DeepWalkFeatures,
    "Node2VecGraphs": Node2VecGraphs,
    "Graph2Vec": Graph2Vec,
    "Sub2Vec": Sub2Vec,
}
"""Names for the command line and for model files; a new method adds one line."""

CLASSIFIERS: dict[str, type[Method]] = {"Structure2VecClassifier": Structure2VecClassifier}
"""What learns from labels: in model files only, it is no method that is compared."""


def load_model(
    path: str | Path, *, device: str = "cpu", encoder: nn.Module | None = None
) -> Method:
    """Read what ``model.save(path)`` wrote.

    Parameters
    ----------
    path : str or Path
        The folder.
    device : str
        Where the model is put.
    encoder : Module, optional
        A network of the same shape, if the model was trained with an encoder of your own.

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
    if not isinstance(snapshot.facts, dict) or "method" not in snapshot.facts:
        raise InputError(f"{file} holds tensors but no model of ours: save one with model.save")
    kinds = METHODS | CLASSIFIERS
    method = kinds[one_of(snapshot.facts["method"], kinds, "method")]
    settings = dict(snapshot.facts["settings"])
    if isinstance(settings.get("hardness"), dict):
        settings["hardness"] = _hardness(settings["hardness"])
    if settings.get("encoder") is not None:
        if encoder is None:
            raise InputError(
                f"{path} was trained with an encoder of its own ({settings['encoder']['class']}): "
                "give load_model a network of the same shape as encoder="
            )
        settings["encoder"] = encoder
    if "device" in method().get_params(deep=False):  # what is no network has none
        settings["device"] = device
    model = method(**settings)
    model.restore(snapshot)
    return model


def _hardness(saved: dict[str, Any]) -> Any:
    kinds = {kind.__name__: kind for kind in (HARDNESS | CEILING).values()}
    return kinds[one_of(saved["class"], kinds, "hardness")](**saved["params"])
