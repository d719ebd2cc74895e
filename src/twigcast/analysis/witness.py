"""The witness of a pattern: a small tree with a node for each of its steps, branches and gaps.

    /a[b or c]//d            document ─ a ┬ b
                                          ├ c
                                          └ ? ─ d            the gap of ``//`` is one nameless node

If a pattern covers another, its trunk can be mapped into the witness of the other.  This is a necessary
condition, which ``CoveringIndex`` tests for many patterns at once.
Nodes are numbered, parents before children; the document is node 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from twigcast.analysis.covering import denials
from twigcast.pattern import ANY, And, Axis, NameTest, Not, Or, Path, Pattern, Position, Predicate, Test
from twigcast.system import bloom_bits


class Witness:
    """The nodes of a witness, by number, with their ``children`` and all nodes ``below`` them.

    ``names`` has the key of each node's name test, or None if the test admits every name; ``parts`` has the
    keys of the two tests of only its namespace and only its local name; ``where`` has the nodes of each name.
    ``missing`` has the bits of the names that no node below has, ``height`` the number of levels below.
    """

    __slots__ = ("below", "children", "height", "missing", "names", "parts", "where")

    def __init__(self, pattern: Pattern) -> None:
        self.children: list[Sequence[int]] = [()]
        self.names: list[str | None] = [None]
        self.parts: list[tuple[str, ...]] = [()]
        self.below: list[Sequence[int]]
        path = pattern.alternatives[0]
        if len(pattern.alternatives) > 1:
            path = max(pattern.alternatives, key=lambda path: len(path.steps))
        self.where: dict[str | None, list[int]] = {None: []}
        self._grow(0, path)
        size = len(self.children)
        self.below = [range(node + 1, size) for node in range(size)]
        branching = any(len(children) > 1 for children in self.children)
        self.height = [0] * size
        self.missing = [-1] * size
        for node in range(size - 1, -1, -1):
            missing = -1
            for child in self.children[node]:
                missing &= self.missing[child] & ~bit(self.names[child])
                self.height[node] = max(self.height[node], self.height[child] + 1)
            self.missing[node] = missing
            if branching:
                children = self.children[node]
                self.below[node] = [*children, *(each for child in children for each in self.below[child])]

    def _grow(self, node: int, path: Path) -> None:
        self._branch(node, path.filters)
        for step in path.steps:
            if step.axis is Axis.DESCENDANT:
                node = self._add(node, ANY)
            node = self._add(node, step.test)
            if step.predicates:
                self._branch(node, step.predicates)

    def _add(self, node: int, test: NameTest) -> int:
        number = len(self.children)
        if number == node + 1:
            self.children[node] = (number,)
        else:
            self.children[node] = (*self.children[node], number)
        self.children.append(())
        name, parts = _keys(test)
        self.names.append(name)
        self.parts.append(parts)
        if name is not None:
            self.where.setdefault(name, []).append(number)
        return number

    def _branch(self, node: int, predicates: Iterable[Predicate]) -> None:
        for predicate in predicates:
            match predicate:
                case And(operands) | Or(operands):
                    self._branch(node, operands)
                case Not(operand):
                    self._branch(node, denials(operand))
                case Position():
                    self._branch(node, predicate.among)
                case Test():
                    pass
                case _:
                    for path in predicate.paths:
                        self._grow(node, path)


@lru_cache(maxsize=1 << 14)
def key(test: NameTest) -> str | None:
    """Return a name test as text, which is faster to compare; None for the test that admits every name."""
    if test.namespace is None:
        return test.local
    return f"{test.namespace}}}{test.local or ''}"  # a local name has no brace and is not empty


@lru_cache(maxsize=1 << 14)
def bit(name: str | None) -> int:
    """Return one of 256 bits for a name, so that sets of names are compared as integers (a Bloom filter)."""
    return 0 if name is None else bloom_bits((name,))


@lru_cache(maxsize=1 << 14)
def _keys(test: NameTest) -> tuple[str | None, tuple[str, ...]]:
    if None in test:
        return key(test), ()
    parts = (NameTest(test.namespace, None), NameTest(None, test.local))
    return key(test), tuple([part for part in map(key, parts) if part is not None])
