"""docs/RESULTS.md from the result files: ``python -m augcl.paper.results``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from augcl.files import write_text
from augcl.hardness import AffinityUncertainty
from augcl.paper import headroom
from augcl.paper.attacks import LAPTOP, VICTIMS, attack_table
from augcl.paper.collapse import life_section
from augcl.paper.comparison import comparison
from augcl.paper.convergence import ROWS as CURVES
from augcl.paper.convergence import convergence
from augcl.paper.figure_one import ROWS as READINGS
from augcl.paper.figure_one import figure_one
from augcl.paper.figures import save
from augcl.paper.grid import Outcome
from augcl.paper.grid import markdown_table as markdown_table
from augcl.paper.headroom import headroom_map
from augcl.paper.improvement import improvement
from augcl.paper.readings import reading_rows, readings
from augcl.paper.records import loose_files
from augcl.paper.rows import (
    ABLATED,
    ABLATION,
    ALPHA,
    GRAPH_DATASETS,
    GRAPH_PAPER,
    GRAPH_RIVALS,
    GRAPHS,
    NODE_PAPER,
    NODE_VARIANTS,
    NODES,
    NODES_GRACE,
    REWARD,
)
from augcl.paper.sensitivity import sensitivity
from augcl.paper.study import SELECTED, Accuracies, Study
from augcl.paper.table import Table
from augcl.paper.theorem import theorem
from augcl.paper.training_time import TIMED, time_table


@dataclass(frozen=True)
class Part:
    """A table of the paper: its rows, its data sets, and what else the `Study` says."""

    title: str
    table: Table
    rows: tuple[str, ...]
    datasets: tuple[str, ...]
    changes: Mapping[str, Any] = field(default_factory=dict)


PARTS = (
    Part("weighted negatives", GRAPHS, GRAPHS.compared, GRAPH_DATASETS),
    Part(
        "other systems of graphs",
        GRAPHS,
        tuple(GRAPH_RIVALS),
        GRAPH_DATASETS,
    ),
    Part("ablation", ABLATION, tuple(ABLATED)[1:], GRAPH_DATASETS),
    *(
        Part(
            f"nodes, {epochs} epochs, 512 negatives",
            NODES,
            NODE_PAPER,
            (dataset,),
            {"epochs": epochs, "candidates": 512},
        )
        for dataset, epochs in (("Amazon-Photo", 200), ("Amazon-Computers", 100))
    ),
    Part("nodes", NODES, NODE_PAPER, ("Wiki-CS",)),
)
"""What the paper shows, in the settings in which we measure it."""


def coverage_section(folder: Path) -> str:
    """The part of the results page that names what is missing; empty without any result.

    Examples
    --------
    >>> coverage_section(Path("nothing here"))
    ''
    """
    lines = [line for part in PARTS for line in _lines(part, folder)]
    if not any(line[2] != "0" for line in lines):
        return ""
    header = ["table", "data set", "rows measured", "of", "seeds", "missing"]
    text = "Rows of the paper's tables, with floor and ceiling where we add them."
    return "\n\n".join(["## What is not covered", text, markdown_table(header, lines)])


def _lines(part: Part, folder: Path) -> list[list[str]]:
    """A line for each data set."""
    study = Study(folder, part.datasets, part.rows, seeds=None, **part.changes)
    rows = str(len(part.rows))
    return [
        [part.title, dataset, str(len(found)), rows, _seeds(found), _missing(found, part)]
        for dataset, found in study.results(part.table).items()
    ]


def _seeds(found: Mapping[str, Accuracies]) -> str:
    """How many, from the row with the fewest to that with the most."""
    counts = sorted({len(row.folds) for row in found.values()})
    if not counts:
        return "–"
    return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _missing(found: Mapping[str, Accuracies], part: Part) -> str:
    missing = [row for row in part.rows if row not in found]
    if not missing:
        return "–"
    return "all" if len(missing) == len(part.rows) else ", ".join(missing)


SETTINGS = ("GraphCL", "GraphCL-20", "GraphCL-own-loss", "ProGCL-mix")
NODE_ROWS = tuple(
    row
    for name in NODE_PAPER
    for row in (name, *(r for r, (of, _) in NODE_VARIANTS.items() if of == name))
)
VARIANTS = (
    "HSAN-20: 20 of its 400 epochs; -slow: a tenth of the learning rate; -normalised: every node's "
    "features divided by their sum."
)
METHODS = (*TIMED[1:], "AUGCL-full")
OPTIMISERS = {"adam": "Adam", "sgd": "SGD"}
DELTA = "μ and δ are the mean and standard deviation of U, the uncertainties themselves."

INTRODUCTION = """\
# Results

This page is generated: `make results` (that is `python -m augcl.paper.results`) writes it from the
small files under `results/`, one per training. `augcl reproduce … --out results` computes what is
missing: a cell that is there is never computed again.

Numbers are accuracies in percent, mean ± population standard deviation over seeds. Of graphs, one
seed is one training and one stratified 10-fold cross-validation with an RBF-SVM, C chosen inside
the training folds (`tu-svm-10fold`). Of nodes, one seed is one training judged on 20 random splits
of 10 / 10 / 80 % by softmax regression (`linear-10-10-80`), and the deviation is over all splits.
The last epoch is reported; no setting was chosen on test data. All rows of a data set see the same
folds. A number in parentheses counts the seeds of a row that has fewer than the others.
"""


@dataclass(frozen=True)
class Section:
    """A part of the page; left out where nothing was measured."""

    title: str
    text: str
    outcome: Outcome
    verdicts: bool = False
    recipes: tuple[str, ...] = ("default",)
    """Those of AUGCL in this section."""

    def markdown(self) -> str:
        grids = [grid for grid in self.outcome.grids if len(grid.rows) > 1]
        if not grids:
            return ""
        settings = " ".join(settings_of(recipe) for recipe in self.recipes)
        text = f"{self.text} {settings}".strip()
        parts = [f"## {self.title}", text, *(grid.markdown() for grid in grids)]
        parts += [f"![{name}](figures/{name}.svg)" for name in self.outcome.figures]
        if self.verdicts and self.outcome.sentences:
            parts.append("\n".join(f"* {sentence}" for sentence in self.outcome.sentences))
        return "\n\n".join(part for part in parts if part)


def settings_of(recipe: str) -> str:
    """A sentence on the settings of AUGCL that a recipe decides.

    >>> settings_of("default").split(":")[0]
    "AUGCL's settings, recipe default"
    """
    own = AffinityUncertainty.from_recipe(recipe)
    pairs = own.pairs_per_pass
    every = pairs is None or pairs >= 10**9
    inputs = "unit-length" if own.normalize else "raw"
    return (
        f"AUGCL's settings, recipe {recipe}: temper {own.temper:g}, {OPTIMISERS[own.optimizer]} "
        f"{own.lr:g}, loss by the {own.reduction} over candidates, {own.hidden} units, "
        f"{own.warmup} + {own.passes} passes over {'all' if every else f'{pairs:,}'} pairs, "
        f"{inputs} inputs{' and the affinity' if own.affinity_input else ''}, clusters of "
        f"{'affinities' if own.partition_of == 'affinity' else 'embeddings'}, "
        f"reward {own.reward:g}, where the table does not say otherwise."
    )


@dataclass(frozen=True)
class Everything:
    """What the files in a folder say, whatever seeds they have."""

    folder: Path

    def study(self, datasets: tuple[str, ...], rows: tuple[str, ...]) -> Study:
        return Study(self.folder, datasets, rows, seeds=None)

    def rows(
        self,
        name: str,
        table: Table,
        datasets: tuple[str, ...],
        rows: tuple[str, ...] = (),
        *,
        own: tuple[str, ...] = (),
        **changes: Any,
    ) -> Outcome:
        """A comparison on the data sets that have results of `own` rows, by default of any.

        `changes` are those of the `Study`, such as its epochs.
        """
        study = replace(self.study(datasets, rows or table.compared), **changes)
        found = {
            dataset: rows
            for dataset, rows in study.results(table).items()
            if any(row in rows for row in own or rows)
        }
        return comparison(name, found, table)


def sections(folder: Path) -> list[Section]:
    """All tables and figures, in the order of the page."""
    found = Everything(folder)
    graphs, nodes = GRAPH_DATASETS, NODES
    small = ("PROTEINS", "IMDB-BINARY")
    return [
        Section(
            "Graph classification: which negatives count how much",
            "Every row is trained for 40 epochs, with the positive in the denominator.",
            found.rows("graph-classification", GRAPHS, graphs),
            verdicts=True,
        ),
        Section(
            "Graph classification: every system of the paper",
            "Kernels, walks and other contrastive methods, each with its own published settings; "
            "the kernels' spread is of the folds alone.",
            found.rows(
                "paper-graphs",
                GRAPHS,
                graphs,
                GRAPH_PAPER,
                own=tuple(GRAPH_RIVALS),
            ),
        ),
        Section(
            "Base against AUGCL",
            "The paper's table of improvements, with AUGCL's default: over GraphCL on graphs (40 "
            "epochs), over GCA on nodes, with 512 random nodes a step as negatives.",
            improvement(_all_ten(found)),
            verdicts=True,
        ),
        Section(
            "Readings of AUGCL, each against its own base",
            "The paper can be read in more than one way, and its released code is another one. "
            "GraphCL-paper has two augmented views and subgraphs that grow by walks; the released "
            "code has the views of our default.",
            readings(found.study(graphs, reading_rows(GRAPHS)), GRAPHS),
            verdicts=True,
            recipes=("default", "paper", "authors"),
        ),
        *(
            Section(
                f"Readings of AUGCL on nodes: {dataset}",
                "GCA for 200 epochs with 512 random nodes a step as negatives; the uncertainty "
                "model learns from blocks of 256 nodes.",
                readings(
                    replace(
                        found.study((dataset,), reading_rows(nodes)), epochs=200, candidates=512
                    ),
                    nodes,
                ),
                verdicts=True,
                recipes=("default", "paper", "authors"),
            )
            for dataset in ("digits-knn", "Cora", "Amazon-Photo")
        ),
        Section(
            "Settings of GraphCL and of ProGCL",
            "20 epochs, GraphCL's own loss without the positive in the denominator, and ProGCL "
            "with mixed negatives.",
            found.rows("settings", GRAPHS, graphs, SETTINGS, own=SETTINGS[1:]),
            recipes=(),
        ),
        Section(
            "With degree features",
            "The paper gives nodes without labels a constant feature. Here they get the one-hot "
            "degree (capped at 64).",
            found.rows("degree", GRAPHS, graphs, features="degree"),
        ),
        Section(
            "Settings chosen inside the training folds",
            "",
            found.rows(
                "selected",
                GRAPHS,
                ("MUTAG", *small),
                ("GraphCL", "DCL", "HCL", "AUGCL"),
                select=True,
                own=tuple(f"{row}{SELECTED}" for row in ("DCL", "HCL", "AUGCL")),
            ),
        ),
        Section(
            "Ablation",
            "AUGCL with its partition and its uncertainty estimator exchanged.",
            found.rows("ablation", ABLATION, graphs, own=tuple(ABLATED)[1:]),
        ),
        *(
            Section(
                f"Sensitivity to {'the reward o' if table is REWARD else 'α'}, recipe {recipe}",
                DELTA if table is ALPHA else "",
                sensitivity(replace(found.study(small, table.compared), recipe=recipe), table),
                verdicts=table is ALPHA,
                recipes=(recipe,),
            )
            for table in (REWARD, ALPHA)
            for recipe in ("default", "paper")
        ),
        Section(
            "Figure 1: the weights of a toy",
            "Two groups of points in the plane, and the weights that each reading of AUGCL gives.",
            figure_one(found.study((), READINGS)),
            verdicts=True,
            recipes=("default", "paper", "authors"),
        ),
        Section(
            "Theorem 1: the weighted loss as a triplet loss",
            "theorem.md has the derivation. The toy with close groups, its first draw.",
            theorem(found.study((), READINGS)),
            verdicts=True,
        ),
        Section(
            "Convergence",
            "In the paper the curves drop abruptly at epoch 10, where its weights set in; those of "
            "our default set in after half of the epochs.",
            convergence(found.study(small, CURVES), GRAPHS),
            verdicts=True,
        ),
        Section(
            "Where could a weighting of negatives help at all?",
            "Base (GraphCL, GRACE on Cora, GCA on Amazon-Photo), and the oracle, which leaves out "
            "all false negatives, in many settings; methods where they were measured.",
            headroom_map(found.study(headroom.DATASETS, METHODS)),
            verdicts=True,
        ),
        Section(
            "Node classification: Cora",
            "The paper does not show Cora; GCA with GRACE's published settings, every other system "
            f"with its own. {VARIANTS}",
            found.rows("cora-gca", nodes, ("Cora",), NODE_ROWS),
            verdicts=True,
        ),
        Section(
            "Node classification: Cora, GRACE",
            "By GRACE's own protocol (`grace-liblinear`), for which it reports 83.3, one training "
            "reached 83.7 here.",
            found.rows(
                "cora-grace",
                NODES_GRACE,
                ("Cora",),
                (*NODES_GRACE.compared, "AUGCL-full"),
            ),
            verdicts=True,
        ),
        Section(
            "Node classification: Amazon-Photo, 200 epochs of GCA",
            "With 512 random nodes a step as negatives instead of all (an unbiased estimate of "
            "their mass), and ProGCL's settings; published: the whole schedule. Every other system "
            f"with its own settings and epochs. {VARIANTS}",
            found.rows(
                "photo-200", nodes, ("Amazon-Photo",), NODE_ROWS, epochs=200, candidates=512
            ),
            verdicts=True,
        ),
        Section(
            "Node classification: 800 epochs",
            "Likewise.",
            found.rows("photo-800", nodes, ("Amazon-Photo",), epochs=800, candidates=512),
        ),
        Section(
            "Node classification: the whole schedule",
            "Likewise, 2,500 epochs.",
            found.rows("photo-all", nodes, ("Amazon-Photo",), candidates=512),
        ),
        Section(
            "Node classification: Amazon-Computers, 100 epochs",
            "Likewise, of 2,000 epochs.",
            found.rows("computers-100", nodes, ("Amazon-Computers",), epochs=100, candidates=512),
        ),
        Section(
            "Attacks on structure2vec",
            "Graphs of 15 to 20 nodes; the class is the number of components. An attack adds one "
            "edge within a component, so that the class stays.",
            attack_table(replace(found.study((), tuple(VICTIMS)), epochs=LAPTOP["epochs"])),
            verdicts=True,
        ),
        *(
            Section(
                f"Training time, recipe {recipe}",
                "",
                time_table(replace(found.study(small, rows), recipe=recipe), GRAPHS),
                recipes=(recipe,),
            )
            for recipe, rows in (("default", TIMED), ("paper", ("GraphCL", "AUGCL")))
        ),
        Section(
            "Where the default temper was chosen",
            "On `digits`, which is in no table of the paper.",
            found.rows("digits", GRAPHS, ("digits",), ("GraphCL", "AUGCL", "AUGCL-full")),
        ),
    ]


def _all_ten(found: Everything) -> list[Study]:
    """The paper's data sets, of nodes with the epochs that were measured."""
    nodes = [("Amazon-Photo", 200), ("Amazon-Photo", None), ("Amazon-Computers", 100)]
    return [
        found.study(GRAPH_DATASETS, ("AUGCL",)),
        *(
            replace(found.study((dataset,), ("AUGCL",)), epochs=epochs, candidates=512)
            for dataset, epochs in (*nodes, ("Wiki-CS", 200))
        ),
    ]


def render(folder: Path) -> tuple[str, list[Section]]:
    """The page for the result files in `folder` and the findings written beside them."""
    findings = folder / "FINDINGS.md"
    text = findings.read_text(encoding="utf-8") if findings.exists() else ""
    every = sections(folder)
    parts = [INTRODUCTION, text, *(section.markdown() for section in every), life_section(folder)]
    parts.append(coverage_section(folder))
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n", every


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--out", type=Path, default=Path("docs/RESULTS.md"))
    options = parser.parse_args()
    if not any(options.results.glob("*.jsonl")) and not any(loose_files(options.results)):
        sys.exit(f"no result files in {options.results}: see augcl reproduce --help")
    text, every = render(options.results)
    write_text(options.out, text)
    for section in (section for section in every if section.markdown()):
        for name, figure in section.outcome.figures.items():
            save(figure, options.out.parent / "figures" / name, ["svg"])


if __name__ == "__main__":
    main()
