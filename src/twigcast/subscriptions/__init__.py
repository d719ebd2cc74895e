"""Subscriptions outside of memory: the store, files of them, and the index versions made from them.

This is what every edge needs: the pipeline on Spark, the command line, and a live service.  Names are loaded
when they are first used, so that reading a file of subscriptions does not load the matching engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.subscriptions.files import (
        Format,
        Item,
        SubscriptionLine,
        format_of,
        item,
        read_subscriptions,
    )
    from twigcast.subscriptions.store import Subscriptions, SubscriptionTable
    from twigcast.subscriptions.version_builder import Follower
    from twigcast.subscriptions.versions import (
        INDEX,
        SUBSCRIBERS,
        IndexVersion,
        SubscriptionRow,
        digest,
        mapped_table,
        opened_once,
        saved,
        subscribers_of,
        temporary_folder,
    )

_HOMES = {
    "twigcast.subscriptions.files": (
        "Format",
        "Item",
        "SubscriptionLine",
        "format_of",
        "item",
        "read_subscriptions",
    ),
    "twigcast.subscriptions.store": ("SubscriptionTable", "Subscriptions"),
    "twigcast.subscriptions.version_builder": ("Follower",),
    "twigcast.subscriptions.versions": (
        "INDEX",
        "SUBSCRIBERS",
        "IndexVersion",
        "SubscriptionRow",
        "digest",
        "mapped_table",
        "opened_once",
        "saved",
        "temporary_folder",
        "subscribers_of",
    ),
}


__all__ = [
    "INDEX",
    "SUBSCRIBERS",
    "Follower",
    "Format",
    "IndexVersion",
    "Item",
    "SubscriptionLine",
    "SubscriptionRow",
    "SubscriptionTable",
    "Subscriptions",
    "digest",
    "format_of",
    "item",
    "mapped_table",
    "opened_once",
    "read_subscriptions",
    "saved",
    "subscribers_of",
    "temporary_folder",
]

__getattr__ = lazy_names(__name__, _HOMES)
