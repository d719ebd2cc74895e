"""Making the index that a command works with, from a file of subscriptions or from an index file."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from twigcast.cli.terminal import complain, complain_of, progress
from twigcast.errors import SourceError
from twigcast.pattern import Subscription
from twigcast.subscriptions import Format, read_subscriptions

if TYPE_CHECKING:
    from twigcast.document import DocumentLimits
    from twigcast.filtering import Index

COMPLAINTS = 20  # of a file of subscriptions, before the rest is only counted


def document_limits(maximum_bytes: int | None, maximum_depth: int | None) -> DocumentLimits:
    """The limits of ``--max-bytes`` and ``--max-depth``, the others as they are by default."""
    from dataclasses import replace

    from twigcast.document import DocumentLimits

    given = {"bytes": maximum_bytes, "depth": maximum_depth}
    return replace(DocumentLimits(), **{name: value for name, value in given.items() if value is not None})


def build(
    path: Path, format: Format | None, namespaces: Mapping[str, str], limits: DocumentLimits
) -> tuple[Index, int]:
    """An index of the subscriptions of a file, and how many were refused; those are complained of."""
    from twigcast.filtering import Index, SubscriptionWarning

    lines: dict[Hashable, int] = {}
    unread: list[SourceError] = []

    def subscriptions() -> Iterator[Subscription]:
        for line, entry in entries:
            if isinstance(entry, SourceError):
                unread.append(entry)
            else:
                lines[entry.id] = line
                yield entry

    numbered = read_subscriptions(path, format, namespaces=namespaces)
    with progress(f"Indexing {path}", numbered) as entries, warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", SubscriptionWarning
        )  # the refused are complained of below, with their lines
        index = Index(subscriptions(), limits=limits)
    bad: list[tuple[int, Exception]] = [(error.line, error) for error in unread]
    bad += [(lines[refused.id], refused.error) for refused in index.refused]
    for line, error in sorted(bad, key=lambda pair: pair[0])[:COMPLAINTS]:
        complain_of(error, f"{path}:{line}")
    if bad:
        rest = f"; all of them: twigcast check {path}" if len(bad) > COMPLAINTS else ""
        complain(f"{len(bad):,} of {len(index) + len(bad):,} subscriptions refused, the others go on{rest}")
    return index, len(bad)
