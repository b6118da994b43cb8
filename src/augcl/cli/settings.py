"""`--set KEY=VALUE`: any constructor parameter of a method or a hardness from the command line.

The parameters, and what kind of value each takes, come from the constructors themselves: a new
parameter needs no edit here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer

from augcl.cli.options import METHOD
from augcl.errors import InputError, did_you_mean

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any other parameter of the method or the hardness, for instance tau=0.1, "
        "method.lr=0.001, hardness.alpha=row or edge_drop=0.2,0.4. Repeatable. "
        "augcl methods NAME lists the parameters.",
        rich_help_panel=METHOD,
    ),
]

OPTIONS = {
    "augmentation": "--augmentation",
    "device": "--device",
    "epochs": "--epochs",
    "hardness": "--hardness",
    "preset": "--preset",
    "recipe": "--recipe",
}
"""Parameters with an option of their own, which does more than to set them."""

FIXED = {"method.random_state": "it is the seed", "method.progress": "the command line decides it"}

Options = dict[str, Any]


def read_settings(
    given: Iterable[str] | None,
    method: str,
    hardness: str | None,
    flags: Mapping[str, Any] | None = None,
) -> tuple[Options, Options]:
    """Return the parameters of the method and of the hardness that --set and other options give.

    Parameters
    ----------
    given : texts KEY=VALUE
        KEY is method.NAME, hardness.NAME or, if only one of them has it, NAME.
    method : str
        A name in `METHODS`.
    hardness : str, optional
        A name in `HARDNESS`; None where the command trains with several.
    flags : dict, optional
        Parameters of the method that have options of their own; those that are None are left out.

    Examples
    --------
    >>> read_settings(["tau=0.1", "hardness.alpha=row", "symmetric=true"], "GraphCL", "augcl")
    ({'tau': 0.1, 'symmetric': True}, {'alpha': 'row'})
    """
    from augcl.hardness import HARDNESS
    from augcl.runs.models import METHODS

    owners: dict[str, type] = {"method": METHODS[method]}
    if hardness is not None:
        owners["hardness"] = HARDNESS[hardness]
    names = {"method": method, "hardness": f"hardness {hardness}"}
    known = {owner: _types(kind, owner) for owner, kind in owners.items()}
    found: dict[str, Options] = {"method": {}, "hardness": {}}
    found["method"] |= {name: value for name, value in (flags or {}).items() if value is not None}
    for text in given or ():
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key or not value:
            raise InputError(f"--set {text}: write KEY=VALUE, for instance --set tau=0.1")
        owner, name = _owner(key, known, names)
        if name in found[owner]:
            raise InputError(f"--set {key}: {name} is given twice")
        found[owner][name] = _value(key, value, known[owner][name])
    return found["method"], found["hardness"]


def _types(kind: type, owner: str) -> dict[str, Any]:
    """Return the types of the parameters that a text can give."""
    hints = get_type_hints(kind.__init__)  # type: ignore[misc]
    return {
        name: hint
        for name, hint in hints.items()
        if name != "return"
        and name not in OPTIONS
        and f"{owner}.{name}" not in FIXED
        and any(_reads(member) for member in _members(hint))
    }


def _owner(
    key: str, known: Mapping[str, Mapping[str, Any]], names: Mapping[str, str]
) -> tuple[str, str]:
    """Return whose parameter a key names, and the name."""
    owner, dot, name = key.rpartition(".")
    if dot and owner not in names:
        raise InputError(f"--set {key}: write method.{name} or hardness.{name}")
    if dot and owner not in known:
        raise InputError(
            f"--set {key}: each row has a hardness of its own here; set parameters of the method"
        )
    if name in OPTIONS:
        raise InputError(f"--set {key}: use {OPTIONS[name]}")
    wanted = [owner] if dot else list(known)
    having = [o for o in wanted if name in known[o]]
    if len(having) == 1:
        return having[0], name
    if having:
        raise InputError(
            f"--set {key}: {names['method']} and {names['hardness']} both have a parameter {name}: "
            f"write method.{name} or hardness.{name}"
        )
    for o in wanted:
        if f"{o}.{name}" in FIXED:
            raise InputError(f"--set {key}: cannot be set, {FIXED[f'{o}.{name}']}")
    raise InputError(_unknown(key, name, wanted, known, names))


def _unknown(
    key: str,
    name: str,
    wanted: list[str],
    known: Mapping[str, Mapping[str, Any]],
    names: Mapping[str, str],
) -> str:
    from augcl.hardness import HARDNESS

    whose = " and ".join(names[owner] for owner in wanted)
    message = f"--set {key}: {whose} {'have' if len(wanted) > 1 else 'has'} no parameter {name}"
    others = [h for h, kind in HARDNESS.items() if name in _types(kind, "hardness")]
    if "hardness" in wanted and others:
        return f"{message}; it is one of --hardness {' or '.join(others)}"
    choices = list(dict.fromkeys(choice for owner in wanted for choice in known[owner]))
    hint = did_you_mean(name, choices)
    listed = f"choose from {', '.join(choices)}" if choices else "leave it out"
    return f"{message}: {hint}{listed}"


def _members(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


WORDS = {
    NoneType: "none",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a word",
}


def _reads(member: Any) -> bool:
    """Whether a text can give a value of that type; none alone says nothing."""
    return member in (bool, int, float, str) or get_origin(member) is tuple


def _value(key: str, text: str, hint: Any) -> Any:
    """Return the value that a text stands for, or raise `InputError` that says what is right."""
    members = [m for m in _members(hint) if m is NoneType or _reads(m)]
    order = [NoneType, bool, int, float]
    for member in sorted(members, key=lambda m: order.index(m) if m in order else len(order)):
        try:
            return _as(member, text)
        except ValueError:
            continue
    expected = " or ".join(
        WORDS.get(m) or f"{_count(m)} values with commas between them"
        for m in sorted(members, key=lambda m: m is NoneType)
    )
    raise InputError(f"--set {key}={text}: give {expected}")


def _count(member: Any) -> str:
    return "several" if get_args(member)[-1] is Ellipsis else str(len(get_args(member)))


def _as(member: Any, text: str) -> Any:
    """Return the text as a value of the type, or raise ValueError."""
    if member is str:
        return text
    if member in (NoneType, bool):
        values = {"none": None} if member is NoneType else {"true": True, "false": False}
        if text.lower() not in values:
            raise ValueError
        return values[text.lower()]
    if get_origin(member) is tuple:
        parts, kinds = text.split(","), get_args(member)
        if kinds[-1] is Ellipsis:
            kinds = kinds[:1] * len(parts)
        return tuple(_as(m, p.strip()) for m, p in zip(kinds, parts, strict=True))
    value = member(text)
    if not math.isfinite(value):
        raise ValueError
    return value
