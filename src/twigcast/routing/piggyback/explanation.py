"""Explains what the annotations of a document decide at a router, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from twigcast.routing.piggyback.verdict import Claim, Known

RowVerdict: TypeAlias = Literal["proven", "refuted", "open"]


@dataclass(frozen=True, slots=True)
class Statement:
    """One claim of the annotations: its kind, what it says, and the subscriptions that it decides."""

    kind: str
    text: str
    proven: tuple[str, ...]
    refuted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoutingExplanation:
    """What a router knows about a document before it parses it."""

    doc_id: str
    annotation_bytes: int
    problem: str | None
    """Why the annotations cannot be used; None if they can."""
    statements: tuple[Statement, ...]
    rows: dict[str, dict[str, RowVerdict]]
    """By link and id: what is known about each subscription."""
    is_parsed: bool
    """Whether the document must be parsed."""

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.doc_id}: {self.annotation_bytes} bytes of annotations"]
        if self.problem is not None:
            lines.append(f"  {self.problem}")
        for each in self.statements:
            lines.append(f"  {each.kind}: {each.text}")
            for verdict, ids in (("proves", each.proven), ("refutes", each.refuted)):
                if ids:
                    lines.append(f"    {verdict} {', '.join(ids)}")
        for link, rows in self.rows.items():
            counts = [
                f"{sum(each == verdict for each in rows.values())} {verdict}"
                for verdict in ("proven", "refuted", "open")
            ]
            lines.append(f"  link {link}: {', '.join(counts)}")
        lines.append("  the document is parsed" if self.is_parsed else "  the document is sent on unread")
        return "\n".join(lines)


def ids_by_number(ids: Mapping[str, Mapping[str, int]]) -> dict[int, list[str]]:
    """Return the ids of the subscriptions of all links by the numbers of their patterns."""
    named: dict[int, list[str]] = {}
    for table in ids.values():
        for id, number in table.items():
            named.setdefault(number, []).append(id)
    return named


def statement(claim: Claim, named: Mapping[int, Sequence[str]]) -> Statement:
    """Return a claim with the ids of the subscriptions that it decides."""
    proven, refuted = (
        tuple(id for number in numbers.tolist() for id in named.get(number, ()))
        for numbers in (claim.proven, claim.refuted)
    )
    return Statement(claim.kind.name.lower().replace("_", " "), claim.text, proven, refuted)


def row_verdicts(known: Known, ids: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, RowVerdict]]:
    """Return what is known of each subscription; what is proven and refuted is open."""
    verdicts = np.select([known.yes & known.no, known.yes, known.no], ["open", "proven", "refuted"], "open")
    return {
        link: {id: verdicts[number].item() for id, number in table.items()} for link, table in ids.items()
    }
