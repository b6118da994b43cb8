"""The whole training of AUGCL: plain epochs, the uncertainty network, weighted epochs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from benchmarks.textbook.contrast import Encoder, cosines, info_nce, weighted_info_nce
from benchmarks.textbook.uncertainty import (
    Gambler,
    gamblers_loss,
    kmeans_labels,
    pair_inputs,
    row_weights,
)
from benchmarks.textbook.views import Graph, random_view


@dataclass
class Trained:
    """The trained networks, and the processor seconds of each stage."""

    encoder: Encoder
    gambler: Gambler
    seconds: dict[str, float] = field(default_factory=dict)


def train(
    graphs: Sequence[Graph],
    *,
    plain_epochs: int = 20,
    passes: int = 10,
    weighted_epochs: int = 20,
    mode: str = "random2",
    batch_size: int = 128,
    restarts: int = 1,
    seed: int = 0,
) -> Trained:
    """Train on `graphs`, in the fixed order that `seed` gives.

    scikit-learn runs k-means with one restart by default today, with ten when the paper was
    written. Embeddings enter the uncertainty network with unit length: raw ones make its loss NaN.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(graphs))
    shuffled = [graphs[i] for i in order]
    encoder = Encoder(graphs[0].x.shape[1])
    gambler = Gambler(2 * 96)
    optimizer = torch.optim.Adam(encoder.parameters(), lr=0.01)
    out = Trained(encoder, gambler)

    def batches() -> Iterator[tuple[list[Graph], list[Graph]]]:
        for start in range(0, len(shuffled), batch_size):
            batch = shuffled[start : start + batch_size]
            yield batch, [random_view(graph, rng, mode) for graph in batch]

    def step(loss: Tensor) -> None:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    begin = time.process_time()
    for _ in range(plain_epochs):
        for batch, views in batches():
            step(info_nce(encoder(batch), encoder(views)))
    out.seconds["plain"] = time.process_time() - begin

    begin = time.process_time()
    encoder.eval()
    gambler_optimizer = torch.optim.Adam(gambler.parameters(), lr=0.01)
    for _ in range(passes):
        for batch, views in batches():
            with torch.no_grad():
                a, b = encoder(batch), encoder(views)
            labels = kmeans_labels(cosines(a, b), n_init=restarts).flatten()
            pairs = pair_inputs(normalize(a), normalize(b))
            for part in torch.randperm(len(pairs)).split(2048):
                gambler_optimizer.zero_grad()
                loss = gamblers_loss(gambler(pairs[part]), labels[part])
                loss.backward()
                gambler_optimizer.step()
    out.seconds["gambler"] = time.process_time() - begin

    begin = time.process_time()
    encoder.train()
    for _ in range(weighted_epochs):
        for batch, views in batches():
            a, b = encoder(batch), encoder(views)
            with torch.no_grad():
                # As in the released code: computed again and not used.
                kmeans_labels(cosines(a, b), n_init=restarts)
                logits = gambler(pair_inputs(normalize(a), normalize(b)))
                uncertainty = torch.softmax(logits, dim=1)[:, 2].reshape(len(a), len(b))
            step(weighted_info_nce(a, b, row_weights(uncertainty)))
    out.seconds["weighted"] = time.process_time() - begin
    return out
