"""Answers from headers alone: label paths decide the subscriptions that ask for names and places only.

    header: /site, /site/people, /site/people/person    ──►   //people/person  matches, whatever else is there

The label paths that are new become a small document, one element for each, which an index of these
subscriptions matches.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeAlias
from xml.sax.saxutils import quoteattr

from twigcast.document import DocumentLimits, Name
from twigcast.errors import FragmentError
from twigcast.filtering import Index
from twigcast.fragmenting.fragments import Header
from twigcast.fragmenting.headers import PathDictionary
from twigcast.fragmenting.scheduling import Query

PathTree: TypeAlias = "dict[Name, PathTree]"


def linear_subscriptions(index: Index) -> Index:
    """The subscriptions of an index that are one path of names and axes, without conditions."""
    linear = ((id, pattern) for id, pattern in index.patterns() if _is_linear(Query.of(pattern)))
    return Index(linear, limits=DocumentLimits(depth=index.limits.depth))


class PathAnswers:
    """What the headers of one document that have come show about linear subscriptions."""

    def __init__(self, linear: Index) -> None:
        self._linear = linear
        self._paths = PathDictionary()
        self._seen: set[int] = set()
        self._waiting: dict[int, list[int]] = {}
        """Label paths by the one that is lacking to know them."""
        self.ids: set[Hashable] = set()
        """The subscriptions that match."""

    def learn(self, headers: Iterable[Header]) -> None:
        """Take the label paths of some headers; those of the other kinds say nothing.

        Raises ``FragmentError`` if they contradict each other, or are no label paths.
        """
        known: list[int] = []
        for header in headers:
            if header.paths is not None:
                self._paths.add(header.paths)
                for entry in header.paths.entries:
                    self._sort(self._waiting.pop(entry.number, []), entry.number, known)
                for number in header.paths.numbers - self._seen:
                    self._sort([number], number, known)
                self._seen |= header.paths.numbers
        if known and len(self._linear):
            found = self._linear.match(_document(self._tree(known)))
            if found.error is not None and found.error.code == "malformed":
                message = f"the label paths in the headers are no paths of elements: {found.error.message}"
                raise FragmentError(message, code="fragment-inconsistent")
            if found.error is None:
                self.ids.update(found.ids)

    def _sort(self, numbers: list[int], first: int, known: list[int]) -> None:
        """Add label paths to those that are known, or let them wait; all of them continue the first."""
        lacking = self._paths.unknown(first)
        if lacking is None:
            known += numbers
        elif numbers:
            self._waiting.setdefault(lacking, []).extend(numbers)

    def _tree(self, known: Iterable[int]) -> PathTree:
        """Label paths as a tree, as far as a document within its limit on depth can have them."""
        trees: dict[int, PathTree] = {0: {}}
        for number in known:
            if (self._paths.depth(number) or 0) <= self._linear.limits.depth:
                climbed = []
                while number not in trees:
                    climbed.append(number)
                    number = self._paths.parent(number)
                tree = trees[number]
                for each in reversed(climbed):
                    tree = trees[each] = tree.setdefault(self._paths.step(each), {})
        return trees[0]


def _is_linear(query: Query) -> bool:
    return query.structural and all(len(node.children) <= 1 for node in query.nodes)


def _document(tree: PathTree) -> bytes:
    """A document with these label paths and no others."""
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
