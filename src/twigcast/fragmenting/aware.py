"""Makes spans by what subscriptions ask for: see ``Aware``.

    hot   hot   cold  cold   cold         hot
    <a>   <b/>  <c>   <d/>   <d/> </c>    <b/> </a>
    └─────────┘ └────────────────────┘    └────────
     fragment 1  fragment 2: not parsed    fragment 3

An event is a start tag and what follows it, up to the next one.
The scanner stops before each start tag; the events since the last cut wait until it is known where the next
cut is.  What an index asks of a label path is looked up once, so the time grows with the document, and not
with the document times the subscriptions.
"""

from __future__ import annotations

from typing import NamedTuple

from twigcast.document import PathNumbers, TagReader
from twigcast.filtering import PartialMatcher
from twigcast.fragmenting.cut_rules import Aware
from twigcast.fragmenting.fragments import Fragment, OpenElement
from twigcast.fragmenting.headers import expanded_names
from twigcast.fragmenting.spans import CutDocument, ScanStop, SpanMaker

COLD_SHARE = 16
"""A cold part becomes a fragment if it has at least this part of the aim, since a fragment has its cost."""


class PathUse(NamedTuple):
    """What an index asks of the elements with one label path.

    ``is_cold``: they make no difference.  ``is_dead``: nor does anything in them.  ``is_whole``: the text in
    them, or in an element around them, is asked for.  ``conditions``: how many may hold on the path.
    """

    is_cold: bool
    is_dead: bool
    is_whole: bool
    conditions: int


class PathUses:
    """What an index asks of each label path of a document.

    With ``contents``, headers will say which label paths a fragment has, so that an element may be cold
    although something in it is not.
    """

    def __init__(
        self, matcher: PartialMatcher, paths: PathNumbers, tags: TagReader, *, contents: bool
    ) -> None:
        self._matcher = matcher
        self._paths = paths
        self._tags = tags
        self._contents = contents
        self._known = {0: PathUse(is_cold=False, is_dead=False, is_whole=False, conditions=0)}

    def __getitem__(self, number: int) -> PathUse:
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._asked(number)
        return known

    def _asked(self, number: int) -> PathUse:
        above = self[self._paths[number][0]]
        if above.is_dead:
            return above
        names = [
            f"{{{uri}}}{local}" if uri else local for uri, local in expanded_names(self._elements(number))
        ]
        if not self._matcher.interest(names, below=True):
            return PathUse(is_cold=True, is_dead=True, is_whole=False, conditions=above.conditions)
        found = self._matcher.interest(names, below=False)
        return PathUse(
            is_cold=self._contents and not found,
            is_dead=False,
            is_whole=above.is_whole or self._matcher.reads_text(names),
            conditions=above.conditions + found,
        )

    def _elements(self, number: int) -> list[OpenElement]:
        path = []
        while number:
            number, name, declared = self._paths[number]
            path.append(OpenElement(0, *self._tags.read(name, declared)))
        return path[::-1]


class Event(NamedTuple):
    """A start tag and what follows it up to the next one: its place, its label path, the depth before it."""

    start: int
    end: int
    elements: int
    path: int
    depth: int
    closes: int
    opens: list[tuple[int, bytes, bytes]]


class AwareMaker:
    """Makes the fragments of a document whose scanner stops before each start tag.

    Invariant: ``_events`` are those since the last cut, and from ``_cold`` on all of them are cold.
    """

    def __init__(self, document: CutDocument, cut: Aware, paths: PathNumbers) -> None:
        self._spans = SpanMaker(document)
        self._aim = cut.bytes
        self._lists_roots = document.kind != "edge"
        self._paths = paths
        contents = document.kind == "prefix+paths"
        self._uses = PathUses(cut.index.partials(), paths, document.tags, contents=contents)
        self._events: list[Event] = []
        self._cold = 0
        self._depth = 0
        self._end = 0
        self._passed = False  # whether no place before the aim will do

    @property
    def kept(self) -> int:
        """The offset of the first byte that is needed again."""
        return self._spans.kept

    def take(self, stop: ScanStop, view: memoryview, base: int) -> list[Fragment]:
        """The fragments that are complete at a stop; ``view`` has the document's bytes from ``base`` on."""
        made: list[Fragment] = []
        (path,) = stop.paths
        event = Event(self._end, stop.offset, stop.elements, path, self._depth, stop.closes, stop.opens)
        self._end = stop.offset
        self._depth += len(stop.opens) - stop.closes
        is_cold = self._uses[path].is_cold and event.depth > 0  # the fragment with the root is always parsed
        if not is_cold and self._has_cold_part():
            made += self._cut_cold(event, view, base)
        if self._events and event.start - self._spans.kept >= self._aim:
            place = self._best_place() or (len(self._events) if self._may_cut(event) else 0)
            if place:
                made += self._cut(place, view, base)
            self._passed = not place
        self._events.append(event)
        if not is_cold:
            self._cold = len(self._events)
        elif self._cold and self._has_cold_part() and self._may_cut(self._events[self._cold]):
            made += self._cut(self._cold, view, base)
        return made

    def finish(self, stop: ScanStop, view: memoryview, base: int) -> list[Fragment]:
        """The last fragments."""
        made = self.take(stop, view, base)
        return made + self._spans.finish(self._joined(self._events), view, base)

    def _has_cold_part(self) -> bool:
        """Whether the cold events at the end are worth a fragment."""
        if self._cold >= len(self._events):
            return False
        return (self._events[-1].end - self._events[self._cold].start) * COLD_SHARE >= self._aim

    def _may_cut(self, event: Event) -> bool:
        """Whether a cut before an event is in no element whose text is asked for."""
        return not self._uses[self._paths[event.path][0]].is_whole

    def _best_place(self) -> int:
        """The event from half of the aim on before which the fewest conditions are open; 0 for none."""
        if self._passed:
            return 0
        least, found = -1, 0
        from_here, until = self._spans.kept + self._aim // 2, self._spans.kept + self._aim
        for number in range(len(self._events) - 1, 0, -1):
            event = self._events[number]
            if event.start < from_here:
                break
            use = self._uses[self._paths[event.path][0]]
            if event.start <= until and not use.is_whole and (least < 0 or use.conditions < least):
                least, found = use.conditions, number
        return found

    def _cut_cold(self, hot: Event, view: memoryview, base: int) -> list[Fragment]:
        """End a cold part before a hot event, and before the elements around that event which begin here."""
        place = len(self._events)
        while place > self._cold + 1 and self._events[place - 1].opens:
            place -= 1
        first = hot if place == len(self._events) else self._events[place]
        return self._cut(place, view, base) if self._may_cut(first) else []

    def _cut(self, number: int, view: memoryview, base: int) -> list[Fragment]:
        """Make a fragment of the first events."""
        made = self._spans.take(self._joined(self._events[:number]), view, base)
        del self._events[:number]
        self._cold = max(0, self._cold - number)
        self._passed = False
        return made

    def _joined(self, events: list[Event]) -> ScanStop:
        """The stop at the end of some events, as if the scanner had not stopped between them."""
        closes = 0
        opens: list[tuple[int, bytes, bytes]] = []
        low = events[0].depth
        roots: dict[tuple[bytes, int], list[int]] = {}
        root: list[int] = [0, 0]
        for event in events:
            low = min(low, event.depth)
            if event.depth == low and self._lists_roots:
                root = roots.setdefault((self._paths[event.path][1], low), [0, 0])
                root[0] += 1
            root[1] = max(root[1], event.depth - low)
            ended = min(event.closes, len(opens))
            del opens[len(opens) - ended :]
            closes += event.closes - ended
            opens += event.opens
        return ScanStop(
            events[-1].end,
            events[-1].elements,
            closes,
            opens,
            [(name, depth, count, height) for (name, depth), (count, height) in roots.items()],
            list(dict.fromkeys(event.path for event in events)),
            [],
        )
