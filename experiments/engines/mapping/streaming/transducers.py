"""One transducer for each operator: it takes events, changes what concerns it, and gives events to the next.

An operator that delays elements holds them in a cached tree, which is a list of events.  When it lets go of
them, they are written into the next transducer, which may be caching itself: so operators on what other
operators moved need no special case.

    operator                  holds                          until
    Rename, ToElement         nothing
    InsertEach, InsertAll     nothing
    Hide                      nothing
    Insert                    the members of one E           before the end of E
    Upgrade, UpgradeAll       the members of one E           after the end of E
    Downgrade                 members and holders of one E   before the end of E
    Exchange                  one E; the rest of it once     the end of E
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from experiments.engines.mapping.streaming.events import (
    EndEvent,
    Event,
    StartEvent,
    TextEvent,
    held_bytes,
    image_size,
)
from twigcast.rewriting.documents import CopyBudget
from twigcast.rewriting.labels import QName, parent_key
from twigcast.rewriting.operators import (
    AppliedOperator,
    Downgrade,
    Exchange,
    Hide,
    Insert,
    InsertAll,
    InsertEach,
    Keys,
    Rename,
    ToElement,
    Upgrade,
    UpgradeAll,
    was_attribute_of,
)

Emit: TypeAlias = Callable[[Event], None]
_CachedTree: TypeAlias = list[Event]


class CachedBytes:
    """How many bytes all cached trees of a document hold now, and have held at most."""

    def __init__(self) -> None:
        self.now = self.largest = 0

    def add(self, event: Event) -> None:
        self.now += held_bytes(event)
        self.largest = max(self.largest, self.now)

    def remove(self, event: Event) -> None:
        self.now -= held_bytes(event)


@dataclass(frozen=True, slots=True)
class Line:
    """Where a transducer writes, and what all transducers of a document share."""

    emit: Emit
    cached: CachedBytes
    budget: CopyBudget


class Transducer:
    """Passes every event on; the subclasses change what concerns their operator.

    ``open`` has the keys of the open elements.  While ``tree`` is set, all events go into this cached tree,
    until the element ends that was the first in it: no operator concerns what is inside of its own members.
    """

    def __init__(self, line: Line) -> None:
        self.emit, self.cached, self.budget = line.emit, line.cached, line.budget
        self.open: list[str | None] = []
        self.tree: _CachedTree | None = None
        self.tree_depth = 0

    def feed(self, event: Event) -> None:
        if self.tree is not None:
            self._hold(event, self.tree)
        elif isinstance(event, StartEvent):
            self.start(event, self.open[-1] if self.open else None)
            if self.tree is None:
                self.open.append(event.key)
        elif isinstance(event, EndEvent):
            self.end(self.open.pop())
        else:
            self.content(event)

    def start(self, event: StartEvent, parent: str | None) -> None:
        """An element begins; ``parent`` is the key of the element around it."""
        self.emit(event)

    def content(self, event: Event) -> None:
        """A text, comment or instruction."""
        self.emit(event)

    def end(self, key: str | None) -> None:
        """The element with this key ends."""
        self.emit(EndEvent())

    def hold(self, event: StartEvent, tree: _CachedTree) -> None:
        """Put the element that begins, and all in it, into a cached tree."""
        self.tree, self.tree_depth = tree, 0
        self._hold(event, tree)

    def _hold(self, event: Event, tree: _CachedTree) -> None:
        self.keep(event, tree)
        self.tree_depth += isinstance(event, StartEvent)
        self.tree_depth -= isinstance(event, EndEvent)
        if self.tree_depth == 0:
            self.tree = None

    def keep(self, event: Event, tree: _CachedTree) -> None:
        """Put one event into a cached tree."""
        tree.append(event)
        self.cached.add(event)

    def write(self, tree: Iterable[Event]) -> None:
        for event in tree:
            self.emit(event)

    def release(self, tree: _CachedTree) -> None:
        """Write a cached tree, and forget it: what the next transducer holds is not held here any more."""
        for event in tree:
            self.cached.remove(event)
            self.emit(event)
        tree.clear()


def transducer(applied: AppliedOperator, line: Line) -> Transducer:
    """The transducer of an operator."""
    match applied.operator:
        case Rename(node, label):
            return _Renaming(line, node, label)
        case ToElement(node, label):
            return _MakingElements(line, node, label)
        case Insert(node, path, members):
            return _Inserting(line, node, members, _starts(applied.made, path))
        case InsertEach(node, path, members):
            return _InsertingEach(line, node, members, _starts(applied.made, path))
        case InsertAll(node, path):
            return _InsertingAll(line, node, _starts(applied.made, path))
        case Upgrade(node, members):
            return _Upgrading(line, node, members)
        case UpgradeAll(node):
            return _Upgrading(line, node, None)
        case Downgrade(node, members, into):
            return _Downgrading(line, node, members, _made(into, applied.label))
        case Exchange(node, above):
            return _Exchanging(line, node, _made(above, applied.label))
        case Hide(node):
            return _Hiding(line, node)


def _starts(keys: Keys, path: Sequence[QName]) -> list[StartEvent]:
    return [StartEvent(label, key=key) for key, label in zip(keys, path, strict=True)]


def _made(key: str, label: QName | None) -> StartEvent:
    assert label is not None
    return StartEvent(label, key=key)


class _Renaming(Transducer):
    def __init__(self, line: Line, node: str, label: QName) -> None:
        super().__init__(line)
        self.node, self.label = node, label

    def start(self, event: StartEvent, parent: str | None) -> None:
        if event.key == self.node:
            event = replace(event, label=self.label)
        elif any(each.key == self.node for each in event.attributes):
            attributes = [
                replace(each, label=self.label) if each.key == self.node else each
                for each in event.attributes
                if each.key == self.node or each.label != self.label
            ]
            event = replace(event, attributes=tuple(attributes))
        self.emit(event)


class _MakingElements(Transducer):
    """``waiting`` is the element that was made, until the children have passed that were attributes, too."""

    def __init__(self, line: Line, node: str, label: QName) -> None:
        super().__init__(line)
        self.node, self.label = node, label
        self.element, _ = parent_key(node)
        self.waiting: list[Event] = []
        self.waiting_at = 0

    def start(self, event: StartEvent, parent: str | None) -> None:
        if event.key is None or not was_attribute_of(self.element, event.key):
            self._make()
        made = next((each for each in event.attributes if each.key == self.node), None)
        if made is not None:
            event = replace(event, attributes=tuple(each for each in event.attributes if each is not made))
            text = [TextEvent(made.value)] if made.value else []
            self.waiting = [StartEvent(self.label, key=self.node), *text, EndEvent()]
            self.waiting_at = len(self.open) + 1
        self.emit(event)

    def content(self, event: Event) -> None:
        self._make()
        self.emit(event)

    def end(self, key: str | None) -> None:
        if len(self.open) < self.waiting_at:
            self.waiting_at = len(self.open)
            self._make()
        self.emit(EndEvent())

    def _make(self) -> None:
        if self.waiting and len(self.open) == self.waiting_at:
            self.write(self.waiting)
            self.waiting = []


class _Inserting(Transducer):
    def __init__(self, line: Line, node: str, members: Keys, path: list[StartEvent]) -> None:
        super().__init__(line)
        self.node, self.members, self.path = node, frozenset(members), path
        self.moved: _CachedTree = []

    def start(self, event: StartEvent, parent: str | None) -> None:
        if parent == self.node and event.key in self.members:
            self.hold(event, self.moved)
        else:
            self.emit(event)

    def end(self, key: str | None) -> None:
        if key == self.node and self.moved:
            self.write(self.path)
            self.release(self.moved)
            self.write([EndEvent()] * len(self.path))
        self.emit(EndEvent())


class _InsertingEach(Transducer):
    def __init__(self, line: Line, node: str, members: Keys, path: list[StartEvent]) -> None:
        super().__init__(line)
        self.node, self.members, self.path = node, frozenset(members), path

    def start(self, event: StartEvent, parent: str | None) -> None:
        if parent == self.node and event.key in self.members:
            self.write(self.path)
        self.emit(event)

    def end(self, key: str | None) -> None:
        self.emit(EndEvent())
        if key in self.members and self.open and self.open[-1] == self.node:
            self.write([EndEvent()] * len(self.path))


class _InsertingAll(Transducer):
    """``begun`` has, for each open E, its depth and whether its path has been opened: E may be recursive."""

    def __init__(self, line: Line, node: str, path: list[StartEvent]) -> None:
        super().__init__(line)
        self.node, self.path = node, path
        self.begun: list[tuple[int, bool]] = []

    def start(self, event: StartEvent, parent: str | None) -> None:
        self._open_path()
        self.emit(event)
        if event.key == self.node:
            self.begun.append((len(self.open) + 1, False))

    def content(self, event: Event) -> None:
        self._open_path()
        self.emit(event)

    def end(self, key: str | None) -> None:
        if key == self.node and self.begun.pop()[1]:
            self.write([EndEvent()] * len(self.path))
        self.emit(EndEvent())

    def _open_path(self) -> None:
        if self.begun and self.begun[-1] == (len(self.open), False):
            self.begun[-1] = (len(self.open), True)
            self.write(self.path)


class _Upgrading(Transducer):
    """``members`` is None where all children move, unknown ones too."""

    def __init__(self, line: Line, node: str, members: Keys | None) -> None:
        super().__init__(line)
        self.node, self.members = node, members
        self.moved: _CachedTree = []

    def start(self, event: StartEvent, parent: str | None) -> None:
        if parent == self.node and (self.members is None or event.key in self.members):
            self.hold(event, self.moved)
        else:
            self.emit(event)

    def end(self, key: str | None) -> None:
        self.emit(EndEvent())
        if key == self.node:
            self.release(self.moved)


class _Downgrading(Transducer):
    def __init__(self, line: Line, node: str, members: Keys, holder: StartEvent) -> None:
        super().__init__(line)
        self.node, self.members, self.holder = node, frozenset(members), holder
        self.moved: _CachedTree = []
        self.holders: list[_CachedTree] = []

    def start(self, event: StartEvent, parent: str | None) -> None:
        if parent == self.node and event.key in self.members:
            self.hold(event, self.moved)
        elif parent == self.node and event.key == self.holder.key:
            self.holders.append([])
            self.hold(event, self.holders[-1])
        else:
            self.emit(event)

    def end(self, key: str | None) -> None:
        if key == self.node:
            if not self.holders and self.moved:
                self.holders.append([])
                self.keep(self.holder, self.holders[0])
                self.keep(EndEvent(), self.holders[0])
            self.budget.copy(image_size(self.moved) * (len(self.holders) - 1))
            for number, holder in enumerate(self.holders, 1):
                holder.pop()
                self.release(holder)
                if number < len(self.holders):
                    self.write(self.moved)
                else:
                    self.release(self.moved)
                self.emit(EndEvent())
            self.holders.clear()
        self.emit(EndEvent())


class _Exchanging(Transducer):
    """``rest`` is the E that is open, without the holders."""

    def __init__(self, line: Line, node: str, holder: StartEvent) -> None:
        super().__init__(line)
        self.node, self.holder = node, holder
        self.rest: _CachedTree = []
        self.holders: list[_CachedTree] = []

    def start(self, event: StartEvent, parent: str | None) -> None:
        if event.key == self.node:
            self.keep(event, self.rest)
        elif parent == self.node and event.key == self.holder.key:
            self.holders.append([])
            self.hold(event, self.holders[-1])
        elif parent == self.node:
            self.hold(event, self.rest)
        else:
            self.emit(event)

    def content(self, event: Event) -> None:
        if self.rest:
            self.keep(event, self.rest)
        else:
            self.emit(event)

    def end(self, key: str | None) -> None:
        if key != self.node:
            self.emit(EndEvent())
            return
        self.keep(EndEvent(), self.rest)
        if not self.holders:
            self.holders.append([])
            self.keep(self.holder, self.holders[0])
            self.keep(EndEvent(), self.holders[0])
        self.budget.copy(image_size(self.rest) * (len(self.holders) - 1))
        for number, holder in enumerate(self.holders, 1):
            self.release(holder[:1])
            if number < len(self.holders):
                self.write(self.rest)
            else:
                self.release(self.rest)
            self.release(holder[1:])
        self.holders.clear()


class _Hiding(Transducer):
    """``depth`` counts the open elements that are left out."""

    def __init__(self, line: Line, node: str) -> None:
        super().__init__(line)
        self.node = node
        self.depth = 0

    def feed(self, event: Event) -> None:
        if isinstance(event, StartEvent):
            if self.depth or event.key == self.node:
                self.depth += 1
            elif any(each.key == self.node for each in event.attributes):
                kept = tuple(each for each in event.attributes if each.key != self.node)
                self.emit(replace(event, attributes=kept))
            else:
                self.emit(event)
        elif not self.depth:
            self.emit(event)
        elif isinstance(event, EndEvent):
            self.depth -= 1
