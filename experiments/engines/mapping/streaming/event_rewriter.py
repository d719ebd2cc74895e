"""Rewrites a document while it is read: transducers, one for each operator, each writing into the next.

    source ──► places ──► Insert(course, schedule, {time}) ──► Exchange(author, paper) ──► one text ──► image
               keys of     holds <time>…</time> until           holds the whole author      adjacent
               elements    </course>                                                        texts joined

What comes out are the events of the tree that ``rewrite`` makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from experiments.engines.mapping.streaming.events import (
    EndEvent,
    Event,
    EventAttribute,
    StartEvent,
    TextEvent,
    image_size,
)
from experiments.engines.mapping.streaming.transducers import CachedBytes, Emit, Line, transducer
from twigcast.document import DocumentLimits
from twigcast.rewriting.documents import CopyBudget, no_mapping
from twigcast.rewriting.labels import QName
from twigcast.rewriting.mapping import Mapping
from twigcast.rewriting.schema_tree import SchemaNode, SchemaTree


class EventRewriter:
    """Rewrites the events of one document; ``size`` is the number of its bytes, for the limit on copies."""

    def __init__(self, mapping: Mapping, size: int, limits: DocumentLimits | None = None) -> None:
        self._ready: list[Event] = []
        self._cached = CachedBytes()
        budget = CopyBudget(size, limits or DocumentLimits())
        emit: Emit = _OneText(self._ready.append).feed
        for applied in reversed(mapping.applied):
            emit = transducer(applied, Line(emit, self._cached, budget)).feed
        self._first = _Places(mapping.source, emit, budget)

    def feed(self, event: Event) -> list[Event]:
        """The events of the image that this event of the source lets go; raises as ``rewrite`` does."""
        self._first.feed(event)
        ready = self._ready.copy()
        self._ready.clear()
        return ready

    @property
    def largest_cache(self) -> int:
        """The most bytes that all cached trees together have held at one time: names, values and text."""
        return self._cached.largest

    @property
    def strangers(self) -> int:
        """The topmost elements so far that the source schema does not know."""
        return self._first.strangers


def rewrite_events(
    source: Iterable[Event], mapping: Mapping, size: int, limits: DocumentLimits | None = None
) -> Iterator[Event]:
    """The events of the image of a document of ``size`` bytes; raises as ``rewrite`` does."""
    rewriter = EventRewriter(mapping, size, limits)
    for event in source:
        yield from rewriter.feed(event)


class _Places:
    """Gives each element and attribute the key of its schema node."""

    def __init__(self, tree: SchemaTree, emit: Emit, budget: CopyBudget) -> None:
        self.tree, self.emit, self.budget = tree, emit, budget
        self.open: list[SchemaNode | None] = []
        self.strangers = 0

    def feed(self, event: Event) -> None:
        self.budget.read(image_size((event,)))
        if isinstance(event, StartEvent):
            node = self._node(event.label)
            self.open.append(node)
            if node is not None:
                event = replace(event, key=node.key, attributes=self._attributes(node, event.attributes))
        elif isinstance(event, EndEvent):
            self.open.pop()
        self.emit(event)

    def _node(self, label: QName) -> SchemaNode | None:
        if not self.open:
            if label != self.tree.root.label:
                raise no_mapping(label, self.tree)
            return self.tree.root
        parent = self.open[-1]
        if parent is None:
            return None
        node = self.tree.child(parent, label)
        self.strangers += node is None
        return node

    def _attributes(
        self, node: SchemaNode, attributes: Sequence[EventAttribute]
    ) -> tuple[EventAttribute, ...]:
        found: list[EventAttribute] = []
        for each in attributes:
            known = self.tree.child(node, each.label, is_attribute=True)
            found.append(each if known is None else replace(each, key=known.key))
        return tuple(found)


class _OneText:
    """Joins texts between which nothing stands any more."""

    def __init__(self, emit: Emit) -> None:
        self.emit = emit
        self.pieces: list[str] = []

    def feed(self, event: Event) -> None:
        if isinstance(event, TextEvent):
            self.pieces.append(event.value)
            return
        if self.pieces:
            self.emit(TextEvent("".join(self.pieces)))
            self.pieces.clear()
        self.emit(event)
