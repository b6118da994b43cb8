"""Graphs as documents: the doc2vec of gensim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from augcl.errors import InputError, need
from augcl.training.method import PlainMethod, fingerprint
from augcl.training.progress import Report, progress_bar

LONGEST = 10_000
"""Words of a text that gensim reads; it passes over the rest."""


def seed_of(generator: torch.Generator) -> int:
    """Draw a seed for another source of random numbers."""
    return int(torch.randint(1 << 31, (1,), generator=generator))


def one_worker(generator: torch.Generator) -> dict[str, Any]:
    """Settings with which the same seed gives the same bits, in every process.

    gensim draws the first vectors from the seed and orders words by count and by the order in
    which it met them; it hashes no word for either.
    """
    return {"workers": 1, "seed": seed_of(generator), "min_count": 1, "sample": 0}


def names(count: int) -> NDArray[np.object_]:
    """Words 0 to `count` − 1 as strings, each made once, to be picked by index."""
    return np.array([str(number) for number in range(count)], dtype=object)


def numbers(model: Any) -> Tensor:
    """(W,) the word that gensim keeps at each of its indices."""
    return torch.tensor([int(name) for name in model.wv.index_to_key], dtype=torch.long)


def frequencies(counts: Tensor) -> dict[str, int]:
    """How often each word occurs, by its name."""
    return dict(zip(names(len(counts)).tolist(), counts.tolist(), strict=True))


class Texts:
    """Text t has the words ``words[ptr[t]:ptr[t+1]]``, whole numbers from 0.

    A text that is longer than gensim reads comes in several pieces.
    """

    def __init__(self, words: Tensor, ptr: Tensor) -> None:
        self.words, self.ptr = words.numpy(), ptr.tolist()
        self.names = names(int(words.max()) + 1 if len(words) else 0)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def of(self, text: int) -> Iterator[list[str]]:
        """The words of one text, in pieces."""
        last = self.ptr[text + 1]
        for begin in range(self.ptr[text], last, LONGEST):
            yield self.names[self.words[begin : min(begin + LONGEST, last)]].tolist()

    def shuffled(self, generator: torch.Generator) -> Iterator[int]:
        """Every text once, in a new random order: that of a file may tell the class."""
        yield from torch.randperm(len(self), generator=generator).tolist()


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
        need("gensim", "embedding documents that were not in the fit")
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


class FittedOnly(PlainMethod):
    """Embeds what it was fitted on, and refuses all else; a reader stands before it."""

    vectors_: Tensor
    fitted_on_: Tensor

    def _keep(self, data: Any, vectors: Tensor) -> None:
        self.vectors_, self.fitted_on_ = vectors, mark(data)

    def _read_as_fitted(self, X: Any) -> Any:
        data = self._read(X)
        if not torch.equal(mark(data), self.fitted_on_):
            raise InputError(
                f"{data.name} is not what this {type(self).__name__} was fitted on, and it can "
                f"embed nothing else: fit it on all {self.level}s together"
            )
        return data

    def _embedded(self, data: Any) -> Tensor:
        return self.vectors_.clone()  # the user may write into it

    def _learned(self) -> dict[str, Tensor]:
        return {"vectors": self.vectors_, "fitted_on": self.fitted_on_}

    def _load_learned(self, tensors: dict[str, Tensor]) -> None:
        self.vectors_, self.fitted_on_ = tensors["vectors"], tensors["fitted_on"]


def mark(data: Any) -> Tensor:
    """The fingerprint of the data as a tensor, to be kept in a model file."""
    return torch.tensor(list(bytes.fromhex(fingerprint(data))), dtype=torch.uint8)
