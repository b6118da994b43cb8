"""What a training keeps for the page of its run: planes, predictions, graphs to draw, weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import eigh
from torch import Tensor

from augcl.data import GraphSet
from augcl.data.limits import check_npz
from augcl.data.node_graph import NodeGraph
from augcl.errors import InputError, ours
from augcl.evaluation.score import Score
from augcl.evaluation.splits import TEST, TRAIN, VALIDATION
from augcl.files import atomic_path, regular
from augcl.methods import GRACE, GraphCL
from augcl.methods.beside import Beside
from augcl.methods.contrast import Contrast, ContrastiveGraphMethod
from augcl.methods.recipes import by_recipe
from augcl.training.callbacks import Callback, Metrics
from augcl.training.checkpoint import Snapshot
from augcl.training.method import Method

FILE = "explored.npz"
WATCHED_FILE = "watched.safetensors"
"""What the `WeightWatcher` of an unfinished training has seen."""
WATCHED = 64
"""Graphs or nodes at most whose weights are kept."""
MOMENTS = 8
"""Epochs at most at which the weights are kept, besides the last one before they set in."""
DRAWN_EDGES = 100_000
"""Edges at most of the graphs that can be drawn, all together."""
NODE_EDGES = 4_000_000
"""Edge entries of the largest graph whose neighbourhoods can be drawn."""
ROWS = 16_384
"""Rows of a block of embeddings."""
PARTS = {TRAIN: 0, VALIDATION: 1, TEST: 2}

Arrays = dict[str, NDArray[Any]]


class WeightWatcher(Callback):
    """Keep how some graphs or nodes are weighted as negatives of each other, epoch by epoch.

    Its draws come from a generator of its own: the training does not change. With a `folder`, what
    it has seen is kept there, for a training that is resumed.
    """

    def __init__(self, data: GraphSet | NodeGraph, folder: Path | None = None) -> None:
        self.file = None if folder is None else folder / WATCHED_FILE
        count = len(data) if isinstance(data, GraphSet) else data.num_nodes
        generator = torch.Generator().manual_seed(0)
        self.ids = torch.randperm(count, generator=generator)[:WATCHED].sort().values
        self.some = data.select(self.ids) if isinstance(data, GraphSet) else None
        self.found: dict[int, Contrast] = {}

    def on_train_begin(self, estimator: Any) -> None:
        """Choose the epochs."""
        last = int(estimator.settings().get("epochs") or 0)
        self._moments = set(np.linspace(1, max(last, 1), MOMENTS).round().astype(int).tolist())
        if estimator.history_ and self.file is not None and self.file.exists():
            snapshot = Snapshot.read(self.file)
            with ours(self.file, "delete it"):
                for epoch, active in snapshot.facts["active"].items():
                    self.found[int(epoch)] = Contrast(active=active, **snapshot.part(epoch))

    def on_epoch_end(self, estimator: Any, metrics: Metrics) -> None:
        """Look at the weights, if the epoch is one of those chosen."""
        if metrics["epoch"] in self._moments:
            generator = torch.Generator().manual_seed(metrics["epoch"])
            if isinstance(estimator, ContrastiveGraphMethod) and self.some is not None:
                found: Contrast | None = estimator.contrast(self.some, generator)
            elif isinstance(estimator, GRACE):
                found = estimator.contrast(self.ids, generator)
            else:
                return
            if found is not None:
                self.found[metrics["epoch"]] = found
                self._write()

    def _write(self) -> None:
        """Keep what was found; the checkpoint of this epoch is written after it."""
        if self.file is None:
            return
        tensors = {
            f"{epoch}.{name}": value
            for epoch, contrast in self.found.items()
            for name, value in vars(contrast).items()
            if isinstance(value, Tensor)
        }
        active = {str(epoch): contrast.active for epoch, contrast in self.found.items()}
        Snapshot(tensors, {"active": active}).write(self.file)

    def arrays(self) -> Arrays:
        """Return what was found, in small integers; see `weights.js`."""
        if not self.found:
            return {}
        every = [self.found[epoch] for epoch in sorted(self.found)]
        arrays = {
            "weights.ids": self.ids.numpy(),
            "weights.epochs": np.array(sorted(self.found)),
            "weights.active": np.array([contrast.active for contrast in every]),
            "weights.similarity": _small([c.similarity for c in every], 32767),
        }
        for name, part in (("weight", "log_weights"), ("uncertainty", "log_uncertainty")):
            found = [getattr(contrast, part) for contrast in every]
            if any(value is not None for value in found):
                shape = torch.zeros_like(every[0].similarity)
                arrays[f"weights.{name}"] = _small([shape if v is None else v for v in found], 2000)
        if any(contrast.similar is not None for contrast in every):
            none = torch.zeros_like(every[0].similarity, dtype=torch.bool)
            groups = [none if c.similar is None else c.similar for c in every]
            arrays["weights.group"] = torch.stack(groups).cpu().numpy().astype(np.uint8)
        return arrays


def _small(values: list[Tensor], scale: int) -> NDArray[np.int16]:
    stacked = torch.stack(values).float().cpu().numpy() * scale
    small: NDArray[np.int16] = (
        np.clip(np.nan_to_num(stacked), -32767, 32767).round().astype(np.int16)
    )
    return small


def explored(
    data: GraphSet | NodeGraph,
    model: Method,
    embeddings: NDArray[np.float32],
    score: Score | None,
    watcher: WeightWatcher | None,
) -> Arrays:
    """Return what the page shows of one seed; with a `watcher` also what it shows of the run."""
    plane = kernel_plane(embeddings) if model.gives_kernel else plane_of(embeddings)
    arrays: Arrays = {"plane": plane.astype(np.float32)}
    if score is not None and score.predictions is not None:
        arrays["predicted"] = score.predictions.values
        arrays["wrong"] = score.predictions.wrong.astype(np.float32)
        arrays["part"] = score.splits[0].astype(np.int16)
        if isinstance(data, NodeGraph):
            arrays["part"] = np.full(data.num_nodes, -1, dtype=np.int16)
            for code, number in PARTS.items():
                arrays["part"][score.splits[0] == code] = number
    trained = model.first if isinstance(model, Beside) else model
    if isinstance(data, GraphSet) and isinstance(trained, ContrastiveGraphMethod):
        arrays["loss"] = _losses(data, trained)
    elif isinstance(data, NodeGraph) and isinstance(trained, GRACE):
        losses = trained.node_losses(data, torch.Generator().manual_seed(0))
        if losses is not None:
            arrays["loss"] = losses.cpu().numpy()
    if watcher is not None:
        arrays |= watcher.arrays()
        if isinstance(data, GraphSet):
            arrays |= _drawn_graphs(data, trained)
        elif data.num_edges <= NODE_EDGES:
            arrays["edges"] = data.edge_index.cpu().numpy().astype(np.int32)
    return arrays


def _losses(graphs: GraphSet, model: ContrastiveGraphMethod) -> NDArray[np.float32]:
    """Return the loss (G,) of each graph without weights, in random batches of the usual size."""
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(graphs), generator=generator)
    losses = torch.full((len(graphs),), torch.nan)
    for ids in order.split(int(model.batch_size)):
        if len(ids) > 1:
            logits = model.contrast(graphs.select(ids), generator).similarity / by_recipe(
                model, "tau"
            )
            losses[ids] = (logits.logsumexp(1) - logits.diagonal()).cpu()
    return losses.numpy()


def _drawn_graphs(graphs: GraphSet, model: Method) -> Arrays:
    """Return as many graphs as `DRAWN_EDGES` allow, and two views of each, as flat arrays."""
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(graphs), generator=generator)
    sizes = (graphs.edge_ptr.diff().cpu() // 2 + graphs.node_ptr.diff().cpu())[order]
    ids = order[sizes.cumsum(0) <= DRAWN_EDGES].sort().values
    if not len(ids):
        return {}
    some = graphs.select(ids).to("cpu")
    source, target = some.edge_index
    once = source < target
    graph = some.graph_of_node
    first = some.node_ptr[:-1]
    edges = torch.bincount(graph[source[once]], minlength=len(some))
    arrays: Arrays = {
        "graphs.ids": ids.numpy(),
        "graphs.nodePtr": some.node_ptr.numpy().astype(np.int32),
        "graphs.edgePtr": np.concatenate([[0], edges.cumsum(0).numpy()]).astype(np.int32),
        "graphs.source": (source - first[graph[source]])[once].numpy().astype(np.int32),
        "graphs.target": (target - first[graph[target]])[once].numpy().astype(np.int32),
    }
    if (found := _kinds(some.x, some.columns)) is not None:
        arrays["graphs.nodeKind"], arrays["graphs.kindNames"] = found
    if some.edge_attr is not None:
        found = _kinds(some.edge_attr[once.to(some.edge_attr.device)], some.edge_columns)
        if found is not None:
            arrays["graphs.edgeKind"], arrays["graphs.edgeNames"] = found
    edits = model.edits(some, generator) if isinstance(model, GraphCL) else None
    for number, edit in enumerate(edits or ()):
        state = torch.zeros(some.num_nodes, dtype=torch.uint8)
        if edit.masked is not None:
            state[edit.masked] = 2
        if edit.keep_node is not None:
            state[~edit.keep_node] = 1
        kept = torch.ones(len(source), dtype=torch.bool)
        if edit.keep_edge is not None:
            kept = edit.keep_edge
        added = torch.zeros(2, 0, dtype=torch.long)
        if edit.added is not None:
            ends = edit.added.sort(0).values
            added = torch.unique(ends, dim=1) if ends.shape[1] else ends
        order = graph[added[0]].argsort(stable=True)
        added, counts = added[:, order], torch.bincount(graph[added[0]], minlength=len(some))
        arrays[f"view{number}.node"] = state.numpy()
        arrays[f"view{number}.edge"] = kept[once].numpy().astype(np.uint8)
        arrays[f"view{number}.addedPtr"] = np.concatenate([[0], counts.cumsum(0).numpy()])
        arrays[f"view{number}.added"] = (added - first[graph[added[0]]]).T.numpy().reshape(-1)
    return arrays


def _kinds(
    x: Tensor, columns: Sequence[str] | None
) -> tuple[NDArray[np.uint8], NDArray[np.str_]] | None:
    """Return the kind (V,) of each row and the names of the kinds, the most frequent one first.

    Kinds are the columns of the first one-hot block, such as element=C, element=N, …; without
    such names, all columns have to be one. None if there is no such block.
    """
    if x.layout != torch.strided or not x.shape[1] > 1:
        return None
    names = list(columns or map(str, range(x.shape[1])))
    prefixes = [name.partition("=")[0] if "=" in name else "" for name in names]
    for prefix in dict.fromkeys(prefixes):
        block = [i for i, other in enumerate(prefixes) if other == prefix]
        if not prefix and len(block) < len(names):
            continue  # numbers beside words
        part = x[:, block]
        if bool(((part != 0) & (part != 1)).any()) or bool((part.sum(1) > 1).any()):
            continue
        # A row may have none of the words. The most frequent kinds get the colours most apart.
        part = torch.cat([part, 1 - part.sum(1, keepdim=True)], 1)
        counts = part.sum(0)
        order = counts.argsort(descending=True, stable=True)[: int((counts > 0).sum())]
        if len(order) > 256:
            continue
        called = np.asarray([*(names[i] for i in block), "none of these"])[order.cpu().numpy()]
        return part[:, order].argmax(1).cpu().numpy().astype(np.uint8), called
    return None


def plane_of(Z: Any) -> NDArray[np.float64]:
    """Return the first two principal components (n, 2) of embeddings."""
    Z = np.asarray(Z)
    mean = Z.mean(0, dtype=np.float64)

    def centred() -> Iterator[NDArray[np.float64]]:  # no second copy of a large matrix
        return (Z[start : start + ROWS] - mean for start in range(0, len(Z), ROWS))

    if len(Z) > Z.shape[1]:  # the same axes, from a smaller matrix
        axes = np.linalg.eigh(sum(rows.T @ rows for rows in centred()))[1][:, ::-1].T
    else:
        axes = np.linalg.svd(Z - mean, full_matrices=False)[2]
    return _two(np.concatenate([rows @ axes[:2].T for rows in centred()]))


def kernel_plane(K: Any) -> NDArray[np.float64]:
    """Return the first two kernel principal components (n, 2)."""
    centred = np.asarray(K, dtype=np.float64)
    centred = centred - centred.mean(0)
    centred = centred - centred.mean(1, keepdims=True)
    last = len(centred) - 1
    sizes, axes = eigh(centred, subset_by_index=[max(last - 1, 0), last])
    return _two((axes * np.sqrt(np.maximum(sizes, 0)))[:, ::-1])


def _two(plane: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return exactly two columns; embeddings of width 1 have no second one."""
    return np.pad(plane, ((0, 0), (0, 2 - plane.shape[1])))


def write_explored(path: Path, arrays: Arrays) -> None:
    """Write the arrays, atomically."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def read_explored(path: Path) -> Arrays:
    """Read what `write_explored` wrote; empty if there is no file, as in older runs."""
    if not path.exists():
        return {}
    if not is_zipfile(regular(path)):
        raise InputError(f"{path} is not a complete .npz file: delete it and train again")
    with (
        path.open("rb") as file,
        ours(path, "delete it and train again"),
        np.load(file, allow_pickle=False) as arrays,
    ):
        check_npz(arrays.zip, path)
        return dict(arrays)
