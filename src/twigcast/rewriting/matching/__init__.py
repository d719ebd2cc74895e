"""Matching of schemas: which places of a publisher's schema mean which places of the global schema.

matching = match_schemas(source_tree, global_tree)                   by names, thesaurus and structure
matching.pairs["cmu/Course/Lecturer"]                                'catalogue/course/instructor/name'
matching.evidence["cmu/Course/Lecturer"]                             0.64: name 0.67, thesaurus lecturer~…

profiles = profile_documents(source_tree, documents)                 what the values look like
known = pooled_profiles([(pairs, profiles) of each mapped publisher])
match_schemas(source_tree, global_tree, source_profiles=profiles, target_profiles=known)

The libraries belong to the extra ``schemas``; names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.rewriting.matching.comparing import Agreement, delivery_agreement, pair_agreement
    from twigcast.rewriting.matching.flooding import LabelledEdge, flood
    from twigcast.rewriting.matching.naming import NameComparison, NameSimilarity, pooled_names, words_of
    from twigcast.rewriting.matching.profiling import ValueProfile, pooled_profiles, profile_documents
    from twigcast.rewriting.matching.schema_matcher import Matching, PairEvidence, match_schemas
    from twigcast.rewriting.matching.thesaurus import Thesaurus

__all__ = [
    "Agreement",
    "LabelledEdge",
    "Matching",
    "NameComparison",
    "NameSimilarity",
    "PairEvidence",
    "Thesaurus",
    "ValueProfile",
    "delivery_agreement",
    "flood",
    "match_schemas",
    "pair_agreement",
    "pooled_names",
    "pooled_profiles",
    "profile_documents",
    "words_of",
]

_ROOM = "twigcast.rewriting.matching"

__getattr__ = lazy_names(
    __name__,
    {
        f"{_ROOM}.comparing": ("Agreement", "delivery_agreement", "pair_agreement"),
        f"{_ROOM}.flooding": ("LabelledEdge", "flood"),
        f"{_ROOM}.naming": ("NameComparison", "NameSimilarity", "pooled_names", "words_of"),
        f"{_ROOM}.profiling": ("ValueProfile", "pooled_profiles", "profile_documents"),
        f"{_ROOM}.schema_matcher": ("Matching", "PairEvidence", "match_schemas"),
        f"{_ROOM}.thesaurus": ("Thesaurus",),
    },
    extra="schemas",
)


def __dir__() -> list[str]:
    return __all__
