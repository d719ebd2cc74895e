"""Which elements can be in which: what a plan is made from, whether it comes from a schema or a sample.

An outline has pairs of names, parent and child, and whether the child can repeat in its parent.  It decides
how a document is cut, and never an answer: pairs of a document that the outline does not have are noticed in
the pass, and what they lead to is answered in a second one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from twigcast.chunking.profile import Profile
from twigcast.schema import ElementGraph

Name: TypeAlias = tuple[str | None, str]
"""A namespace and a local name; a namespace that is not known is None and stands for any."""

Names: TypeAlias = tuple[Name, ...]
"""The names from the root to an element, as an outline has them."""

Pair: TypeAlias = tuple[Name | None, Name]
"""A parent and a child that occur in a document; the parent of the root element is None."""


def spelled(path: Names) -> tuple[tuple[str, str], ...]:
    """A key by which label paths are sorted, also those with namespaces that are not known."""
    return tuple((namespace or "", local) for namespace, local in path)


class Outline:
    """The pairs of a schema or of a profile, with those that were found to be missing."""

    def __init__(self, children: Mapping[Name | None, Mapping[Name, bool]]) -> None:
        self._children = {parent: dict(below) for parent, below in children.items()}
        self._by_local: dict[str, list[Name]] = {}
        for name in {*self._children, *(child for below in self._children.values() for child in below)}:
            if name is not None:
                self._by_local.setdefault(name[1], []).append(name)
        self._below: dict[Name, frozenset[Name]] = {}
        self._known: dict[Name | None, dict[Name, bool]] = {}

    @classmethod
    def of_graph(cls, graph: ElementGraph) -> Outline:
        """The outline of a schema."""
        children: dict[Name | None, dict[Name, bool]] = {None: {graph.expanded(graph.root): False}}
        for element in graph:
            below = children.setdefault(graph.expanded(element.name), {})
            for child in graph.children(element.name):
                name = graph.expanded(child.name)
                below[name] = below.get(name, False) or child.most is None or child.most > 1
        return cls(children)

    @classmethod
    def of_profile(cls, profile: Profile) -> Outline:
        """The outline of the label paths that a sample of a document has."""
        children: dict[Name | None, dict[Name, bool]] = {}
        for path, figures in profile.paths.items():
            parent = path[-2] if len(path) > 1 else None
            below = children.setdefault(parent, {})
            below[path[-1]] = below.get(path[-1], False) or figures.repeats
        return cls(children)

    def with_pairs(self, pairs: Iterable[Pair]) -> Outline:
        """The outline with pairs that a document has in addition; their children may repeat."""
        children: dict[Name | None, dict[Name, bool]] = {
            parent: dict(below) for parent, below in self._children.items()
        }
        for parent, child in pairs:
            children.setdefault(parent, {})[child] = parent is not None
        return Outline(children)

    def children(self, parent: Name | None) -> dict[Name, bool]:
        """The names that can be in an element, each with whether it can repeat."""
        found = self._known.get(parent)
        if found is None:
            found = self._known[parent] = {}
            for same in self._same(parent):
                for name, repeats in self._children.get(same, {}).items():
                    found[name] = found.get(name, False) or repeats
        return found

    def has(self, parent: Name | None, child: Name) -> bool:
        """Whether ``child`` can be in ``parent``."""
        return any(
            name[1] == child[1] and _meet(name[0], child[0])
            for same in self._same(parent)
            for name in self._children.get(same, ())
        )

    def below(self, name: Name) -> frozenset[Name]:
        """The names that can occur below an element, at any depth."""
        found = self._below.get(name)
        if found is None:
            reached: set[Name] = set()
            waiting = [name]
            while waiting:
                for child in self.children(waiting.pop()):
                    if child not in reached:
                        reached.add(child)
                        waiting.append(child)
            found = self._below[name] = frozenset(reached)
        return found

    def _same(self, name: Name | None) -> list[Name | None]:
        if name is None:
            return [None]
        return [each for each in self._by_local.get(name[1], ()) if _meet(each[0], name[0])]


def _meet(one: str | None, other: str | None) -> bool:
    return one is None or other is None or one == other
