"""Fewer subscriptions that ask for little more: those that differ little are forwarded as one merger.

Each pattern stands below those that a rule of merging can make of it, and these in turn below others:

        /a/*/*                     held: /a/b/x  /a/b/y  /a/c/x
       /      \\                    x and y are all that the schema has below b: /a/b/* is merged,
    /a/b/*    /a/*/x               and takes /a/b/x and /a/b/y with it;
    /   \\     /    \\               for /a/*/x, only /a/c/x is left
 /a/b/x  /a/b/y  /a/c/x

The mergers that can be are looked at in a fixed order, the special before the vague.  One is made if two
patterns at least below it are not taken, and its degree (the share of the label paths it selects that no
pattern below it does) is within the budget; it takes them, and can then be taken itself.  The output is what
is not taken, less what a merger happens to cover; that is most of the gain, so a subscription tree comes
last.

Invariant: the output depends on the patterns held, and not on the order in which they came (but for the ids
of patterns that cover each other).  So the removal of a part undoes exactly what rests on it.
Cost: adding enters a pattern below some five mergers for each step; only those below which two or more
patterns meet are looked at.  Letting every merger within the budget be made, and choosing afterwards, was
tried first: patterns of nine steps have hundreds of equally good mergers each, and 3,000 took minutes.
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
from twigcast.routing.change import Change, check_ids, net_change
from twigcast.routing.subscription_tree import SubscriptionTree
from twigcast.schema import ElementGraph

Error: TypeAlias = tuple[int, ...]
"""What a merger selects too much, by each measure."""

COUNTED = 24
"""The most parts of a merger that its degree is computed from."""

MERGED = "merge:"
"""How the id of a merger begins; its canonical text follows."""


class Merging:
    """A set of patterns by id, and the smaller set that is forwarded in its place.

    ``budget`` is the largest degree that a merger may have.  0.0 admits perfect mergers only: those of which
    it is certain, at any depth, that every document of the schema that matches them matches a part.  With
    more, what perfect merging leaves is merged again, so that a larger budget never forwards more than none.
    The degree is kept by both measures of ``counting``: by paths alone, as the paper has it, ten thousand
    NITF patterns became ``//*`` at a degree of 0.1, and four in ten publications were false positives.
    Twigs are measured by their trunks, and are perfect only if they differ in one name.
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
        self._alone: dict[Key, _Node] = {}  # by merger, where there is one part only: by far the most
        self._parts: dict[Key, dict[Key, _Node]] = {}
        self._tree = SubscriptionTree()
        self._perfect = Merging(graph, 0.0, depth) if budget > 0.0 else None

    @property
    def patterns(self) -> Mapping[str, Pattern]:
        """What is forwarded, by id; a merger's id is made of its text."""
        return self._tree.uncovered

    def __len__(self) -> int:
        return len(self._inputs if self._perfect is None else self._perfect)

    def __contains__(self, id: object) -> bool:
        return id in (self._inputs if self._perfect is None else self._perfect)

    def add(self, id: str, pattern: Pattern) -> Change:
        """Hold one more pattern."""
        return self.change([(id, pattern)], [])

    def remove(self, id: str) -> Change:
        """Hold a pattern no longer; the mergers that rest on it are taken back."""
        return self.change([], [id])

    def change(self, added: Iterable[tuple[str, Pattern]], removed: Iterable[str]) -> Change:
        """Remove and add many at once; the answer is the net change of what is forwarded."""
        if self._perfect is not None:
            change = self._perfect.change(added, removed)
            added, removed = change.forward, change.withdraw
        coming, going = list(added), list(removed)
        check_ids(coming, going, self._inputs)
        touched: dict[Key, _Node] = {}
        for id in going:
            node = self._inputs.pop(id)
            del node.ids[id]
            touched[node.key] = node
        for id, pattern in coming:
            node = self._node(self._rules.key(pattern), pattern)
            node.ids[id] = None
            self._inputs[id] = node
            touched[node.key] = node
        self._settle(touched)
        change = self._told(touched)
        return self._tree.change(change.forward, change.withdraw)

    def _settle(self, touched: dict[Key, _Node]) -> None:
        """Make and unmake mergers, in the fixed order, until each is right; note which nodes that concerns.

        What is decided for one merger concerns later ones only, so each is looked at once.
        """
        waiting = _Waiting(self._rules)
        for each in touched.values():
            self._announce(each, waiting)
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
                self._announce(node, waiting)

    def _announce(self, node: _Node, waiting: _Waiting) -> None:
        """Enter a node that has come, gone or changed below its mergers, which are looked at again."""
        here = bool(node.ids) or node.merged
        for key in self._rules.above(node.key):
            parts = self._parts.get(key)
            if parts is not None:
                if here:
                    parts[node.key] = node
                elif parts.pop(node.key, None) is not None and len(parts) == 1:
                    self._alone.update((key, other) for other in self._parts.pop(key).values())
                waiting.push(key)
            elif here:
                other = self._alone.setdefault(key, node)
                if other is not node:
                    self._parts[key] = {other.key: other, node.key: node}
                    del self._alone[key]
                    waiting.push(key)
            elif self._alone.get(key) is node:
                del self._alone[key]
        if not here and node.taker is not None:
            del node.taker.taken[node]
            node.taker = None

    def _give(self, part: _Node, taker: _Node | None, waiting: _Waiting, touched: dict[Key, _Node]) -> None:
        """Let a merger take a part, from another perhaps; the mergers after it are looked at again."""
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
        """How much a merger selects beyond what is held, at most; None where it is too much."""
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
        """What a merger selects beyond what is held, by one measure, if that is within the budget."""
        whole = self._count(measure, key)
        allowed = self.budget * whole
        inherited = sum(part.error[measure] for part in parts if part.error is not None)
        together = sum(self._count(measure, part.key) for part in parts)
        if whole == 0 or whole - together + inherited > allowed:
            return None
        excess = whole - self._counters[measure].count([part.pattern for part in parts]) + inherited
        return excess if excess <= allowed else None

    def _all_names(self, key: Key, parts: dict[Key, _Node]) -> Error | None:
        """The errors of the parts that differ in one name, if they have all names the schema has there."""
        by_place: dict[int, list[_Node]] = {}
        for part in parts.values():
            if len(part.key) == len(key):
                places = [place for place, number in enumerate(part.key) if number != key[place]]
                if len(places) == 1 and self._rules.generalised(part.key[places[0]]) == key[places[0]]:
                    by_place.setdefault(places[0], []).append(part)
        for place, variants in by_place.items():
            named = 0
            for part in variants:
                named |= self._automaton.admitted(self._rules.steps[part.key[place]].test)
            if not self._standing(key, place) & ~named:
                errors = [part.error for part in variants if part.error is not None]
                return tuple(map(sum, zip(*errors, strict=True))) if errors else self._none
        return None

    def _standing(self, key: Key, place: int) -> int:
        """The positions of the schema at which a step of a pattern can stand where the pattern matches."""
        steps = [self._rules.steps[number] for number in key[1:]]
        automaton = self._automaton
        above = DOCUMENT
        for step in steps[:place]:
            above = automaton.step(above, step.axis, step.test)
        below = automaton.everywhere
        for step in reversed(steps[place:]):
            below = automaton.step_back(below & automaton.admitted(step.test), step.axis)
        return above & below

    def _largest(self, parts: dict[Key, _Node]) -> list[_Node]:
        """The parts that select most; what others add is left out, so that the degree is never too small."""
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

    def _told(self, touched: dict[Key, _Node]) -> Change:
        """What the nodes concerned now put out, against what they did; nodes that are nothing are let go."""
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
"""Sizes of patterns that are remembered before they are counted anew."""


@dataclass(slots=True, eq=False)
class _Node:
    """A pattern that is held, or merged, or both."""

    key: Key
    pattern: Pattern
    order: Order
    ids: dict[str, None] = field(default_factory=dict)
    error: Error | None = None
    """If it is merged: what it selects beyond what is held, at most."""
    taker: _Node | None = None
    taken: dict[_Node, None] = field(default_factory=dict)
    told: tuple[str, ...] = ()

    @property
    def merged(self) -> bool:
        return self.error is not None


class _Waiting:
    """Mergers to look at, each once, in the fixed order; more may come while it is walked."""

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
