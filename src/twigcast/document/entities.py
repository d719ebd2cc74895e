"""The entities that a DTD declares: how deep they nest, and which references have no target.

Expat expands entities by recursion and silently drops a reference in an attribute value if the entity may be
declared in a part of the DTD that is not read.  So each declaration is entered here before it can be used:

    <!ENTITY a "x">  <!ENTITY b "&a;&a;">  <!ENTITY c "&b; &d;">      height: a 1, b 2, c 3
                                                                      c is incomplete: d is not declared

Invariant: the height of a declared entity is one more than the greatest height of the entities that its
value refers to, and 1 if there is none; an entity that refers to itself grows until it exceeds any limit.
Cost: an entity is visited again only if its height grows, so at most ``limit`` times for each reference.
"""

from __future__ import annotations

import re
from typing import Literal

PREDEFINED = ("amp", "lt", "gt", "apos", "quot")
_REFERENCES = {
    "&": re.compile(r"&([^#;&\s][^;&\s]*);"),
    "%": re.compile(r"%([^;%\s]+);"),
}


class EntityTable:
    """The entities of one kind declared so far, with their heights.

    References begin with ``sign``: general entities have ``&``, parameter entities ``%``.
    """

    def __init__(self, limit: int, sign: Literal["&", "%"] = "&") -> None:
        self._limit = limit
        self._reference = _REFERENCES[sign]
        self._values: dict[str, set[str]] = {name: set() for name in (PREDEFINED if sign == "&" else ())}
        self._heights: dict[str, int] = {}
        self._users: dict[str, list[str]] = {}
        self._complete: set[str] = set()  # everything that they refer to is declared

    def declare(self, name: str, value: str | None) -> bool:
        """Add an entity; external ones have no value.  False if an entity is now higher than the limit."""
        if name in self._values:
            return True
        references = self._values[name] = set(self._reference.findall(value or ""))
        for reference in references:
            self._users.setdefault(reference, []).append(name)
        self._heights[name] = 1 + max((self._heights.get(each, 0) for each in references), default=0)
        grown = [name]
        while grown:
            name = grown.pop()
            height = self._heights[name]
            if height > self._limit:
                return False
            for user in self._users.get(name, ()):
                if self._heights[user] <= height:
                    self._heights[user] = height + 1
                    grown.append(user)
        return True

    def undeclared(self, value: str) -> str | None:
        """An entity that a value refers to, directly or not, and that is not declared."""
        waiting: list[str] = list(set(self._reference.findall(value)) - self._complete)
        seen = set(waiting)
        while waiting:
            name = waiting.pop()
            if name not in self._values:
                return name
            waiting += self._values[name] - seen - self._complete
            seen |= self._values[name]
        self._complete |= seen
        return None
