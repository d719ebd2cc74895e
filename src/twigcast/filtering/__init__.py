"""Matches documents against many subscriptions at once.

``Index`` is the engine; ``Tuning`` switches its optimisations.
"""

from twigcast.filtering.index import Index, SubscriptionWarning
from twigcast.filtering.kernel._kernel import expat_version
from twigcast.filtering.matching import Partial, PartialMatcher, Piece, PieceHole
from twigcast.filtering.results import (
    BatchMatch,
    Match,
    RefusedSubscription,
    Selected,
    Stats,
    StructureBatch,
    StructureMatch,
)
from twigcast.filtering.segment_file import StoredSegment, read_segment
from twigcast.filtering.subscription_ids import duplicate_id, unknown_id
from twigcast.filtering.tuning import Tuning

__all__ = [
    "BatchMatch",
    "Index",
    "Match",
    "Partial",
    "PartialMatcher",
    "Piece",
    "PieceHole",
    "RefusedSubscription",
    "Selected",
    "Stats",
    "StoredSegment",
    "StructureBatch",
    "StructureMatch",
    "SubscriptionWarning",
    "Tuning",
    "duplicate_id",
    "expat_version",
    "read_segment",
    "unknown_id",
]
