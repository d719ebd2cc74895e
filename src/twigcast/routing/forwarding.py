"""The data plane: over which links documents travel, given the patterns that they match.

A ``ForwardingTable`` says for each pattern, by its position in an index, which links ask for it:

                    positions
                    0  1  2  3 │ 4            0 … 3  subscriptions; 4  a pattern that routers made
    north ─► hub    1  1  .  . │ .            asked: what the hub has told north to send it
    hub ─► south    .  .  .  . │ 1            here one pattern that covers 2 and 3
    home            north north south south   the router of each subscriber

``carry`` moves a batch of documents through the table.  A document starts at its entry router and takes each
link for which one of its matched patterns is asked, hop by hop; a subscriber gets it if it reaches the
subscriber's router.  The table of one router has only the links that lead out of it.

Both are pure: a router makes a new table when its subscriptions have changed, and one that is in use stays as
it is.
Cost: ``carry`` looks at the matched positions only, never at the whole table; a changed table costs a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Flags: TypeAlias = npt.NDArray[np.bool_]
Words: TypeAlias = npt.NDArray[np.uint64]
Numbers: TypeAlias = npt.NDArray[np.signedinteger]

NOWHERE = -1
"""As a home: no subscriber has this pattern.  As a link of arrival: the documents were published here."""

WORD = 64
ALL = 0xFFFFFFFFFFFFFFFF


class Link(NamedTuple):
    """A directed link between two routers, by their numbers."""

    source: int
    target: int


class Demand(NamedTuple):
    """Who asks for a pattern: links by number, and the router of its subscriber or ``NOWHERE``."""

    links: Iterable[int]
    home: int = NOWHERE


@dataclass(frozen=True, eq=False)  # without slots: routes are cached in the instance
class ForwardingTable:
    """Which links ask for which patterns, and at which router the subscriber of each pattern is."""

    routers: tuple[str, ...]
    links: tuple[Link, ...]
    asked: Words
    """Words × positions: a bit for each link, 64 links in a word."""
    home: npt.NDArray[np.int32]
    """For each position the number of a router, or ``NOWHERE``."""

    @classmethod
    def of(
        cls, routers: Sequence[str], links: Iterable[tuple[int, int]], demands: Sequence[Demand] = ()
    ) -> ForwardingTable:
        """Make the table of these routers and links, with the demand for each position."""
        joined = tuple(Link(*link) for link in links)
        asked = np.zeros((max(1, -(-len(joined) // WORD)), 0), dtype=np.uint64)
        empty = cls(tuple(routers), joined, asked, np.zeros(0, dtype=np.int32))
        return empty.with_changes(dict(enumerate(demands)))

    def with_changes(self, changes: Mapping[int, Demand], size: int = 0) -> ForwardingTable:
        """Return a table in which these positions have another demand, of at least ``size`` positions."""
        size = max(size, len(self.home), max(changes, default=-1) + 1)
        asked = np.zeros((len(self.asked), size), dtype=np.uint64)
        home = np.full(size, NOWHERE, dtype=np.int32)
        asked[:, : len(self.home)] = self.asked
        home[: len(self.home)] = self.home
        for position, demand in changes.items():
            bits = 0
            for link in demand.links:
                bits |= 1 << link
            for word in asked:
                word[position] = bits & ALL
                bits >>= WORD
            home[position] = demand.home
        return ForwardingTable(self.routers, self.links, asked, home)

    def hops(self, start: int) -> tuple[tuple[Numbers, Numbers], ...]:
        """Return the links level by level from a router, each with the link that comes before it."""
        if start not in self._hops:
            levels: list[tuple[Numbers, Numbers]] = []
            level = [(number, NOWHERE) for number, link in enumerate(self.links) if link.source == start]
            while level:
                numbers, before = zip(*level, strict=True)
                levels.append((np.array(numbers), np.array(before)))
                level = [
                    (after, number)
                    for number in numbers
                    for after, link in enumerate(self.links)
                    if link.source == self.links[number].target and link.target != self.links[number].source
                ]
            self._hops[start] = tuple(levels)
        return self._hops[start]

    @cached_property
    def words(self) -> tuple[Words, ...]:
        """The words of ``asked``, each an array by position."""
        return tuple(self.asked)

    @cached_property
    def targets(self) -> Numbers:
        """The router at the end of each link."""
        return np.array([link.target for link in self.links], dtype=np.int64)

    @cached_property
    def is_local(self) -> bool:
        """Whether all links lead out of one router, so that no document takes two of them in a row."""
        return len({link.source for link in self.links}) <= 1

    @cached_property
    def _hops(self) -> dict[int, tuple[tuple[Numbers, Numbers], ...]]:
        return {}


class Carried:
    """The routes of a batch of documents, with the pairs of a document and a pattern that it matches.

    What few callers need is computed when it is asked for.
    """

    def __init__(
        self,
        table: ForwardingTable,
        entry: Numbers,
        rows: Numbers,
        positions: Numbers,
        wanted: Words,
    ) -> None:
        """``wanted`` are the links that ask for each document, as rows of words."""
        self.table = table
        self.entry = entry
        self.rows = rows
        self.positions = positions
        self._wanted = wanted

    @cached_property
    def taken(self) -> Flags:
        """Documents × links: which links each document takes."""
        wanted = self._wanted.view(np.uint8)
        bits = np.unpackbits(wanted, 1, len(self.table.links), "little").view(np.bool_)
        return bits if self.table.is_local else _reachable(self.table, self.entry, bits)

    @cached_property
    def reached(self) -> Flags:
        """Documents × routers: which routers each document reaches, its entry included."""
        reached = np.zeros((len(self.entry), len(self.table.routers)), dtype=np.bool_)
        reached[np.arange(len(self.entry)), self.entry] = True
        documents, links = np.nonzero(self.taken)
        reached[documents, self.table.targets[links]] = True
        return reached

    @cached_property
    def delivered(self) -> Flags:
        """For each pair of a row and a position: whether the document reaches the pattern's subscriber."""
        home = self.table.home[self.positions]
        delivered: Flags = (home != NOWHERE) & self.reached[self.rows, home]
        return delivered

    @cached_property
    def false_positives(self) -> Flags:
        """Documents × links: the links that a document takes although no subscriber behind them gets it."""
        delivered = self.delivered
        useful = np.zeros_like(self.reached)
        useful[self.rows[delivered], self.table.home[self.positions[delivered]]] = True
        needed = np.zeros_like(self.taken)
        for start in set(self.entry.tolist()):
            here = np.flatnonzero(self.entry == start)
            behind = useful[here]
            for links, _ in reversed(self.table.hops(start)):
                for number in links.tolist():
                    link = self.table.links[number]
                    needed[here, number] = self.taken[here, number] & behind[:, link.target]
                    behind[:, link.source] |= needed[here, number]
        return self.taken & ~needed


def carry(
    table: ForwardingTable,
    entry: Numbers,
    rows: Numbers,
    positions: Numbers,
    *,
    flooded: Flags | None = None,
    arrived: int = NOWHERE,
) -> Carried:
    """Carry a batch of documents through a network, or out of one router.

    ``entry`` is the router at which each document starts; ``rows`` and ``positions`` are pairs, in the order
    of rows: a document and a pattern that it matches.  ``flooded`` says which documents take all links,
    whatever they match; ``arrived`` is the link that leads back to where the batch came from, which none of
    them takes.
    """
    wanted = np.zeros((len(entry), len(table.asked)), dtype=np.uint64)
    if len(rows):
        first = np.flatnonzero(np.diff(rows, prepend=-1))
        for number, word in enumerate(table.words):
            wanted[rows[first], number] = np.bitwise_or.reduceat(word.take(positions), first)
    if flooded is not None:
        wanted[flooded] = ALL
    if arrived != NOWHERE:
        wanted[:, arrived // WORD] &= np.uint64(ALL ^ 1 << arrived % WORD)
    return Carried(table, entry, rows, positions, wanted)


def wanted_links(table: ForwardingTable, positions: Numbers, *, flooded: bool, arrived: int) -> int:
    """The links that one document takes from where it is, as the bits of an integer.

    It is ``carry`` for one document and one router: integers of Python cost less than arrays of one element.
    """
    if flooded:
        bits = (1 << len(table.links)) - 1
    else:
        bits = 0
        for number, word in enumerate(table.words):
            bits |= int(np.bitwise_or.reduce(word.take(positions))) << WORD * number
    return bits if arrived == NOWHERE else bits & ~(1 << arrived)


def _reachable(table: ForwardingTable, entry: Numbers, wanted: Flags) -> Flags:
    """Drop the links that a document wants but does not come to."""
    taken = np.zeros_like(wanted)
    for start in set(entry.tolist()):
        here = np.flatnonzero(entry == start)[:, np.newaxis]
        for links, before in table.hops(start):
            taken[here, links] = wanted[here, links]
            if before[0] != NOWHERE:
                taken[here, links] &= taken[here, before]
    return taken
