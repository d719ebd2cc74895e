"""Mappings between schemas, as an index uses them: opened once, chosen for each document."""

from twigcast.filtering.mediation.rewriting_set import (
    Failure,
    RewritingCache,
    RewritingSet,
    Unknown,
    is_as_is,
    sources_of,
)

__all__ = ["Failure", "RewritingCache", "RewritingSet", "Unknown", "is_as_is", "sources_of"]
