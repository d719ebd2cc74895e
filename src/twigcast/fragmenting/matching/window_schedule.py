"""Which fragments of a window are evaluated, and in which order.

Without a schedule fragments are evaluated in the order of their arrival, and the kernel's automaton says
whether one makes a difference to any subscription.  With a schedule the queries of all subscriptions are
known one by one (``scheduling``), so that a subscription which is decided no longer counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from twigcast.filtering import Index, PartialMatcher
from twigcast.fragmenting.fragments import Fragment, Header, fragment_number
from twigcast.fragmenting.headers import Manifest, PathDictionary, expanded_names
from twigcast.fragmenting.scheduling import (
    POLICIES,
    Agenda,
    Outlook,
    PolicyName,
    PrefixTree,
    Query,
    Relevance,
    Window,
    bits,
    lists_elements,
)


class WindowSchedule:
    """The fragments of one document that wait for their window to be full, and the order of evaluation."""

    def __init__(
        self, index: Index, matcher: PartialMatcher, schedule: PolicyName | None, window: float
    ) -> None:
        self._matcher = matcher
        self._window = Window(window)
        self._paths = PathDictionary()
        self._policy = None if schedule is None else POLICIES[schedule]
        self._interests: dict[int, bool] = {}
        self._depth = index.limits.depth
        self._noted: set[int] = set()
        self.held_bytes = 0
        if self._policy is not None:
            patterns = index.patterns()
            tree = PrefixTree([Query.of(pattern) for _, pattern in patterns])
            self._query_of: dict[Hashable, int] = {id: number for number, (id, _) in enumerate(patterns)}
            self._relevance = Relevance(tree)
            self._outlook = Outlook(tree)

    def __len__(self) -> int:
        return len(self._window)

    def expect(self, manifest: Manifest) -> None:
        """Learn the headers of all fragments."""
        for header in manifest.headers:
            self._learn(header)

    def add(self, fragment: Fragment) -> list[Fragment]:
        """Add a fragment; returns the fragments to evaluate now, in order."""
        self._learn(fragment.header)
        self.held_bytes += len(fragment.body)
        return self._ordered(self._window.add(fragment))

    def flush(self) -> list[Fragment]:
        """End the window early; returns the fragments to evaluate, in order."""
        return self._ordered(self._window.flush())

    def evaluated(self, fragment: Fragment) -> None:
        """Note that a fragment was evaluated."""
        if self._policy is not None and fragment.number in self._outlook.relevant:
            self._outlook.evaluated(fragment.number)

    def decided(self, ids: Iterable[Hashable]) -> None:
        """Note that subscriptions are certain: fragments that matter only to them are not needed any more."""
        if self._policy is not None:
            for id in ids:
                self._outlook.decide(self._query_of[id])

    def is_relevant(self, fragment: Fragment) -> bool:
        """Whether the fragment may make a difference to the answer, by its header."""
        header = fragment.header
        if not lists_elements(header) or any(run.context is None for run in header.runs):
            return True
        if header.paths is not None:
            found = self._by_paths(header)
            if found is not None:
                return found
        return any(self._by_roots(header))

    def _learn(self, header: Header) -> None:
        if header.paths is not None:
            self._paths.add(header.paths)
        if self._policy is None or header.number in self._noted:
            return
        self._noted.add(header.number)
        self._relevance.learn(header)
        nodes = self._relevance.nodes(header)
        self._outlook.parents[header.number] = {fragment_number(run.parent) for run in header.runs}
        if header.paths is not None:
            self._outlook.paths[header.number] = nodes
        subtrees: dict[int, int] = {}
        for _, _, mask, count in self._relevance.entering(header):
            for node in bits(mask):
                subtrees[node] = subtrees.get(node, 0) + count
        self._outlook.note(header.number, nodes, subtrees)

    def _ordered(self, fragments: list[Fragment]) -> list[Fragment]:
        self.held_bytes -= sum(len(fragment.body) for fragment in fragments)
        if self._policy is None or len(fragments) < 2:
            return fragments
        by_number = {fragment.number: fragment for fragment in fragments}
        agenda = Agenda(self._policy, self._outlook, by_number)
        ordered = []
        while (number := agenda.take()) is not None:
            ordered.append(by_number.pop(number))
            self._outlook.evaluated(number)
        return ordered + list(by_number.values())

    def _by_paths(self, header: Header) -> bool | None:
        """Whether some label path in the fragment counts; ``None`` if one is unknown or beyond the limit."""
        assert header.paths is not None
        for number in header.paths.numbers:
            depth = self._paths.depth(number)
            if depth is None or depth > self._depth:
                return None
            if self._has_interest(number):
                return True
        return any(self._needs_text(header))

    def _has_interest(self, number: int) -> bool:
        """Whether an element with a label path that is known makes a difference."""
        known = self._interests.get(number)
        if known is None:
            path = self._paths.expanded(number)
            assert path is not None
            known = bool(self._matcher.interest(list(map(_spelled, path)), below=False))
            self._interests[number] = known
        return known

    def _needs_text(self, header: Header) -> Iterable[bool]:
        """Whether the string-value of an element around the fragment is asked for."""
        for run in header.runs:
            names = list(map(_spelled, expanded_names(run.context or ())))
            yield self._matcher.reads_text(names)

    def _by_roots(self, header: Header) -> Iterable[bool]:
        for run in header.runs:
            context = run.context or ()
            for root in run.roots:
                names = list(map(_spelled, expanded_names(context[: root.depth])))
                local = root.name.rpartition(":")[2]
                yield bool(self._matcher.interest([*names, local], below=True, any_namespace=True))
        yield from self._needs_text(header)


def _spelled(name: tuple[str, str]) -> str:
    namespace, local = name
    return f"{{{namespace}}}{local}" if namespace else local
