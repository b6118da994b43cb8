"""What `augcl doctor` says about one thing it looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "warning"]


@dataclass(frozen=True)
class Finding:
    """What was seen, and what to do about it.

    Parameters
    ----------
    level : {"ok", "note", "warning"}
        Fine; good to know; this will probably cost you something.
    about : str
        The thing looked at, in a word or two.
    what : str
        What was seen.
    cure : str
        What to do; empty where there is nothing to do.
    """

    level: Level
    about: str
    what: str
    cure: str = ""


def counted(count: int, thing: str) -> str:
    """A number with its noun.

    >>> counted(1, "node"), counted(2500, "node"), counted(2, "class")
    ('1 node', '2,500 nodes', '2 classes')
    """
    ending = "" if count == 1 else "es" if thing.endswith("s") else "s"
    return f"{count:,} {thing}{ending}"


def part_of(count: int, total: int, thing: str) -> str:
    """A number out of all, with its share.

    >>> part_of(1, 4, "node")
    '1 of 4 nodes (25 %)'
    """
    share = 100 * count / total
    shown = "under 1" if 0 < share < 1 else "over 99" if 99 < share < 100 else f"{share:.0f}"
    return f"{count:,} of {counted(total, thing)} ({shown} %)"
