"""What a router did for each document: the input of cost models and reports.

A router has no clock.  A caller that knows the time passes a ``Work`` to ``Router.exchange``: the router adds
a ``DocumentWork`` for each document, and reads from it what depends on time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from twigcast.routing.messages import Envelope


@dataclass(slots=True)
class DocumentWork:
    """What a router did with one document, and what it knew before it parsed it."""

    doc_id: str
    rows: int = 0
    """The patterns of the router's table that could match: those of all links but the document's own."""
    proven: int = 0
    """The rows that annotations proved to match."""
    refuted: int = 0
    """The rows that annotations proved not to match."""
    parsed: bool = True
    switched_off: float = 0.0
    """By positive data annotations: the sum, over the rows that cannot match after an end tag, of the share
    of the document after it."""
    read_bytes: int = 0
    """The bytes of annotations that came with the document."""
    written: dict[str, int] = field(default_factory=dict)
    """The bytes of annotations for each neighbour that the document was sent to."""
    paper_bits: int = 0
    """The size of these annotations as the papers count it, summed over neighbours."""
    eager: dict[str, float] = field(default_factory=dict)
    """The links that were sent the document early, each with the share of it that was read by then."""

    @property
    def open(self) -> int:
        """The rows that annotations left open."""
        return self.rows - self.proven - self.refuted


@dataclass(frozen=True, slots=True)
class FragmentWork:
    """What a router did with one fragment of a document."""

    doc_id: str
    size: int
    rows: int
    """The patterns of the router's table."""
    parsed: bool
    """Whether it was evaluated; what all links receive anyway is not."""
    arrived_bytes: int
    """The bytes of the document that had come by then."""
    held_bytes: int
    """The bytes of all documents that the router held after it."""
    matched: tuple[str, ...] = ()
    """The clients that are known to match by this fragment and were not before."""


@dataclass(slots=True)
class Work:
    """The documents that a router handled, and the times by which eager and adaptive routers decide."""

    documents: list[DocumentWork] = field(default_factory=list)
    fragments: list[FragmentWork] = field(default_factory=list)
    first_match: Callable[[Envelope, str], float] | None = None
    """The share of a document after which the first pattern of a neighbour is found to match."""
    lead: Callable[[float], float] = lambda part: part
    """The share of the processing time after which a share of the document has been processed."""
    seconds: float = 0.0
    """The mean time in which this router processes a document."""
    saving: float = 0.0
    """How much more time this router would need for a document without annotations, on average."""
