"""A cache of parsed steps and predicates, from which most subscriptions are assembled without the parser.

A hundred thousand subscriptions consist of a few thousand distinct steps and predicates.  A regular
expression cuts a text into such parts:

    /nitf  /*  /body.content  [p/em]  [block]  //hl2  [@id=5]  /person

If the whole text consists of such parts, its pattern is the sequence of the patterns of the parts, so each
part is parsed once and looked up afterwards.  A new predicate that is itself such a path, or compares an
attribute with a literal, is assembled as well; the parser parses any other part.  Every other text
(predicates nested three deep, a union, ``..``, an attribute at the end, an error) falls back to the parser.

Invariant: ``assembled(text)`` is ``None`` or equals what the parser returns; texts of at most ``LENGTH``
characters are within every limit.
Cost: 7 µs for the example, where the parser alone takes 38.  The cache has two tables of at most ``PARTS``
entries for each of at most ``MAPS`` namespace maps; a full table is emptied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from twigcast.errors import PatternError
from twigcast.pattern.rendering import render_predicate
from twigcast.pattern.syntax.tokens import NAME
from twigcast.pattern.tree import (
    ANY,
    AttributeTail,
    Axis,
    Comparison,
    Exists,
    NameTest,
    Path,
    Pattern,
    Predicate,
    Step,
    counted_names,
)

PARTS = 1 << 16
MAPS = 64
LENGTH = 512
"""Texts of at most this many characters are assembled from cached parts; longer ones are parsed."""

Reader: TypeAlias = Callable[[str, Mapping[str, str] | None], Pattern]


def assembled(text: str, namespaces: Mapping[str, str] | None, read: Reader) -> Pattern | None:
    """The pattern of ``text``, assembled from its parts; ``None`` if the parser must parse the text.

    ``read`` is the parser, which is called for a part that is not in the cache.
    """
    steps: list[Step] = []
    conditions: dict[str, Predicate] = {}
    for part in cut(text):
        if part[0] == "[":
            found = part_conditions(part, namespaces, read)
            if found is None:
                return None
            conditions.update(found)
            continue
        if conditions:
            _restrict_last(steps, conditions)
            conditions = {}
        step = part_step(part, namespaces, read)
        if step is None:
            return None
        steps.append(step)
    if conditions:
        _restrict_last(steps, conditions)
    return Pattern((Path(tuple(steps)),)) if steps else None


def cut(text: str) -> list[str]:
    """Cut ``text`` into its steps and predicates; the list is empty if the text has anything else."""
    if len(text) > LENGTH or not text.isprintable():  # the parser refuses characters that XML does not allow
        return []
    parts: list[str] = _PART.findall(text)
    return parts if "".join(parts) == text else []


def part_step(part: str, namespaces: Mapping[str, str] | None, read: Reader) -> Step | None:
    """The step that a part is, from the cache or the parser; ``None`` if the parser refuses the part."""
    step = _tables(namespaces)[0].get(part)
    return _new_step(part, namespaces, read) if step is None else step


def part_conditions(
    part: str, namespaces: Mapping[str, str] | None, read: Reader
) -> dict[str, Predicate] | None:
    """The predicates of a part in brackets, by canonical text; ``None`` if the whole text must be parsed."""
    found = _tables(namespaces)[1].get(part)
    return _new_predicate(part, namespaces, read) if found is None else found


_Steps: TypeAlias = dict[str, Step]
_Predicates: TypeAlias = dict[str, dict[str, Predicate]]

_PART = re.compile(rf"//?(?:{NAME}(?::{NAME})?|\*)(?![:(])|(?<!^)\[[^\[\]]*(?:\[[^\[\]]*\][^\[\]]*)*\]")
_COMPARED = re.compile(rf"@({NAME})([!<>]?=|[<>])(?:('[^']*'|\"[^\"]*\")|([0-9]{{1,15}}))")
_PLAIN: tuple[_Steps, _Predicates] = ({}, {})
_BY_MAP: dict[frozenset[tuple[str, str]], tuple[_Steps, _Predicates]] = {}


def _tables(namespaces: Mapping[str, str] | None) -> tuple[_Steps, _Predicates]:
    """The tables of steps and predicates for a namespace map."""
    if not namespaces:
        return _PLAIN
    key = frozenset(namespaces.items())
    tables = _BY_MAP.get(key)
    if tables is None:
        if len(_BY_MAP) >= MAPS:
            _BY_MAP.clear()
        tables = _BY_MAP[key] = ({}, {})
    return tables


def _restrict_last(steps: list[Step], conditions: dict[str, Predicate]) -> None:
    last = steps[-1]
    if len(conditions) == 1:
        steps[-1] = Step(last.axis, last.test, tuple(conditions.values()))
    else:
        steps[-1] = Step(last.axis, last.test, tuple([conditions[text] for text in sorted(conditions)]))


def _new_step(part: str, namespaces: Mapping[str, str] | None, read: Reader) -> Step | None:
    path = _read_alone(part, namespaces, read)
    if path is None:
        return None
    known = _tables(namespaces)[0]
    if len(known) >= PARTS:
        known.clear()
    known[part] = path.steps[0]
    return path.steps[0]


def _new_predicate(
    part: str, namespaces: Mapping[str, str] | None, read: Reader
) -> dict[str, Predicate] | None:
    if ".." in part or "::" in part:
        return None
    predicates: tuple[Predicate, ...]
    plain = _plain_predicate(part[1:-1], namespaces, read)
    if plain is not None:
        predicates = (plain,)
    else:
        path = _read_alone(f"/*{part}", namespaces, read)
        if path is None:
            return None
        predicates = path.steps[0].predicates
        if path != Path((Step(Axis.CHILD, ANY, predicates),)):
            return None  # the predicate looks at the name of the element
        if any(counted_names(predicate) is not None for predicate in predicates):
            return None  # which elements a position counts depends on the step
    known = _tables(namespaces)[1]
    if len(known) >= PARTS:
        known.clear()
    known[part] = {render_predicate(predicate): predicate for predicate in predicates}
    return known[part]


def _plain_predicate(text: str, namespaces: Mapping[str, str] | None, read: Reader) -> Predicate | None:
    """The predicate of ``@name=literal``, or of a path of cached parts; ``None`` for any other text."""
    if text[:1] == "@":
        found = _COMPARED.fullmatch(text)
        if found is None:
            return None
        name, operator, quoted, digits = found.groups()
        if digits is None and operator not in ("=", "!="):
            return None  # an order comparison converts the string to a number
        value = quoted[1:-1] if digits is None else float(digits)
        return Comparison((Path((), AttributeTail(NameTest("", name))),), operator, value)
    pattern = assembled(text[1:] if text[:3] == ".//" else f"/{text}", namespaces, read)
    return None if pattern is None or text[:1] == "/" else Exists(pattern.alternatives)


def _read_alone(text: str, namespaces: Mapping[str, str] | None, read: Reader) -> Path | None:
    try:
        alternatives = read(text, namespaces).alternatives
    except PatternError:
        return None
    return alternatives[0] if len(alternatives) == 1 else None
