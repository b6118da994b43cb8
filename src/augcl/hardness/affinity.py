"""AUGCL: weight each negative by how unsure a model is about the group it belongs to.

Read from top to bottom:

s_ij = cos(z_i, z_j)                                  affinity of anchor i and candidate j
c_ij = 1 if j is in the similar group of i, else 0    partition.py: 2-means of row i
u_ij = P(“I don't know” | z_i, z_j, s_ij)             uncertainty.py: a network learns c_ij
w_ij = α_i · u_ij                                     `AffinityUncertainty.log_weights`
loss_i = −s_ii/τ + log( e^{s_ii/τ} + Σ_{j≠i} w_ij e^{s_ij/τ} )       losses/info_nce.py

α_i scales the weights of an anchor to mean 1 (`alpha="row"`). By default w_ij is (u_ij)^temper with
temper = 0.25 before this scaling; temper = 1 is the published weight.
"""

from __future__ import annotations

import math
import warnings
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from augcl.checks import number, whole_number
from augcl.contract import check_fitted
from augcl.errors import InputError, one_of
from augcl.files import packaged_toml
from augcl.hardness.base import AFFINITIES, Batches, Hardness
from augcl.hardness.diagnostics import Vitals
from augcl.hardness.partition import PARTITIONS, embedding_groups
from augcl.hardness.uncertainty import Estimator, PairNetwork, Pairs, make_estimator, train_network
from augcl.ops.cosine import cosine, unit_rows
from augcl.ops.rebuild import rebuilt

EXCLUDED = -1e4
"""log u of a similar candidate under the distance estimator: its weight is practically 0."""

MEANING = {
    "collapsed": "All weights are (almost) equal, so the weighted loss is (almost) the plain one",
    "unlearned": "The weights differ, but the model predicts the groups hardly better than always "
    "naming the larger group",
}
"""Explanation of each state of the uncertainty model other than "alive"."""


class CollapseWarning(UserWarning):
    """Warn that the uncertainty model collapsed, or that it has not learned the groups."""


class UndefinedAlphaError(InputError):
    """Report that α = 1/(μ + kδ) is not defined on these data, because μ + kδ is not positive."""


class AffinityUncertainty(Hardness):
    """Weight negatives by affinity uncertainty (AUGCL): w_ij = α_i · u_ij, without gradient.

    Split the candidates of each anchor into a similar and a dissimilar group (*partition*). Train a
    small network to predict the group, with an extra answer "I don't know" (*estimator*). Its
    uncertainty u_ij is the weight of candidate j in the loss of anchor i.

    The defaults differ from the paper (`from_recipe("paper")`) and from the released code
    (`from_recipe("authors")`); docs/paper.md lists every statement of the paper with its argument.

    Parameters
    ----------
    affinity : {"projection", "embedding", "propagated", "features"}
        Vectors z of the model and of the affinity s_ij: outputs of the projector, as published, or
        of the encoder; "propagated" smooths those of the encoder over the edges, "features" the
        features (for sets of graphs, both are counts of Weisfeiler–Lehman labels).
    partition : {"kmeans", "spectral"}
        Clustering that splits the candidates of an anchor into two groups.
    partition_of : {"affinity", "embedding"}
        What is clustered: the affinities of one anchor to its candidates (released code), or the
        embeddings of the candidates (text of the paper), with one clustering for all anchors; the
        similar group of an anchor is then the cluster it lies in.
    estimator : {"gamblers", "softmax", "entropy", "distance"}
        Definition of the uncertainty, see `augcl.hardness.uncertainty`. "distance" trains no
        network: u = 1 / (1 − s_ij) for dissimilar candidates, 0 for similar ones.
    reward : float
        Reward o of Deep Gamblers, above 1. A larger reward makes the model abstain less.
    alpha : "row", "global" or float
        "row": the weights of each anchor have mean 1, the positive included (released code).
        "global": the weights have mean 1 over all negatives of the fit, without the positives
        (α = 1/μ). A number k: α = 1/(μ + kδ), with μ and δ the mean and standard deviation of u
        over all negatives of the fit; `fit` raises `UndefinedAlphaError` unless μ + kδ > 0.
    temper : float
        Exponent of u before the weights are scaled: 1 is the published weight, 0 gives uniform
        weights. The default is small because the published weights of a model that has learned
        reduce the accuracy; it was chosen on ``digits``, which is in no table of the paper.
    cap : bool
        Lower weights above 1 to 1: the hardness then weakens negatives and strengthens none.
    refresh : int, optional
        Refit every `refresh` epochs; fit once if None, as published.
    normalize, affinity_input : bool
        Scale the embeddings to unit length before they enter the network; add the affinity as an
        input.
    similar : {"larger", "positive"}
        Which group is the similar one: the group of larger affinities (the anchor's own cluster
        with ``partition_of="embedding"``), or the group that contains the positive.
    warmup, passes : int
        Passes over the batches with cross-entropy, and after them with the estimator's loss.
    optimizer : {"adam", "sgd"}
        Optimizer of the network.
    lr : float
        Learning rate of the network.
    reduction : {"mean", "sum"}
        Loss of an anchor: the mean over its M candidates (released code), or their sum (paper),
        which multiplies the steps of SGD by M.
    hidden : int
        Units of each of the two hidden layers; 128 as published.
    pair_batch : int
        Pairs per update.
    pairs_per_pass : int or None
        Approximate number of pairs in each pass after the first; all pairs if None, as published.
    restarts : int
        Further attempts while the model has not learned, each with twice the warm-up of the last.
    recipe : {"default", "authors", "paper"}
        Name of the recipe that these settings come from; set by `from_recipe`. A method with
        another ``recipe=`` rejects this hardness, because the two would contradict each other.
    random_state : int
        Seed that `fit` uses if it gets no generator.

    Attributes
    ----------
    vitals_ : Vitals
        Spread of the weights and agreement with the partition after `fit`.

    References
    ----------
    C. Niu, G. Pang and L. Chen. "Affinity Uncertainty-Based Hard Negative Mining in Graph
    Contrastive Learning". IEEE Transactions on Neural Networks and Learning Systems 35(9),
    2024. arXiv:2301.13340, doi:10.1109/TNNLS.2023.3339770.

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> z1 = torch.randn(32, 8, generator=generator)
    >>> z2 = z1 + 0.5 * torch.randn(32, 8, generator=generator)
    >>> hardness = AffinityUncertainty().fit([(z1, z2)])
    >>> hardness.weights(z1, z2).mean(1).allclose(torch.ones(32))
    True
    """

    def __init__(
        self,
        *,
        affinity: str = "projection",
        partition: str = "kmeans",
        partition_of: str = "affinity",
        estimator: str = "gamblers",
        reward: float = 1.9,
        alpha: str | float = "row",
        temper: float = 0.25,
        cap: bool = False,
        refresh: int | None = None,
        normalize: bool = True,
        affinity_input: bool = True,
        similar: str = "larger",
        warmup: int = 3,
        passes: int = 10,
        optimizer: str = "adam",
        lr: float = 0.01,
        reduction: str = "mean",
        hidden: int = 64,
        pair_batch: int = 2048,
        pairs_per_pass: int | None = 32_768,
        restarts: int = 2,
        recipe: str = "default",
        random_state: int = 0,
    ) -> None:
        self.affinity = affinity
        self.partition = partition
        self.partition_of = partition_of
        self.estimator = estimator
        self.reward = reward
        self.alpha = alpha
        self.temper = temper
        self.cap = cap
        self.refresh = refresh
        self.normalize = normalize
        self.affinity_input = affinity_input
        self.similar = similar
        self.warmup = warmup
        self.passes = passes
        self.optimizer = optimizer
        self.lr = lr
        self.reduction = reduction
        self.hidden = hidden
        self.pair_batch = pair_batch
        self.pairs_per_pass = pairs_per_pass
        self.restarts = restarts
        self.recipe = recipe
        self.random_state = random_state

    @classmethod
    def from_recipe(cls, name: str, **settings: Any) -> AffinityUncertainty:
        """Return an instance with the settings of a recipe.

        Parameters
        ----------
        name : {"default", "authors", "paper"}
        **settings :
            Constructor parameters that replace those of the recipe.

        Examples
        --------
        >>> hardness = AffinityUncertainty.from_recipe("paper", reward=1.7)
        >>> hardness.partition_of, hardness.optimizer, hardness.reward
        ('embedding', 'sgd', 1.7)
        """
        recipes = packaged_toml("augcl.hardness", "recipes.toml")
        chosen = recipes[one_of(name, recipes, "recipe")]
        return cls(**{**chosen, "recipe": name, **settings})

    @property
    def affinity_of(self) -> str:  # type: ignore[override]
        return self.affinity

    @torch.no_grad()
    def log_weights(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor:
        """Return log w_ij = log α_i + temper · log u_ij, (N, M); finite for finite embeddings.

        `anchors` (N, D), `candidates` (M, D) and their cosines `affinity` (N, M). With `cap`, no
        weight is above 1.
        """
        self._need_fit()
        log_u = self.temper * self._log_uncertainty(anchors, candidates, affinity)[0]
        if self.alpha == "row":
            log_w = log_u - _log_mean(log_u, dim=1)
        else:
            log_w = log_u - (self._log_mean + math.log(self._alpha_divisor))
        return log_w.clamp_max_(0) if self.cap else log_w

    def _log_uncertainty(
        self, anchors: Tensor, candidates: Tensor, affinity: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """Return log u_ij (N, M), and the predicted groups (N, M) if there is a network."""
        if self.network_ is None:
            nearness = -(1 - affinity).clamp_min(1e-6).log()
            similar = self._groups(anchors, candidates, affinity) == 1
            return torch.where(similar, EXCLUDED, nearness), None
        network = self.network_.to(affinity.device)  # a network from a file is on the CPU
        logits = network.blocked(*self._inputs(anchors, candidates, affinity))
        return self._estimator().log_uncertainty(logits), (logits[..., 1] > logits[..., 0]).long()

    def _groups(self, anchors: Tensor, candidates: Tensor, affinity: Tensor) -> Tensor:
        """Return c_ij (N, M): 1 for the similar candidates of each anchor, else 0."""
        if self.partition_of == "embedding":
            group = embedding_groups(*self._embeddings(anchors, candidates), self.partition)
        else:
            group = PARTITIONS[self.partition](affinity)
        if self.similar == "positive":
            group = group ^ ~group.diagonal()[:, None]
        return group.long()

    def _inputs(
        self, anchors: Tensor, candidates: Tensor, affinity: Tensor
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return the inputs of the network: embeddings, and affinities (N, M) if it uses them.

        The affinities of each anchor are standardised to mean 0 and standard deviation 1.
        """
        anchors, candidates = self._embeddings(anchors, candidates)
        if not self.affinity_input:
            return anchors, candidates, None
        centred = affinity.detach() - affinity.detach().mean(1, keepdim=True)
        spread = centred.square().mean(1, keepdim=True).sqrt()
        return anchors, candidates, (centred / spread.clamp_min(1e-6)).float()

    def _embeddings(self, anchors: Tensor, candidates: Tensor) -> tuple[Tensor, Tensor]:
        anchors, candidates = anchors.detach(), candidates.detach()
        if self.normalize:
            anchors, candidates = unit_rows(anchors), unit_rows(candidates)
        return anchors.float(), candidates.float()

    @torch.enable_grad()
    def fit(
        self, batches: Batches, *, generator: torch.Generator | None = None
    ) -> AffinityUncertainty:
        """Train the uncertainty model on batches of anchors (N, D) and candidates (N, D).

        Warn with `CollapseWarning` if the model has not learned after all `restarts`.
        """
        self._check()
        if generator is None:
            generator = torch.Generator().manual_seed(int(self.random_state))
        if iter(batches) is batches:  # an iterator can be read only once, but every pass reads it
            batches = list(batches)
        first = next(iter(batches), None)
        if first is None:
            raise InputError("AffinityUncertainty got no batches: train on two graphs or more")
        check_pair(first)
        for attempt in range(self.restarts + 1):
            warmup = self.warmup * 2**attempt
            self.network_ = self._trained_network(batches, first[0], warmup, generator)
            self._measure(batches)
            if self.vitals_.alive:
                return self
        warnings.warn(
            f"the uncertainty model is {self.vitals_.state} after {self.restarts + 1} "
            f"attempt{'s' * (self.restarts > 0)}: {self.vitals_}. {MEANING[self.vitals_.state]}; "
            "try a larger reward or more warm-up.",
            CollapseWarning,
            stacklevel=2,
        )
        return self

    def _trained_network(
        self, batches: Batches, first: Tensor, warmup: int, generator: torch.Generator
    ) -> PairNetwork | None:
        if self.estimator == "distance":
            return None
        network = self._new_network(first.shape[1], generator).to(first.device)
        train_network(
            network,
            self._estimator(),
            batches,
            self._pairs,
            warmup=warmup,
            passes=self.passes,
            optimizer=self.optimizer,
            lr=self.lr,
            reduction=self.reduction,
            pair_batch=self.pair_batch,
            pairs_per_pass=self.pairs_per_pass,
            generator=generator,
        )
        return network

    @torch.no_grad()
    def _pairs(self, anchors: Tensor, candidates: Tensor) -> Pairs:
        """Return the training data of one batch: the inputs of the network and the groups."""
        affinity = cosine(anchors, candidates)
        groups = self._groups(anchors, candidates, affinity)
        return Pairs(*self._inputs(anchors, candidates, affinity), groups)

    def _estimator(self) -> Estimator:
        return make_estimator(self.estimator, self.reward)

    def _new_network(self, width: int, generator: torch.Generator) -> PairNetwork:
        classes = self._estimator().classes
        return PairNetwork(width, classes, hidden=self.hidden, generator=generator)

    @torch.no_grad()
    def _measure(self, batches: Batches) -> None:
        """Compute the vitals, and the mean and variation of u over all negatives, for α."""
        log_us, vitals = [], []
        for anchors, candidates in batches:
            affinity = cosine(anchors, candidates)
            log_u, guess = self._log_uncertainty(anchors, candidates, affinity)
            negative = ~torch.eye(*log_u.shape, dtype=torch.bool, device=log_u.device)
            log_us.append(log_u[negative])
            groups = self._groups(anchors, candidates, affinity)
            vitals.append(Vitals.of_batch(log_u, guess, groups))
        every = torch.cat(log_us).double()
        every = every if len(every) else every.new_zeros(1)  # one graph a batch: no negatives
        self._log_mean = float(_log_mean(self.temper * every, dim=0))
        log_mean, log_second = float(_log_mean(every, dim=0)), float(_log_mean(2 * every, dim=0))
        self._variation = math.sqrt(max(0.0, math.expm1(log_second - 2 * log_mean)))
        if self._alpha_divisor <= 0:
            raise UndefinedAlphaError(
                f"alpha = {self.alpha} means 1/(μ + kδ) with k = {self.alpha}, but μ + kδ = "
                f"{math.exp(log_mean) * self._alpha_divisor:.3g} is not positive on these data "
                f"(δ = {self._variation:.3g} μ): choose a larger k"
            )
        self.vitals_ = Vitals.mean(vitals)

    @property
    def _alpha_divisor(self) -> float:
        """Return (μ + kδ) / μ."""
        return 1.0 if isinstance(self.alpha, str) else 1 + self.alpha * self._variation

    def weights(self, anchors: Tensor, candidates: Tensor) -> Tensor:
        """Return the weights w_ij (N, M) of candidate j in the loss of anchor i."""
        return self.log_weights(anchors, candidates, cosine(anchors, candidates)).exp()

    @torch.no_grad()
    def uncertainty(self, anchors: Tensor, candidates: Tensor) -> Tensor:
        """Return the uncertainties u_ij (N, M), the paper's matrix U."""
        self._need_fit()
        return self._log_uncertainty(anchors, candidates, cosine(anchors, candidates))[0].exp()

    @torch.no_grad()
    def groups(self, anchors: Tensor, candidates: Tensor) -> Tensor:
        """Return (N, M) bool: is candidate j in the similar group of anchor i? Needs no fit."""
        return self._groups(anchors, candidates, cosine(anchors, candidates)).bool()

    def margins(self, anchors: Tensor, candidates: Tensor, tau: float) -> Tensor:
        """Return the margins m_ij = τ/2 · log w_ij (N, M) of the paper's Theorem 1."""
        number("tau", tau, above=0)
        return tau / 2 * self.log_weights(anchors, candidates, cosine(anchors, candidates))

    def state(self) -> dict[str, Tensor]:
        if not hasattr(self, "vitals_"):
            return {}
        stock = torch.tensor([self._log_mean, self._variation], dtype=torch.float64)
        learned = {} if self.network_ is None else self.network_.state_dict()
        return {"stock": stock, "vitals": self.vitals_.to_tensor(), **learned}

    def load_state(self, state: dict[str, Tensor]) -> None:
        if not state:
            return
        learned = {k: v for k, v in state.items() if k not in ("stock", "vitals")}
        self._log_mean, self._variation = state["stock"].tolist()
        self.vitals_ = Vitals.from_tensor(state["vitals"])
        self.network_ = None
        if learned:
            width = (learned["first.weight"].shape[1] - 1) // 2
            self.network_ = rebuilt(lambda: self._new_network(width, torch.Generator()), learned)

    def diagnose(self) -> dict[str, Any]:
        return self.vitals_.to_dict() if hasattr(self, "vitals_") else {}

    def _need_fit(self) -> None:
        check_fitted(self, "vitals_", "AffinityUncertainty has no weights yet: call fit first")

    def _check(self) -> None:
        one_of(self.affinity, AFFINITIES, "affinity")
        one_of(self.partition, PARTITIONS, "partition")
        one_of(self.partition_of, ("affinity", "embedding"), "partition_of")
        one_of(self.reduction, ("mean", "sum"), "reduction")
        one_of(self.estimator, ("gamblers", "softmax", "entropy", "distance"), "estimator")
        one_of(self.similar, ("larger", "positive"), "similar group")
        if isinstance(self.alpha, str):
            one_of(self.alpha, ("row", "global"), "alpha")
        elif not isinstance(self.alpha, Real) or not math.isfinite(self.alpha):
            raise InputError(f"alpha is {self.alpha!r}: give 'row', 'global' or a number")
        number("lr", self.lr, above=0)
        number("reward", self.reward, above=1)
        number("temper", self.temper, least=0)
        counts = {"warmup": 0, "passes": 0, "restarts": 0, "hidden": 1, "pair_batch": 1}
        for name, least in counts.items():
            whole_number(name, getattr(self, name), least=least)
        for name in ("pairs_per_pass", "refresh"):
            if getattr(self, name) is not None:
                whole_number(name, getattr(self, name), least=1)


def check_pair(batch: tuple[Tensor, Tensor]) -> None:
    """Raise `InputError` unless a batch is (anchors (N, D), candidates (M, D)), finite, M ≥ N."""
    shapes = [tuple(part.shape) for part in batch]
    if not (
        len(shapes) == 2
        and all(len(shape) == 2 for shape in shapes)
        and shapes[0][1] == shapes[1][1]
        and shapes[0][0] <= shapes[1][0]
    ):
        raise InputError(
            f"a batch has the shapes {', '.join(map(str, shapes))}: give pairs of anchors (N, D) "
            "and candidates (N, D), as in fit([(z1, z2), …])"
        )
    if not all(bool(part.isfinite().all()) for part in batch):
        raise InputError(
            "the embeddings contain NaN or infinity: the contrastive training diverged, lower its "
            "learning rate"
        )


def _log_mean(log_values: Tensor, dim: int) -> Tensor:
    return log_values.logsumexp(dim, keepdim=True) - math.log(log_values.shape[dim])
