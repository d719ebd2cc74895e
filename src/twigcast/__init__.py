"""twigcast carries XML documents to exactly the subscribers whose XPath they match."""

from twigcast.document import DocumentLimits
from twigcast.errors import (
    DocumentError,
    IndexFileError,
    PatternError,
    SubscriptionError,
    TwigcastError,
)
from twigcast.filtering import Index, Match, Selected, Stats
from twigcast.pattern import Pattern, PatternLimits, parse, render

__version__ = "0.1.0"

__all__ = [
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
    "TwigcastError",
    "__version__",
    "parse",
    "render",
]
