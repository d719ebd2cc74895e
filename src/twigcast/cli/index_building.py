"""Builds the index of a command from a file of subscriptions, and reports the bad lines."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from twigcast.cli.subscription_lines import SubscriptionLines
from twigcast.cli.terminal import complain
from twigcast.subscriptions import Format

if TYPE_CHECKING:
    from twigcast.document import DocumentLimits
    from twigcast.filtering import Index


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

    The first refused lines are reported on stderr, and the number of all.
    """
    from twigcast.filtering import Index, SubscriptionWarning

    lines = SubscriptionLines(path, format, namespaces)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SubscriptionWarning)  # they are reported below, with their lines
        index = Index(lines.good("Indexing"), limits=limits)
    index.bind(lines.namespaces)
    lines.refuse(index.refused)
    rest = lines.report()
    if lines.bad:
        total = len(index) + len(lines.bad)
        complain(f"{len(lines.bad):,} of {total:,} subscriptions refused, the others are used{rest}")
    return index, len(lines.bad)
