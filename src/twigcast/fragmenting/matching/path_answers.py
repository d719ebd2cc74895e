"""Answers from headers alone: label paths decide the subscriptions that ask for names and places only.

    header: /site, /site/people, /site/people/person    ──►   //people/person  matches, whatever else is there

The label paths that are new become a small document, one element for each, which an index of these
subscriptions matches.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias
from xml.sax.saxutils import quoteattr

from twigcast.document import Name
from twigcast.filtering import Index
from twigcast.fragmenting.fragments import Header
from twigcast.fragmenting.headers import PathDictionary
from twigcast.fragmenting.scheduling import Query

PathTree: TypeAlias = "dict[Name, PathTree]"


def linear_subscriptions(index: Index) -> Index:
    """The subscriptions of an index that are one path of names and axes, without conditions."""
    return Index((id, pattern) for id, pattern in index.patterns() if _is_linear(Query.of(pattern)))


class PathAnswers:
    """What the headers of one document that have come show about linear subscriptions."""

    def __init__(self, linear: Index) -> None:
        self._linear = linear
        self._paths = PathDictionary()
        self._seen: set[int] = set()
        self._unknown: set[int] = set()
        self.ids: set[Hashable] = set()
        """The subscriptions that match."""

    def learn(self, headers: Iterable[Header]) -> None:
        """Take the label paths of some headers; those of the other kinds say nothing."""
        new: set[int] = set()
        for header in headers:
            if header.paths is not None:
                self._paths.add(header.paths)
                new |= header.paths.numbers
        new = (new - self._seen) | self._unknown
        known = {number: path for number in new if (path := self._paths.expanded(number)) is not None}
        self._unknown = new - known.keys()
        self._seen |= new
        if known and len(self._linear):
            self.ids.update(self._linear.match(_document(known.values())).ids)


def _is_linear(query: Query) -> bool:
    return query.structural and all(len(node.children) <= 1 for node in query.nodes)


def _document(paths: Iterable[tuple[Name, ...]]) -> bytes:
    """A document with these label paths and no others but those above them."""
    tree: PathTree = {}
    for path in paths:
        at = tree
        for name in path:
            at = at.setdefault(name, {})
    pieces: list[str] = []
    waiting: list[str | tuple[Name, PathTree]] = list(tree.items())
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        (namespace, local), below = item
        pieces.append(f"<{local} xmlns={quoteattr(namespace)}>")
        waiting.append(f"</{local}>")
        waiting += below.items()
    return "".join(pieces).encode()
