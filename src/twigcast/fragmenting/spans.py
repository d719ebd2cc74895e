"""Makes the fragments of a document that is cut into spans, one at each stop of the scanner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from twigcast.document import PathNumbers, TagReader
from twigcast.fragmenting.fragments import (
    DOCUMENT_NODE,
    Fragment,
    Header,
    HeaderKind,
    Hole,
    LabelPaths,
    OpenElement,
    Opening,
    PathEntry,
    Run,
    SubtreeRoots,
    namespaces_in_scope,
    node_id,
)


@dataclass(frozen=True, slots=True)
class CutDocument:
    """What the fragments of one document have in common.

    ``root`` is the offset of the root element's start tag.  ``encode`` turns bytes as they are scanned into
    bytes of the document: a copy, unless the document is in UTF-16.
    """

    doc_id: str
    kind: HeaderKind
    opening: Opening
    root: int
    tags: TagReader
    paths: PathNumbers | None
    encode: Callable[[memoryview], bytes]
    is_transcoded: bool
    depth: int

    def roots(self, found: list[tuple[bytes, int, int, int]], below: int = 0) -> tuple[SubtreeRoots, ...]:
        """The roots that a scanner counted, in a context of ``below`` elements that it did not see."""
        has_heights = self.kind != "prefix"
        return tuple(
            SubtreeRoots(self.tags.read(name, b"")[0], below + depth, count, height if has_heights else None)
            for name, depth, count, height in found
        )

    def label_paths(self, numbers: frozenset[int], told: set[int]) -> LabelPaths | None:
        """The label paths with these numbers, and the entries that no fragment has ``told`` before."""
        if self.paths is None:
            return None
        new = []
        for number in sorted(numbers - told):
            while number and number not in told:
                told.add(number)
                parent, name, declared = self.paths[number]
                new.append(PathEntry(number, parent, *self.tags.read(name, declared)))
                number = parent
        return LabelPaths(numbers, tuple(sorted(new, key=lambda entry: entry.number)))


class ScanStop(NamedTuple):
    """A place where the scanner stopped, and what it saw since the last one; see ``TagScanner``."""

    offset: int
    elements: int
    closes: int
    opens: list[tuple[int, bytes, bytes]]
    roots: list[tuple[bytes, int, int, int]]
    paths: list[int]
    runs: list[tuple[int, int, int, int, int]]

    @classmethod
    def of(cls, found: tuple[Any, ...]) -> ScanStop:
        return cls(*found)


class SpanMaker:
    """Makes a fragment of the bytes from one stop to the next.

    The scanner says how many of the open elements have ended since the last stop and which have begun, so
    the context of each span follows from that of the span before.
    """

    def __init__(self, document: CutDocument) -> None:
        self.kept = 0  # offset of the first byte that is needed again
        self._document = document
        self._number = 0
        self._place = 0
        self._elements = 0
        self._context: tuple[OpenElement, ...] = ()
        self._told: set[int] = set()

    def take(self, stop: ScanStop, view: memoryview, base: int) -> list[Fragment]:
        """The fragment up to a stop; ``view`` has the bytes of the document from ``base`` on."""
        return [self._made(stop, view, base, is_last=False)]

    def finish(self, stop: ScanStop, view: memoryview, base: int) -> list[Fragment]:
        """The last fragment."""
        return [self._made(stop, view, base, is_last=True)]

    def _made(self, stop: ScanStop, view: memoryview, base: int, *, is_last: bool) -> Fragment:
        document = self._document
        self._number += 1
        number, context, place = self._number, self._context, self._place
        body = document.encode(view[self.kept - base : stop.offset - base])
        read = document.tags.read
        opens = tuple(
            OpenElement(node_id(number, each - self._elements), *read(name, declared))
            for each, name, declared in stop.opens
        )
        is_edge = document.kind == "edge"
        run = Run(
            start=0,
            end=len(body),
            place=place,
            fills=node_id(number - 1, 1) if number > 1 else None,
            parent=context[-1].id if context else DOCUMENT_NODE,
            depth=len(context),
            context=None if is_edge else context,
            inherited=tuple(sorted(namespaces_in_scope(context).items())) if is_edge else (),
            roots=document.roots(stop.roots),
            closes=stop.closes,
            opens=opens,
        )
        after = place + len(body)
        prolog = len(document.encode(view[: document.root])) if number == 1 else 0
        header = Header(
            document.doc_id,
            number,
            len(body),
            runs=(run,),
            holes=() if is_last else (Hole(node_id(number, 1), len(body), after),),
            opening=document.opening,
            elements=stop.elements - self._elements,
            is_last=is_last,
            kind=document.kind,
            paths=document.label_paths(frozenset(stop.paths), self._told),
            prolog=prolog,
        )
        self._context = context[: len(context) - stop.closes] + opens
        self._place = after
        self._elements = stop.elements
        self.kept = stop.offset
        return Fragment(header, body)
