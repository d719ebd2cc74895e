"""Replaces patterns that differ in a few steps by one merger, which is forwarded in their place.

Each pattern is below the mergers that a merge rule can make of it, which are below mergers in turn:

        /a/*/*                     held: /a/b/x  /a/b/y  /a/c/x
       /      \\                    the schema has only x and y below b, so /a/b/* is made;
    /a/b/*    /a/*/x               it takes /a/b/x and /a/b/y;
    /   \\     /    \\               /a/*/x is not made: only /a/c/x is left below it
 /a/b/x  /a/b/y  /a/c/x

Possible mergers are examined in a fixed order, special ones before general ones.  A merger is made if at
least two patterns below it are not taken and its degree (the share of its label paths that no pattern below
it selects) is within the budget.  It takes these patterns, and can then be taken itself.  The output is the
set of patterns that are not taken, without those that a merger happens to cover; a subscription tree removes
the latter, which is most of the gain.

Invariant: the output depends only on the input patterns, not on the order in which they were added (except
for the ids of patterns that cover each other).  So removing a part undoes exactly the mergers that need it.
Cost: adding a pattern enters it below about five mergers for each of its steps; only mergers with two or more
patterns below them are examined.  An earlier version made every merger within the budget and chose among them
afterwards.  But a pattern of nine steps has hundreds of equally good mergers, and 3,000 took minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TypeAlias

from twigcast.analysis import (
    DEPTH,
    DOCUMENT,
    Key,
    Measure,
    MergeRules,
    Order,
    PathCounter,
    schema_automaton,
)
from twigcast.pattern import Pattern
from twigcast.routing.stages.change import Change, check_ids, net_change, through
from twigcast.routing.stages.subscription_tree import SubscriptionTree
from twigcast.schema import ElementGraph

Error: TypeAlias = tuple[int, ...]
"""The excess of a merger: the weight of label paths that no input selects, by each measure."""

COUNTED = 24
"""The largest number of parts from which the degree of a merger is computed."""

MERGED = "merge:"
"""The prefix of the id of a merger, before its canonical text."""


class Merging:
    """The merging stage: a set of patterns by id, and the smaller set that is forwarded in its place.

    ``budget`` is the largest degree of a merger.  0.0 admits only perfect mergers: it is proved, for all
    depths, that every document of the schema that matches the merger matches a part.  With a larger budget,
    the output of perfect merging is merged again, so that it never forwards more than perfect merging does.
    The degree must be within the budget by both measures of ``path_counts``: by paths alone, as in the paper,
    ten thousand NITF patterns became ``//*`` at a degree of 0.1, and four in ten publications were false
    positives.
    Twigs are measured by their trunks; a merger of twigs is perfect only if they differ in one name.
    """

    def __init__(self, graph: ElementGraph, budget: float = 0.0, depth: int = DEPTH) -> None:
        self.graph = graph
        self.budget = budget
        measures = Measure if budget > 0.0 else (Measure.PATHS,)
        self._counters = [PathCounter(graph, depth, measure) for measure in measures]
        self._counts: list[dict[Key, int]] = [{} for _ in self._counters]
        self._none: Error = (0,) * len(self._counters)
        self._automaton = schema_automaton(graph)
        self._rules = MergeRules()
        self._inputs: dict[str, _Node] = {}
        self._nodes: dict[Key, _Node] = {}
        self._alone: dict[Key, _Node] = {}  # by merger, if it has only one part, as most have
        self._parts: dict[Key, dict[Key, _Node]] = {}
        self._tree = SubscriptionTree()
        self._perfect = Merging(graph, 0.0, depth) if budget > 0.0 else None

    @property
    def patterns(self) -> Mapping[str, Pattern]:
        """The patterns that are forwarded, by id; the id of a merger is made from its text."""
        return self._tree.uncovered

    def __len__(self) -> int:
        return len(self._inputs if self._perfect is None else self._perfect)

    def __contains__(self, id: object) -> bool:
        return id in (self._inputs if self._perfect is None else self._perfect)

    def add(self, id: str, pattern: Pattern) -> Change:
        """Add a pattern; return the change of the output."""
        return self.change([(id, pattern)], [])

    def remove(self, id: str) -> Change:
        """Remove a pattern, and the mergers that need it; return the change of the output."""
        return self.change([], [id])

    def change(self, added: Iterable[tuple[str, Pattern]], removed: Iterable[str]) -> Change:
        """Remove patterns, then add others; return the net change of the output."""
        if self._perfect is not None:
            change = self._perfect.change(added, removed)
            added, removed = change.forward, change.withdraw
        added, removed = list(added), list(removed)
        check_ids(added, removed, self._inputs)
        touched: dict[Key, _Node] = {}
        for id in removed:
            node = self._inputs.pop(id)
            del node.ids[id]
            touched[node.key] = node
        for id, pattern in added:
            node = self._node(self._rules.key(pattern), pattern)
            node.ids[id] = None
            self._inputs[id] = node
            touched[node.key] = node
        self._settle(touched)
        change = self._output_change(touched)
        return self._tree.change(change.forward, change.withdraw)

    def behind(self) -> dict[str, list[str]]:
        """Return, for each forwarded id, the ids of patterns that were merged into it or that it covers."""
        parts = {
            id: node.parts() if node.merged else [id] for node in self._nodes.values() for id in node.told
        }
        found = through(self._tree.behind(), parts)
        return found if self._perfect is None else through(found, self._perfect.behind())

    def _settle(self, touched: dict[Key, _Node]) -> None:
        """Make and unmake mergers in the fixed order, and add the nodes that change to ``touched``.

        A decision about one merger affects only later ones, so each merger is examined once.
        """
        waiting = _Waiting(self._rules)
        for each in touched.values():
            self._enter(each, waiting)
        for key in waiting:
            parts = self._parts.get(key, {})
            node = self._nodes.get(key)
            order = self._rules.order(key)
            free = [part for part in parts.values() if part.taker is None or part.taker.order >= order]
            error = self._error(key, parts) if len(free) > 1 else None
            if error is None and (node is None or not node.merged):
                continue
            if node is None:
                node = self._node(key)
            touched[key] = node
            taken = dict.fromkeys(free if error is not None else ())
            for part in [part for part in node.taken if part not in taken]:
                self._give(part, None, waiting, touched)
            for part in taken:
                self._give(part, node, waiting, touched)
            if error != node.error:
                node.error = error
                self._enter(node, waiting)

    def _enter(self, node: _Node, waiting: _Waiting) -> None:
        """Enter or remove a changed node below its mergers, and queue these mergers for examination."""
        present = bool(node.ids) or node.merged
        for key in self._rules.above(node.key):
            parts = self._parts.get(key)
            if parts is not None:
                if present:
                    parts[node.key] = node
                elif parts.pop(node.key, None) is not None and len(parts) == 1:
                    self._alone.update((key, other) for other in self._parts.pop(key).values())
                waiting.push(key)
            elif present:
                other = self._alone.setdefault(key, node)
                if other is not node:
                    self._parts[key] = {other.key: other, node.key: node}
                    del self._alone[key]
                    waiting.push(key)
            elif self._alone.get(key) is node:
                del self._alone[key]
        if not present and node.taker is not None:
            del node.taker.taken[node]
            node.taker = None

    def _give(self, part: _Node, taker: _Node | None, waiting: _Waiting, touched: dict[Key, _Node]) -> None:
        """Assign a part to a merger, or to none, and queue the later mergers of this part for examination."""
        before = part.taker
        if before is taker:
            return
        if before is not None:
            del before.taken[part]
        if taker is not None:
            taker.taken[part] = None
        part.taker = taker
        touched[part.key] = part
        after = min(each.order for each in (before, taker) if each is not None)
        for key in self._rules.above(part.key):
            if key in self._parts and self._rules.order(key) > after:
                waiting.push(key)

    def _error(self, key: Key, parts: dict[Key, _Node]) -> Error | None:
        """Return an upper bound of the excess of a merger; None if the excess is over the budget."""
        perfect = self._all_names(key, parts)
        if perfect is not None:
            return perfect
        largest = self._largest(parts)
        error = []
        for measure in range(len(self._counters)):
            excess = self._excess(measure, key, largest)
            if excess is None:
                return None
            error.append(excess)
        if self.budget == 0.0:
            patterns = [part.pattern for part in largest]
            if not self._rules.is_linear(key):
                return None
            if not self._counters[0].includes(patterns, self._rules.pattern(key)):
                return None
        return tuple(error)

    def _excess(self, measure: int, key: Key, parts: list[_Node]) -> int | None:
        """Return the excess of a merger by one measure; None if it is over the budget."""
        whole = self._count(measure, key)
        allowed = self.budget * whole
        inherited = sum(part.error[measure] for part in parts if part.error is not None)
        together = sum(self._count(measure, part.key) for part in parts)
        if whole == 0 or whole - together + inherited > allowed:
            return None
        excess = whole - self._counters[measure].count([part.pattern for part in parts]) + inherited
        return excess if excess <= allowed else None

    def _all_names(self, key: Key, parts: dict[Key, _Node]) -> Error | None:
        """Return the excess of parts that differ in one name, if they have all names the schema allows."""
        by_step: dict[int, list[_Node]] = {}
        for part in parts.values():
            if len(part.key) == len(key):
                differing = [at for at, number in enumerate(part.key) if number != key[at]]
                if (
                    len(differing) == 1
                    and self._rules.generalised(part.key[differing[0]]) == key[differing[0]]
                ):
                    by_step.setdefault(differing[0], []).append(part)
        for at, variants in by_step.items():
            named = 0
            for part in variants:
                named |= self._automaton.admitted(self._rules.steps[part.key[at]].test)
            if not self._standing(key, at) & ~named:
                errors = [part.error for part in variants if part.error is not None]
                return tuple(map(sum, zip(*errors, strict=True))) if errors else self._none
        return None

    def _standing(self, key: Key, at: int) -> int:
        """Return the schema positions of the elements that one step of a pattern can select in a match."""
        steps = [self._rules.steps[number] for number in key[1:]]
        automaton = self._automaton
        above = DOCUMENT
        for step in steps[:at]:
            above = automaton.step(above, step.axis, step.test)
        below = automaton.everywhere
        for step in reversed(steps[at:]):
            below = automaton.step_back(below & automaton.admitted(step.test), step.axis)
        return above & below

    def _largest(self, parts: dict[Key, _Node]) -> list[_Node]:
        """Return the parts that select most; ignoring the others can only make the degree larger."""
        if len(parts) <= COUNTED:
            return list(parts.values())
        ordered = sorted(parts.values(), key=lambda part: (-self._count(0, part.key), part.order))
        return ordered[:COUNTED]

    def _count(self, measure: int, key: Key) -> int:
        known = self._counts[measure]
        found = known.get(key)
        if found is None:
            if len(known) > MEMORY:
                known.clear()
            found = known[key] = self._counters[measure].count([self._rules.pattern(key)])
        return found

    def _node(self, key: Key, pattern: Pattern | None = None) -> _Node:
        node = self._nodes.get(key)
        if node is None:
            if pattern is None:
                pattern = self._rules.pattern(key)
            node = self._nodes[key] = _Node(key, pattern, self._rules.order(key))
        return node

    def _output_change(self, touched: dict[Key, _Node]) -> Change:
        """Return the change of the output, which concerns only touched nodes; unused nodes are deleted."""
        before: dict[str, Pattern] = {}
        after: dict[str, Pattern] = {}
        for key, node in touched.items():
            told: tuple[str, ...] = ()
            if node.taker is None:
                told = (MERGED + node.order[2],) if node.merged else tuple(node.ids)
            if told != node.told:
                before.update(dict.fromkeys(node.told, node.pattern))
                after.update(dict.fromkeys(told, node.pattern))
                node.told = told
            if not node.ids and not node.merged:
                del self._nodes[key]
        return net_change({id: before.get(id) for id in before | after}, after)


MEMORY = 1_000_000
"""The largest number of cached counts."""


@dataclass(slots=True, eq=False)
class _Node:
    """A pattern that is an input (with ``ids``), a merger that is made (with ``error``), or both."""

    key: Key
    pattern: Pattern
    order: Order
    ids: dict[str, None] = field(default_factory=dict)
    error: Error | None = None
    """An upper bound of the excess, if the pattern is a merger that is made."""
    taker: _Node | None = None
    taken: dict[_Node, None] = field(default_factory=dict)
    told: tuple[str, ...] = ()

    @property
    def merged(self) -> bool:
        return self.error is not None

    def parts(self) -> list[str]:
        """Return the ids of the inputs that the pattern was made from, and of those that have it."""
        ids = list(self.ids)
        for part in self.taken:
            ids += part.parts()
        return ids


class _Waiting:
    """A priority queue of mergers to examine, in the fixed order; it may grow while it is iterated."""

    def __init__(self, rules: MergeRules) -> None:
        self._rules = rules
        self._heap: list[Order] = []
        self._keys: set[Key] = set()

    def push(self, key: Key) -> None:
        if key not in self._keys:
            self._keys.add(key)
            heappush(self._heap, self._rules.order(key))

    def __iter__(self) -> Iterator[Key]:
        while self._heap:
            key = heappop(self._heap)[-1]
            self._keys.discard(key)
            yield key
