"""Graphs as documents: the doc2vec of gensim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from augcl.baselines.words import Texts, frequencies, numbers, one_worker
from augcl.training.progress import Report, progress_bar


class Documents:
    """Texts with their numbers, in a new random order at every pass."""

    def __init__(self, texts: Texts, generator: torch.Generator, report: Report) -> None:
        self.texts, self.generator, self.report = texts, generator, report
        self.done = 0

    def __iter__(self) -> Iterator[Any]:
        from gensim.models.doc2vec import TaggedDocument

        for text in self.texts.shuffled(self.generator):
            for piece in self.texts.of(text):
                yield TaggedDocument(piece, [text])
            self.done += 1
            if self.done % 64 == 0:
                self.report(self.done)


def trained(
    texts: Texts,
    generator: torch.Generator,
    *,
    passes: int,
    title: str,
    progress: bool,
    **settings: Any,
) -> Any:
    """A ``Doc2Vec`` with these settings that has gone through the texts."""
    from gensim.models import Doc2Vec

    model = Doc2Vec(**settings, **one_worker(generator))
    with progress_bar(title, (1 + passes) * len(texts), show=progress) as report:
        documents = Documents(texts, generator, report)
        model.build_vocab(documents)
        model.train(
            documents,
            total_examples=model.corpus_count,
            total_words=model.corpus_total_words,
            epochs=passes,
        )
    return model


class FrozenBags:
    """Vectors of new documents from the words of a trained PV-DBOW, which stay as they are.

    The same steps as in training from a vector of zeros, with the same draws for every document, so
    that its vector does not depend on the others.

    Parameters
    ----------
    weights : (W, d)
        Of the words on the side that is predicted.
    counts : (W,) int64
        How often each word occurred in training.
    """

    def __init__(self, weights: Tensor, counts: Tensor, *, negatives: int, passes: int) -> None:
        from gensim.models import Doc2Vec

        self.passes = passes
        settings = one_worker(torch.Generator().manual_seed(0))
        self.model = Doc2Vec(vector_size=weights.shape[1], dm=0, negative=negatives, **settings)
        self.model.build_vocab_from_freq(frequencies(counts))
        order = numbers(self.model)  # gensim sorts by frequency
        self.model.syn1neg = weights[order].contiguous().numpy()

    def vector(self, texts: Texts, text: int) -> Tensor:
        """(d,) of one text; 0 if it has no words."""
        from gensim.models.doc2vec import train_document_dbow

        model = self.model
        out = np.zeros((1, model.vector_size), dtype=np.float32)
        free, work = np.ones(1, dtype=np.float32), np.zeros(model.vector_size, dtype=np.float32)
        model.random.seed(0)
        for step in range(self.passes):
            rate = model.alpha + (model.min_alpha - model.alpha) * step / self.passes
            for words in texts.of(text):
                train_document_dbow(
                    model,
                    words,
                    [0],
                    rate,
                    work,
                    learn_words=False,
                    learn_hidden=False,
                    doctag_vectors=out,
                    doctags_lockf=free,
                )
        return torch.from_numpy(out[0])
