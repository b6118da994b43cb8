"""GCA: GRACE whose views keep what matters, by a centrality of the nodes."""

from __future__ import annotations

from typing import Any

from augcl.methods.grace import GRACE


class GCA(GRACE):
    """GRACE that drops important edges and feature columns more rarely.

    Parameters
    ----------
    centrality : {"degree", "pagerank", "eigenvector"}, optional
        What makes a node important; the degree if None.
    recipe : {"default", "authors", "paper"}
        Also decides details of the probabilities, see `augcl.views.adaptive`: "authors" masks all
        columns at 70 % if one of them is empty; "paper" counts an edge by both its ends.
    hardness, preset, … :
        See `GRACE`.

    Examples
    --------
    >>> import augcl
    >>> graph = augcl.load("digits-knn")
    >>> model = augcl.GCA(centrality="pagerank", epochs=2, width=16, random_state=0).fit(graph)
    >>> model.transform(graph).shape
    (1797, 16)
    """

    year = 2021

    def _left_open(self) -> dict[str, Any]:
        return {**super()._left_open(), "centrality": "degree"}
