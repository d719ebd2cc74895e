"""The errors for ids of subscriptions: one that is already in use, and one that no subscription has."""

from __future__ import annotations

from collections.abc import Hashable

from twigcast.errors import SubscriptionError


def duplicate_id(id: Hashable) -> SubscriptionError:
    """The error for an id that is already in use."""
    return SubscriptionError(f"there is already a subscription {id!r}", code="duplicate-id", id=id)


def unknown_id(id: Hashable) -> SubscriptionError:
    """The error for an id that no subscription has."""
    return SubscriptionError(f"there is no subscription {id!r}", code="unknown-id", id=id)
