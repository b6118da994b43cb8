"""RL-S2V: the black-box attack, an agent that learns from the model's predictions alone."""

from __future__ import annotations

import copy
from abc import abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from augcl.attacks.agent import Agent, Game, QNetwork, Schedule, train_agent
from augcl.attacks.graph_attack import Attack, predicted
from augcl.attacks.rules import Semantics, flip_edges
from augcl.checks import number, whole_number
from augcl.contract import check_fitted
from augcl.data.convert import as_graphset
from augcl.data.graph import GraphSet
from augcl.errors import InputError, ours
from augcl.methods.recipes import by_recipe
from augcl.ops.rebuild import rebuilt
from augcl.ops.threads import threads_for
from augcl.training.checkpoint import Snapshot, prefixed
from augcl.training.method import fingerprint, seeded_generator

FILE = "attack.safetensors"


class LearnedAttack(Attack):
    """Base of attacks with a network that is trained against a model.

    Attributes
    ----------
    network_ : Module
    history_ : list of dict
    """

    network_: Any
    history_: list[dict[str, Any]]
    n_features_in_: int

    @abstractmethod
    def _network(self, generator: torch.Generator) -> nn.Module:
        """Return an untrained network for `n_features_in_` node features."""

    def save(self, path: str | Path) -> None:
        """Write network and settings to a folder, never as a pickle."""
        check_fitted(self, "network_")
        facts = {
            "settings": self.settings(),
            "features": self.n_features_in_,
            "history": self.history_,
        }
        tensors = prefixed("network", self.network_.state_dict())
        Snapshot(tensors, facts).write(Path(path) / FILE)

    @classmethod
    def load(cls, path: str | Path, *, semantics: Semantics | None = None) -> Self:
        """Read what `save` wrote; your own semantics must be given again."""
        file = Path(path) / FILE
        if not file.exists():
            raise InputError(f"{path} contains no attack: {FILE} is missing")
        snapshot = Snapshot.read(file)
        with ours(file, "train the attack again"):
            attack = cls(**{**snapshot.facts["settings"], "semantics": semantics})
            attack.n_features_in_ = snapshot.facts["features"]
            weights = snapshot.part("network")
            attack.network_ = rebuilt(lambda: attack._network(torch.Generator()), weights)
            attack.history_ = list(snapshot.facts["history"])
            return attack


class RLS2V(LearnedAttack):
    """Learn by trial which edges mislead a model, and change them in other graphs.

    The agent sees only the predicted class of a graph. Each edge is two decisions, its first and
    its second end; the reward of a game is +1 if the model then errs, else −1.

    Parameters
    ----------
    budget, changes, semantics :
        See `Attack`.
    recipe, idle :
        See `Attack`.
    explore_only : bool, optional
        Always choose at random while learning (ε = 1), unless `epsilon` is given. The recipe
        decides this and the next two options if None: True in the released code ("authors"), else
        False.
    learn_on_attacked : bool, optional
        Learn on the same graphs that are then attacked, and keep the state with the lowest accuracy
        of the model on them.
    attack_all : bool, optional
        Also change graphs that are misclassified from the start.
    updates : int
        Steps of learning, each with `batch_size` new games; published: 100,000.
    epsilon : (float, float), optional
        Probability of a random choice at the start, and after the share `epsilon_share` of the
        updates; it falls linearly in between. (1.0, 0.05) if None.
    epsilon_share : float
        Share of the updates after which `epsilon` reaches its final value.
    validation : float
        Share of the graphs of `fit` kept for choosing the best state; see `learn_on_attacked`.
    evaluate_every, copy_every : int
        Updates between two evaluations, and between two copies to the target network.
    burn_in : int
        Batches of random games before the first update.
    replay : int
        Games in the replay memory.
    width, depth : int
        Width and depth of the agent's structure2vec.
    batch_size, lr : int, float
    random_state : int or None
    progress : bool
        Show a progress bar, with the accuracy of the model, when the error stream is a terminal.

    Attributes
    ----------
    network_ : QNetwork
    history_ : list of dict
        One entry per evaluation: update, loss, epsilon and the model's accuracy.

    References
    ----------
    H. Dai, H. Li, T. Tian, X. Huang, L. Wang, J. Zhu and L. Song. "Adversarial Attack on Graph
    Structured Data". ICML 2018. arXiv:1806.02371,
    doi:10.48550/arXiv.1806.02371.

    Examples
    --------
    >>> import augcl
    >>> from augcl.data import components
    >>> graphs, others = components(per_class=20), components(per_class=5, seed=1)
    >>> victim = augcl.Structure2VecClassifier(epochs=5).fit(graphs)
    >>> attack = RLS2V(updates=5, burn_in=2, width=8, depth=2).fit(victim, graphs)
    >>> len(attack.perturb(victim, others))
    15
    """

    def __init__(
        self,
        *,
        budget: int = 1,
        changes: str = "add",
        semantics: Semantics | None = None,
        recipe: str = "default",
        idle: bool | None = None,
        explore_only: bool | None = None,
        learn_on_attacked: bool | None = None,
        attack_all: bool | None = None,
        updates: int = 3000,
        epsilon: tuple[float, float] | None = None,
        epsilon_share: float = 0.5,
        validation: float = 0.1,
        evaluate_every: int = 100,
        copy_every: int = 100,
        burn_in: int = 100,
        replay: int = 50_000,
        width: int = 64,
        depth: int = 5,
        batch_size: int = 50,
        lr: float = 0.001,
        random_state: int | None = 0,
        progress: bool = True,
    ) -> None:
        super().__init__(
            budget=budget,
            changes=changes,
            semantics=semantics,
            recipe=recipe,
            idle=idle,
            random_state=random_state,
        )
        self.explore_only = explore_only
        self.learn_on_attacked = learn_on_attacked
        self.attack_all = attack_all
        self.updates = updates
        self.epsilon = epsilon
        self.epsilon_share = epsilon_share
        self.validation = validation
        self.evaluate_every = evaluate_every
        self.copy_every = copy_every
        self.burn_in = burn_in
        self.replay = replay
        self.width = width
        self.depth = depth
        self.batch_size = batch_size
        self.lr = lr
        self.progress = progress

    def check(self) -> None:
        """Raise `InputError` for settings with which `fit` would not start."""
        super().check()
        counts = ("updates", "burn_in", "replay", "evaluate_every", "copy_every", "batch_size")
        for name in (*counts, "width", "depth"):
            whole_number(name, getattr(self, name), least=1)
        number("lr", self.lr, above=0)
        number("validation", self.validation, least=0, below=1)
        number("epsilon_share", self.epsilon_share, least=0, most=1)
        if not (isinstance(self._epsilon, tuple | list) and len(self._epsilon) == 2):
            raise InputError(
                f"epsilon is {self._epsilon!r}: give two probabilities, such as (1.0, 0.05); give "
                "a constant one twice"
            )
        for place, end in enumerate(self._epsilon):
            number(f"epsilon[{place}]", end, least=0, most=1)

    @property
    def learns_on_attacked(self) -> bool:
        """Return whether `fit` needs the same graphs that are then attacked."""
        return bool(by_recipe(self, "learn_on_attacked"))

    @property
    def _epsilon(self) -> tuple[float, float]:
        if self.epsilon is not None:
            return self.epsilon
        return (1.0, 1.0) if by_recipe(self, "explore_only") else (1.0, 0.05)

    @property
    def _schedule(self) -> Schedule:
        return Schedule(
            updates=self.updates,
            burn_in=self.burn_in,
            copy_every=self.copy_every,
            evaluate_every=self.evaluate_every,
            epsilon=self._epsilon,
            epsilon_share=self.epsilon_share,
        )

    def fit(
        self,
        model: Any,
        graphs: Any,
        y: Any = None,
        *,
        folder: str | Path | None = None,
        resume: bool = False,
    ) -> RLS2V:
        """Let the agent play against the model.

        Parameters
        ----------
        model, graphs, y :
            As in `perturb`; use other graphs than those that are attacked later.
        folder : path, optional
            Write a checkpoint there at every evaluation.
        resume : bool
            Continue from that checkpoint, if there is one, with bit-identical results.
        """
        self.check()
        data = as_graphset(graphs)
        labels = self._labels(model, data, y)
        generator = seeded_generator(self.random_state)
        watched, kept = self._held_out(len(data), generator)
        self.n_features_in_ = data.num_features
        network = self._network(generator).to(data.device)
        agent = Agent(
            network,
            self._rules,
            graphs=data.select(kept),
            labels=labels[kept],
            decisions=2 * self.budget,
            batch_size=self.batch_size,
            replay=self.replay,
            lr=self.lr,
            generator=generator,
        )
        chosen, truth = data.select(watched), labels[watched]
        with threads_for(self.batch_size * data.num_nodes / len(data)):
            train_agent(
                agent,
                model,
                self._schedule,
                accuracy=lambda: self._accuracy(model, network, chosen, truth),
                settings={**self.settings(), "data": fingerprint(data)},
                folder=None if folder is None else Path(folder),
                resume=resume,
                progress=self.progress,
            )
        agent.best.put_back(network)
        self.network_, self.history_ = network, agent.history
        return self

    def _held_out(
        self, count: int, generator: torch.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Split the graphs into those that evaluate the agent and those that train it."""
        every = np.arange(count)
        if not self.validation or self.learns_on_attacked or count < 2:
            return every, every
        order = torch.randperm(count, generator=generator).numpy()
        held = min(count - 1, max(1, int(count * self.validation)))
        return np.sort(order[:held]), np.sort(order[held:])

    def _accuracy(
        self, model: Any, network: QNetwork, graphs: GraphSet, labels: NDArray[Any]
    ) -> float:
        attacked = flip_edges(graphs, self._greedy(model, network, graphs, labels))
        return float(np.mean(predicted(model, attacked) == labels))

    def _greedy(
        self, model: Any, network: QNetwork, graphs: GraphSet, labels: NDArray[Any]
    ) -> Tensor:
        """Return (2, P) the pairs that the agent changes in correctly classified graphs."""
        game = Game(graphs, self._rules)
        flips = game.flips(game.play(network, 2 * self.budget))
        if by_recipe(self, "attack_all"):
            return flips
        standing = torch.from_numpy(predicted(model, graphs) == labels).to(graphs.device)
        return flips[:, standing[graphs.graph_of_node[flips[0]]]]

    def perturb(self, model: Any, graphs: Any, y: Any = None) -> GraphSet:
        """Return the graphs with at most `budget` changed edges each; see `Attack.perturb`."""
        if self.learns_on_attacked and not hasattr(self, "network_"):
            return copy.copy(self).fit(model, graphs, y).perturb(model, graphs, y)
        check_fitted(self, "network_", "RLS2V is not fitted: call fit(model, graphs) first")
        return super().perturb(model, graphs, y)

    def _flips(
        self, model: Any, graphs: GraphSet, labels: NDArray[Any], generator: torch.Generator
    ) -> Tensor:
        if graphs.num_features != self.n_features_in_:
            raise InputError(
                f"{graphs.name} has {graphs.num_features} node features, but the agent was trained "
                f"with {self.n_features_in_}: give graphs with the same node features"
            )
        return self._greedy(model, self.network_, graphs, labels)

    def _network(self, generator: torch.Generator) -> QNetwork:
        return QNetwork(
            self.n_features_in_,
            2 * self.budget,
            width=self.width,
            depth=self.depth,
            generator=generator,
        )
