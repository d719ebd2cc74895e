"""Explains what the annotations of a document decide at a router, row by row."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

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
