"""Builds the index of a command from a file of subscriptions, and reports the bad lines."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twigcast.cli.terminal import complain, complain_of, progress
from twigcast.errors import SourceError
from twigcast.pattern import Subscription
from twigcast.subscriptions import Format, read_subscriptions

if TYPE_CHECKING:
    from twigcast.document import DocumentLimits
    from twigcast.filtering import Index

COMPLAINTS = 20  # bad lines of a file that are reported; the rest is only counted


def document_limits(
    maximum_bytes: int | None, maximum_depth: int | None, part_amplification: float | None = None
) -> DocumentLimits:
    """The limits of the options ``--max-…``, with defaults for everything else."""
    from dataclasses import replace

    from twigcast.document import DocumentLimits

    given: dict[str, Any] = {
        "bytes": maximum_bytes,
        "depth": maximum_depth,
        "part_amplification": part_amplification,
    }
    return replace(DocumentLimits(), **{name: value for name, value in given.items() if value is not None})


def build(
    path: Path, format: Format | None, namespaces: Mapping[str, str], limits: DocumentLimits
) -> tuple[Index, int]:
    """Build the index of a file of subscriptions; returns it and the number of refused lines.

    The first ``COMPLAINTS`` refused lines are reported on stderr, and the number of all.
    """
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
        # Refused subscriptions are reported below, with their lines.
        warnings.simplefilter("ignore", SubscriptionWarning)
        index = Index(subscriptions(), limits=limits)
    bad: list[tuple[int, Exception]] = [(error.line, error) for error in unread]
    bad += [(lines[refused.id], refused.error) for refused in index.refused]
    for line, error in sorted(bad, key=lambda pair: pair[0])[:COMPLAINTS]:
        complain_of(error, f"{path}:{line}")
    if bad:
        rest = f"; to see all of them: twigcast check {path}" if len(bad) > COMPLAINTS else ""
        total = len(index) + len(bad)
        complain(f"{len(bad):,} of {total:,} subscriptions refused, the others are used{rest}")
    return index, len(bad)
