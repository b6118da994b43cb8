"""Settings by name, in TOML files beside this one: our default, and published ones by data set."""

from __future__ import annotations

from typing import Any

from augcl.errors import one_of
from augcl.files import packaged_toml

GRACE = "node_presets.toml"
HSAN = "hsan_presets.toml"
BGRL = "bgrl_presets.toml"
CCA_SSG = "cca_ssg_presets.toml"
GRAPHMAE = "graphmae_presets.toml"
GRAPHMAE_GRAPHS = "graphmae_graphs_presets.toml"
PUBLISHED = "published"
"""The preset of a data set without published settings of its own, in a file that has it."""


def presets(file: str = GRACE) -> dict[str, dict[str, Any]]:
    """All presets of a file by name."""
    return packaged_toml("augcl.methods", file)


def get_preset(name: str, file: str = GRACE) -> dict[str, Any]:
    """The settings of one preset; what it leaves open is as in `published`.

    >>> get_preset("Cora")["tau"], get_preset("CiteSeer", HSAN)["beta"]
    (0.4, 2.0)
    """
    found = {**presets(file)[_usual(file)], **_written(name, file)}
    return {key: value for key, value in found.items() if key != "collapses"}


def collapses(name: str, file: str = GRACE) -> bool:
    """Whether nothing is learned with the preset's own learning rate."""
    return "collapses" in _written(name, file)


def preset_for(dataset: str, file: str = GRACE) -> str:
    """The published preset of a data set: the one place that decides.

    >>> preset_for("Cora"), preset_for("Amazon-Photo"), preset_for("Amazon-Photo", HSAN)
    ('Cora', 'Amazon-Photo/progcl', 'Amazon-Photo')
    >>> preset_for("mine"), preset_for("mine", HSAN)
    ('published', 'default')
    """
    every = presets(file)
    name = dataset if dataset in every else _usual(file)
    return str(every[name].get("same_as", name))


def _usual(file: str) -> str:
    """The preset of any other data set."""
    return PUBLISHED if PUBLISHED in presets(file) else "default"


def _written(name: str, file: str) -> dict[str, Any]:
    """What the file says about a preset, or about the one that it is the same as."""
    every = presets(file)
    found = every[one_of(name, every, "preset")]
    return every[found["same_as"]] if "same_as" in found else found
