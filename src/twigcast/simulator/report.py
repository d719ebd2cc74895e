"""The report of a simulation: traffic, table sizes, false positives, deliveries and delays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from twigcast.routing import Strategy


@dataclass(frozen=True, slots=True)
class Delay:
    """The delay from publication to delivery, in seconds: mean, median and 99th percentile."""

    mean: float = 0.0
    p50: float = 0.0
    p99: float = 0.0

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Delay:
        """Compute the delay of these deliveries; all zeros if there are none."""
        if not seconds:
            return cls()
        ordered = sorted(seconds)
        return cls(
            sum(ordered) / len(ordered),
            ordered[(len(ordered) - 1) // 2],
            ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))],
        )


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one strategy on one network."""

    name: str
    strategy: Strategy
    routers: int
    messages: dict[str, int]
    """The messages received by routers, by kind; each path of a document counts as a publication."""
    bytes: int
    """The size of these messages."""
    rows: int
    """The rows of the publication tables of all routers, after all clients have subscribed."""
    largest_table: int
    """The rows of the largest publication table."""
    advertised: int
    """The rows of the advertisement tables of all routers."""
    false_positives: int
    """The publications that a router received although no client behind it subscribes to them."""
    deliveries: int
    missing: int
    """The deliveries that flooding makes and this strategy did not; anything but 0 is a bug."""
    extra: int
    """The deliveries that this strategy made and flooding does not; anything but 0 is a bug."""
    delay: Delay
    users: int = 0
    """The clients that subscribe."""
    received: int = 0
    """The documents that users received, each counted once for each user."""
    expected: int = 0
    """The same, had all publishers written the global schema: the homogeneous feed."""
    image_bytes: int = 0
    """The bytes of images on links between routers."""
    header_bytes: int = 0
    """The bytes of headers on links between routers."""
    wall: float = field(default=0.0, compare=False)
    """The running time of the simulation itself, in seconds."""

    @property
    def total(self) -> int:
        """The number of messages received by routers, of all kinds."""
        return sum(self.messages.values())

    @property
    def false_positive_rate(self) -> float:
        """The share of false positives among the publications received."""
        publications = self.messages.get("publication", 0)
        return self.false_positives / publications if publications else 0.0

    @property
    def correct(self) -> bool:
        """Whether the deliveries are exactly those of flooding."""
        return not self.missing and not self.extra

    @property
    def documents_per_user(self) -> float:
        """The number of documents that a user received, on average."""
        return self.received / self.users if self.users else 0.0

    @property
    def recall(self) -> float:
        """The share of the homogeneous feed's deliveries that were made."""
        return self.received / self.expected if self.expected else 1.0

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        return asdict(self) | {
            "total": self.total,
            "false_positive_rate": self.false_positive_rate,
            "correct": self.correct,
            "documents_per_user": self.documents_per_user,
            "recall": self.recall,
        }
