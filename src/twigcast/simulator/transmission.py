"""Times of transmissions: a link carries one message after the other, whole or header first.

With ``store`` a router has a document when its last byte has arrived.  With ``cut-through`` the header, which
has the annotations, comes first; a router that can decide from it sends the header on at once and relays the
body as it comes.  In a network without other load, h hops then take

    store          h · (latency + (header + body) / bandwidth)
    cut-through    h · (latency + header / bandwidth) + body / bandwidth

In general a link may be busy at first, or may wait for the body:

    body arrives            ├──────────────────────┤ complete
    link busy with others   ├────┤ free
    link carries this            ├─ header ─┼── body … ──┤ end = max(start + size / bandwidth, complete)

The bound is exact, because all links have the same bandwidth: of the last n bytes, the first arrives no later
than n / bandwidth before ``complete``, so a link that keeps up with the body never ends later than that.  A
link that waits for the body carries nothing else meanwhile.
"""

from __future__ import annotations

from typing import NamedTuple

from twigcast.simulator.cost import LinkModel


class Transmission(NamedTuple):
    """When the header of a message and when its last byte arrive at the other end of a link."""

    header: float
    complete: float


class Links:
    """The links of a network in both directions, each with the time until which it is busy."""

    def __init__(self, model: LinkModel) -> None:
        self.model = model
        self._free: dict[tuple[str, str], float] = {}

    def send(
        self, source: str, target: str, now: float, header: int, body: int, complete: float = 0.0
    ) -> Transmission:
        """Send a message of so many bytes over a link, after those that it is still transmitting.

        ``complete`` is the time at which the sender itself has the last byte of the body.
        """
        start = max(now, self._free.get((source, target), 0.0))
        end = max(start + (header + body) / self.model.bandwidth, complete)
        self._free[source, target] = end
        latency = self.model.latency
        return Transmission(start + header / self.model.bandwidth + latency, end + latency)
