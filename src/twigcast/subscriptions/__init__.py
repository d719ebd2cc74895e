"""Subscriptions outside of memory: the store, files of them, and the index versions made from them.

This is what every edge needs: the pipeline on Spark, the command line, and a live service.  Names are loaded
when they are first used, so that reading a file of subscriptions does not load the matching engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.subscriptions.files import Format, format_of, read_subscriptions
    from twigcast.subscriptions.store import Changes, SubscriptionSource, SubscriptionStore
    from twigcast.subscriptions.version_builder import VersionBuilder
    from twigcast.subscriptions.versions import (
        IndexVersion,
        opened_index,
        temporary_folder,
        temporary_version,
    )

_HOMES = {
    "twigcast.subscriptions.files": ("Format", "format_of", "read_subscriptions"),
    "twigcast.subscriptions.store": ("Changes", "SubscriptionSource", "SubscriptionStore"),
    "twigcast.subscriptions.version_builder": ("VersionBuilder",),
    "twigcast.subscriptions.versions": (
        "IndexVersion",
        "opened_index",
        "temporary_folder",
        "temporary_version",
    ),
}

__all__ = [
    "Changes",
    "Format",
    "IndexVersion",
    "SubscriptionSource",
    "SubscriptionStore",
    "VersionBuilder",
    "format_of",
    "opened_index",
    "read_subscriptions",
    "temporary_folder",
    "temporary_version",
]

__getattr__ = lazy_names(__name__, _HOMES)
