"""Parts that the methods on gensim share: texts, doc2vec, and models that embed only their fit."""

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
"""Words of a text that gensim reads; it ignores the rest."""


def seed_of(generator: torch.Generator) -> int:
    """Draw a seed for another source of random numbers."""
    return int(torch.randint(1 << 31, (1,), generator=generator))


def one_worker(generator: torch.Generator) -> dict[str, Any]:
    """Return settings with which the same seed gives the same bits in every process.

    gensim draws the first vectors from the seed and orders words by their count, then by their
    first occurrence; neither depends on a hash of the word.
    """
    return {"workers": 1, "seed": seed_of(generator), "min_count": 1, "sample": 0}


def names(count: int) -> NDArray[np.object_]:
    """Return the words 0 to `count` − 1 as strings, to be picked by index."""
    return np.array([str(number) for number in range(count)], dtype=object)


def numbers(model: Any) -> Tensor:
    """Return (W,) the word at each index of gensim's vocabulary."""
    return torch.tensor([int(name) for name in model.wv.index_to_key], dtype=torch.long)


def frequencies(counts: Tensor) -> dict[str, int]:
    """Return how often each word occurs, by its name."""
    return dict(zip(names(len(counts)).tolist(), counts.tolist(), strict=True))


class Texts:
    """Texts of words 0, 1, …: text t has the words ``words[ptr[t]:ptr[t+1]]``.

    A text that is longer than gensim reads is cut into several pieces.
    """

    def __init__(self, words: Tensor, ptr: Tensor) -> None:
        self.words, self.ptr = words.numpy(), ptr.tolist()
        self.names = names(int(words.max()) + 1 if len(words) else 0)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def of(self, text: int) -> Iterator[list[str]]:
        """Yield the words of one text, in pieces."""
        last = self.ptr[text + 1]
        for begin in range(self.ptr[text], last, LONGEST):
            yield self.names[self.words[begin : min(begin + LONGEST, last)]].tolist()

    def shuffled(self, generator: torch.Generator) -> Iterator[int]:
        """Yield every text once, in a new random order: the order of a file may reveal classes."""
        yield from torch.randperm(len(self), generator=generator).tolist()


class Documents:
    """Iterate over tagged texts in a new random order at every pass."""

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
    """Train a ``Doc2Vec`` with these settings on the texts."""
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
    """Infer vectors of new documents with the fixed words of a trained PV-DBOW.

    Takes the same steps as training, from a vector of zeros and with the same draws for every
    document, so that its vector does not depend on other documents.

    Parameters
    ----------
    weights : (W, d)
        Output weights of the words.
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
        """Return the vector (d,) of one text; 0 if it has no words."""
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
    """Base of methods that embed only the data of their fit; comes after a reader class."""

    vectors_: Tensor
    fitted_on_: Tensor

    def _keep(self, data: Any, vectors: Tensor) -> None:
        self.vectors_, self.fitted_on_ = vectors, mark(data)

    def _read_as_fitted(self, X: Any) -> Any:
        data = self.read(X)
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
    """Return the fingerprint of the data as a tensor, for a model file."""
    digest = fingerprint(data, edge_features=True)
    return torch.tensor(list(bytes.fromhex(digest)), dtype=torch.uint8)
