"""Names of elements and attributes, and paths of them as text.

catalogue/course/@nr                              no namespace
Q{urn:invoice}Invoice/Q{urn:basic}ID              XPath's way to write a namespace without a prefix
ubl:Invoice/cbc:ID                                with prefixes, where they are given
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from twigcast.errors import MappingError

XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
ATTRIBUTE = "@"
"""What a step of a path to an attribute begins with."""
MADE = "+"
"""What a step of the key of a node begins with that an operator made."""
_SLASH = re.compile(r"/(?![^{}]*\})")  # not one inside of a namespace
_FIRST = (
    r"A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    r"\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = rf"[{_FIRST}][-.0-9\xb7\u0300-\u036f\u203f\u2040{_FIRST}]*+"
_ONE_NAME = re.compile(_NAME)
_STEP = re.compile(rf"(@?)(?:Q\{{([^{{}}]*)\}}|({_NAME}):)?({_NAME})")


class QName(NamedTuple):
    """The namespace and the local name of an element or attribute."""

    namespace: str
    local: str

    def __str__(self) -> str:
        return f"Q{{{self.namespace}}}{self.local}" if self.namespace else self.local


class PathStep(NamedTuple):
    """One step of a path: a child element, or an attribute."""

    label: QName
    is_attribute: bool

    def __str__(self) -> str:
        return (ATTRIBUTE if self.is_attribute else "") + str(self.label)


def parse_label(text: str, namespaces: Mapping[str, str] | None = None) -> QName:
    """The label that a text names; raises ``MappingError`` (``place``)."""
    steps = parse_path(text, namespaces)
    if len(steps) != 1 or steps[0].is_attribute:
        raise MappingError(f"{text!r} is not the name of an element", code="place", name=text)
    return steps[0].label


def parse_path(text: str, namespaces: Mapping[str, str] | None = None) -> tuple[PathStep, ...]:
    """The steps of a path; raises ``MappingError`` (``place``) if the text is not a path of names.

    A name without a prefix has the namespace that ``namespaces`` gives for the empty prefix, if there is one.
    """
    bound = namespaces or {}
    steps: list[PathStep] = []
    at = 0
    while True:
        found = _STEP.match(text, at)
        if found is None or (steps and steps[-1].is_attribute):
            raise _no_path(text)
        mark, uri, prefix, local = found.groups()
        if prefix is not None:
            if prefix not in bound:
                known = ", ".join(sorted(filter(None, bound))) or "none"
                message = f"the prefix {prefix!r} in {text!r} is not declared; declared are: {known}"
                raise MappingError(message, code="place", name=text)
            uri = bound[prefix]
        elif uri is None:
            uri = "" if mark else bound.get("", "")
        steps.append(PathStep(QName(uri, local), bool(mark)))
        at = found.end()
        if at == len(text):
            return tuple(steps)
        if text[at] != "/":
            raise _no_path(text)
        at += 1


def shown_path(key: str, prefixes: Mapping[str, str] | None = None) -> str:
    """A path with prefixes in the place of namespaces, for people; ``prefixes`` has them by namespace."""
    short = prefixes or {}

    def step(found: re.Match[str]) -> str:
        uri = found.group(1)
        if uri not in short:
            return found.group(0)
        return f"{short[uri]}:" if short[uri] else ""

    return re.sub(r"Q\{([^{}]*)\}", step, key)


def is_name(text: str) -> bool:
    """Whether a text is a name without a prefix, as XML defines it."""
    return _ONE_NAME.fullmatch(text) is not None


def parent_key(key: str) -> tuple[str, str]:
    """The key above a key, empty at the root, and the last step."""
    slashes = [found.start() for found in _SLASH.finditer(key)]
    return (key[: slashes[-1]], key[slashes[-1] + 1 :]) if slashes else ("", key)


def keys_above(key: str) -> Iterator[str]:
    """The keys above a key, the nearest one first."""
    for found in reversed(list(_SLASH.finditer(key))):
        yield key[: found.start()]


def is_made(key: str) -> bool:
    """Whether a key is that of a node that an operator made, or is below one."""
    return any(step.startswith(MADE) for step in _SLASH.split(key))


def _no_path(text: str) -> MappingError:
    message = f"{text!r} is not a path of names such as 'catalogue/course/@nr'"
    return MappingError(message, code="place", name=text)
