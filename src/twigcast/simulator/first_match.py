"""Finds the share of a document after which the first pattern of a neighbour is known to match.

An eager router sends a document to a neighbour as soon as it has read so much of it.  The kernel gives its
answer at the end of a document, so the place is found by bisection: a prefix of the document, with the open
elements closed, is matched like a document.

    <a><b/><c><d/></c></a>       /a/c matches  <a><b/><c></c></a>  and not  <a><b/></a>:  10 of 22 bytes

Invariant: the patterns that are looked at are monotone, so that a match on a prefix is a match on each longer
one.  All others (``not``, counts, positions, general expressions, and values of elements, whose text may go
on) are decided at the end of the document.
Cost: for each document, the logarithm of the number of its tags many matches, which neighbours share.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from twigcast.document import Document, Element, elements, read
from twigcast.filtering import Index
from twigcast.pattern import (
    And,
    AttributeTail,
    Comparison,
    Exists,
    Onward,
    Or,
    Path,
    Pattern,
    Predicate,
    StringTest,
    TextTail,
)


class FirstMatch:
    """The monotone patterns of a router's neighbours, and the answers for the last document."""

    def __init__(self, subscriptions: Mapping[str, Mapping[str, Pattern]]) -> None:
        """``subscriptions`` has the patterns of each neighbour, by id."""
        rows = [
            (link, pattern)
            for link, patterns in subscriptions.items()
            for pattern in patterns.values()
            if is_monotone(pattern)
        ]
        self._links = [link for link, _ in rows]  # by position in the index
        self._index = Index()
        self._index.add_all(enumerate(pattern for _, pattern in rows))
        self._body: bytes | None = None
        self._prefixes: list[tuple[int, bytes]] = []
        self._found: dict[int, frozenset[str]] = {}

    def share(self, body: bytes, link: str) -> float:
        """Return the share of a document after which the first pattern of a neighbour matches; at most 1."""
        if body != self._body:
            self._body = body
            self._prefixes = sorted(_prefixes(read(body)))
            self._found = {}
        first = bisect_left(
            range(len(self._prefixes)), True, key=lambda number: link in self._matched(number)
        )
        return self._prefixes[first][0] / len(body) if first < len(self._prefixes) else 1.0

    def _matched(self, number: int) -> frozenset[str]:
        """The neighbours that have a matching pattern after so many tags."""
        known = self._found.get(number)
        if known is None:
            length, closing = self._prefixes[number]
            assert self._body is not None
            match = self._index.match(self._body[:length] + closing)
            known = self._found[number] = frozenset(self._links[each] for each in match.positions)
        return known


def is_monotone(pattern: Pattern) -> bool:
    """Whether the pattern matches each document of which it matches a prefix with the open elements closed.

    False only means that this is not known.
    """
    return all(map(_is_monotone_path, pattern.alternatives))


def _is_monotone_path(path: Path) -> bool:
    predicates = [*path.filters, *(each for step in path.steps for each in step.predicates)]
    return not isinstance(path.tail, Onward) and all(map(_is_monotone, predicates))


def _is_monotone(predicate: Predicate) -> bool:
    match predicate:
        case Exists(paths):
            return all(map(_is_monotone_path, paths))
        case Comparison(paths):  # attributes and text nodes are complete after a tag, elements are not
            return all(
                isinstance(path.tail, AttributeTail | TextTail) and _is_monotone_path(path) for path in paths
            )
        case StringTest(_, (Path((), AttributeTail() | TextTail(), ()),), value):
            return value != ""
        case And(operands) | Or(operands):
            return all(map(_is_monotone, operands))
        case _:
            return False


def _prefixes(document: Document) -> Iterator[tuple[int, bytes]]:
    """Yield the length of the prefix after each tag but the last, and the end tags that close it."""
    stack: list[tuple[Element, bytes]] = [(document.root, b"")]
    while stack:
        element, closing = stack.pop()
        if element.parent is not document:
            yield element.end, closing
        if element.children:
            name = f"{element.prefix}:{element.local}" if element.prefix else element.local
            inner = f"</{name}>".encode(document.encoding) + closing
            yield element.children[0].start, inner
            stack += [(child, inner) for child in elements(element)]
