"""YFilter: merges the paths of all patterns into one NFA, in which common prefixes are shared.

A path is a chain of states; ``//`` is an ε-transition to a state that loops on every element:

    /x/y  /x//z            (0) -x-> (1) -y-> ((2))
    /x/*/y                          (1) -ε-> (3)* -z-> ((4))
                                    (1) -*-> (5) -y-> ((6))

The tags of a document drive it: the active states are pushed on a stack at start tags, and popped at end
tags.

A twig is a set of paths, one to each of its leaves.  When one of them is accepted, its bindings are computed
from the open elements: the elements that can be the branching nodes of the path.  At the end of the document
the paths of a twig are joined on their bindings.

    /a[b]//c[d][e]     /a/b on {(1)}, /a//c/d on {(1, 3), (1, 7)}, /a//c/e on {(1, 7)}:  (1, 7), so (1)

Invariant: a twig matches if and only if the join is not empty, because the parts of a twig below and between
its branching nodes are independent of each other.
Cost: an element costs the active states; a twig keeps every accepted binding until the document ends.
After Diao, Altinel, Franklin, Zhang and Fischer, "Path Sharing and Predicate Evaluation for
High-Performance XML Filtering".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from experiments.engines.filtering.events import Name, tell
from experiments.engines.filtering.skeleton import twigs
from experiments.engines.filtering.tree_engine import DEFAULT_LIMITS, PatternTable, ReferenceEngine
from twigcast.analysis import Twig
from twigcast.document import Document, DocumentLimits
from twigcast.pattern import Axis, NameTest, Pattern

NFALabel: TypeAlias = Name | Literal["*", "ε"]
Binding: TypeAlias = tuple[int, ...]


class YFilter(ReferenceEngine):
    """The engine that shares prefixes."""

    def __init__(self, limits: DocumentLimits = DEFAULT_LIMITS) -> None:
        super().__init__(limits)
        self.initial = State(0, stays=False)
        self._next_number = 1
        self._subscriptions = PatternTable()
        self._queries: dict[Hashable, tuple[NFAQuery, ...]] = {}

    def add(self, id: Hashable, pattern: Pattern) -> None:
        """Add a pattern; raises ``SubscriptionError`` if the id is in use."""
        structure = self._subscriptions.add(id, pattern)
        self._queries[id] = tuple(_query(id, forest) for forest in twigs(structure))
        for query in self._queries[id]:
            for leaf in query.leaves:
                self._chain(leaf)[-1].accepts[leaf] = query

    def remove(self, id: Hashable) -> None:
        """Remove a pattern; raises ``SubscriptionError`` if there is none of this id."""
        self._subscriptions.remove(id)
        for query in self._queries.pop(id):
            for leaf in query.leaves:
                chain = self._chain(leaf)
                del chain[-1].accepts[leaf]
                _prune(chain, leaf)

    def matching(self, document: Document) -> list[Hashable]:
        matching = NFAMatching(self.initial)
        tell(document, matching)
        return self._subscriptions.confirm(matching.ids(), document)

    def __len__(self) -> int:
        return len(self._subscriptions)

    def _chain(self, leaf: Leaf) -> list[State]:
        """The states from the initial one to the one that accepts the path; missing states are created."""
        chain = [self.initial]
        for step in leaf.steps:
            for label in _labels(step):
                edges = chain[-1].edges
                if label not in edges:
                    edges[label] = State(self._next_number, stays=label == "ε")
                    self._next_number += 1
                chain.append(edges[label])
        return chain


@dataclass(eq=False, slots=True)
class State:
    """A state of the NFA: its transitions, whether it loops on every element, and the paths it accepts."""

    number: int
    stays: bool
    edges: dict[NFALabel, State] = field(default_factory=dict)
    accepts: dict[Leaf, NFAQuery] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Leaf:
    """A path from the document node to a leaf of a query, and the numbers of its steps that branch."""

    steps: tuple[tuple[Axis, NameTest], ...]
    branching: frozenset[int]


@dataclass(frozen=True, eq=False, slots=True)
class NFAQuery:
    """One alternative of the pattern of ``id``: the twigs that must all match, and the paths to leaves."""

    id: Hashable
    twigs: tuple[Twig, ...]
    leaves: tuple[Leaf, ...]


class NFAMatching:
    """The state of matching one document that is being read."""

    def __init__(self, initial: State) -> None:
        self._active: list[Iterable[State]] = []
        self._open: list[tuple[Name, int]] = []
        self._elements = 0
        self._matched: set[Hashable] = set()
        self._bindings: dict[NFAQuery, dict[Leaf, set[Binding]]] = defaultdict(dict)
        self._enter([initial])

    def start(self, name: Name) -> None:
        """Process a start tag: enter the states that follow the active ones."""
        self._elements += 1
        self._open.append((name, self._elements))
        entered = []
        for state in self._active[-1]:
            entered += [state.edges[label] for label in (name, "*") if label in state.edges]
            entered += [state] if state.stays else []
        self._enter(entered)

    def end(self) -> None:
        """Process an end tag: return to the states that were active before the element."""
        self._active.pop()
        self._open.pop()

    def active(self) -> set[int]:
        """The numbers of the active states."""
        return {state.number for state in self._active[-1]}

    def ids(self) -> set[Hashable]:
        """The ids that have a query whose paths were all accepted and can be joined."""
        joined = {query.id for query, bindings in self._bindings.items() if _join(query, bindings)}
        return self._matched | joined

    def _enter(self, states: Iterable[State]) -> None:
        active = dict.fromkeys(states)
        active |= dict.fromkeys(state.edges["ε"] for state in active if "ε" in state.edges)
        self._active.append(active)
        for state in active:
            for leaf, query in state.accepts.items():
                if len(query.leaves) == 1:
                    self._matched.add(query.id)
                elif query.id not in self._matched:
                    self._bindings[query].setdefault(leaf, set()).update(_bindings(leaf, self._open))


def _query(id: Hashable, forest: tuple[Twig, ...]) -> NFAQuery:
    leaves = [leaf for twig in forest for leaf in _leaves(twig, (), frozenset())]
    return NFAQuery(id, forest, tuple(leaves) or (Leaf((), frozenset()),))


def _leaves(
    twig: Twig, above: tuple[tuple[Axis, NameTest], ...], branching: frozenset[int]
) -> Iterator[Leaf]:
    steps = (*above, (twig.axis, twig.test))
    if not twig.branches:
        yield Leaf(steps, branching)
    if len(twig.branches) > 1:
        branching |= {len(above)}
    for child in twig.branches:
        yield from _leaves(child, steps, branching)


def _labels(step: tuple[Axis, NameTest]) -> Iterator[NFALabel]:
    axis, test = step
    if axis is Axis.DESCENDANT:
        yield "ε"
    yield "*" if test.namespace is None or test.local is None else (test.namespace, test.local)


def _prune(chain: list[State], leaf: Leaf) -> None:
    """Remove the last states of a chain, as far as no other path uses them."""
    labels = [label for step in leaf.steps for label in _labels(step)]
    for state, label in reversed(list(zip(chain, labels, strict=False))):
        if state.edges[label].edges or state.edges[label].accepts:
            return
        del state.edges[label]


def _bindings(leaf: Leaf, path: list[tuple[Name, int]]) -> set[Binding]:
    """The bindings of a path that ends at the last open element: the possible branching nodes."""
    reached: dict[int, set[Binding]] = {0: {()}}
    for number, (axis, test) in enumerate(leaf.steps):
        below: dict[int, set[Binding]] = {}
        above: set[Binding] = set()
        for level, (name, element) in enumerate(path, 1):
            farther = above if axis is Axis.DESCENDANT else set()
            above = reached.get(level - 1, set()) | farther
            if above and test.admits(*name):
                branching = number in leaf.branching
                below[level] = {(*binding, element) for binding in above} if branching else above
        reached = below
    return reached.get(len(path), set())


def _join(query: NFAQuery, bindings: dict[Leaf, set[Binding]]) -> bool:
    """Whether one choice of elements for the branching nodes is a binding of every path."""
    accepted = iter([bindings.get(leaf, set()) for leaf in query.leaves])

    def below(twig: Twig) -> set[Binding]:
        if not twig.branches:
            return next(accepted)
        parts = [below(child) for child in twig.branches]
        if len(parts) == 1:
            return parts[0]
        return {binding[:-1] for binding in set.intersection(*parts)}

    return all(below(twig) for twig in query.twigs)
