"""The events of a document: what a parser reports, as small values.

    <course nr="7"><!--c-->XML</course>

    StartEvent(course, (nr="7",))  CommentEvent("c")  TextEvent("XML")  EndEvent()

Events are equal if they say the same of a document; the keys of schema nodes that they carry do not count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from twigcast.document import Comment, Document, Element, Instruction, Node, Text
from twigcast.rewriting.documents import ELEMENT_COST
from twigcast.rewriting.labels import QName


@dataclass(frozen=True, slots=True)
class EventAttribute:
    """An attribute of a start tag; ``key`` is that of its schema node, None if it is unknown."""

    label: QName
    value: str
    key: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class StartEvent:
    """An element begins; ``key`` is that of its schema node, None for a stranger."""

    label: QName
    attributes: tuple[EventAttribute, ...] = ()
    key: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class EndEvent:
    """The innermost open element ends."""


@dataclass(frozen=True, slots=True)
class TextEvent:
    """A text node, never empty."""

    value: str


@dataclass(frozen=True, slots=True)
class CommentEvent:
    """A comment."""

    value: str


@dataclass(frozen=True, slots=True)
class InstructionEvent:
    """A processing instruction."""

    target: str
    value: str


Event: TypeAlias = StartEvent | EndEvent | TextEvent | CommentEvent | InstructionEvent
"""A parser event, with the key of its schema node."""


def events(document: Document) -> Iterator[Event]:
    """The events of a document, in document order."""
    waiting: list[Node | EndEvent] = [*reversed(document.children)]
    while waiting:
        match waiting.pop():
            case Element() as element:
                attributes = tuple(
                    EventAttribute(QName(each.namespace, each.local), each.value)
                    for each in element.attributes
                )
                yield StartEvent(QName(element.namespace, element.local), attributes)
                waiting.append(EndEvent())
                waiting += reversed(element.children)
            case Text(value):
                yield TextEvent(value)
            case Comment(value):
                yield CommentEvent(value)
            case Instruction(target, value):
                yield InstructionEvent(target, value)
            case EndEvent() as end:
                yield end


def image_size(found: Iterable[Event]) -> int:
    """What events count toward the limit on copies, as ``rewrite`` counts."""
    size = 0
    for event in found:
        if isinstance(event, StartEvent):
            size += ELEMENT_COST + sum(len(each.value.encode()) for each in event.attributes)
        elif isinstance(event, TextEvent):
            size += len(event.value.encode())
        elif isinstance(event, CommentEvent | InstructionEvent):
            size += ELEMENT_COST + held_bytes(event)
    return size


def held_bytes(event: Event) -> int:
    """How many bytes an event has in a cached tree: names, attribute values and text, in UTF-8."""
    match event:
        case StartEvent(label, attributes):
            texts = [label.local]
            for each in attributes:
                texts += (each.label.local, each.value)
        case InstructionEvent(target, value):
            texts = [target, value]
        case TextEvent(value) | CommentEvent(value):
            texts = [value]
        case _:
            texts = []
    return sum(len(text.encode()) for text in texts)
