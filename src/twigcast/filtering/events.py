"""A document as start and end tags, the way engines that read it once see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from twigcast.document import Document, Element

Name: TypeAlias = tuple[str, str]
"""Namespace and local name."""


def events(document: Document) -> Iterator[Name | None]:
    """The name of each element where it begins, and ``None`` where the one begun last ends."""
    raise NotImplementedError
