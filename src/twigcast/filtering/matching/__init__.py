"""What an index does with documents and structures: lends engines to threads, makes values of answers."""

from twigcast.filtering.matching.documents import match_document, match_documents, reading_fault
from twigcast.filtering.matching.engine_pool import EnginePool, LentEngine
from twigcast.filtering.matching.partials import Partial, PartialMatcher, Piece, PieceHole
from twigcast.filtering.matching.structures import (
    match_structure,
    match_structures,
    match_with_structure,
    structure_of,
)

__all__ = [
    "EnginePool",
    "LentEngine",
    "Partial",
    "PartialMatcher",
    "Piece",
    "PieceHole",
    "match_document",
    "match_documents",
    "match_structure",
    "match_structures",
    "match_with_structure",
    "reading_fault",
    "structure_of",
]
