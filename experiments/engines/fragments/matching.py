"""The reference engine for documents in fragments: follows section 5.4 of the thesis, with its gaps closed.

    header ─► entry points ─► schedule ─► evaluate ─► joins ─► decided: yes
                   ▲                                    │
                   └──── drop redundant, unnecessary ◄──┘      no: a leaf without a match, and none can come

It is slow and simple, and stands beside ``FragmentIndex`` as XTrie and YFilter stand beside ``Index``.  Its
patterns are twigs of elements: names, ``*``, ``/``, ``//`` and nested paths.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Literal, TypeAlias

from experiments.engines.fragments.elimination import Elimination
from experiments.engines.fragments.entry_points import EntryPoint
from experiments.engines.fragments.evaluation import Evaluator
from experiments.engines.fragments.joins import Joins
from experiments.engines.fragments.known_headers import KnownHeaders
from experiments.engines.fragments.node_table import NodeTable
from twigcast.errors import PatternError
from twigcast.filtering import duplicate_id, unknown_id
from twigcast.fragmenting.fragments import Fragment, Header, fragment_number
from twigcast.fragmenting.headers import Manifest, opening_of
from twigcast.fragmenting.scheduling.contexts import ContextElement
from twigcast.fragmenting.scheduling.policies import POLICIES, Agenda, Outlook, PolicyName
from twigcast.fragmenting.scheduling.prefix_tree import PrefixTree, bits
from twigcast.fragmenting.scheduling.queries import Query
from twigcast.fragmenting.scheduling.relevance import Relevance, lists_elements
from twigcast.fragmenting.scheduling.windows import Window
from twigcast.pattern import Pattern

Eliminate: TypeAlias = Literal["", "+", "-", "+-"]
"""Which pairs are dropped while fragments are evaluated: redundant ones (+), unnecessary ones (-)."""


@dataclass(frozen=True, slots=True)
class ThesisOptions:
    """The schedule, the size of its window, and the dynamic optimizations; none changes an answer."""

    policy: PolicyName = "S"
    window: float = inf
    eliminate: Eliminate = ""


@dataclass(slots=True)
class ThesisWork:
    """What matching a document took: fragments and elements parsed, and seconds by the caller's clock."""

    order: list[int] = field(default_factory=list)
    """The numbers of the evaluated fragments, in order."""
    elements: int = 0
    headers: float = 0.0
    scheduling: float = 0.0
    evaluation: float = 0.0

    @property
    def seconds(self) -> float:
        """The time of all its parts together."""
        return self.headers + self.scheduling + self.evaluation


class ThesisEngine:
    """Matches documents in fragments against element twigs, in plain Python."""

    def __init__(self, options: ThesisOptions | None = None) -> None:
        self.options = options or ThesisOptions()
        self._queries: dict[Hashable, Query] = {}
        self._compiled: tuple[PrefixTree, NodeTable] | None = None

    def add(self, id: Hashable, pattern: Pattern) -> None:
        """Add a pattern; raises ``PatternError`` if it is not one twig of elements."""
        if id in self._queries:
            raise duplicate_id(id)
        query = Query.of(pattern)
        if not query.structural:
            raise PatternError(
                "the reference engine for fragments takes one twig of elements, without conditions",
                code="unsupported",
                text=str(pattern),
                column=1,
                expected="names, '*', '/', '//' and nested paths",
            )
        self._queries[id] = query
        self._compiled = None

    def remove(self, id: Hashable) -> None:
        """Remove a pattern; raises ``SubscriptionError`` if there is none of this id."""
        if id not in self._queries:
            raise unknown_id(id)
        del self._queries[id]
        self._compiled = None

    def __len__(self) -> int:
        return len(self._queries)

    def document(
        self, manifest: Manifest | None = None, clock: Callable[[], float] = lambda: 0.0
    ) -> ThesisMatching:
        """Begin a document; with a manifest its headers are known from the beginning.

        ``clock`` returns seconds, for the work that is reported.
        """
        if self._compiled is None:
            tree = PrefixTree(tuple(self._queries.values()))
            self._compiled = tree, NodeTable.of(tree)
        return ThesisMatching(tuple(self._queries), *self._compiled, self.options, manifest, clock)

    def match(self, fragments: Iterable[Fragment], manifest: Manifest | None = None) -> tuple[Hashable, ...]:
        """The ids of the patterns that match a document, from all its fragments in any order."""
        matching = self.document(manifest)
        for fragment in fragments:
            matching.add(fragment)
        matching.finish()
        return matching.ids


class ThesisMatching:
    """One document while its fragments come: what is decided, and what it took."""

    def __init__(
        self,
        ids: tuple[Hashable, ...],
        tree: PrefixTree,
        table: NodeTable,
        options: ThesisOptions,
        manifest: Manifest | None,
        clock: Callable[[], float],
    ) -> None:
        self._ids = ids
        self._tree = tree
        self._table = table
        self._policy = POLICIES[options.policy]
        self._clock = clock
        self._window = Window(options.window)
        self._known = KnownHeaders()
        self._relevance = Relevance(tree)
        self._outlook = Outlook(tree)
        self._joins = Joins(table)
        self._evaluator = Evaluator(tree, table, self._relevance.contexts, self._joins)
        self._eliminates = bool(options.eliminate)
        self._elimination = Elimination(
            table, self._joins, redundant="+" in options.eliminate, unnecessary="-" in options.eliminate
        )
        self._points: dict[int, list[dict[EntryPoint, int]]] = {}
        """By fragment and run: the entry points, and how many subtrees each has."""
        self._useful: list[dict[EntryPoint, ContextElement]] = [{} for _ in ids]
        """By query: the entry points that are worth an evaluation, each with the element above it."""
        self._carriers: dict[EntryPoint, set[int]] = {}
        """By entry point: the unevaluated fragments that have it."""
        self._by_header: dict[int, int] = {}
        """By fragment, of kinds that say more or less than entry points: the relevant query nodes."""
        self._unlisted: set[int] = set()
        """The fragments whose headers do not list their elements."""
        self._openings: dict[str, bytes] = {}
        self._arrived: dict[int, Fragment] = {}
        self._waiting: dict[int, Fragment] = {}
        self.answers: dict[Hashable, bool] = {}
        """What is decided so far, by id."""
        self.work = ThesisWork()
        if manifest is not None:
            start = clock()
            for header in manifest.headers:
                self._relevance.learn(header)
            for header in manifest.headers:
                self._read_header(header)
            self.work.headers += clock() - start
            self._settle(range(len(ids)))

    @property
    def ids(self) -> tuple[Hashable, ...]:
        """The ids of the patterns that match, as far as is known, in the order they were added."""
        return tuple(id for id in self._ids if self.answers.get(id))

    @property
    def decided(self) -> bool:
        """Whether all patterns are decided."""
        return len(self.answers) == len(self._ids)

    def relevant(self, number: int) -> frozenset[tuple[Hashable, int]]:
        """The query nodes, by id and number, that a fragment is still to be evaluated for."""
        members = self._tree.members(self._outlook.relevant.get(number, 0))
        return frozenset((self._ids[query], node) for query, node in members)

    def add(self, fragment: Fragment) -> None:
        """Take a fragment; when its window is full, the window's fragments are evaluated.

        A fragment that has come before is ignored.
        """
        if fragment.number in self._arrived:
            return
        self._arrived[fragment.number] = fragment
        if fragment.starts_document:
            self._openings[fragment.opening.digest] = opening_of(fragment).text or b""
        self._evaluate(self._window.add(fragment))

    def flush(self) -> None:
        """Evaluate the fragments that wait for their window to be full."""
        self._evaluate(self._window.flush())

    def finish(self) -> None:
        """End the document: if all fragments have come, what is undecided does not match."""
        self.flush()
        if self._known.complete and all(number in self._arrived for number in self._points):
            for id in self._ids:
                self.answers.setdefault(id, False)

    def _evaluate(self, fragments: list[Fragment]) -> None:
        if not fragments or self.decided:
            return
        start = self._clock()
        for fragment in fragments:
            self._relevance.learn(fragment.header)
        known = [self._read_header(fragment.header) for fragment in fragments]
        self._waiting |= {fragment.number: fragment for fragment in fragments}
        self.work.headers += self._clock() - start
        if any(known):
            self._settle(range(len(self._ids)))
        start = self._clock()
        agenda = Agenda(self._policy, self._outlook, [*self._waiting])
        unready: list[int] = []
        while (number := agenda.take()) is not None:
            if not self._is_ready(self._waiting[number]):
                unready.append(number)
                continue
            self.work.scheduling += self._clock() - start
            self._evaluate_one(self._waiting.pop(number))
            start = self._clock()
            for each in unready:
                agenda.put(each)
            unready = []
        self.work.scheduling += self._clock() - start
        self._waiting = {number: self._waiting[number] for number in unready}

    def _is_ready(self, fragment: Fragment) -> bool:
        """Whether the elements above a fragment and the opening that its parser needs are known."""
        contexts = self._relevance.contexts
        opening = fragment.starts_document or self._opening(fragment) is not None
        return opening and all(contexts.of(run) is not None for run in fragment.runs)

    def _opening(self, fragment: Fragment) -> bytes | None:
        text = fragment.opening.text
        return text if text is not None else self._openings.get(fragment.opening.digest)

    def _evaluate_one(self, fragment: Fragment) -> None:
        start = self._clock()
        number, outlook = fragment.number, self._outlook
        opening = self._opening(fragment) or b""
        for run, points in zip(fragment.runs, self._points[number], strict=True):
            inner = self._relevance.contexts.of(run)
            assert inner is not None
            entering = outlook.relevant[number]
            if number not in self._unlisted:
                entering = self._entering(points)
            active = outlook.below(entering)
            self._evaluator.evaluate(fragment, run, inner, active, outlook.undecided, opening)
        touched = {query for query, _ in self._tree.members(outlook.relevant[number])}
        self.work.order.append(number)
        self.work.elements += fragment.elements
        outlook.evaluated(number)
        for point in {point for points in self._points[number] for point in points}:
            self._carriers[point].discard(number)
            if not self._carriers[point]:
                self._useful[self._table.query[point.node]].pop(point, None)
        self.work.evaluation += self._clock() - start
        self._settle(touched)

    def _read_header(self, header: Header) -> bool:
        """Find the entry points of a fragment; returns whether its header is new."""
        if not self._known.add(header):
            return False
        number, undecided = header.number, self._outlook.undecided
        self._outlook.parents[number] = {fragment_number(run.parent) for run in header.runs}
        self._points[number] = [{} for _ in header.runs]
        for place, element, mask, count in self._relevance.entering(header):
            points = self._points[number][place]
            for node in bits(mask & undecided):
                point = EntryPoint(element.id, node)
                points[point] = points.get(point, 0) + count
                self._useful[self._table.query[node]].setdefault(point, element)
                self._carriers.setdefault(point, set()).add(number)
        if not lists_elements(header):
            self._unlisted.add(number)
        if number in self._unlisted or header.kind == "prefix+paths":
            self._by_header[number] = self._relevance.nodes(header)
        if header.kind == "prefix+paths":
            self._outlook.paths[number] = self._by_header[number]
        self._note(number)
        return True

    def _entering(self, points: Iterable[EntryPoint]) -> int:
        """The query nodes of those entry points that are useful."""
        found = 0
        for point in points:
            if point in self._useful[self._table.query[point.node]]:
                found |= 1 << point.node
        return found

    def _note(self, number: int) -> None:
        """Tell the outlook which query nodes an unevaluated fragment is relevant for."""
        subtrees: dict[int, int] = {}
        relevant = 0
        for points in self._points[number]:
            relevant |= self._entering(points)
            for point, count in points.items():
                subtrees[point.node] = subtrees.get(point.node, 0) + count
        if (by_header := self._by_header.get(number)) is not None:
            relevant = (
                by_header & self._outlook.below(relevant) if number not in self._unlisted else by_header
            )
        self._outlook.note(number, relevant, subtrees)

    def _settle(self, touched: Iterable[int]) -> None:
        """Conclude from what is known: queries that match, pairs to drop, queries that do not match."""
        start = self._clock()
        for query in self._joins.matched:
            self._decide(query, True)
        if self._eliminates:
            for query in touched:
                if self._outlook.is_open(query):
                    self._eliminate(query)
        if self._known.complete:
            for query in range(len(self._ids)):
                if self._outlook.is_open(query) and self._is_refuted(query):
                    self._decide(query, False)
        self.work.scheduling += self._clock() - start

    def _decide(self, query: int, answer: bool) -> None:
        if self._ids[query] not in self.answers:
            self.answers[self._ids[query]] = answer
            self._outlook.decide(query)
            self._useful[query].clear()

    def _eliminate(self, query: int) -> None:
        """Drop the entry points of a query that are not useful any more."""
        outlook, useful = self._outlook, self._useful[query]
        nodes = outlook.nodes(query)
        while useful:
            kept = self._elimination.useful(
                useful,
                lambda number: bool(outlook.relevant.get(number, 0) & nodes),
                all_headers=self._known.complete and not self._unlisted,
            )
            dropped = [point for point in useful if point not in kept]
            if not dropped:
                return
            for point in dropped:
                del useful[point]
            for number in {number for point in dropped for number in self._carriers[point]}:
                self._note(number)

    def _is_refuted(self, query: int) -> bool:
        """Whether a query cannot match: a leaf has no match and no fragment, or no fragment is left."""
        first = self._tree.first[query]
        nodes = self._tree.queries[query].nodes[1:]
        counts = [self._outlook.fragments(first + node.number) for node in nodes]
        return not any(counts) or any(
            not count and not node.children and not self._evaluator.seen >> first + node.number & 1
            for node, count in zip(nodes, counts, strict=True)
        )
