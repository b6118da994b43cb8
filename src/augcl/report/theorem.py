"""Theorem 1 in numbers: its forms beside the derivative of the loss, and the shares of negatives.

docs/theorem.md has the derivation.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from augcl.experiments.toy import ANCHORS, ToyCell, colours, points
from augcl.objectives import negative_shares, triplet_form
from augcl.ops.cosine import cosine, unit_rows
from augcl.report.figure_one import toy_of
from augcl.report.figures.toy_panels import share_figure
from augcl.report.findings import Findings
from augcl.report.grid import Grid
from augcl.report.request import Request

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
    f"Instance {ANCHOR} of the toy, τ = {TAU}. Share of a negative: w e^{{s/τ}} over positive and "
    "negatives together; with it, and not with the weight alone, it moves the anchor."
)


def theorem_cells(request: Request) -> list[ToyCell]:
    """The first drawing of one toy."""
    return [ToyCell(TOY, row, 0) for row in request.rows]


def theorem(request: Request) -> Findings:
    """Both tables, and the figure of the shares."""
    every = {row: request.records(ToyCell(TOY, row, 0)).get(0) for row in request.rows}
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
    return Findings("theorem", grids, data, figures, _sentences(forms, shares, plain))


def forms_of(z: Tensor, weights: list[float]) -> dict[str, float]:
    """The first-order term of the loss of the anchor, and what it was said to be."""
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
    """(N,) shares of the negatives of the anchor."""
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
    """Of all false negatives together, and of all true ones."""
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
        f"off are {', '.join(wrong) or 'none'}.",
        f"Instance {ANCHOR}: with all weights 1, false negatives make {100 * false:.0f} % of the "
        f"gradient and true ones {100 * true:.0f} %. With weights: {moved}.",
    ]
