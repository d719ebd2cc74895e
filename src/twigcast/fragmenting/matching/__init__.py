"""Matching documents that arrive in fragments, with the answers of the whole document."""

from twigcast.fragmenting.matching.fragment_index import FragmentIndex, FragmentLimits
from twigcast.fragmenting.matching.large_documents import match_large
from twigcast.fragmenting.matching.outcomes import Certain, DocumentProgress, News, Outcome, Status

__all__ = [
    "Certain",
    "DocumentProgress",
    "FragmentIndex",
    "FragmentLimits",
    "News",
    "Outcome",
    "Status",
    "match_large",
]
