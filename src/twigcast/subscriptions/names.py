"""Which ids and subscribers a store and subscription files take: those that a line of text can have.

What is written by ``twigcast subscriptions`` must be read back by ``twigcast subscribe --file``.
"""

from __future__ import annotations

from unicodedata import category

from twigcast.errors import SubscriptionError
from twigcast.pattern import PatternLimits, Subscription, check_content, check_names, check_size, shortened
from twigcast.subscriptions.bindings import looks_like_binding


def check_line(subscription: Subscription) -> None:
    """Raise ``SubscriptionError`` if a line of text could not have the names, or would be too long.

    The expression is not parsed.
    """
    check_names(subscription.id, subscription.subscriber)
    check_content(subscription.id, subscription.deliver)
    for kind, name in (("id", subscription.id), ("subscriber", subscription.subscriber)):
        wrong = _wrong_with(name) if isinstance(name, str) else "is not a string"
        if wrong:
            shown = shortened(name) if isinstance(name, str) else repr(name)
            raise SubscriptionError(f"the {kind} {shown} {wrong}", code="unsavable-id", id=subscription.id)
    if looks_like_binding(subscription.subscriber):
        name = shortened(subscription.subscriber)
        message = f"the subscriber {name} looks like the binding of a prefix, prefix=uri"
        raise SubscriptionError(message, code="unsavable-id", id=subscription.id)
    check_size(
        subscription.id, subscription.text, subscription.subscriber, subscription.namespaces, PatternLimits()
    )


def _wrong_with(name: str) -> str | None:
    """Return why a name could not be read back from a line of text; None if it could."""
    if not name:
        return "needs at least one character"
    if not name.isprintable() and any(category(character) == "Cc" for character in name):
        return "has a control character, such as a tab or a line end"
    if name != name.strip():
        return "begins or ends with white space"
    return "begins with #, as a comment does" if name.startswith("#") else None
