"""What a simulation found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from twigcast.routing import Strategy


@dataclass(frozen=True, slots=True)
class Delay:
    """Seconds from publication to delivery: mean, median, and the 99th percentile."""

    mean: float = 0.0
    p50: float = 0.0
    p99: float = 0.0

    @classmethod
    def of(cls, seconds: Sequence[float]) -> Delay:
        """The delay of these deliveries; zeros where there is none."""
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
    """One strategy on one network: what routers received, what their tables held, what clients got."""

    name: str
    strategy: Strategy
    routers: int
    messages: dict[str, int]
    """Received by routers, by kind; a path of a document counts as a publication."""
    bytes: int
    """Of these messages."""
    rows: int
    """Of the publication tables of all routers, once all have subscribed."""
    largest_table: int
    advertised: int
    """Rows of the subscription tables of all routers."""
    false_positives: int
    """Publications that a router received and no client behind it had asked for."""
    deliveries: int
    missing: int
    """Deliveries that flooding makes and this strategy did not; 0, or something is wrong."""
    extra: int
    """Deliveries that flooding does not make; 0, or something is wrong."""
    delay: Delay
    wall: float = field(default=0.0, compare=False)
    """Seconds that the simulation itself took."""

    @property
    def total(self) -> int:
        """All messages received by routers."""
        return sum(self.messages.values())

    @property
    def false_positive_rate(self) -> float:
        """The part of the publications received that nobody had asked for."""
        publications = self.messages.get("publication", 0)
        return self.false_positives / publications if publications else 0.0

    @property
    def correct(self) -> bool:
        """Whether the same was delivered as by flooding."""
        return not self.missing and not self.extra

    def to_json(self) -> dict[str, Any]:
        """The report as JSON can hold it."""
        return asdict(self) | {
            "total": self.total,
            "false_positive_rate": self.false_positive_rate,
            "correct": self.correct,
        }
