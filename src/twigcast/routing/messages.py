"""The messages that routers exchange with one another and with their clients.

        client ──Advertise, Subscribe, Publish──► router ──the same, and Paths──► router ──Deliver──► client
               ──PublishFragment, Unpublish────►        ──the same──►                ──DeliverFragment──►

A message is an immutable value; a ``Send`` adds the link that it goes to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from twigcast.pattern import Pattern

if TYPE_CHECKING:
    from twigcast.fragmenting import Fragment
    from twigcast.rewriting import Mapping
    from twigcast.routing.advertising import Advertisement
    from twigcast.routing.path_publication import LeafPath
    from twigcast.routing.piggyback import AnnotationPlan

FLOODED = "flooded"
MAPPING = "mapping"
"""The header that names the mapping of a document."""
HEAD = 1024
"""How many bytes at the beginning of a document its annotations are bound to: they arrive before the rest."""
RULES = "mapping-rules"
"""The header that has the rules of the mapping of a document."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """A document in transit: its name, its bytes, its publisher, and headers as (key, value) pairs."""

    doc_id: str
    body: bytes
    publisher: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    image: bytes | None = None
    """The document in the global schema, where it travels along; subscribers do not receive it."""
    annotations: bytes = b""
    """What the router before says about the document (``piggyback``); subscribers do not receive it."""

    def delivered(self) -> Envelope:
        """The document as a subscriber receives it: without image, rules and annotations."""
        if self.image is None and not self.annotations and all(key != RULES for key, _ in self.headers):
            return self
        headers = tuple(each for each in self.headers if each[0] != RULES)
        return Envelope(self.doc_id, self.body, self.publisher, headers)

    def with_annotations(self, annotations: bytes) -> Envelope:
        """The same document with other annotations."""
        if annotations == self.annotations:
            return self
        return Envelope(self.doc_id, self.body, self.publisher, self.headers, self.image, annotations)

    @property
    def binding(self) -> bytes:
        """What annotations are bound to: the document's size, id, mapping and first bytes."""
        name = f"{len(self.body)}\0{self.doc_id}\0{_mapping_in(self.headers)}\0"
        return name.encode("utf-8", "surrogatepass") + self.body[:HEAD]


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Subscribes to the documents that match a pattern, for someone behind the link."""

    id: str
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Ends the subscription of this id."""

    id: str


@dataclass(frozen=True, slots=True)
class Advertise:
    """Announces that someone behind the link will publish documents of a schema."""

    advertisement: Advertisement


@dataclass(frozen=True, slots=True)
class Unadvertise:
    """Ends the advertisement of this id."""

    id: str


@dataclass(frozen=True, slots=True)
class Announce:
    """Makes a mapping known to all routers; older versions of it stay known."""

    mapping: Mapping


@dataclass(frozen=True, slots=True)
class RequestAnnotations:
    """Asks a neighbour to annotate the documents that it sends, by this plan in place of the last one."""

    plan: AnnotationPlan


@dataclass(frozen=True, slots=True)
class Publish:
    """Publishes a whole document."""

    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Paths:
    """Publishes the paths of a document that are subscribed to behind the link, in document order.

    They travel in one message; in traffic figures each path counts as a publication.
    """

    doc_id: str
    paths: tuple[LeafPath, ...]
    publisher: str | None = None
    headers: tuple[tuple[str, str], ...] = ()

    def only(self, wanted: Sequence[bool]) -> Paths:
        """Return the same publication with only the paths for which ``wanted`` is true."""
        return self if all(wanted) else replace(self, paths=tuple(compress(self.paths, wanted)))


@dataclass(frozen=True, slots=True)
class PublishFragment:
    """Publishes one fragment of a document; the fragments of a document come in any order.

    If one of its fragments is marked to be flooded, the document is.
    """

    fragment: Fragment
    publisher: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    """The name of this publication in the network, which the router of the publisher gives it."""
    annotations: bytes = b""
    """What the router before says about the document; one of its fragments has it, at best the first."""

    @property
    def doc_id(self) -> str:
        """The name of the document."""
        return self.fragment.doc_id

    @property
    def binding(self) -> bytes:
        """What annotations are bound to: the publication and its mapping; the size is not known yet."""
        name = f"{self.origin}\0{self.doc_id}\0{_mapping_in(self.headers)}\0"
        return name.encode("utf-8", "surrogatepass")


@dataclass(frozen=True, slots=True)
class Unpublish:
    """Ends a document of which not all fragments will come: whoever has some of them drops them.

    A publisher sends it to take a document back; a router, if the document is broken or was given up.
    """

    doc_id: str
    origin: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Deliver:
    """Delivers a document to a client, with the ids of the client's subscriptions that match, in order."""

    envelope: Envelope
    subscriptions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeliverFragment:
    """Delivers one fragment of a document to a client that takes fragments as they come.

    ``subscriptions`` are the ids of the client's subscriptions that are known to match by now, in order; with
    the fragment that completes the document, all that match.
    """

    fragment: Fragment
    subscriptions: tuple[str, ...]
    is_complete: bool = False
    publisher: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


Message: TypeAlias = (
    Subscribe
    | Unsubscribe
    | Advertise
    | Unadvertise
    | Announce
    | RequestAnnotations
    | Publish
    | Paths
    | PublishFragment
    | Unpublish
    | Deliver
    | DeliverFragment
)
"""Everything that routers and their clients send to each other."""


Carrier: TypeAlias = Envelope | PublishFragment
"""What annotations travel with."""


class Send(NamedTuple):
    """A message and the link that it goes to."""

    link: str
    message: Message


Outgoing: TypeAlias = dict[str, list[Message]]
"""The messages to send, by link."""


def sends(outgoing: Outgoing) -> list[Send]:
    """Return the messages to send as a list."""
    return [Send(link, message) for link, sent in outgoing.items() for message in sent]


def is_flooded(publication: Envelope | Paths | PublishFragment) -> bool:
    """Whether the document goes to every router, because no advertisement describes it."""
    return bool(publication.headers) and any(key == FLOODED for key, _ in publication.headers)


def _mapping_in(headers: tuple[tuple[str, str], ...]) -> str:
    return next((value for key, value in reversed(headers) if key == MAPPING), "")


def flooded(envelope: Envelope, reason: str) -> Envelope:
    """Return the same document, marked to go to every router."""
    return replace(envelope, headers=(*envelope.headers, (FLOODED, reason)))


OUTSIDE = "outside its publisher's advertisements"
"""Why a document is flooded."""
