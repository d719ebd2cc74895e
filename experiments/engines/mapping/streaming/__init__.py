"""Rewriting of a stream of events: operators as transducers, which hold no more than they must.

events(document)                        the events of a tree
rewrite_events(source, mapping, size)   the events of the image
EventRewriter(mapping, size)            the same, event by event; says how much was held
"""

from experiments.engines.mapping.streaming.event_rewriter import EventRewriter, rewrite_events
from experiments.engines.mapping.streaming.events import (
    CommentEvent,
    EndEvent,
    Event,
    EventAttribute,
    InstructionEvent,
    StartEvent,
    TextEvent,
    events,
)

__all__ = [
    "CommentEvent",
    "EndEvent",
    "Event",
    "EventAttribute",
    "EventRewriter",
    "InstructionEvent",
    "StartEvent",
    "TextEvent",
    "events",
    "rewrite_events",
]
