"""XTrie: cuts patterns into substrings of element names, which are shared and found with a trie.

A substring is a maximal run of named elements, each the child of the one before; ``//``, ``*`` and branching
end it.  ``/a/b//c/d`` is the substring ``ab``, and a substring ``cd`` that ends at least two levels below the
``b``.  Each substring of a pattern is a row of the substring table.  A node of the trie points to the first
row with its label, and ``next`` to the following row with the same label:

    /a/b//*/c      row  substring  parent row  relative level  rank  children  next        0 (1)
    /a/b//c/d       1      ab          0           [2,2]         1       1       3        a/   \\c
    /a//c/d         2      c           1           [2,∞)         1       0       0     5 (2)   2 (3)
                    3      ab          0           [2,2]         1       1       0       b|       |d
                    4      cd          3           [2,∞)         1       0       6     1 (4)   4 (5)
                    5      a           0           [1,1]         1       1       0
                    6      cd          5           [2,∞)         1       0       0     row (node)

A ``*`` that branches or ends a path is the empty substring: the label of the root of the trie, which occurs
at every element.

When a substring is found in a document, the open element that ends it gets a record: the row, and one bit for
each child substring whose subtree has not been found yet.  A record without bits is complete: it clears its
bit in the records of its parent row, at the open elements that its relative level admits.

Invariant: a record belongs to an open element and is dropped when the element ends, so a child that was found
below one element never counts for another, however recursive the document is.
Cost: an element costs the rows whose substring ends at it; the first document after a change rebuilds all.
After Chan, Felber, Garofalakis and Rastogi, "Efficient Filtering of XML Documents with XPath Expressions".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from experiments.engines.filtering.events import Name, tell
from experiments.engines.filtering.skeleton import twigs
from experiments.engines.filtering.tree_engine import DEFAULT_LIMITS, PatternTable, ReferenceEngine
from twigcast.analysis import Twig
from twigcast.document import Document, DocumentLimits
from twigcast.pattern import Axis, Pattern


class XTrie(ReferenceEngine):
    """The engine that shares substrings."""

    def __init__(self, limits: DocumentLimits = DEFAULT_LIMITS) -> None:
        super().__init__(limits)
        self._subscriptions = PatternTable()
        self._built: Substrings | None = None

    def add(self, id: Hashable, pattern: Pattern) -> None:
        """Add a pattern; raises ``SubscriptionError`` if the id is in use."""
        self._subscriptions.add(id, pattern)
        self._built = None

    def remove(self, id: Hashable) -> None:
        """Remove a pattern; raises ``SubscriptionError`` if there is none of this id."""
        self._subscriptions.remove(id)
        self._built = None

    def matching(self, document: Document) -> list[Hashable]:
        matching = TrieMatching(self.substrings)
        tell(document, matching)
        return self._subscriptions.confirm(matching.ids(), document)

    def __len__(self) -> int:
        return len(self._subscriptions)

    @property
    def substrings(self) -> Substrings:
        """The substring table and the trie of the current patterns."""
        if self._built is None:
            self._built = decompose(
                (id, alternative)
                for id, structure in self._subscriptions.structures()
                for alternative in twigs(structure)
            )
        return self._built


@dataclass(frozen=True, slots=True)
class RelativeLevel:
    """The distance in levels from the end of the parent substring to the end of a substring.

    It is exactly ``least``, or, if ``open``, at least that.
    """

    least: int
    open: bool

    def __str__(self) -> str:
        return f"[{self.least},∞)" if self.open else f"[{self.least},{self.least}]"

    def above(self, level: int) -> range:
        """The levels where the parent can end, if the substring ends at ``level``."""
        highest = level - self.least
        return range(0 if self.open else max(highest, 0), highest + 1)


@dataclass(frozen=True, slots=True)
class SubstringRow:
    """A row of the substring table: one substring of a query.  Rows are numbered from 1, and 0 means none."""

    query: int
    substring: tuple[Name, ...]
    parent_row: int
    relative_level: RelativeLevel
    rank: int
    children: int
    next: int


@dataclass(frozen=True, slots=True)
class TrieNode:
    """A node of the trie: its edges, the first row with its label, and the node of its longest suffix.

    Row and suffix are 0 if there is none.
    """

    edges: Mapping[Name, int]
    row: int
    suffix: int


@dataclass(frozen=True, slots=True)
class TrieQuery:
    """One alternative of the pattern of ``id``; ``roots`` is the number of its rows without a parent row."""

    id: Hashable
    roots: int


@dataclass(frozen=True, slots=True)
class Substrings:
    """Queries by number, the substring table by row number, and the trie by node number (1 is its root)."""

    queries: tuple[TrieQuery, ...]
    table: Mapping[int, SubstringRow]
    trie: Mapping[int, TrieNode]


def decompose(queries: Iterable[tuple[Hashable, tuple[Twig, ...]]]) -> Substrings:
    """Cut all queries into substrings; the rows of a query are consecutive, parents before children."""
    rows: list[SubstringRow] = []
    numbered: list[TrieQuery] = []
    for number, (id, forest) in enumerate(queries):
        numbered.append(TrieQuery(id, len(forest)))
        _append_rows(rows, number, 0, forest)
    first_rows = {row.substring: 0 for row in rows}
    for number, row in reversed(list(enumerate(rows, 1))):
        rows[number - 1] = replace(row, next=first_rows[row.substring])
        first_rows[row.substring] = number
    return Substrings(tuple(numbered), dict(enumerate(rows, 1)), _trie(first_rows))


class TrieMatching:
    """The state of matching one document that is being read."""

    def __init__(self, substrings: Substrings) -> None:
        self._queries = substrings.queries
        self._table = substrings.table
        self._trie = substrings.trie
        self._missing = [_bits(query.roots) for query in substrings.queries]
        self._nodes = [1]
        self._records: list[dict[int, int]] = [{}]

    def start(self, name: Name) -> list[int]:
        """Process a start tag; returns the rows whose substring ends here, whatever is above it."""
        node = self._nodes[-1]
        while node and name not in self._trie[node].edges:
            node = self._trie[node].suffix
        node = self._trie[node].edges[name] if node else 1
        self._nodes.append(node)
        self._records.append({})
        found = list(self._ending(node))
        for number in found:
            self._record(number)
        return found

    def end(self) -> None:
        """Process an end tag: the records of the element are dropped."""
        self._nodes.pop()
        self._records.pop()

    def records(self) -> set[tuple[int, int, int]]:
        """The records of open elements: row, bits of the missing children (rank 1 is the lowest), level."""
        return {
            (row, bits, level) for level, records in enumerate(self._records) for row, bits in records.items()
        }

    def ids(self) -> set[Hashable]:
        """The ids that have a complete query."""
        return {query.id for query, missing in zip(self._queries, self._missing, strict=True) if not missing}

    def _ending(self, node: int) -> Iterator[int]:
        while node:
            number = self._trie[node].row
            while number:
                yield number
                number = self._table[number].next
            node = self._trie[node].suffix

    def _record(self, number: int) -> None:
        row = self._table[number]
        level = len(self._records) - 1
        if not self._missing[row.query] or not self._has_parent(row, level):
            return
        self._records[level][number] = _bits(row.children)
        if not row.children:
            self._propagate(row, level)

    def _has_parent(self, row: SubstringRow, level: int) -> bool:
        levels = row.relative_level.above(level)
        if row.parent_row == 0:
            return 0 in levels
        return any(row.parent_row in self._records[above] for above in levels)

    def _propagate(self, row: SubstringRow, level: int) -> None:
        """Clear the bit of a row that is complete at ``level`` in its parents; propagate complete parents."""
        bit = 1 << (row.rank - 1)
        if row.parent_row == 0:
            self._missing[row.query] &= ~bit
            return
        parent = self._table[row.parent_row]
        for above in row.relative_level.above(level):
            records = self._records[above]
            bits = records.get(row.parent_row, 0)
            if bits & bit:
                records[row.parent_row] = bits & ~bit
                if bits == bit:
                    self._propagate(parent, above)


def _bits(count: int) -> int:
    return (1 << count) - 1


def _append_rows(rows: list[SubstringRow], query: int, parent_row: int, children: tuple[Twig, ...]) -> None:
    for rank, child in enumerate(children, 1):
        substring, level, end = _first_substring(child)
        rows.append(SubstringRow(query, substring, parent_row, level, rank, len(end.branches), 0))
        _append_rows(rows, query, len(rows), end.branches)


def _first_substring(twig: Twig) -> tuple[tuple[Name, ...], RelativeLevel, Twig]:
    """The first substring of a twig, its relative level, and the twig of the element that ends it."""
    names: list[Name] = []
    distance, open = 0, False
    while True:
        distance += 1
        open = open or twig.axis is Axis.DESCENDANT
        name = _name(twig)
        if name is not None:
            names.append(name)
        if len(twig.branches) != 1:
            break
        below = twig.branches[0]
        if names and (below.axis is Axis.DESCENDANT or _name(below) is None):
            break
        twig = below
    return tuple(names), RelativeLevel(distance, open), twig


def _name(twig: Twig) -> Name | None:
    test = twig.test
    return None if test.namespace is None or test.local is None else (test.namespace, test.local)


def _trie(first_rows: Mapping[tuple[Name, ...], int]) -> dict[int, TrieNode]:
    """The trie of all labels, with nodes numbered in breadth-first order."""
    labels = {label[:length]: None for label in [(), *first_rows] for length in range(len(label) + 1)}
    numbers = {label: number for number, label in enumerate(sorted(labels, key=len), 1)}
    edges: dict[tuple[Name, ...], dict[Name, int]] = {label: {} for label in numbers}
    for label, number in numbers.items():
        if label:
            edges[label[:-1]][label[-1]] = number
    return {
        number: TrieNode(edges[label], first_rows.get(label, 0), _longest_suffix(label, numbers))
        for label, number in numbers.items()
    }


def _longest_suffix(label: tuple[Name, ...], numbers: Mapping[tuple[Name, ...], int]) -> int:
    suffixes = (label[start:] for start in range(1, len(label) + 1))
    return next((numbers[suffix] for suffix in suffixes if suffix in numbers), 0)
