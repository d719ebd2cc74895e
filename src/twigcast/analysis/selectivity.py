"""How likely a document matches a pattern, estimated from sample documents or from a schema.

From a sample, the label paths of all documents form one tree, each with the set of documents that have it:

    document {1,2,3} ── nitf {1,2,3} ┬─ head {1,3} ── title {1}
                                     └─ body {2,3}              /nitf[head]/body: {1,3} ∩ {2,3}, 1 of 3

Branches are met in the same document, not in the same element, so a twig is never estimated too low.
From a schema, a child that must be there is, and one that may be is in half of the parents.
Conditions on values multiply by a fixed guess each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from twigcast.analysis.twig import Twig, twig
from twigcast.document import Document, Element, elements
from twigcast.pattern import Axis, Comparison, Count, Exists, Length, NameTest, Pattern, Predicate, StringTest
from twigcast.schema import ElementGraph


class Selectivity(Protocol):
    """The estimated share of documents that match a pattern, from 0 to 1."""

    def __call__(self, pattern: Pattern, /) -> float: ...


MAY_BE = 0.5
"""How often an optional child is there."""

DEPTH = 10
"""Levels below which a schema is not followed."""

REMEMBERED = 1 << 16


def sample_selectivity(documents: Iterable[Document]) -> Selectivity:
    """The selectivity of patterns in sample documents."""
    top = _Place()
    everything = 0
    for number, document in enumerate(documents):
        everything |= 1 << number
        _grow(top, document, 1 << number)
    size = everything.bit_count()
    if not size:
        raise ValueError("a selectivity needs at least one sample document")

    def estimate(tree: Twig) -> float:
        return _documents(tree, top, everything, {}).bit_count() / size * _values(tree)

    return _remembered(estimate)


def schema_selectivity(graph: ElementGraph, depth: int = DEPTH) -> Selectivity:
    """The selectivity of patterns in documents of a schema, were optional children there by chance."""
    chances = _Chances(graph)

    def estimate(tree: Twig) -> float:
        return chances.all_below(tree, None, depth) * _values(tree)

    return _remembered(estimate)


def _remembered(estimate: Callable[[Twig], float]) -> Selectivity:
    found: dict[Pattern, float] = {}

    def selectivity(pattern: Pattern) -> float:
        if pattern not in found:
            if len(found) >= REMEMBERED:
                found.clear()
            missed = 1.0
            for path in pattern.alternatives:
                missed *= 1.0 - min(estimate(twig(path)), 1.0)
            found[pattern] = 1.0 - missed
        return found[pattern]

    return selectivity


# From a sample


class _Place:
    """A label path that occurs, and where it goes on; ``documents`` are bits."""

    __slots__ = ("children", "documents")

    def __init__(self) -> None:
        self.children: dict[tuple[str, str], _Place] = {}
        self.documents = 0


def _grow(place: _Place, node: Document | Element, document: int) -> None:
    waiting: list[tuple[_Place, Document | Element]] = [(place, node)]
    while waiting:
        place, node = waiting.pop()
        place.documents |= document
        for child in elements(node):
            name = (child.namespace, child.local)
            following = place.children.get(name)
            if following is None:
                following = place.children[name] = _Place()
            waiting.append((following, child))


def _documents(tree: Twig, place: _Place, among: int, found: dict[tuple[int, int], int]) -> int:
    """The documents in which what is below the root of ``tree`` can be below ``place``."""
    documents = among & place.documents
    for branch in tree.branches:
        if not documents:
            break
        documents &= _below(branch, place, found)
    return documents


def _below(branch: Twig, place: _Place, found: dict[tuple[int, int], int]) -> int:
    """The documents in which ``branch`` is below ``place``."""
    key = (id(branch), id(place))
    if key not in found:
        documents = 0
        for name, child in place.children.items():
            if branch.test.admits(*name):
                documents |= _documents(branch, child, child.documents, found)
            if branch.axis is Axis.DESCENDANT:
                documents |= _below(branch, child, found)
        found[key] = documents
    return found[key]


# From a schema


class _Chances:
    """The chances of twigs below elements of a schema, each computed once."""

    def __init__(self, graph: ElementGraph) -> None:
        self._children: dict[str | None, list[tuple[str, float]]] = {None: [(graph.root, 1.0)]}
        self._names: dict[str, tuple[str, str]] = {}
        for element in graph:
            namespace, local = graph.expanded(element.name)
            self._names[element.name] = (namespace or "", local)
            self._children[element.name] = [
                (child.name, 1.0 if child.least else MAY_BE) for child in graph.children(element.name)
            ]
        self._found: dict[tuple[Twig, str | None, int], float] = {}

    def all_below(self, tree: Twig, element: str | None, depth: int) -> float:
        """The chance that all branches of ``tree`` are below an element, were they independent."""
        chance = 1.0
        for branch in tree.branches:
            if chance:
                chance *= self._below(branch, element, depth)
        return chance

    def _below(self, branch: Twig, element: str | None, depth: int) -> float:
        if depth < branch.height:
            return 0.0
        key = (branch, element, depth)
        if key not in self._found:
            if len(self._found) >= 8 * REMEMBERED:
                self._found.clear()
            missed = 1.0
            for child, there in self._children[element]:
                chance = 0.0
                if self._admits(branch.test, child):
                    chance = self.all_below(branch, child, depth - 1)
                if branch.axis is Axis.DESCENDANT:
                    chance = 1.0 - (1.0 - chance) * (1.0 - self._below(branch, child, depth - 1))
                missed *= 1.0 - there * chance
            self._found[key] = 1.0 - missed
        return self._found[key]

    def _admits(self, test: NameTest, child: str) -> bool:
        return test.admits(*self._names[child])


# Values


def _values(tree: Twig) -> float:
    """The chance that all conditions of a tree hold, were they independent."""
    chance = 1.0
    for each in (tree, *tree.below()):
        for condition in each.conditions:
            chance *= _guess(condition)
    return chance


def _guess(condition: Predicate) -> float:
    match condition:
        case Comparison(_, "=", _):
            return 0.05
        case Comparison(_, "!=", _):
            return 0.9
        case StringTest():
            return 0.1
        case Comparison() | Length() | Count():
            return 0.4
        case Exists():
            return 0.6
        case _:
            return 0.5
