"""What time things take, and how large they are: on links, and in routers by a model.

The model is stated, so that a run gives the same figures anywhere.  Its default for a row of the table is the
paper's (R, Table 1): 13.96 ms for a publication against 100,000 expressions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from twigcast.pattern import Pattern, render
from twigcast.routing import (
    Advertise,
    Deliver,
    Message,
    Paths,
    Publish,
    Subscribe,
)

FRAME = 32
"""Bytes that any message takes beside what it says."""


@dataclass(frozen=True, slots=True)
class LinkModel:
    """How long a message is on its way: its bytes by the bandwidth, one after the other, then the latency."""

    latency: float = 0.0005
    """Seconds from one end to the other."""
    bandwidth: float = 12_500_000.0
    """Bytes a second."""


@dataclass(frozen=True, slots=True)
class CostModel:
    """How long a router takes for a message, in seconds."""

    control: float = 2e-5
    """For a subscription or an advertisement, come or gone."""
    publication: float = 5e-5
    """For a document, or for one of its paths."""
    row: float = 1.396e-7
    """For a publication and one row of the table."""

    def seconds(self, controls: int, publications: int, rows: int) -> float:
        """The time for so many messages of each sort at a router with so many rows in its table."""
        return controls * self.control + publications * (self.publication + rows * self.row)


class Sizes:
    """The bytes of messages; patterns are written out once."""

    def __init__(self) -> None:
        self._patterns: dict[int, tuple[Pattern, int]] = {}  # by identity; held, so that it stays theirs

    def total(self, messages: Iterable[Message]) -> int:
        """The bytes of these messages together."""
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
                total += len(message.envelope.body)
            elif isinstance(message, Paths):
                total += sum(FRAME + len(path.body) for path in message.paths)
            elif isinstance(message, Advertise):
                automaton = message.advertisement.automaton
                total += sum(len(test.local or "*") + 4 for test in automaton.tests)
            else:
                total += len(message.id)
        return total
