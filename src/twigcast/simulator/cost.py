"""Models of time and size: transmission on links, processing in routers, and the bytes of messages.

Processing time is modelled, not measured, so that a run gives the same figures on every machine.  A router
processes a document in this order:

    reads the annotations ─► parses and matches, if something is open ─► writes annotations ─► sends
                        read·|A|        parse·|D| + row·(open rows)         Σ write·|A_link|

There are three models by name.  ``routing`` has the figure of the routing paper (Table 1): 13.96 ms for a
publication against 100,000 expressions.  ``paper`` is fitted to percentages that the papers on piggybacking
print, since they give no times: a router that takes 12 to 18 ms a document, of which a parse is 5 to 15 %,
and in which the first match is found late, however early it is in the document.  ``even`` is the same with
matches that are found evenly.  The fit is loose: it fails at 50,000 rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from twigcast.fragmenting import Fragment, encode
from twigcast.pattern import Pattern, render
from twigcast.routing import (
    Advertise,
    Announce,
    Deliver,
    DeliverFragment,
    DocumentWork,
    Envelope,
    Message,
    Paths,
    Publish,
    PublishFragment,
    RequestAnnotations,
    Subscribe,
    Unpublish,
)

FRAME = 32
"""The bytes of a message besides its content."""

Relay: TypeAlias = Literal["store", "cut-through"]


@dataclass(frozen=True, slots=True)
class LinkModel:
    """A link sends messages one after the other; each takes its bytes by the bandwidth, then the latency."""

    latency: float = 0.0005
    """Seconds from one end of the link to the other."""
    bandwidth: float = 12_500_000.0
    """Bytes per second."""
    relay: Relay = "store"
    """Whether a router waits for a whole document, or relays the body as it comes (``transmission``)."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a router sends one document on, in seconds from the beginning of its work."""

    end: float
    """When the router is free again; clients, and neighbours that are not in ``early``, are sent to then."""
    early: dict[str, float]


@dataclass(frozen=True, slots=True)
class CostModel:
    """The processing time of a router, in seconds; by default the model ``routing``."""

    control: float = 2e-5
    """For a control message: a subscription, an advertisement, or the end of one; or a plan."""
    publication: float = 5e-5
    """For a document that is parsed, or for one of its paths or fragments."""
    row: float = 1.396e-7
    """For a publication, for each row of the publication table that annotations have not refuted."""
    parse: float = 0.0
    """For each byte of a document that is parsed."""
    read: float = 0.0
    """For each byte of annotations that came with a document."""
    write: float = 0.0
    """For each byte of annotations that are attached to a document."""
    earliest: float = 0.0
    """The share of the processing time before any match is found, however early it is in the document."""

    def seconds(self, controls: int, publications: int, rows: int) -> float:
        """Return the time for control messages, and for publications at a router with ``rows`` rows."""
        return controls * self.control + publications * (self.publication + rows * self.row)

    def matching(self, size: int, work: DocumentWork) -> float:
        """Return the time in which a document of this size is parsed and matched; 0 if it is not parsed."""
        if not work.parsed:
            return 0.0
        rows = work.rows - work.refuted - work.switched_off
        return self.publication + self.parse * size + self.row * rows

    def document(self, size: int, work: DocumentWork) -> float:
        """Return the time for all that a router does with a document of this size."""
        return (
            self.read * work.read_bytes + self.matching(size, work) + self.write * sum(work.written.values())
        )

    def lead(self, part: float) -> float:
        """Return the share of the matching time after which a part of the document has been matched."""
        return self.earliest + (1.0 - self.earliest) * part if part > 0.0 else 0.0

    def schedule(self, size: int, work: DocumentWork) -> Schedule:
        """Return when the document is sent to which neighbour, and when the router is free again.

        A neighbour that annotations prove to want the document (part 0) is sent to before it is parsed.
        """
        read, matching = self.read * work.read_bytes, self.matching(size, work)
        early = {
            link: read + self.lead(part) * matching + self.write * work.written.get(link, 0)
            for link, part in work.eager.items()
        }
        return Schedule(self.document(size, work), early)


PAPER = CostModel(
    publication=0.0,
    row=2e-6,
    parse=2e-7,
    read=2e-7,
    write=0.14 * (2e-7 * 7_000 + 2e-6 * 5_000) / 464,
    earliest=0.64,
)
"""The model ``paper``: 464 bytes of annotations cost 14 % of a document of 7,000 bytes at 5,000 rows."""

EVEN = replace(PAPER, earliest=0.0)
"""The model ``even``."""

COST_MODELS = {"routing": CostModel(), "paper": PAPER, "even": EVEN}
"""The models by name."""


def annotation_size(message: Message) -> int:
    """The bytes of the annotations of a document."""
    return len(message.envelope.annotations) if isinstance(message, Publish) else 0


def header_size(message: Message) -> int:
    """The bytes of the headers of a document."""
    publication = message.envelope if isinstance(message, Publish | Deliver) else message
    carriers = Envelope | Paths | PublishFragment | DeliverFragment
    headers = publication.headers if isinstance(publication, carriers) else ()
    return sum(len(key.encode()) + len(value.encode()) for key, value in headers)


def image_size(message: Message) -> int:
    """The bytes of the image that travels with a document."""
    image = message.envelope.image if isinstance(message, Publish | Deliver) else None
    return 0 if image is None else len(image)


def body_size(message: Message) -> int:
    """The bytes of a document that follow its header: the body and the image."""
    if isinstance(message, Publish | Deliver):
        return len(message.envelope.body) + image_size(message)
    return 0


class Sizes:
    """Computes the sizes of messages; each pattern and each header of a fragment is written only once."""

    def __init__(self) -> None:
        self._patterns: dict[int, tuple[Pattern, int]] = {}  # by id(); a kept pattern keeps its id
        self._fragments: dict[int, tuple[Fragment, int]] = {}  # by id()

    def total(self, messages: Iterable[Message]) -> int:
        """Return the total number of bytes of these messages."""
        total = 0
        for message in messages:
            total += FRAME
            if isinstance(message, Subscribe):
                known = self._patterns.get(id(message.pattern))
                if known is None:
                    known = message.pattern, len(render(message.pattern).encode())
                    self._patterns[id(message.pattern)] = known
                total += len(message.id) + known[1]
            elif isinstance(message, Publish | Deliver):
                total += body_size(message) + header_size(message) + annotation_size(message)
            elif isinstance(message, PublishFragment | DeliverFragment):
                encoded = self._fragments.get(id(message.fragment))
                if encoded is None:
                    encoded = message.fragment, len(encode(message.fragment))
                    self._fragments[id(message.fragment)] = encoded
                total += encoded[1] + header_size(message)
            elif isinstance(message, Unpublish):
                total += len(message.doc_id) + len(message.origin) + len(message.reason)
            elif isinstance(message, Paths):
                total += sum(FRAME + len(path.body) for path in message.paths) + header_size(message)
            elif isinstance(message, RequestAnnotations):
                total += len(message.plan.encode())
            elif isinstance(message, Announce):
                total += len(message.mapping.reference) + len(message.mapping.canonical.encode())
            elif isinstance(message, Advertise):
                automaton = message.advertisement.automaton
                total += sum(len(test.local or "*") + 4 for test in automaton.tests)
            else:
                total += len(message.id)
        return total
