"""Graphs as documents: the doc2vec of gensim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from augcl.baselines.words import LONGEST, one_worker
from augcl.training.progress import Report, progress_bar


class Documents:
    """Document d has the words ``words[ptr[d]:ptr[d+1]]``, whole numbers from 0.

    One that is longer than gensim reads comes in several pieces with the same name.
    """

    def __init__(self, words: Tensor, ptr: Tensor) -> None:
        self.words, self.ptr = words.numpy(), ptr.tolist()
        self.report: Report | None = None
        self.done = 0

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def of(self, document: int) -> Iterator[list[int]]:
        """The words of one, in pieces."""
        last = self.ptr[document + 1]
        for begin in range(self.ptr[document], last, LONGEST):
            yield self.words[begin : min(begin + LONGEST, last)].tolist()

    def __iter__(self) -> Iterator[Any]:
        from gensim.models.doc2vec import TaggedDocument

        for document in range(len(self)):
            for piece in self.of(document):
                yield TaggedDocument(piece, [document])
            self.done += 1
            if self.report is not None and self.done % 64 == 0:
                self.report(self.done)


def trained(
    documents: Documents,
    generator: torch.Generator,
    *,
    passes: int,
    title: str,
    progress: bool,
    **settings: Any,
) -> Any:
    """A ``Doc2Vec`` with these settings that has gone through the documents."""
    from gensim.models import Doc2Vec

    model = Doc2Vec(**settings, **one_worker(generator))
    with progress_bar(title, (1 + passes) * len(documents), show=progress) as report:
        documents.report = report
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
        self.model.build_vocab_from_freq(dict(enumerate(counts.tolist())))
        order = torch.tensor(self.model.wv.index_to_key)  # gensim sorts by frequency
        self.model.syn1neg = weights[order].contiguous().numpy()

    def vector(self, documents: Documents, document: int) -> Tensor:
        """(d,) of one document; 0 if it has no words."""
        from gensim.models.doc2vec import train_document_dbow

        model = self.model
        out = np.zeros((1, model.vector_size), dtype=np.float32)
        free, work = np.ones(1, dtype=np.float32), np.zeros(model.vector_size, dtype=np.float32)
        model.random.seed(0)
        for step in range(self.passes):
            rate = model.alpha + (model.min_alpha - model.alpha) * step / self.passes
            for words in documents.of(document):
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
