"""Persistent subscriptions: the store, subscription files, and the index versions made from them.

All edges use this room: the pipeline on Spark, the command line, and later a live service.  Its names are
imported when they are first used, so that reading a subscription file does not load the matching engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from twigcast.system import lazy_names

if TYPE_CHECKING:
    from twigcast.subscriptions.bindings import check_binding, used_bindings, written_bindings
    from twigcast.subscriptions.files import Format, format_of, read_subscriptions
    from twigcast.subscriptions.store import SubscriptionSource, SubscriptionStore
    from twigcast.subscriptions.version_builder import VersionBuilder
    from twigcast.subscriptions.versions import (
        IndexVersion,
        opened_index,
        temporary_folder,
        temporary_version,
    )

_HOMES = {
    "twigcast.subscriptions.bindings": ("check_binding", "used_bindings", "written_bindings"),
    "twigcast.subscriptions.files": ("Format", "format_of", "read_subscriptions"),
    "twigcast.subscriptions.store": ("SubscriptionSource", "SubscriptionStore"),
    "twigcast.subscriptions.version_builder": ("VersionBuilder",),
    "twigcast.subscriptions.versions": (
        "IndexVersion",
        "opened_index",
        "temporary_folder",
        "temporary_version",
    ),
}

__all__ = [
    "Format",
    "IndexVersion",
    "SubscriptionSource",
    "SubscriptionStore",
    "VersionBuilder",
    "check_binding",
    "format_of",
    "opened_index",
    "read_subscriptions",
    "temporary_folder",
    "temporary_version",
    "used_bindings",
    "written_bindings",
]

__getattr__ = lazy_names(__name__, _HOMES)
