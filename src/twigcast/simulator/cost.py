"""Models of time and size: transmission on links, processing in routers, and the bytes of messages.

Processing time is modelled, not measured, so that a run gives the same figures on every machine.  The default
for a table row is taken from the routing paper (Table 1): 13.96 ms for a publication against 100,000
expressions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from twigcast.pattern import Pattern, render
from twigcast.routing import (
    Advertise,
    Announce,
    Deliver,
    Envelope,
    Message,
    Paths,
    Publish,
    Subscribe,
)

FRAME = 32
"""The bytes of a message besides its content."""


@dataclass(frozen=True, slots=True)
class LinkModel:
    """A link sends messages one after the other; each takes its bytes by the bandwidth, then the latency."""

    latency: float = 0.0005
    """Seconds from one end of the link to the other."""
    bandwidth: float = 12_500_000.0
    """Bytes per second."""


@dataclass(frozen=True, slots=True)
class CostModel:
    """The processing time of a router for one message, in seconds."""

    control: float = 2e-5
    """For a control message: a subscription or an advertisement, or the end of one."""
    publication: float = 5e-5
    """For a document, or for one of its paths."""
    row: float = 1.396e-7
    """For a publication, for each row of the publication table."""

    def seconds(self, controls: int, publications: int, rows: int) -> float:
        """Return the processing time of a batch at a router whose publication table has ``rows`` rows."""
        return controls * self.control + publications * (self.publication + rows * self.row)


def header_size(message: Message) -> int:
    """The bytes of the headers of a document."""
    publication = message.envelope if isinstance(message, Publish | Deliver) else message
    headers = publication.headers if isinstance(publication, Envelope | Paths) else ()
    return sum(len(key.encode()) + len(value.encode()) for key, value in headers)


def image_size(message: Message) -> int:
    """The bytes of the image that travels with a document."""
    image = message.envelope.image if isinstance(message, Publish | Deliver) else None
    return 0 if image is None else len(image)


class Sizes:
    """Computes the sizes of messages; each pattern is rendered only once."""

    def __init__(self) -> None:
        self._patterns: dict[int, tuple[Pattern, int]] = {}  # by id(); a kept pattern keeps its id

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
                total += len(message.envelope.body) + image_size(message) + header_size(message)
            elif isinstance(message, Paths):
                total += sum(FRAME + len(path.body) for path in message.paths) + header_size(message)
            elif isinstance(message, Announce):
                total += len(message.mapping.reference) + len(message.mapping.canonical.encode())
            elif isinstance(message, Advertise):
                automaton = message.advertisement.automaton
                total += sum(len(test.local or "*") + 4 for test in automaton.tests)
            else:
                total += len(message.id)
        return total
