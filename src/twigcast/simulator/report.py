"""The report of a simulation: traffic, table sizes, false positives, deliveries, delays, work of routers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
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


@dataclass(slots=True)
class WorkFigures:
    """What routers did with the documents that they received; the sum over routers, documents, or both."""

    documents: int = 0
    """The documents received; a document counts once for each router."""
    parsed: int = 0
    """Those that had to be parsed."""
    rows: int = 0
    """The rows that could match, once for each document."""
    proven: int = 0
    """Those that annotations proved to match."""
    refuted: int = 0
    """Those that annotations proved not to match."""
    seconds: float = 0.0
    """The processing time."""
    sent: int = 0
    """The documents sent to neighbours."""
    sent_bytes: int = 0
    """The bytes of these documents, without annotations."""
    annotation_bytes: int = 0
    """The bytes of the annotations of these documents."""
    paper_bits: float = 0.0
    """The size of these annotations as the papers count it."""
    plan_bytes: int = 0
    """The bytes of the plans in which routers ask for annotations."""

    def add(self, other: WorkFigures) -> None:
        """Add the figures of other documents or routers."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    @property
    def open(self) -> int:
        """The rows that annotations left open."""
        return self.rows - self.proven - self.refuted

    def to_json(self) -> dict[str, Any]:
        """Return the figures, and means and shares of them, as plain values for JSON."""
        return asdict(self) | {
            "open": self.open,
            "parsed_share": _ratio(self.parsed, self.documents),
            "proven_share": _ratio(self.proven, self.rows),
            "refuted_share": _ratio(self.refuted, self.rows),
            "open_share": _ratio(self.open, self.rows),
            "seconds_per_document": _ratio(self.seconds, self.documents),
            "annotation_bytes_per_document": _ratio(self.annotation_bytes, self.sent),
            "annotation_share": _ratio(self.annotation_bytes, self.sent_bytes),
        }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True)
class NetworkWork:
    """The work of the routers on documents: of each router, and by distance from the publisher.

    Level 0 is the router at which a document was published; it never has annotations to read.
    """

    by_router: dict[str, WorkFigures]
    by_level: dict[int, WorkFigures]

    @property
    def total(self) -> WorkFigures:
        """The work of all routers."""
        return _total(self.by_router.values())

    @property
    def downstream(self) -> WorkFigures:
        """The work of the routers that received a document from another router."""
        return _total(figures for level, figures in self.by_level.items() if level > 0)

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON."""
        return {
            "total": self.total.to_json(),
            "downstream": self.downstream.to_json(),
            "by_router": {name: figures.to_json() for name, figures in self.by_router.items()},
            "by_level": {str(level): figures.to_json() for level, figures in self.by_level.items()},
        }


def _total(parts: Iterable[WorkFigures]) -> WorkFigures:
    total = WorkFigures()
    for part in parts:
        total.add(part)
    return total


@dataclass(frozen=True, slots=True)
class FragmentFigures:
    """Documents in fragments: delays and shares of those that were delivered, and what routers did."""

    first: Delay
    """From publication until the first fragment is at the subscriber's router."""
    certain: Delay
    """Until it is known there that the subscriber matches; until it has the document: ``Report.delay``."""
    earliness: float
    """The share of the document's bytes that had come there by then, on average."""
    held_bytes: int
    """The most bytes of fragments that a router held at a time."""
    received: int
    """The fragments that routers received."""
    parsed: int
    """Those that had to be evaluated."""
    resent: int
    """The transmissions of fragments that were lost and repeated."""


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one strategy on one network."""

    name: str
    strategy: Strategy
    routers: int
    messages: dict[str, int]
    """The messages received by routers, by kind; each path or fragment counts as a publication."""
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
    work: NetworkWork = field(default_factory=lambda: NetworkWork({}, {}))
    """What routers did with whole documents; documents that travel as paths are not in it."""
    fragments: FragmentFigures | None = None
    """What is known of documents in fragments; None if they travel otherwise."""
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

    def saved(self, other: Report) -> float:
        """Return the share of the other report's mean delay that this one saves; negative if it is slower."""
        return 1.0 - self.delay.mean / other.delay.mean if other.delay.mean else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values for JSON."""
        return asdict(self) | {
            "work": self.work.to_json(),
            "total": self.total,
            "false_positive_rate": self.false_positive_rate,
            "correct": self.correct,
            "documents_per_user": self.documents_per_user,
            "recall": self.recall,
        }
