"""Theorem 1 in numbers: its forms against the derivative of the loss, and shares of negatives.

docs/theorem.md has the derivation.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from augcl.errors import InputError
from augcl.ops.cosine import cosine, unit_rows
from augcl.paper.figure_one import ANCHORS, ToyCell, colours, points, share_figure, toy_of
from augcl.paper.grid import Grid, Outcome
from augcl.paper.study import Study


def triplet_form(
    anchors: Tensor, candidates: Tensor, log_weights: Tensor | None = None, *, tau: float = 0.2
) -> Tensor:
    """Return (1/2τ) Σ_{j≠i} ( ‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖² + 4 m_ij ) of every anchor i.

    The vectors are scaled to unit length. With m_ij = (τ/2) log w_ij this is the first-order term
    of the weighted loss: near the point where every negative is as similar as the positive and has
    weight 1, the loss of anchor i is log N + triplet_form / N, up to second order. The margins are
    constants outside of any hinge, so they do not change the gradient of this form.

    Parameters
    ----------
    anchors, candidates : (N, D)
        Embeddings of the two views; row i of both is a positive pair.
    log_weights : (N, N), optional
        log w_ij; all 0 if None. The diagonal is ignored.
    tau : float
        Temperature.

    Returns
    -------
    (N,)

    Examples
    --------
    >>> z = torch.eye(2)
    >>> triplet_form(z, z, tau=0.5).tolist()  # (0 − ‖(1, −1)‖²) / 2τ
    [-2.0, -2.0]
    """
    logits = _logits(anchors, candidates, log_weights, tau)
    # For unit vectors ½ (‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖²) = s_ij − s_ii, and 2 m_ij / τ = log w_ij.
    return (logits - logits.diagonal()[:, None]).sum(1)


def negative_shares(
    anchors: Tensor, candidates: Tensor, log_weights: Tensor | None = None, *, tau: float = 0.2
) -> Tensor:
    """Return the shares of negatives in the gradient of each anchor.

    share_ij = w_ij e^{s_ij/τ} / (e^{s_ii/τ} + Σ_{k≠i} w_ik e^{s_ik/τ}).

    The gradient of the weighted loss is exactly that of the triplet loss
    (1/2τ) Σ_j share_ij ( ‖z_i − ẑ_i‖² − ‖z_i − ẑ_j‖² ) with the shares held constant.

    Parameters
    ----------
    anchors, candidates, log_weights, tau :
        As for `triplet_form`.

    Returns
    -------
    (N, N)
        0 on the diagonal. The sum of row i is the share of its positive in the gradient.

    Examples
    --------
    >>> z = torch.eye(2)
    >>> round(negative_shares(z, z, tau=1.0)[0, 1].item(), 4)  # 1 / (e + 1)
    0.2689
    """
    shares = _logits(anchors, candidates, log_weights, tau).softmax(1)
    return shares - shares.diagonal().diag()


def _logits(anchors: Tensor, candidates: Tensor, log_weights: Tensor | None, tau: float) -> Tensor:
    """Return s_ij / τ + log w_ij, and s_ii / τ on the diagonal."""
    if anchors.shape != candidates.shape or anchors.ndim != 2:
        raise InputError(
            f"anchors and candidates have the shapes {tuple(anchors.shape)} and "
            f"{tuple(candidates.shape)}: give two (N, D) tensors"
        )
    if not tau > 0:
        raise InputError(f"tau is {tau}: the temperature must be above 0")
    logits = cosine(anchors, candidates) / tau
    if log_weights is None:
        return logits
    if log_weights.shape != logits.shape:
        raise InputError(
            f"log_weights has the shape {tuple(log_weights.shape)}: give one number for every "
            f"anchor and candidate, {tuple(logits.shape)}"
        )
    own = torch.eye(len(logits), dtype=torch.bool, device=logits.device)
    return logits + log_weights.masked_fill(own, 0)


TOY = "close"
TAU = 0.2
ANCHOR = ANCHORS[0]
FORM_NAMES = ("first-order term", "squares, 4 m", "squares, m", "norms, 4 m", "as printed")

FORMS = (
    "First-order term: N times the derivative at t = 0 of log(1 + Σ_j e^{t y_ij}), with y_ij = "
    "(s_ij − s_ii)/τ + log w_ij, by autograd in float64. The others are (1/2τ) Σ_j of a difference "
    "of distances and a margin; the printed one has norms and m."
)
SHARES = (
    f"Instance {ANCHOR} of the toy, τ = {TAU}. Share of a negative: w e^{{s/τ}} divided by the sum "
    "over positive and negatives; this share, not the weight alone, decides how much it moves the "
    "anchor."
)


def theorem_cells(study: Study) -> list[ToyCell]:
    """Return the cells of the first draw of one toy."""
    return [ToyCell(TOY, row, 0) for row in study.rows]


def theorem(study: Study) -> Outcome:
    """Return both tables, and the figure of the shares."""
    every = {row: study.records(ToyCell(TOY, row, 0)).get(0) for row in study.rows}
    weights = {row: record["weights"][str(ANCHOR)] for row, record in every.items() if record}
    z = torch.from_numpy(points(TOY, 0))
    plain = shares_of(z, np.ones(len(z)).tolist())
    shares = {row: shares_of(z, w) for row, w in weights.items()}
    forms = {row: forms_of(z, w) for row, w in weights.items()}
    grids = [
        Grid("Forms of Theorem 1", ("", *FORM_NAMES), _form_lines(forms), (FORMS,)),
        Grid(
            "Shares in the gradient",
            ("weights", "false negatives", "true negatives", "positive"),
            _share_lines({"all 1": plain, **shares} if shares else {}),
            (SHARES,),
        ),
    ]
    figures = {}
    if shares:
        drawn = {row: share.numpy() for row, share in shares.items()}
        figures["theorem"] = share_figure(toy_of(TOY), drawn, plain.numpy())
    data = {
        "forms": forms,
        "shares": {row: share.tolist() for row, share in {"all 1": plain, **shares}.items()},
    }
    return Outcome("theorem", grids, data, figures, _sentences(forms, shares, plain))


def forms_of(z: Tensor, weights: list[float]) -> dict[str, float]:
    """Return the first-order term of the anchor's loss, and the candidate forms of it."""
    row, log_w = ANCHOR - 1, _log(weights)
    s = cosine(z, z)[row]
    others = torch.arange(len(z)) != row
    y = ((s - s[row]) / TAU + log_w)[others]
    t = torch.zeros((), dtype=y.dtype, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.log1p(torch.exp(t * y).sum()), t)
    distances = (unit_rows(z)[row] - unit_rows(z)).norm(dim=1)
    gaps = {"squares": -(distances[others] ** 2), "norms": -distances[others]}
    margins = TAU / 2 * log_w[others]

    def form(gap: str, times: int) -> float:
        return float((gaps[gap] + times * margins).sum() / (2 * TAU))

    log_weights = torch.zeros(len(z), len(z), dtype=z.dtype)
    log_weights[row] = log_w
    return {
        "first-order term": len(z) * float(slope),
        "squares, 4 m": float(triplet_form(z, z, log_weights, tau=TAU)[row]),
        "squares, m": form("squares", 1),
        "norms, 4 m": form("norms", 4),
        "as printed": form("norms", 1),
    }


def shares_of(z: Tensor, weights: list[float]) -> Tensor:
    """Return the shares (N,) of the negatives of the anchor."""
    log_weights = torch.zeros(len(z), len(z), dtype=z.dtype)
    log_weights[ANCHOR - 1] = _log(weights)
    return negative_shares(z, z, log_weights, tau=TAU)[ANCHOR - 1]


def _log(weights: list[float]) -> Tensor:
    return torch.tensor(weights, dtype=torch.float64).clamp_min(1e-30).log()


def _form_lines(forms: dict[str, dict[str, float]]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (f"weights: {row}", *(f"{found[name]:.3f}" for name in FORM_NAMES))
        for row, found in forms.items()
    )


def _share_lines(shares: dict[str, Tensor]) -> tuple[tuple[str, ...], ...]:
    return tuple(
        (row, *(f"{100 * part:.2f} %" for part in (*_by_group(share), 1 - float(share.sum()))))
        for row, share in shares.items()
    )


def _by_group(share: Tensor) -> tuple[float, float]:
    """Return the total shares of the false and of the true negatives."""
    same = torch.from_numpy(colours() == colours()[ANCHOR - 1])
    return float(share[same].sum()), float(share[~same].sum())


def _sentences(
    forms: dict[str, dict[str, float]], shares: dict[str, Tensor], plain: Tensor
) -> list[str]:
    if not forms:
        return []
    off = {
        name: max(abs(found[name] - found[FORM_NAMES[0]]) for found in forms.values())
        for name in FORM_NAMES[1:]
    }
    right = [name for name, by in off.items() if by < 1e-6]
    wrong = [f"{name} by up to {by:.1f}" for name, by in off.items() if name not in right]
    false, true = _by_group(plain)
    moved = "; ".join(
        "{}: {:.0f} % and {:.0f} %".format(row, *(100 * part for part in _by_group(share)))
        for row, share in shares.items()
    )
    return [
        f"The first-order term of the loss is the form with {' and '.join(right) or 'no name'}; "
        f"other forms differ from it: {', '.join(wrong) or 'none'}.",
        f"Instance {ANCHOR}: with all weights 1, false negatives make {100 * false:.0f} % of the "
        f"gradient and true ones {100 * true:.0f} %. With weights: {moved}.",
    ]
