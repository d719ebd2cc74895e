"""The patterns of a file of subscriptions; bad lines are reported and left out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.cli.terminal import complain_of
from twigcast.errors import PatternError
from twigcast.pattern import Subscription
from twigcast.subscriptions import read_subscriptions

if TYPE_CHECKING:
    from twigcast.pattern import Pattern


def subscribed_patterns(
    path: Path, format: str | None, namespaces: Mapping[str, str]
) -> tuple[list[tuple[Subscription, Pattern]], int]:
    """The subscriptions with their patterns, and how many lines are bad."""
    found: list[tuple[Subscription, Pattern]] = []
    refused = 0
    for line, entry in read_subscriptions(path, format, namespaces=namespaces):  # type: ignore[arg-type]
        if not isinstance(entry, Subscription):
            complain_of(entry)
            refused += 1
            continue
        try:
            found.append((entry, entry.pattern))
        except PatternError as error:
            complain_of(error, f"{path}:{line}")
            refused += 1
    return found, refused
