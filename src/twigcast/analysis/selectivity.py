"""Estimates how likely a document matches a pattern, from sample documents or from a schema.

From a sample, the label paths of all documents form one tree; each node has the set of documents that contain
its path:

    document {1,2,3} ── nitf {1,2,3} ┬─ head {1,3} ── title {1}
                                     └─ body {2,3}              /nitf[head]/body: {1,3} ∩ {2,3}, 1 of 3

The branches of a twig are required in the same document, not in the same element, so the estimate of a twig
without conditions is never below its share of the sample.
From a schema, a required child is assumed in every parent and an optional child in half of them.
Each condition on a value multiplies the estimate by a fixed guess.
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
"""The assumed share of parents that have an optional child."""

DEPTH = 10
"""The depth to which a schema is followed by default."""

REMEMBERED = 1 << 16


def sample_selectivity(documents: Iterable[Document]) -> Selectivity:
    """Return a function that estimates selectivity from sample documents, of which it needs at least one."""
    top = _LabelPath()
    everything = 0
    for number, document in enumerate(documents):
        everything |= 1 << number
        _grow(top, document, 1 << number)
    _sum_up(top)
    size = everything.bit_count()
    if not size:
        raise ValueError("a selectivity needs at least one sample document")

    def estimate(tree: Twig) -> float:
        return _Search().documents(tree, top).bit_count() / size * _values(tree)

    return _remembered(estimate)


def schema_selectivity(graph: ElementGraph, depth: int = DEPTH) -> Selectivity:
    """Return a function that estimates selectivity from a schema, as if optional children were random."""
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


class _LabelPath:
    """A label path of the sample with its continuations; ``documents`` has a bit for each document.

    ``below`` has the documents of each name at any depth below, so that ``//name`` need not be searched for.
    """

    __slots__ = ("below", "children", "documents")

    def __init__(self) -> None:
        self.children: dict[tuple[str, str], _LabelPath] = {}
        self.documents = 0
        self.below: dict[tuple[str, str], int] = {}


def _grow(at: _LabelPath, node: Document | Element, document: int) -> None:
    waiting: list[tuple[_LabelPath, Document | Element]] = [(at, node)]
    while waiting:
        at, node = waiting.pop()
        at.documents |= document
        for child in elements(node):
            name = (child.namespace, child.local)
            following = at.children.get(name)
            if following is None:
                following = at.children[name] = _LabelPath()
            waiting.append((following, child))


def _sum_up(top: _LabelPath) -> None:
    """Fill ``below`` of all label paths, the longest first."""
    paths = [top]
    for path in paths:
        paths += path.children.values()
    for path in reversed(paths):
        for name, child in path.children.items():
            path.below[name] = path.below.get(name, 0) | child.documents
            for other, documents in child.below.items():
                path.below[other] = path.below.get(other, 0) | documents


class _Search:
    """Finds the documents that contain a twig; ``below`` is computed once for each twig and label path.

    The names in a twig bound the documents: below a label path, they are those that have all of the names.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[int, int], int] = {}
        self._names: dict[int, tuple[tuple[str, str], ...]] = {}

    def documents(self, tree: Twig, at: _LabelPath) -> int:
        """Return the documents that contain all branches of ``tree`` below the label path ``at``."""
        documents = at.documents
        for branch in tree.branches:
            if not documents:
                break
            documents &= self._below(branch, at)
        return documents

    def _below(self, branch: Twig, at: _LabelPath) -> int:
        """Return the documents that contain ``branch`` below the label path ``at``."""
        key = (id(branch), id(at))
        known = self._found.get(key)
        if known is None:
            known = self._found[key] = self._search(branch, at)
        return known

    def _search(self, branch: Twig, at: _LabelPath) -> int:
        most = at.documents
        for name in self._names_of(branch):
            most &= at.below.get(name, 0)
        goes_deep = branch.axis is Axis.DESCENDANT
        test = branch.test
        if not most:
            return 0
        if test.namespace is None or test.local is None:
            candidates = [child for name, child in at.children.items() if test.admits(*name)]
        elif goes_deep and not branch.branches:
            return most
        else:
            child = at.children.get((test.namespace, test.local))
            candidates = [] if child is None else [child]
        documents = 0
        for child in candidates:
            documents |= self.documents(branch, child)
        for child in at.children.values() if goes_deep else ():
            if documents == most:
                break
            documents |= self._below(branch, child)
        return documents

    def _names_of(self, branch: Twig) -> tuple[tuple[str, str], ...]:
        names = self._names.get(id(branch))
        if names is None:
            tests = [each.test for each in (branch, *branch.below())]
            named = [
                (test.namespace, test.local)
                for test in tests
                if test.namespace is not None and test.local is not None
            ]
            names = self._names[id(branch)] = tuple(dict.fromkeys(named))
        return names


# From a schema


class _Chances:
    """The estimated probabilities of twigs below elements of a schema, each computed once."""

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
        """Return the probability that an element has all branches of ``tree``, assuming independence."""
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
            for child, presence in self._children[element]:
                chance = 0.0
                if self._admits(branch.test, child):
                    chance = self.all_below(branch, child, depth - 1)
                if branch.axis is Axis.DESCENDANT:
                    chance = 1.0 - (1.0 - chance) * (1.0 - self._below(branch, child, depth - 1))
                missed *= 1.0 - presence * chance
            self._found[key] = 1.0 - missed
        return self._found[key]

    def _admits(self, test: NameTest, child: str) -> bool:
        return test.admits(*self._names[child])


# Values


def _values(tree: Twig) -> float:
    """Return the probability that all conditions of a tree hold, assuming independence."""
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
