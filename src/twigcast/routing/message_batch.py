"""A batch of messages of one link, checked and put in order before any of them is handled.

    Subscribe s, Unsubscribe t, Publish d, Unsubscribe s        a batch
    {s: pattern, t: None}, [d]   │   {s: None}, []              two parts, each with its net change

A part is what can be handled together: first its changes, then the publications that see them.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field

from twigcast.errors import RoutingError
from twigcast.pattern import Pattern
from twigcast.routing.advertising import Advertisement
from twigcast.routing.messages import (
    Advertise,
    Envelope,
    Message,
    Paths,
    Publish,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from twigcast.routing.pool import Answer
from twigcast.routing.tables import AdvertisementTable


@dataclass(slots=True)
class BatchPart:
    """Changes that are made together, and the publications that see them; None stands for a removal."""

    subscriptions: dict[str, Pattern | None] = field(default_factory=dict)
    advertisements: dict[str, Advertisement | None] = field(default_factory=dict)
    documents: list[tuple[Envelope, Answer]] = field(default_factory=list)
    """With what they matched before the batch: stale in a part with changes, and in all parts after it."""
    paths: list[Paths] = field(default_factory=list)

    @property
    def has_changes(self) -> bool:
        return bool(self.subscriptions or self.advertisements)


def in_parts(
    messages: Sequence[Message],
    link: str,
    subscribed: Container[str],
    announced: AdvertisementTable,
    match: Callable[[bytes], Answer],
    *,
    takes_paths: bool,
) -> list[BatchPart]:
    """Put a batch of one link into parts; raises ``RoutingError`` or ``DocumentError`` if it must be refused.

    ``subscribed`` are the ids that the link has; every document is matched, and so known to be readable.
    """
    parts = [BatchPart()]
    present: dict[str, bool] = {}  # of ids in this batch: whether they are there at its end
    known: dict[str, bool] = {}
    for message in messages:
        if isinstance(message, Publish):
            parts[-1].documents.append((message.envelope, match(message.envelope.body)))
        elif isinstance(message, Subscribe):
            if present.get(message.id, message.id in subscribed):
                raise duplicate("subscription", message.id, link)
            present[message.id] = True
            _changing(parts).subscriptions[message.id] = message.pattern
        elif isinstance(message, Unsubscribe):
            if not present.get(message.id, message.id in subscribed):
                raise unknown("subscription", message.id, link)
            present[message.id] = False
            _changing(parts).subscriptions[message.id] = None
        elif isinstance(message, Advertise):
            id = message.advertisement.id
            origin = announced.origin(id)
            if known.get(id, origin is not None):
                raise duplicate("advertisement", id, origin or link)
            known[id] = True
            _changing(parts).advertisements[id] = message.advertisement
        elif isinstance(message, Unadvertise):
            if not known.get(message.id, message.id in announced[link]):
                raise unknown("advertisement", message.id, link)
            known[message.id] = False
            _changing(parts).advertisements[message.id] = None
        elif isinstance(message, Paths) and takes_paths:
            parts[-1].paths.append(message)
        else:
            raise RoutingError(
                f"a router cannot take {type(message).__name__} from {link!r}",
                code="unexpected-message",
                name=type(message).__name__,
            )
    return parts


def added(parts: Sequence[BatchPart]) -> dict[str, Pattern]:
    """Return the subscriptions that a batch adds, those that it removes again included."""
    return {
        id: pattern for part in parts for id, pattern in part.subscriptions.items() if pattern is not None
    }


def duplicate(what: str, id: str, link: str) -> RoutingError:
    """Make the error for an id that is already in use."""
    return RoutingError(f"the {what} {id!r} is already there, from {link!r}", code="duplicate-id", name=id)


def unknown(what: str, id: str, link: str) -> RoutingError:
    """Make the error for an id that a link does not have."""
    return RoutingError(f"{link!r} has no {what} {id!r}", code="unknown-id", name=id)


def _changing(parts: list[BatchPart]) -> BatchPart:
    """Return the part that a change belongs to: a new one if publications have come since the last."""
    if parts[-1].documents or parts[-1].paths:
        parts.append(BatchPart())
    return parts[-1]
