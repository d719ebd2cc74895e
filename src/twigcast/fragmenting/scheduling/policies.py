"""In which order fragments are evaluated: six policies, as functions of scores.

    T   parents before children            S   most specific: the longest named prefix that is relevant
    R   children before parents            M   maximal matching: the most relevant subtrees
    N   novelty: the most queries that new label paths make reachable
    C   most critical: query nodes that few fragments can match come first

A policy gives each fragment a score; the least comes first, and of equal ones the lowest fragment number.
Scores change when a query is decided or a pair is dropped.  With T, R, S, M and N a score only ever gets
worse, so an ``Agenda`` computes it again for the fragment that would be next, and for no other; with C any
score may change in both directions, and all are computed again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from twigcast.fragmenting.scheduling.prefix_tree import PrefixTree, bits

PolicyName: TypeAlias = Literal["T", "R", "S", "M", "C", "N"]
"""The letter of a policy."""

Score: TypeAlias = tuple[float, ...]
Scores: TypeAlias = Callable[[int], Score]


class Outlook:
    """What unevaluated fragments may still show, by fragment number: the relation R of undecided queries.

    ``parents`` has, for each fragment, the fragments in which its runs belong; ``paths`` has the query nodes
    that fit on a label path of each, if headers say so.
    """

    def __init__(self, tree: PrefixTree) -> None:
        self.tree = tree
        self.parents: dict[int, set[int]] = {}
        self.paths: dict[int, int] = {}
        self.seen_paths = 0
        self.relevant: dict[int, int] = {}
        self.undecided = (1 << tree.first[-1]) - 1
        self._subtrees: dict[int, Mapping[int, int]] = {}
        self._possible: dict[int, int] = {}
        self._fragments = [0] * tree.first[-1]
        self._specificity: dict[int, tuple[int, int]] = {}
        self._below = [
            sum(tree.bit(number, each.number) for each in query.descendants(node.number))
            for number, query in enumerate(tree.queries)
            for node in query.nodes
        ]
        self._queries = [
            sum(tree.bit(number, node.number) for node in query.nodes)
            for number, query in enumerate(tree.queries)
        ]

    def note(self, fragment: int, nodes: int, subtrees: Mapping[int, int]) -> None:
        """Set the query nodes a fragment is relevant for; ``subtrees`` says how many subtrees for each."""
        self.relevant[fragment] = nodes & self.undecided
        self._subtrees[fragment] = subtrees
        self._count(fragment)

    def evaluated(self, fragment: int) -> None:
        """Take a fragment out: it shows nothing new from now on."""
        self.seen_paths |= self.paths.get(fragment, 0)
        self.note(fragment, 0, {})
        del self.relevant[fragment]

    def decide(self, query: int) -> None:
        """Take the pairs of a query out."""
        self.undecided &= ~self._queries[query]
        for fragment, nodes in self.relevant.items():
            if nodes & self._queries[query]:
                self.relevant[fragment] = nodes & self.undecided
                self._count(fragment)

    def nodes(self, query: int) -> int:
        """The query nodes of a query."""
        return self._queries[query]

    def is_open(self, query: int) -> bool:
        """Whether a query is undecided."""
        return bool(self.undecided & self._queries[query])

    def below(self, nodes: int) -> int:
        """A set of query nodes and all nodes below them."""
        found = 0
        for node in bits(nodes):
            found |= self._below[node]
        return found

    def possible(self, fragment: int) -> int:
        """Q(f): the query nodes that a fragment is relevant for, and those below them."""
        return self._possible[fragment]

    def fragments(self, node: int) -> int:
        """|F(q)|: how many fragments are relevant for a query node or for one above it."""
        return self._fragments[node]

    def specificity(self, fragment: int) -> int:
        """The sum over queries of the most named steps in a prefix that is relevant."""
        nodes = self.relevant[fragment]
        known = self._specificity.get(fragment)
        if known is None or known[0] != nodes:
            most: dict[int, int] = {}
            for query, number in self.tree.members(nodes):
                named = self.tree.queries[query].nodes[number].specificity
                most[query] = max(most.get(query, 0), named)
            known = self._specificity[fragment] = nodes, sum(most.values())
        return known[1]

    def matching(self, fragment: int) -> int:
        """The sum over query nodes of the subtrees that are relevant for them."""
        subtrees = self._subtrees[fragment]
        return sum(subtrees.get(node, 1) for node in bits(self.relevant[fragment]))

    def novelty(self, fragment: int) -> int:
        """The number of queries of which a leaf fits on a label path here and on none evaluated so far."""
        new = self.paths.get(fragment, self.relevant[fragment]) & ~self.seen_paths & self.undecided
        leaves = {
            query
            for query, number in self.tree.members(new)
            if not self.tree.queries[query].nodes[number].children
        }
        return len(leaves)

    def critical(self) -> int:
        """The query nodes for which the fewest fragments are left in their query, of those that have any."""
        found = 0
        for number, query in enumerate(self.tree.queries):
            if self.is_open(number):
                first = self.tree.first[number]
                counts = self._fragments[first + 1 : first + len(query)]
                least = min((count for count in counts if count), default=0)
                if least:
                    found |= sum(
                        1 << first + 1 + place for place, count in enumerate(counts) if count == least
                    )
        return found

    def _count(self, fragment: int) -> None:
        before = self._possible.get(fragment, 0)
        after = self._possible[fragment] = self.below(self.relevant[fragment])
        for node in bits(before & ~after):
            self._fragments[node] -= 1
        for node in bits(after & ~before):
            self._fragments[node] += 1


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy: how it makes the scores of fragments, and whether these only ever get worse."""

    name: PolicyName
    title: str
    scores: Callable[[Outlook, Collection[int]], Scores]
    worsens_only: bool = True


class Agenda:
    """The fragments that wait to be evaluated, in the order of a policy.

    Invariant: the score in the heap is never worse than the fragment's score would be now, unless the policy
    says otherwise; so the first fragment whose score is up to date is the best.
    """

    def __init__(self, policy: Policy, outlook: Outlook, numbers: Collection[int]) -> None:
        self._policy = policy
        self._outlook = outlook
        self._scores = policy.scores(outlook, numbers)
        relevant = (number for number in numbers if outlook.relevant.get(number))
        self._heap = [(self._scores(number), number) for number in relevant]
        heapq.heapify(self._heap)

    def put(self, number: int) -> None:
        """Put a fragment back that could not be evaluated yet."""
        heapq.heappush(self._heap, (self._scores(number), number))

    def take(self) -> int | None:
        """Remove and return the next fragment that is relevant; ``None`` if there is none."""
        if not self._policy.worsens_only:
            waiting = [number for _, number in self._heap if self._outlook.relevant.get(number)]
            self._scores = self._policy.scores(self._outlook, waiting)
            self._heap = sorted((self._scores(number), number) for number in waiting)
            return self._heap.pop(0)[1] if self._heap else None
        while self._heap:
            score, number = self._heap[0]
            if not self._outlook.relevant.get(number):
                heapq.heappop(self._heap)
                continue
            now = self._scores(number)
            if now == score:
                heapq.heappop(self._heap)
                return number
            heapq.heapreplace(self._heap, (now, number))
        return None


def _topological(outlook: Outlook, numbers: Collection[int]) -> Scores:
    return _ranks(numbers, outlook.parents)


def _reverse_topological(outlook: Outlook, numbers: Collection[int]) -> Scores:
    children: dict[int, set[int]] = {number: set() for number in numbers}
    for number in numbers:
        for parent in outlook.parents.get(number, ()):
            children.get(parent, set()).add(number)
    return _ranks(numbers, children)


def _ranks(numbers: Collection[int], before: Mapping[int, Iterable[int]]) -> Scores:
    """Ranks in an order in which the fragments ``before`` a fragment come first.

    Fragments may form a cycle, though their runs are a tree: then the lowest number goes on.
    """
    waiting = {number: {each for each in before.get(number, ()) if each in numbers} for number in numbers}
    after: dict[int, list[int]] = {number: [] for number in numbers}
    for number, others in waiting.items():
        others.discard(number)
        for other in others:
            after[other].append(number)
    ready = [number for number, others in waiting.items() if not others]
    heapq.heapify(ready)
    ranks: dict[int, Score] = {}
    lowest = iter(sorted(waiting))
    while len(ranks) < len(waiting):
        number = heapq.heappop(ready) if ready else next(each for each in lowest if each not in ranks)
        if number in ranks:
            continue
        ranks[number] = (len(ranks),)
        for each in after[number]:
            waiting[each].discard(number)
            if not waiting[each]:
                heapq.heappush(ready, each)
    return ranks.__getitem__


def _most_specific(outlook: Outlook, numbers: Collection[int]) -> Scores:
    return lambda number: (-outlook.specificity(number),)


def _maximal_matching(outlook: Outlook, numbers: Collection[int]) -> Scores:
    return lambda number: (-outlook.matching(number),)


def _novelty(outlook: Outlook, numbers: Collection[int]) -> Scores:
    return lambda number: (-outlook.novelty(number),)


def _most_critical(outlook: Outlook, numbers: Collection[int]) -> Scores:
    critical = outlook.critical()

    def score(number: int) -> Score:
        nodes = outlook.possible(number)
        mean = sum(map(outlook.fragments, bits(nodes))) / max(1, nodes.bit_count())
        return (0 if nodes & critical else 1, mean)

    return score


POLICIES: Mapping[PolicyName, Policy] = {
    policy.name: policy
    for policy in (
        Policy("T", "topological", _topological),
        Policy("R", "reverse topological", _reverse_topological),
        Policy("S", "most specific", _most_specific),
        Policy("M", "maximal matching", _maximal_matching),
        Policy("C", "most critical", _most_critical, worsens_only=False),
        Policy("N", "novelty", _novelty),
    )
}
"""The policies by their letters."""
