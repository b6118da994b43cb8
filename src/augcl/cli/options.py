"""Options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

Candidates = Annotated[
    int | None,
    typer.Option(min=2, help="Nodes: so many random negatives in a step instead of all."),
]
Cells = Annotated[
    int | None, typer.Option(min=1, help="Trainings at once, one thread each; all cores.")
]
DataDir = Annotated[
    str | None, typer.Option(help="Where names are looked for first; then $AUGCL_DATA.")
]
Features = Annotated[
    str,
    typer.Option(help="Node features: auto, constant, degree, log-degree or attributes."),
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Select = Annotated[
    str | None,
    typer.Option(
        help="inner: adds rows whose reward (AUGCL), τ⁺ (DCL) or β and τ⁺ (HCL) is chosen inside "
        "the training folds."
    ),
]
