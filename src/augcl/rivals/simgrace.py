"""SimGRACE: the second view is the same graph, encoded with perturbed weights."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from augcl.checks import number
from augcl.data.graph import GraphSet
from augcl.encoders import ContrastiveNetwork, inputs
from augcl.hardness import Hardness
from augcl.methods.contrast import ContrastiveGraphMethod
from augcl.training.callbacks import Callbacks


@torch.no_grad()
def perturbed(network: nn.Module, eta: float, generator: torch.Generator) -> nn.Module:
    """Copy the network with θ + η ε for every weight tensor θ, where ε ~ N(0, std(θ)²).

    A tensor whose entries are all equal, such as a bias at the start, does not change. The copy
    has its own running averages and no gradients.

    >>> layer = nn.Linear(2, 2)
    >>> other = perturbed(layer, 0.1, torch.Generator().manual_seed(0))
    >>> bool((other.weight != layer.weight).all()), other.weight.requires_grad
    (True, False)
    """
    other = copy.deepcopy(network).requires_grad_(False)
    for theta in other.parameters():
        theta.add_(_spread(theta) * _normal(theta, generator), alpha=eta)
    return other


def _spread(theta: Tensor) -> Tensor:
    return theta.std() if theta.numel() > 1 else theta.new_zeros(())


def _normal(like: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(like.shape, generator=generator, device=generator.device).to(like)


class SimGRACE(ContrastiveGraphMethod):
    """Contrast graphs with their embeddings by an encoder with perturbed weights.

    The graphs themselves are not augmented. In every step all weights θ of a copy of the encoder
    become θ + η ε, with ε ~ N(0, std(θ)²) for each tensor. The copy embeds the anchors and gets no
    gradient.

    Parameters
    ----------
    recipe : {"default", "authors", "paper"}
        Decides the settings of a hardness given by name, and the default of `warmup`.
    eta : float
        Scale of the noise on the weights; the paper searched 0.1, 1, 10 and 100.
    positive_in_denominator, symmetric, tau :
        See `info_nce`; as published, the positive is left out of the denominator.
    hardness, epochs, warmup, encoder, edge_features, layers, width, pooling, batch_size, lr, … :
        See `GraphCL`.

    Attributes
    ----------
    network_ : ContrastiveNetwork
    hardness_ : Hardness
    history_ : list of dict
        One entry per epoch: loss, seconds and the spread of the weights.

    References
    ----------
    J. Xia, L. Wu, J. Chen, B. Hu and S. Z. Li. "SimGRACE: A Simple Framework for Graph
    Contrastive Learning without Data Augmentation". WWW 2022. arXiv:2202.03104,
    doi:10.48550/arXiv.2202.03104.

    Examples
    --------
    >>> import augcl
    >>> graphs = augcl.load("MUTAG")
    >>> model = augcl.SimGRACE(epochs=2, random_state=0).fit(graphs)
    >>> model.transform(graphs).shape
    (188, 160)
    """

    year = 2022

    def __init__(
        self,
        *,
        hardness: Hardness | str | None = None,
        recipe: str = "default",
        epochs: int = 20,
        warmup: int | None = None,
        eta: float = 1.0,
        positive_in_denominator: bool = False,
        symmetric: bool = False,
        tau: float = 0.2,
        encoder: nn.Module | None = None,
        edge_features: bool | None = None,
        layers: int = 5,
        width: int = 32,
        pooling: str = "sum",
        batch_size: int = 128,
        lr: float = 0.01,
        patience: int | None = None,
        random_state: int | None = 0,
        device: str = "cpu",
        progress: bool = True,
        callbacks: Callbacks = (),
        warm_start: bool = False,
    ) -> None:
        self.hardness = hardness
        self.recipe = recipe
        self.epochs = epochs
        self.warmup = warmup
        self.eta = eta
        self.positive_in_denominator = positive_in_denominator
        self.symmetric = symmetric
        self.tau = tau
        self.encoder = encoder
        self.edge_features = edge_features
        self.layers = layers
        self.width = width
        self.pooling = pooling
        self.batch_size = batch_size
        self.lr = lr
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.progress = progress
        self.callbacks = callbacks
        self.warm_start = warm_start

    def _start(self) -> None:
        super()._start()
        number("eta", self.eta, least=0)

    def _pair(self, batch: GraphSet, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        share = self._share(batch)
        perturbed = self._perturbed_projections(share.graphs, generator)
        return share.gather(perturbed), share.gather(self._project(share.graphs))

    @torch.no_grad()
    def _perturbed_projections(self, batch: GraphSet, generator: torch.Generator) -> Tensor:
        encoder = perturbed(self.network_.encoder, self.eta, generator)
        other = ContrastiveNetwork(encoder, self.network_.projector, pooling=self.pooling)
        return other(*inputs(encoder, batch))  # type: ignore[no-any-return]
