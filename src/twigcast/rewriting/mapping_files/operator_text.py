"""Operators as lines of text, for people: in mapping files, and in what ``check`` and ``show`` print.

    Rename cmu/Course course
    Insert cmu/Course schedule {Day_, Time_}
    Upgrade+ uni/faculty                          all children; Insert+ takes all content
    Downgrade uni/course {TAs} instructor

A name without a slash after the first place is that of a child in the source schema (``/cmu`` is the root); a
node that an earlier operator made is written with a plus sign: ``cmu/Course/+schedule``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from twigcast.errors import MappingError
from twigcast.rewriting.labels import QName, parent_key, parse_label, parse_path, shown_path
from twigcast.rewriting.operators import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertAll,
    InsertEach,
    Operator,
    Rename,
    ToElement,
    Upgrade,
    UpgradeAll,
)

_WORD = re.compile(r"\{[^{}]*(?:Q\{[^{}]*\}[^{}]*)*\}|(?:Q\{[^{}]*\}|[^\s{}])+")
_SLASH = re.compile(r"/(?![^{}]*\})")
FORMS = {
    "Rename": "PLACE NAME",
    "ToElement": "PLACE NAME",
    "Insert": "PLACE PATH {CHILD, …}",
    "InsertEach": "PLACE PATH {CHILD, …}",
    "Insert+": "PLACE PATH",
    "Upgrade": "PLACE {CHILD, …}",
    "Upgrade+": "PLACE",
    "Downgrade": "PLACE {CHILD, …} CHILD",
    "Exchange": "PLACE CHILD",
    "Hide": "PLACE",
}
"""What follows the name of each operator."""


def shown_operator(operator: Operator, prefixes: Mapping[str, str] | None = None) -> str:
    """The line of an operator; ``prefixes`` has the prefix of each namespace that has one."""

    def place(key: str) -> str:
        return shown_path(key, prefixes)

    def child(key: str) -> str:
        above, name = parent_key(key)
        return place(name if above == operator.node else key if above else f"/{key}")

    def path(labels: tuple[QName, ...]) -> str:
        return place("/".join(map(str, labels)))

    def members(keys: tuple[str, ...]) -> str:
        return f"{{{', '.join(map(child, keys))}}}"

    match operator:
        case Rename(node, label) | ToElement(node, label):
            return f"{type(operator).__name__} {place(node)} {place(str(label))}"
        case Insert(node, labels, keys) | InsertEach(node, labels, keys):
            return f"{type(operator).__name__} {place(node)} {path(labels)} {members(keys)}"
        case InsertAll(node, labels):
            return f"Insert+ {place(node)} {path(labels)}"
        case Upgrade(node, keys):
            return f"Upgrade {place(node)} {members(keys)}"
        case UpgradeAll(node):
            return f"Upgrade+ {place(node)}"
        case Downgrade(node, keys, into):
            return f"Downgrade {place(node)} {members(keys)} {child(into)}"
        case Exchange(node, above):
            return f"Exchange {place(node)} {child(above)}"
        case Hide(node):
            return f"Hide {place(node)}"


def parse_operator(
    text: str, source: Mapping[str, str] | None = None, target: Mapping[str, str] | None = None
) -> Operator:
    """The operator of a line; ``source`` and ``target`` bind the prefixes of places and of new names.

    Raises ``MappingError`` (``mapping-file``).
    """
    words = _WORD.findall(text)
    kind = words[0] if words else ""
    kind = {"InsertAll": "Insert+", "UpgradeAll": "Upgrade+"}.get(kind, kind)
    if kind not in FORMS:
        raise _wrong(text, f"expected one of {', '.join(FORMS)}")
    form = FORMS[kind].replace("{CHILD, …}", "{}").split()
    given = ["{}" if word.startswith("{") else "" for word in words[1:]]
    if given != ["{}" if each == "{}" else "" for each in form]:
        raise _wrong(text, f"expected {kind} {FORMS[kind]}")
    node = _place(words[1], source)

    def name(word: str) -> QName:
        return parse_label(word, target)

    def path(word: str) -> tuple[QName, ...]:
        return tuple(step.label for step in parse_path(word, target))

    def child(word: str) -> str:
        below = "" if _SLASH.search(word) else f"{node}/"
        return below + _place(word.removeprefix("/"), source)

    def members(word: str) -> tuple[str, ...]:
        return tuple(child(each.strip()) for each in word[1:-1].split(",") if each.strip())

    match kind:
        case "Rename":
            is_attribute = parent_key(node)[1].startswith("@")
            return Rename(node, parse_label(words[2], {} if is_attribute and ":" not in words[2] else target))
        case "ToElement":
            return ToElement(node, name(words[2]))
        case "Insert":
            return Insert(node, path(words[2]), members(words[3]))
        case "InsertEach":
            return InsertEach(node, path(words[2]), members(words[3]))
        case "Insert+":
            return InsertAll(node, path(words[2]))
        case "Upgrade":
            return Upgrade(node, members(words[2]))
        case "Upgrade+":
            return UpgradeAll(node)
        case "Downgrade":
            return Downgrade(node, members(words[2]), child(words[3]))
        case "Exchange":
            return Exchange(node, child(words[2]))
    return Hide(node)


def _place(text: str, namespaces: Mapping[str, str] | None) -> str:
    """The key of a place; steps with a plus sign are made nodes."""
    steps: list[str] = []
    for step in _SLASH.split(text):
        made = step.startswith("+")
        (parsed,) = parse_path(step.removeprefix("+"), namespaces)
        steps.append(f"+{parsed}" if made else str(parsed))
    return "/".join(steps)


def _wrong(text: str, expected: str) -> MappingError:
    return MappingError(f"{text!r} is not an operator: {expected}", code="mapping-file", name="operators")
