"""A document as start and end tags, the way engines that read it once see it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias

from twigcast.document import Document, Element, elements

Name: TypeAlias = tuple[str, str]
"""Namespace and local name."""


class Listener(Protocol):
    """What follows the tags of a document."""

    def start(self, name: Name) -> object: ...
    def end(self) -> None: ...


def tell(document: Document, listener: Listener) -> None:
    """Let the listener follow the tags of the document."""
    for name in events(document):
        if name is None:
            listener.end()
        else:
            listener.start(name)


def events(document: Document) -> Iterator[Name | None]:
    """The name of each element where it begins, and ``None`` where the one begun last ends."""
    waiting: list[Element | None] = [document.root]
    while waiting:
        element = waiting.pop()
        if element is None:
            yield None
            continue
        yield element.namespace, element.local
        waiting.append(None)
        waiting += [*elements(element)][::-1]
