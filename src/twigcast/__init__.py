"""twigcast carries XML documents to exactly the subscribers whose XPath they match.

This page is the public API.  Its names are loaded when they are first used, so that ``twigcast --help`` does
not wait
for libraries it does not need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from twigcast.document import DocumentLimits
    from twigcast.errors import (
        DocumentError,
        IndexFileError,
        PatternError,
        SubscriptionError,
        TwigcastError,
    )
    from twigcast.filtering import BatchMatch, Index, Match, Selected, Stats, Tuning
    from twigcast.pattern import Pattern, PatternLimits, parse, render

__version__ = "0.1.0"

__all__ = [
    "BatchMatch",
    "DocumentError",
    "DocumentLimits",
    "Index",
    "IndexFileError",
    "Match",
    "Pattern",
    "PatternError",
    "PatternLimits",
    "Selected",
    "Stats",
    "SubscriptionError",
    "Tuning",
    "TwigcastError",
    "__version__",
    "parse",
    "render",
]

_ROOMS = {
    "twigcast.document": {"DocumentLimits"},
    "twigcast.errors": {
        "DocumentError",
        "IndexFileError",
        "PatternError",
        "SubscriptionError",
        "TwigcastError",
    },
    "twigcast.filtering": {"BatchMatch", "Index", "Match", "Selected", "Stats", "Tuning"},
    "twigcast.pattern": {"Pattern", "PatternLimits", "parse", "render"},
}


def __getattr__(name: str) -> Any:
    for room, names in _ROOMS.items():
        if name in names:
            return getattr(import_module(room), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
