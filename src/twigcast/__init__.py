"""twigcast carries XML documents to exactly the subscribers whose XPath they match.

This page is the public API.  Its names are loaded when they are first used, so that ``twigcast --help`` does
not wait for libraries that it does not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.document import DocumentLimits, NameTable
    from twigcast.errors import (
        DocumentError,
        EvaluationError,
        FragmentError,
        IndexFileError,
        MappingError,
        PatternError,
        StructureError,
        SubscriptionError,
        TwigcastError,
    )
    from twigcast.filtering import (
        BatchMatch,
        Index,
        Match,
        Selected,
        Stats,
        StructureBatch,
        StructureMatch,
        Tuning,
    )
    from twigcast.fragmenting import Fragment, FragmentIndex, assemble, fragment
    from twigcast.pattern import Pattern, PatternLimits, Subscription, parse, render
    from twigcast.rewriting import Mapping, Mappings, rewrite

__version__ = "0.1.0"

__all__ = [
    "BatchMatch",
    "DocumentError",
    "DocumentLimits",
    "EvaluationError",
    "Fragment",
    "FragmentError",
    "FragmentIndex",
    "Index",
    "IndexFileError",
    "Mapping",
    "MappingError",
    "Mappings",
    "Match",
    "NameTable",
    "Pattern",
    "PatternError",
    "PatternLimits",
    "Selected",
    "Stats",
    "StructureBatch",
    "StructureError",
    "StructureMatch",
    "Subscription",
    "SubscriptionError",
    "Tuning",
    "TwigcastError",
    "__version__",
    "assemble",
    "fragment",
    "parse",
    "render",
    "rewrite",
]

__getattr__ = lazy_names(
    __name__,
    {
        "twigcast.document": ("DocumentLimits", "NameTable"),
        "twigcast.errors": (
            "DocumentError",
            "EvaluationError",
            "FragmentError",
            "IndexFileError",
            "MappingError",
            "PatternError",
            "StructureError",
            "SubscriptionError",
            "TwigcastError",
        ),
        "twigcast.filtering": (
            "BatchMatch",
            "Index",
            "Match",
            "Selected",
            "Stats",
            "StructureBatch",
            "StructureMatch",
            "Tuning",
        ),
        "twigcast.fragmenting": ("Fragment", "FragmentIndex", "assemble", "fragment"),
        "twigcast.pattern": ("Pattern", "PatternLimits", "Subscription", "parse", "render"),
        "twigcast.rewriting": ("Mapping", "Mappings", "rewrite"),
    },
)


def __dir__() -> list[str]:
    return __all__
