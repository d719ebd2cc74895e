"""What routers say to one another, and to their clients.

        client ──Advertise, Subscribe, Publish──► router ──the same, and Paths──► router ──Deliver──► client

A message is a value; a ``Send`` says to which link it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from twigcast.pattern import Pattern

if TYPE_CHECKING:
    from twigcast.routing.advertising import Advertisement
    from twigcast.routing.path_publication import LeafPath

FLOODED = "flooded"


@dataclass(frozen=True, slots=True)
class Envelope:
    """A document on its way: its name, its bytes, who published it, and headers as (key, value)."""

    doc_id: str
    body: bytes
    publisher: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Whoever is behind the link wants the documents that match the pattern."""

    id: str
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """What was subscribed by this id is no longer wanted."""

    id: str


@dataclass(frozen=True, slots=True)
class Advertise:
    """Whoever is behind the link will publish documents of this schema."""

    advertisement: Advertisement


@dataclass(frozen=True, slots=True)
class Unadvertise:
    """What was advertised by this id will not be published any more."""

    id: str


@dataclass(frozen=True, slots=True)
class Publish:
    """A document, whole."""

    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Paths:
    """Those root-to-leaf paths of one document that are asked for behind the link, in document order.

    They travel together; as traffic each counts as a publication of its own.
    """

    doc_id: str
    paths: tuple[LeafPath, ...]
    publisher: str | None = None
    headers: tuple[tuple[str, str], ...] = ()

    def only(self, wanted: Sequence[bool]) -> Paths:
        """Return the same publication with those of its paths that are wanted."""
        return self if all(wanted) else replace(self, paths=tuple(compress(self.paths, wanted)))


@dataclass(frozen=True, slots=True)
class Deliver:
    """A document for a client, and the ids of its subscriptions that it matches, in their order."""

    envelope: Envelope
    subscriptions: tuple[str, ...]


Message: TypeAlias = Subscribe | Unsubscribe | Advertise | Unadvertise | Publish | Paths | Deliver


class Send(NamedTuple):
    """A message and the link that it goes to."""

    link: str
    message: Message


def is_flooded(publication: Envelope | Paths) -> bool:
    """Whether the document goes to every router, because no advertisement speaks of it."""
    return bool(publication.headers) and any(key == FLOODED for key, _ in publication.headers)


def flooded(envelope: Envelope, reason: str) -> Envelope:
    """The same document, to go to every router."""
    return replace(envelope, headers=(*envelope.headers, (FLOODED, reason)))
