"""Generate the results pages: ``python -m augcl.paper.results``, or ``make results``.

results/FINDINGS.md is written by hand: its lead opens docs/RESULTS.md, which has one summary table
per question, and each of its chapters becomes a page. docs/results/*.md have the long tables. Each
question is one function below, which returns its `Page`: the summary and the sections of the long
page.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from augcl.evaluation.statistics import p_text
from augcl.files import write_text
from augcl.hardness import AffinityUncertainty
from augcl.methods.presets import get_preset
from augcl.paper import hardness, headroom, other_data, propagation
from augcl.paper.attacks import LAPTOP, VICTIMS, attack_table
from augcl.paper.collapse import fits_of, state_tables, vital_signs
from augcl.paper.comparison import MAJORITY, comparison
from augcl.paper.convergence import ROWS as CURVES
from augcl.paper.convergence import convergence
from augcl.paper.coverage import coverage
from augcl.paper.figure_one import ROWS as TOY_ROWS
from augcl.paper.figure_one import figure_one
from augcl.paper.figures import save
from augcl.paper.grid import Grid, Outcome
from augcl.paper.hardness import hardness_study
from augcl.paper.headroom import headroom_map
from augcl.paper.improvement import improvement
from augcl.paper.readings import READINGS, reading_rows, readings
from augcl.paper.records import loose_files
from augcl.paper.rows import (
    ABLATED,
    ABLATION,
    ALPHA,
    GRAPH_DATASETS,
    GRAPH_FREE,
    GRAPH_LATER,
    GRAPH_PAPER,
    GRAPH_RIVALS,
    GRAPH_SIMILAR,
    GRAPHS,
    NODE_FREE,
    NODE_LATER,
    NODE_PAPER,
    NODE_VARIANTS,
    NODES,
    NODES_GRACE,
    REWARD,
)
from augcl.paper.sensitivity import sensitivity
from augcl.paper.study import SELECTED, Study
from augcl.paper.table import Table, unpublished
from augcl.paper.theorem import theorem
from augcl.paper.training_time import TIMED, time_table
from augcl.runs.run import SECOND_PROTOCOL

SMALL = ("PROTEINS", "IMDB-BINARY")
SETTINGS = ("GraphCL", "GraphCL-20", "GraphCL-own-loss", "ProGCL-mix")
NODE_ROWS = (
    *(
        row
        for name in NODE_PAPER
        for row in (name, *(r for r, (of, _) in NODE_VARIANTS.items() if of == name))
    ),
    *NODE_LATER,
)
VARIANTS = (
    "HSAN-20: 20 of its 400 epochs; -slow: a tenth of the learning rate; -normalised: every node's "
    "features divided by their sum. CCA-SSG, BGRL (BGRL-500: 500 of its 10,000 epochs) and "
    "GraphMAE are not in the paper; GCA-half-hop is GCA-default with slow nodes (Half-Hop) on half "
    "of the nodes of each view."
)
METHODS = (*TIMED[1:], "AUGCL-full")
OPTIMISERS = {"adam": "Adam", "sgd": "SGD"}
DELTA = "μ and δ are the mean and standard deviation of U, the uncertainties themselves."

HOW = """\
## How it was measured

Numbers are accuracies in percent, mean ± population standard deviation over seeds. On graphs, one
seed is one training and one stratified 10-fold cross-validation with an RBF-SVM, C chosen inside
the training folds (`tu-svm-10fold`). On nodes, one seed is one training evaluated on 20 random
splits of 10 / 10 / 80 % by softmax regression (`linear-10-10-80`), and the deviation is over all
splits; some tables show the same trainings and splits by a logistic regression of rows of length 1
whose C is chosen on the validation part (`logistic-10-10-80`). The last epoch is reported; no
setting was chosen on test data. All rows of a data set see the same folds. A number in parentheses
counts the seeds of a row that has fewer than the others.

`make results` writes this page and those in `docs/results/` from the records in `results/`, one
JSON-lines file per data set. `augcl reproduce … --out results` computes the missing cells (never
those that exist), and `python -m augcl.paper.records results` merges the new cells.
`python -m augcl.paper.other_data --data DIR` computes those of the other data, whose scores and
protocols are named beside them."""


@dataclass(frozen=True)
class Section:
    """A section of a long page; left out if nothing was measured."""

    title: str
    text: str
    outcome: Outcome
    verdicts: bool = False
    recipes: tuple[str, ...] = ("default",)
    """Recipes of AUGCL in this section."""

    @property
    def grids(self) -> list[Grid]:
        """Return the tables with at least two rows to compare."""
        return [grid for grid in self.outcome.grids if len(grid.rows) > 1]

    def markdown(self) -> str:
        if not self.grids:
            return ""
        settings = " ".join(settings_of(recipe) for recipe in self.recipes)
        text = f"{self.text} {settings}".strip()
        parts = [f"## {self.title}", text, *(grid.markdown() for grid in self.grids)]
        parts += [f"![{name}](../figures/{name}.svg)" for name in self.outcome.figures]
        if self.verdicts and self.outcome.sentences:
            parts.append("\n".join(f"* {sentence}" for sentence in self.outcome.sentences))
        return "\n\n".join(part for part in parts if part)


def settings_of(recipe: str) -> str:
    """Return a sentence on the settings of AUGCL that a recipe decides.

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
        f"reward {own.reward:g}, unless the table says otherwise."
    )


@dataclass(frozen=True)
class Page:
    """A question, its summary table, and the sections of its long page results/NAME.md."""

    name: str
    question: str
    summary: Grid | None
    sections: list[Section]
    answer: str = ""
    """What the tables show, at the top of the long page."""

    def long(self) -> str:
        """Return the long page; empty if nothing was measured."""
        parts = [text for section in self.sections if (text := section.markdown())]
        back = "[All results](../RESULTS.md). This page is generated by `make results`."
        top = [f"# {self.question}", back, *([self.answer] if self.answer else [])]
        return "\n\n".join([*top, *parts]) + "\n" if parts else ""

    def short(self) -> str:
        """Return the part for RESULTS.md."""
        if self.summary is None or not self.summary.rows or not self.long():
            return ""
        link = f"All tables: [results/{self.name}.md](results/{self.name}.md)."
        return "\n\n".join([f"### {self.question}", self.summary.table(), link])


@dataclass(frozen=True)
class Everything:
    """All records in a folder, with all their seeds."""

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
        """Return a comparison on the data sets with results of the `own` rows (default: any row).

        `changes` replaces settings of the `Study`, such as its epochs.
        """
        study = replace(self.study(datasets, rows or table.compared), **changes)
        found = {
            dataset: rows
            for dataset, rows in study.results(table).items()
            if any(row in rows for row in own or rows)
        }
        return comparison(name, found, table)


def pages(folder: Path) -> list[Page]:
    """Return all questions, in the order of RESULTS.md."""
    found = Everything(folder)
    return [
        _defaults(found),
        _graphs(found),
        _improvement(found),
        _readings(found),
        _hardness(found),
        _headroom(found),
        _nodes(found),
        _parts(found),
        _sensitivity(found),
        _weights(found),
        _uncertainty(found),
        _attacks(found),
        _time(found),
        _systems(found),
        _propagation(found),
        _other_data(found),
        _coverage(found),
    ]


def _defaults(found: Everything) -> Page:
    free = (
        "training-free: nothing is trained (WLFeatures for graphs, Propagation for nodes). "
        "default: what `augcl train` does, a trained GraphCL or GCA beside that; the same settings "
        "on all data sets."
    )
    amazon = ("Amazon-Photo", "Amazon-Computers")
    rows = ("untrained", *NODE_FREE, "GCA", "AUGCL", "oracle")
    sections = [
        Section(
            "The default on graphs",
            f"{free} It uses the bonds of MUTAG, the other rows do not. WL: the kernel.",
            found.rows(
                "default-graphs",
                GRAPHS,
                GRAPH_DATASETS,
                ("untrained", *GRAPH_FREE, "WL", "GraphCL", "AUGCL", "oracle"),
                own=tuple(GRAPH_FREE),
            ),
        ),
        Section(
            "The default on nodes: Cora",
            f"{free} GCA-default: the trained part alone. GCA has its published settings.",
            found.rows("default-cora", NODES, ("Cora",), rows),
        ),
        Section(
            "The default on nodes: Amazon",
            "As above; GCA and AUGCL over their whole schedules of 2,500 epochs, where they were "
            "measured, with 512 random nodes per step as negatives.",
            found.rows("default-amazon", NODES, amazon, rows, candidates=512),
        ),
    ]
    return Page("defaults", "How good is the default?", _means(sections), sections)


def _means(sections: Iterable[Section]) -> Grid:
    """Return the mean accuracy of the floors, our defaults and the published bases."""
    every = [section.outcome.data for section in sections if section.grids]
    found = {dataset: rows for part in every for dataset, rows in part["datasets"].items()}
    floors = {dataset: share for part in every for dataset, share in part["majority"].items()}
    wanted = ("untrained", "training-free", "default", "GraphCL", "GCA-default", "GCA")
    lines = [
        (row, *(_accuracy(rows.get(row)) for rows in found.values()))
        for row in wanted
        if any(row in rows for rows in found.values())
    ]
    lines.insert(0, (MAJORITY, *(_percent(floors[dataset]) for dataset in found)))
    gains = (rows.get("default", {}).get("against_free") for rows in found.values())
    lines.append(("default − training-free", *map(_gain, gains)))
    note = (
        "Accuracy in percent; the last row in points, in parentheses the p value of this single "
        "test (none for a single training of nodes)."
    )
    return Grid("The default", ("", *found), tuple(lines), (note,))


def _gain(tested: dict[str, Any] | None) -> str:
    """
    >>> _gain({"mean": 0.0106, "p": 0.0004}), _gain(None)
    ('+1.06 (< 0.001)', '')
    """
    if tested is None:
        return ""
    return f"{100 * tested['mean']:+.2f} ({p_text(tested['p']).removeprefix('= ')})"


def _graphs(found: Everything) -> Page:
    sections = [
        Section(
            "Graph classification: which negatives count how much",
            "Every row is trained for 40 epochs, with the positive in the denominator.",
            found.rows("graph-classification", GRAPHS, GRAPH_DATASETS),
            verdicts=True,
        ),
        Section(
            "Settings of GraphCL and of ProGCL",
            "20 epochs, GraphCL's own loss without the positive in the denominator, and ProGCL "
            "with mixed negatives.",
            found.rows("settings", GRAPHS, GRAPH_DATASETS, SETTINGS, own=SETTINGS[1:]),
            recipes=(),
        ),
        Section(
            "With degree features",
            "The paper gives nodes without labels a constant feature. Here they get the one-hot "
            "degree (capped at 64).",
            found.rows("degree", GRAPHS, GRAPH_DATASETS, features="degree"),
        ),
        Section(
            "Settings chosen inside the training folds",
            "",
            found.rows(
                "selected",
                GRAPHS,
                ("MUTAG", *SMALL),
                ("GraphCL", "DCL", "HCL", "AUGCL"),
                select=True,
                own=tuple(f"{row}{SELECTED}" for row in ("DCL", "HCL", "AUGCL")),
            ),
        ),
        Section(
            "Where the default temper was chosen",
            "On `digits`, which is in no table of the paper.",
            found.rows("digits", GRAPHS, ("digits",), ("GraphCL", "AUGCL", "AUGCL-full")),
        ),
    ]
    return Page(
        "graphs",
        "Does a weighting of negatives beat plain GraphCL?",
        _overview(sections[0]),
        sections,
    )


def _improvement(found: Everything) -> Page:
    sections = [
        Section(
            "Base against AUGCL",
            "The paper's table of improvements, with AUGCL's default: over GraphCL on graphs (40 "
            "epochs), over GCA on nodes, with 512 random nodes per step as negatives.",
            improvement(_all_ten(found)),
            verdicts=True,
        ),
    ]
    return Page(
        "improvement",
        "What does AUGCL gain over its base, and what does the paper report?",
        sections[0].outcome.grids[0],
        sections,
    )


def _all_ten(found: Everything) -> list[Study]:
    """Return studies of the paper's data sets; for nodes with the epochs that were measured."""
    nodes = [("Amazon-Photo", 200), ("Amazon-Photo", None), ("Amazon-Computers", 100)]
    return [
        found.study(GRAPH_DATASETS, ("AUGCL",)),
        *(
            replace(found.study((dataset,), ("AUGCL",)), epochs=epochs, candidates=512)
            for dataset, epochs in (*nodes, ("Wiki-CS", 200))
        ),
    ]


def _readings(found: Everything) -> Page:
    sections = [
        Section(
            "Readings of AUGCL, each against its own base",
            "The paper can be read in more than one way, and its released code is another one. "
            "GraphCL-paper has two augmented views and subgraphs that grow by walks; the released "
            "code has the views of our default.",
            readings(found.study(GRAPH_DATASETS, reading_rows(GRAPHS)), GRAPHS),
            verdicts=True,
            recipes=("default", "paper", "authors"),
        ),
        *(
            Section(
                f"Readings of AUGCL on nodes: {dataset}",
                "GCA for 200 epochs with 512 random nodes per step as negatives; the uncertainty "
                "model learns from blocks of 256 nodes.",
                readings(
                    replace(
                        found.study((dataset,), reading_rows(NODES)), epochs=200, candidates=512
                    ),
                    NODES,
                ),
                verdicts=True,
                recipes=("default", "paper", "authors"),
            )
            for dataset in ("digits-knn", "Cora", "Amazon-Photo")
        ),
    ]
    return Page(
        "readings", "Does AUGCL help in any reading of the paper?", _differences(sections), sections
    )


def _differences(sections: Iterable[Section]) -> Grid:
    """Return AUGCL − base in points by reading and data set."""
    data = {name: found for s in sections for name, found in s.outcome.data.items()}
    data = {name: found for name, found in data.items() if found}
    names = {
        row: label for row, (label, _) in READINGS.items() if any(row in d for d in data.values())
    }
    lines = [
        (label, *(_signed(found.get(row, {})) for found in data.values()))
        for row, label in names.items()
    ]
    note = (
        "AUGCL − its own base in points, in parentheses the p value of this single test. Empty: "
        "not measured, or measured in one training, which cannot be tested for noise."
    )
    return Grid("Readings", ("reading", *data), tuple(lines), (note,))


def _signed(facts: dict[str, Any]) -> str:
    """
    >>> _signed({"difference": 0.014, "p": 0.25}), _signed({})
    ('+1.40 (0.250)', '')
    """
    if facts.get("difference") is None:
        return ""
    return _gain({"mean": facts["difference"], "p": facts["p"]})


def _hardness(found: Everything) -> Page:
    study = found.study(hardness.DATASETS, hardness.TABLE.compared)
    base = {**get_preset("default"), **hardness.BASE}
    names = ("norm", "activation", "candidates", "tau", "lr")
    options = ", ".join(f"{name} {base[name]}" for name in names)
    sections = [
        Section(
            "Every hardness on the strong base",
            f"GCA with our default for any graph: {options}, {hardness.EPOCHS or base['epochs']} "
            "epochs; a hardness that learns or ranks embeddings starts after half of them. "
            "AUGCL-published has the weights of recipe paper. "
            "AUGCL-propagated: the affinity is the cosine of embeddings smoothed over the edges, "
            f"refitted every {hardness.REFRESH} epochs; -cap: no weight above 1. Nearest: the "
            "nearest candidates are left out, by the same affinity or by propagated features. A "
            "partial oracle knows the false negatives among those, or errs at random.",
            hardness_study(study),
            verdicts=True,
        ),
        Section(
            "Similar graphs as negatives",
            "On sets of graphs, GraphCL for 40 epochs. -neighbors: a batch is 16 groups of 8 "
            "graphs with similar counts of Weisfeiler–Lehman labels; such negatives are harder to "
            "tell apart, and more of them are false. -features: AUGCL's affinity is the cosine of "
            "these counts; -cap: no weight above 1. Nearest 10 %: the candidates with the most "
            "similar counts are left out.",
            found.rows(
                "similar-graphs",
                GRAPHS,
                GRAPH_DATASETS,
                ("GraphCL", "AUGCL", *GRAPH_SIMILAR, "oracle"),
                own=tuple(GRAPH_SIMILAR),
            ),
            verdicts=True,
        ),
    ]
    tables = {grid.title: grid for grid in sections[0].outcome.grids}
    summary = tables.get(hardness.GAIN)
    return Page("hardness", "Does hardness help on a strong base?", summary, sections)


def _headroom(found: Everything) -> Page:
    sections = [
        Section(
            "Where could a weighting of negatives help at all?",
            "Base (GraphCL, GRACE on Cora, GCA on Amazon-Photo), and the oracle, which leaves out "
            "all false negatives, in many settings; methods where they were measured.",
            headroom_map(found.study(headroom.DATASETS, METHODS)),
            verdicts=True,
        ),
    ]
    return Page(
        "headroom",
        "Where could a weighting of negatives help at all?",
        _largest_headroom(sections[0].outcome),
        sections,
    )


def _largest_headroom(outcome: Outcome) -> Grid:
    """Count the settings of each data set where the oracle gains a point; find the best method."""
    lines = []
    for dataset, settings in outcome.data["datasets"].items():
        gains = {name: found["oracle"] for name, found in settings.items() if found["oracle"]}
        if not gains:
            continue
        tested = [gain for gain in gains.values() if "low" in gain]
        sure = [gain for gain in tested if gain["low"] > 0 and gain["mean"] >= headroom.WORTHWHILE]
        best = max(gains, key=lambda name: gains[name]["mean"])
        methods = {
            row: gain["mean"]
            for row, gain in settings[best].items()
            if row not in (headroom.BASE, "oracle") and gain
        }
        first = max(methods, key=lambda row: methods[row], default=None)
        lines.append(
            (
                dataset,
                str(len(settings)),
                str(len(sure)) if tested else "not tested",
                f"{100 * gains[best]['mean']:+.2f} ({best})",
                "" if first is None else f"{100 * methods[first]:+.2f} ({first})",
            )
        )
    header = ("", "settings", "with headroom beyond noise", "largest headroom", "best method there")
    note = (
        "Headroom: what the oracle, which leaves out all false negatives, gains over the base, in "
        "points; beyond noise: at least a point, and the 95 % interval is above 0."
    )
    return Grid("Headroom", header, tuple(lines), (note,))


def _nodes(found: Everything) -> Page:
    judged_again = replace(NODES, published=unpublished)
    sections = [
        Section(
            "Node classification: Cora",
            "The paper does not show Cora; GCA with GRACE's published settings, every other system "
            f"with its own. {VARIANTS}",
            found.rows("cora-gca", NODES, ("Cora",), NODE_ROWS),
            verdicts=True,
        ),
        Section(
            "Node classification: Cora, by logistic regression",
            f"The same trainings and splits by `{SECOND_PROTOCOL}`: rows of length 1, and a "
            "multinomial logistic regression whose C is chosen on the validation part. Rows are "
            "missing where the training was not judged by it.",
            found.rows(
                "cora-logistic", judged_again, ("Cora",), NODE_ROWS, protocol=SECOND_PROTOCOL
            ),
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
            "With 512 random nodes per step as negatives instead of all (an unbiased estimate of "
            "their mass), and ProGCL's settings; published: the whole schedule. Every other system "
            f"with its own settings and epochs. {VARIANTS}",
            found.rows(
                "photo-200", NODES, ("Amazon-Photo",), NODE_ROWS, epochs=200, candidates=512
            ),
            verdicts=True,
        ),
        Section(
            "Node classification: Amazon-Photo, by logistic regression",
            f"The same trainings and splits by `{SECOND_PROTOCOL}`, where they were judged by it.",
            found.rows(
                "photo-logistic",
                judged_again,
                ("Amazon-Photo",),
                NODE_ROWS,
                epochs=200,
                candidates=512,
                protocol=SECOND_PROTOCOL,
            ),
        ),
        Section(
            "Node classification: 800 epochs",
            "As above, with 512 random nodes per step as negatives; 800 of 2,500 epochs.",
            found.rows("photo-800", NODES, ("Amazon-Photo",), epochs=800, candidates=512),
        ),
        Section(
            "Node classification: the whole schedule",
            "As above, with 512 random nodes per step as negatives; 2,500 epochs.",
            found.rows("photo-all", NODES, ("Amazon-Photo",), candidates=512),
        ),
        Section(
            "Node classification: Amazon-Computers, 100 epochs",
            "As above, with 512 random nodes per step as negatives; 100 of 2,000 epochs.",
            found.rows(
                "computers-100",
                NODES,
                ("Amazon-Computers",),
                NODE_ROWS,
                epochs=100,
                candidates=512,
            ),
        ),
    ]
    return Page("nodes", "Which method embeds nodes best?", _side_by_side(sections), sections)


def _side_by_side(sections: Iterable[Section]) -> Grid:
    """Return the accuracy of every row in every section of nodes."""
    measured = {
        section.title.removeprefix("Node classification: "): rows
        for section in sections
        if section.grids
        for rows in section.outcome.data["datasets"].values()
    }
    rows = dict.fromkeys(
        row for row in (*NODE_ROWS, "GRACE", *METHODS) if any(row in m for m in measured.values())
    )
    floors = [
        share
        for section in sections
        if section.grids
        for share in section.outcome.data["majority"].values()
    ]
    lines = [(MAJORITY, *map(_percent, floors))]
    lines += [(row, *(_accuracy(m.get(row)) for m in measured.values())) for row in rows]
    return Grid("Nodes", ("", *measured), tuple(lines), ("Accuracy in percent.",))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2f}"


def _accuracy(found: dict[str, Any] | None) -> str:
    """
    >>> _accuracy({"mean": 0.832, "std": 0.011}), _accuracy(None)
    ('83.20 ± 1.10', '')
    """
    if found is None:
        return ""
    spread = "" if found["std"] is None else f" ± {100 * found['std']:.2f}"
    return f"{100 * found['mean']:.2f}{spread}"


def _parts(found: Everything) -> Page:
    sections = [
        Section(
            "Ablation",
            "AUGCL with its partition and its uncertainty estimator exchanged.",
            found.rows("ablation", ABLATION, GRAPH_DATASETS, own=tuple(ABLATED)[1:]),
        ),
    ]
    return Page("ablation", "Which parts of AUGCL matter?", _overview(sections[0]), sections)


def _sensitivity(found: Everything) -> Page:
    sections = [
        *(
            Section(
                f"Sensitivity to {'the reward o' if table is REWARD else 'α'}, recipe {recipe}",
                DELTA if table is ALPHA else "",
                sensitivity(replace(found.study(SMALL, table.compared), recipe=recipe), table),
                verdicts=table is ALPHA,
                recipes=(recipe,),
            )
            for table in (REWARD, ALPHA)
            for recipe in ("default", "paper")
        ),
    ]
    return Page("sensitivity", "Do the reward and α matter?", _ranges(sections), sections)


def _ranges(sections: Iterable[Section]) -> Grid:
    """Return the worst and the best value of each grid."""
    lines = []
    for section in sections:
        data = section.outcome.data
        for dataset, rows in data["datasets"].items():
            values = {row: rows[row]["mean"] for row in data["competing"][dataset]}
            worst, best = min(values, key=lambda v: values[v]), max(values, key=lambda v: values[v])
            ends = (f"{100 * values[end]:.2f} (at {end})" for end in (worst, best))
            base = rows.get(data["base"])
            name = section.title.removeprefix("Sensitivity to ")
            lines.append((f"{name}: {dataset}", *ends, _accuracy(base)))
    header = ("", "lowest accuracy", "highest accuracy", "GraphCL")
    note = "Mean accuracy in percent over the paper's grid."
    return Grid("Sensitivity", header, tuple(lines), (note,))


def _weights(found: Everything) -> Page:
    sections = [
        Section(
            "Figure 1: the weights of a toy",
            "Two groups of points in the plane, and the weights that each reading of AUGCL gives.",
            figure_one(found.study((), TOY_ROWS)),
            verdicts=True,
            recipes=("default", "paper", "authors"),
        ),
        Section(
            "Theorem 1: the weighted loss as a triplet loss",
            "theorem.md has the derivation. The toy with close groups, its first draw.",
            theorem(found.study((), TOY_ROWS)),
            verdicts=True,
        ),
        Section(
            "Convergence",
            "In the paper the curves drop abruptly at epoch 10, when its weights begin; those of "
            "our default begin after half of the epochs.",
            convergence(found.study(SMALL, CURVES), GRAPHS),
            verdicts=True,
        ),
    ]
    return Page(
        "weights",
        "What do the weights do to negatives, gradient and loss?",
        _overview(sections[0]),
        sections,
    )


def _uncertainty(found: Everything) -> Page:
    signs = Outcome("vital-signs", [vital_signs(found.folder)], {})
    states = Outcome("states", state_tables(found.folder), {})
    sections = [
        Section(
            "Is the uncertainty model alive?",
            "After 20 epochs of GraphCL, one fit per reward with the default settings. "
            "*Agreement*: share of pairs whose group the model predicts correctly; in parentheses "
            "the share of the larger group. *w*: mean weight of candidates with another label "
            "(true negatives) and with the anchor's label (false negatives); according to the "
            "paper's Figure 1, the former is larger.",
            signs,
            recipes=(),
        ),
        Section(
            "When does the uncertainty model learn?",
            "Plain GraphCL for 20 epochs with several seeds; after each training one fit for every "
            "combination of settings, with 128 units, ten passes over all pairs, learning rate "
            "0.01, no warm-up and no restart, as published. *Batch norm*: the encoder uses the "
            "statistics of each batch, or its running averages, while the pairs of the fit are "
            "embedded.",
            states,
            recipes=(),
        ),
    ]
    lines = []
    for dataset in GRAPH_DATASETS:
        fits = fits_of(found.folder, dataset)
        if fits:
            gaps = [f["weight_true_negatives"] - f["weight_false_negatives"] for f in fits]
            agreement = [100 * fit["agreement"] for fit in fits]
            lines.append(
                (
                    dataset,
                    f"{sum(fit['state'] == 'alive' for fit in fits)} of {len(fits)}",
                    f"{min(agreement):.1f} to {max(agreement):.1f} %",
                    f"{100 * fits[0]['majority']:.1f} %",
                    f"{min(gaps):+.3f} to {max(gaps):+.3f}",
                )
            )
    header = ("", "fits alive", "agreement", "majority", "w, true − w, false")
    note = "One fit for each reward of the paper's grid, with the default settings."
    summary = Grid("Alive", header, tuple(lines), (note,))
    question = "Is the uncertainty model alive, and do its weights know the classes?"
    return Page("uncertainty", question, summary, sections)


def _attacks(found: Everything) -> Page:
    sections = [
        Section(
            "Attacks on structure2vec",
            "Graphs of 15 to 20 nodes; the class is the number of components. An attack adds one "
            "edge within a component, so that the class stays.",
            attack_table(replace(found.study((), tuple(VICTIMS)), epochs=LAPTOP["epochs"])),
            verdicts=True,
        ),
    ]
    return Page(
        "attacks",
        "Does hardness-aware pre-training resist attacks?",
        _attack_counts(sections[0].outcome),
        sections,
    )


def _attack_counts(outcome: Outcome) -> Grid:
    """Count the comparisons in which a pre-training is better or worse beyond noise."""
    lines = [
        (name, str(found["pairs"]), str(len(found["better"])), str(len(found["worse"])))
        for name, found in outcome.data["comparisons"].items()
    ]
    header = ("pre-training", "comparisons", "better beyond noise", "worse beyond noise")
    note = (
        "Victims of three depths, clean and under three attacks. Beyond noise: the intervals do "
        "not overlap."
    )
    return Grid("Attacks", header, tuple(lines), (note,))


def _time(found: Everything) -> Page:
    sections = [
        *(
            Section(
                f"Training time, recipe {recipe}",
                "",
                time_table(replace(found.study(SMALL, rows), recipe=recipe), GRAPHS),
                recipes=(recipe,),
            )
            for recipe, rows in (("default", TIMED), ("paper", ("GraphCL", "AUGCL")))
        ),
    ]
    return Page("time", "What does it cost to train?", _overview(sections[0]), sections)


def _systems(found: Everything) -> Page:
    sections = [
        Section(
            "Graph classification: every system of the paper",
            "Kernels, walks and other contrastive methods, each with its own published settings; "
            "the spread of the kernels comes from the folds alone. sub2vec-published has walks of "
            "the published length, sub2vec shorter ones. GraphMAE is not in the paper.",
            found.rows(
                "paper-graphs",
                GRAPHS,
                GRAPH_DATASETS,
                (*GRAPH_PAPER, "sub2vec-published", *GRAPH_LATER),
                own=(*GRAPH_RIVALS, "sub2vec-published"),
            ),
        ),
    ]
    return Page(
        "systems",
        "How do all systems of the paper compare on graphs?",
        _overview(sections[0]),
        sections,
    )


def _propagation(found: Everything) -> Page:
    grid = propagation.table(found.folder)
    section = Section(
        "Features, hops, columns and classifier",
        "Nothing is trained. Every row changes the default of `augcl.Propagation` in what it says; "
        "`python -m augcl.paper.propagation --data DIR` computes the records.",
        Outcome("propagation", [replace(grid, title="Scores")], {}),
        recipes=(),
    )
    question = "What do propagated features reach without training, and why?"
    return Page("propagation", question, grid, [section])


def _other_data(found: Everything) -> Page:
    tables = other_data.tables(found.folder)
    how = {
        "molecules": "Ridge regression and logistic regression by ten folds, random or by "
        "Bemis–Murcko scaffold; Tox21 is the mean over twelve targets. GraphCL has its "
        "default settings, which use the bonds. Morgan: square roots of counts, radius 2, 2,048 "
        "columns. Beside: both embeddings side by side, each scaled to rows of mean length 1; "
        "GraphCL beside Morgan is the default of `augcl train` for molecules. Other scalings were "
        "tried on ESOL only.",
        "nodes": "Logistic regression on the public splits, penalty chosen on the validation part. "
        f"GCA ({other_data.NODE_EPOCHS} epochs) and the untrained encoder have the published "
        'settings for graphs in general (`preset="published"`), but '
        f"{other_data.NODE_EPOCHS} epochs instead of 200 and 512 random nodes per step as "
        "negatives. GCA beside Propagation is the default of `augcl train`.",
        "bonds": "The bond labels of MUTAG as edge features of GIN and as edge labels of the WL "
        "kernel; all else is equal (`tu-svm-10fold`).",
        "labels": "BlogCatalog, 39 groups (`deepwalk-multilabel`, one run per seed). DeepWalk: 80 "
        "walks of 40 nodes from each node; node2vec: 10 walks of 80 nodes, p = q = 0.25; as "
        "published.",
    }
    sections = [
        Section(
            grid.title,
            how[kind],
            Outcome(f"other-{kind}", [replace(grid, title="Scores")], {}),
            recipes=(),
        )
        for kind, grid in tables.items()
    ]
    lines = tuple(
        line
        for kind, columns in other_data.SHORT.items()
        for line in _columns(tables[kind], ("", "score", *columns))
    )
    header = ("", "score", "floor", "training-free", "untrained", "default")
    note = (
        "Training-free: Morgan fingerprints, Propagation or the WL kernel. Default: what `augcl "
        "train` does, GraphCL beside Morgan or GCA beside Propagation; for bonds GraphCL alone."
    )
    summary = Grid("Other data", header, lines, (note,))
    question = "How do the defaults do on other data?"
    return Page("other_data", question, summary, sections, other_data.findings(found.folder))


def _columns(grid: Grid, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return some columns of the lines of a table."""
    places = [grid.header.index(name) for name in names]
    return [tuple(row[place] for place in places) for row in grid.rows]


def _coverage(found: Everything) -> Page:
    whole = coverage(found.folder)
    text = "Rows of the paper's tables, with floor and ceiling where we add them."
    sections = [Section("Rows measured", text, Outcome("coverage", [whole], {}), recipes=())]
    short = Grid(whole.title, whole.header[:-1], tuple(line[:-1] for line in whole.rows), (text,))
    return Page("coverage", "What is not covered?", short, sections)


def _overview(section: Section) -> Grid | None:
    """Return the last table of a section, which covers all its data sets; None if it has none."""
    return section.grids[-1] if section.grids else None


def render(folder: Path) -> dict[str, str]:
    """Return all pages for the records and findings in `folder`, by their path in docs."""
    return texts(folder, pages(folder))


def texts(folder: Path, every: Iterable[Page]) -> dict[str, str]:
    """Return the pages of the given questions, by their path in docs."""
    file = folder / "FINDINGS.md"
    findings = file.read_text(encoding="utf-8") if file.exists() else ""
    before, *after = findings.split("\n## ")
    tables = [text for page in every if (text := page.short())]
    titled = dict(part.split("\n", 1) for part in after)
    explained = {f"results/{_finding_name(title)}.md": title for title in titled}
    listed = "\n".join(f"* [{title}]({file})" for file, title in explained.items())
    parts = [
        "# Results",
        before,
        *(["## What the numbers say", listed] if listed else []),
        *(["## The tables in short", *tables] if tables else []),
        HOW,
    ]
    short = "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"
    prose = {
        file: f"# {title}\n\n[All results](../RESULTS.md).\n\n{_from_below(titled[title])}\n"
        for file, title in explained.items()
    }
    long = {f"results/{page.name}.md": text for page in every if (text := page.long())}
    return {"RESULTS.md": short, **prose, **long}


def _finding_name(title: str) -> str:
    return "findings-" + re.sub(r"\W+", "-", title.lower()).strip("-")


def _from_below(text: str) -> str:
    """Turn the links of a page in docs into those of a page in docs/results.

    >>> _from_below("[a](results/a.md) and [b](b.md#c)")
    '[a](a.md) and [b](../b.md#c)'
    """
    return re.sub(r"\]\((?!\w+:|#)", "](../", text.strip()).replace("](../results/", "](")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--docs", type=Path, default=Path("docs"))
    options = parser.parse_args()
    if not any(options.results.glob("*.jsonl")) and not any(loose_files(options.results)):
        sys.exit(f"no records in {options.results}: see augcl reproduce --help")
    every = pages(options.results)
    written = texts(options.results, every)
    for old in (options.docs / "results").glob("*.md"):
        if f"results/{old.name}" not in written:
            old.unlink()
    for name, text in written.items():
        write_text(options.docs / name, text)
    for name, figure in figures(every).items():
        save(figure, options.docs / "figures" / name, ["svg"])


def figures(every: Iterable[Page]) -> dict[str, Figure]:
    """Return the figures of the long pages, by name."""
    shown = (section for page in every for section in page.sections if section.grids)
    return {name: figure for s in shown for name, figure in s.outcome.figures.items()}


if __name__ == "__main__":
    main()
