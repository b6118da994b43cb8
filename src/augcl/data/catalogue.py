"""Catalogue of named data sets: sets of graphs, and single graphs whose nodes have classes."""

from __future__ import annotations

import re

GRAPH_SETS = {
    "MUTAG": "188 nitro compounds, mutagenic or not (no download)",
    "PROTEINS": "1,113 proteins, enzyme or not",
    "NCI1": "4,110 compounds, active against lung cancer or not",
    "DD": "1,178 large protein graphs, enzyme or not",
    "COLLAB": "5,000 collaborations of scientists in 3 fields",
    "REDDIT-BINARY": "2,000 discussions, question/answer or debate",
    "IMDB-BINARY": "1,000 casts of films, action or romance",
    "NCI109": "4,127 compounds, active against ovarian cancer or not",
    "PTC_MR": "344 compounds, carcinogenic for male rats or not",
    "ENZYMES": "600 enzymes of 6 classes",
    "AIDS": "2,000 compounds, active against HIV or not",
    "Mutagenicity": "4,337 compounds, mutagenic or not",
    "IMDB-MULTI": "1,500 casts of films of 3 genres",
    "REDDIT-MULTI-5K": "4,999 discussions in 5 communities",
    "REDDIT-MULTI-12K": "11,929 discussions in 11 communities",
    "components": "drawn at random; the class is the number of connected components",
    "components-40-50": "the same with 40 to 50 nodes instead of 15 to 20",
    "components-90-100": "the same with 90 to 100 nodes",
    "digits": "1,797 handwritten digits, each a graph of its bright pixels",
}
NODE_SETS = {
    "Amazon-Photo": "7,650 cameras and the like, bought together, of 8 kinds",
    "Amazon-Computers": "13,752 computer goods, bought together, of 10 kinds",
    "Wiki-CS": "11,701 articles on computer science in 10 branches, 20 splits",
    "Coauthor-CS": "18,333 authors in 15 fields of computer science",
    "Coauthor-Physics": "34,493 authors in 5 fields of physics",
    "Cora": "2,708 papers on machine learning in 7 topics",
    "CiteSeer": "3,327 papers on computer science in 6 topics",
    "PubMed": "19,717 papers on 3 kinds of diabetes",
    "Roman-empire": "22,662 words of an article in 18 syntactic roles, 10 splits",
    "Amazon-ratings": "24,492 products, bought together, in 5 classes of rating, 10 splits",
    "Minesweeper": "10,000 cells of a grid, mine or not, 10 splits (ROC-AUC)",
    "Tolokers": "11,758 workers of a crowd, banned or not, 10 splits (ROC-AUC)",
    "Questions": "48,921 users of a forum, still active or not, 10 splits (ROC-AUC)",
    "Chameleon-filtered": "890 Wikipedia articles in 5 classes of traffic, 10 splits",
    "Squirrel-filtered": "2,223 Wikipedia articles in 5 classes of traffic, 10 splits",
    "Actor": "7,600 actors on shared Wikipedia pages, in 5 classes, 10 splits",
    "digits-knn": "1,797 handwritten digits, each joined to the 10 most like it (no download)",
}
PLANTED = re.compile(r"planted-([1-9][0-9]{1,9})")
"""Names of drawn graphs of any size: planted-1000000 has a million nodes."""
ALIASES = {
    "RDT-B": "REDDIT-BINARY",
    "IMDB-B": "IMDB-BINARY",
    "Photo": "Amazon-Photo",
    "Computers": "Amazon-Computers",
    "WikiCS": "Wiki-CS",
    "Physics": "Coauthor-Physics",
}

_SPELLINGS = {name.lower(): name for name in (*GRAPH_SETS, *NODE_SETS)} | {
    alias.lower(): name for alias, name in ALIASES.items()
}


def names() -> list[str]:
    """Return the names that `load` knows, sets of graphs first.

    >>> names()[:3], names()[-2:]
    (['MUTAG', 'PROTEINS', 'NCI1'], ['Actor', 'digits-knn'])
    """
    return [*GRAPH_SETS, *NODE_SETS]


def known_name(text: str) -> str | None:
    """Return the catalogue name for a name in any case or an alias; None if there is none.

    >>> known_name("wikics"), known_name("planted-5000"), known_name("my.zip")
    ('Wiki-CS', 'planted-5000', None)
    """
    if PLANTED.fullmatch(text.lower()):
        return text.lower()
    return _SPELLINGS.get(text.lower())


def is_node_set(name: str | None) -> bool:
    """Return whether a catalogue name is that of a single graph.

    >>> is_node_set("Cora"), is_node_set("planted-5000"), is_node_set("MUTAG")
    (True, True, False)
    """
    return name is not None and (name in NODE_SETS or PLANTED.fullmatch(name) is not None)
