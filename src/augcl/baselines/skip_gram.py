"""Nodes as words, random walks as sentences: the skip-gram of gensim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from augcl.baselines.words import frequencies, names, numbers, one_worker, seed_of
from augcl.ops.csr import Rows
from augcl.ops.walks import random_walks
from augcl.training.progress import Report, progress_bar

BLOCK = 1 << 20
"""Steps that are in memory at a time."""


@dataclass(frozen=True)
class SkipGram:
    """Settings of walks and of skip-gram; see `augcl.Node2Vec`."""

    dimensions: int
    walks: int
    length: int
    window: int
    negatives: int
    p: float
    q: float
    passes: int

    def fit(
        self,
        edge_index: Tensor,
        num_nodes: int,
        generator: torch.Generator,
        *,
        title: str,
        progress: bool,
    ) -> Tensor:
        """(V, d) vectors of the nodes."""
        from gensim.models import Word2Vec

        neighbours = Rows.from_pairs(edge_index[0], edge_index[1], num_nodes, ordered=True)
        steps = (1 + self.passes) * self.walks * num_nodes
        with progress_bar(title, steps, show=progress) as report:
            sentences = _Sentences(self, neighbours, seed_of(generator), report)
            counts = frequencies(sentences.counts())
            model = Word2Vec(
                vector_size=self.dimensions,
                window=self.window,
                sg=1,
                hs=int(self.negatives == 0),
                negative=self.negatives,
                **one_worker(generator),
            )
            model.build_vocab_from_freq(counts, corpus_count=self.walks * num_nodes)
            model.train(
                sentences,
                total_examples=model.corpus_count,
                total_words=self.length * model.corpus_count,
                epochs=self.passes,
            )
        vectors = torch.empty(num_nodes, self.dimensions)
        vectors[numbers(model)] = torch.from_numpy(model.wv.vectors)
        return vectors


class _Sentences:
    """The same walks at every pass, in a new order: drawn again, block by block, to save memory.

    A round is one walk from every node. Its walks come from its own seed; a pass takes the rounds,
    and the walks of a block, in an order of its own.
    """

    def __init__(self, settings: SkipGram, neighbours: Rows, seed: int, report: Report) -> None:
        self.settings, self.neighbours, self.report = settings, neighbours, report
        self.generator = torch.Generator().manual_seed(seed)
        self.seeds = [seed_of(self.generator) for _ in range(settings.walks)]
        self.num_nodes = len(neighbours.ptr) - 1
        self.names = names(self.num_nodes)
        self.done = 0

    def blocks(self) -> Iterator[Tensor]:
        own = self.settings
        for index in torch.randperm(own.walks, generator=self.generator).tolist():
            generator = torch.Generator().manual_seed(self.seeds[index])
            order = torch.randperm(self.num_nodes, generator=generator)
            for starts in order.split(max(1, BLOCK // own.length)):
                walks = random_walks(
                    self.neighbours, starts, own.length, generator, p=own.p, q=own.q
                )
                yield walks[torch.randperm(len(walks), generator=self.generator)]
                self.done += len(starts)
                self.report(self.done)

    def counts(self) -> Tensor:
        """How often each node occurs."""
        total = torch.zeros(self.num_nodes, dtype=torch.long)
        for block in self.blocks():
            total += torch.bincount(block.flatten(), minlength=self.num_nodes)
        return total

    def __iter__(self) -> Iterator[list[str]]:
        for block in self.blocks():
            yield from self.names[block.numpy()].tolist()
