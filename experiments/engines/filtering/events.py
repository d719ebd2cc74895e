"""A document as a sequence of start and end tags, for engines that read it in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeAlias

from twigcast.document import Document, Element, elements

Name: TypeAlias = tuple[str, str]
"""The namespace and the local name of an element."""


class Listener(Protocol):
    """A receiver of the start and end tags of a document."""

    def start(self, name: Name) -> object: ...
    def end(self) -> None: ...


def tell(document: Document, listener: Listener) -> None:
    """Call the listener for each start and end tag of the document, in order."""
    for name in events(document):
        if name is None:
            listener.end()
        else:
            listener.start(name)


def events(document: Document) -> Iterator[Name | None]:
    """The tags in order: the name of an element for its start tag, ``None`` for its end tag."""
    waiting: list[Element | None] = [document.root]
    while waiting:
        element = waiting.pop()
        if element is None:
            yield None
            continue
        yield element.namespace, element.local
        waiting.append(None)
        waiting += [*elements(element)][::-1]
