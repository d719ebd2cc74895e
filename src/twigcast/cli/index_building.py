"""Builds the index of a command from a file of subscriptions, and reports the bad lines."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from twigcast.cli.subscription_lines import SubscriptionLines
from twigcast.cli.terminal import complain
from twigcast.subscriptions import Format

if TYPE_CHECKING:
    from twigcast.document import DocumentLimits
    from twigcast.filtering import Index

MOST = 1 << 31  # of a limit: the kernel counts some of them in 32 bits


def document_limits(
    maximum_bytes: int | None, maximum_depth: int | None, others: Sequence[str] | None = None
) -> DocumentLimits:
    """The limits of ``--max-bytes``, ``--max-depth`` and ``--limit``, with defaults for everything else."""
    from dataclasses import asdict, replace

    from twigcast.document import DocumentLimits

    usual = asdict(DocumentLimits())
    given: dict[str, Any] = {"bytes": maximum_bytes, "depth": maximum_depth}
    for setting in others or ():
        name, _, text = setting.partition("=")
        if name not in usual:
            message = f"expected NAME=N with one of the names {', '.join(usual)}, got {setting!r}"
            raise typer.BadParameter(message, param_hint="--limit")
        given[name] = _positive(text, type(usual[name]), setting)
    return replace(DocumentLimits(), **{name: value for name, value in given.items() if value is not None})


def _positive(text: str, kind: type[int] | type[float], setting: str) -> float:
    try:
        value = kind(text)
    except ValueError:
        value = 0
    if not 0 < value < MOST:
        expected = "a number" if kind is float else "a whole number"
        message = f"expected {expected} above 0 and below {MOST:,}, got {setting!r}"
        raise typer.BadParameter(message, param_hint="--limit")
    return value


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
