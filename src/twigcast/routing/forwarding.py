"""The data plane: finds the links over which documents travel, given the patterns that they match.

A ``ForwardingTable`` says for each pattern, by its position in an index, which links subscribe to it:

                    positions
                    0  1  2  3 │ 4            0 … 3: subscriptions; 4: a pattern that routers made
    south ─► hub    1  1  .  . │ .            asked: the patterns that the hub has told south to send it
    hub ─► south    .  .  .  . │ 1            here one pattern that covers 2 and 3
    home            north north south south   the router of each subscriber

``carry`` moves a batch of documents through the table.  A document starts at its entry router and takes, hop
by hop, each link that subscribes to one of its matched patterns.  A subscriber receives the document if it
reaches the subscriber's router.  The table of a single router has only the links that lead out of it.

A table is never changed: a router makes a new one after its subscriptions have changed.
Cost: ``carry`` looks only at the matched positions, never at the whole table; a changed table is a copy.
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
"""As a home: the pattern has no subscriber.  As a link of arrival: the documents were published here."""

WORD = 64
ALL = 0xFFFFFFFFFFFFFFFF


class Link(NamedTuple):
    """A directed link between two routers, which are given by number."""

    source: int
    target: int


class Demand(NamedTuple):
    """Who subscribes to a pattern: links by number, and the router of its subscriber or ``NOWHERE``."""

    links: Iterable[int]
    home: int = NOWHERE


@dataclass(frozen=True, eq=False)  # without slots: routes are cached in the instance
class ForwardingTable:
    """For each pattern, the links that subscribe to it and the router of its subscriber."""

    routers: tuple[str, ...]
    links: tuple[Link, ...]
    asked: Words
    """An array of words × positions, with a bit for each link and 64 links in a word."""
    home: npt.NDArray[np.int32]
    """For each position, the number of the subscriber's router, or ``NOWHERE``."""

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
        """Return a table of at least ``size`` positions in which the given positions have a new demand."""
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
        """Return the links by distance from a router, each with the link before it on the route."""
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
        """The number of the router at the end of each link."""
        return np.array([link.target for link in self.links], dtype=np.int64)

    @cached_property
    def is_local(self) -> bool:
        """Whether all links lead out of one router, so that no document takes two links in a row."""
        return len({link.source for link in self.links}) <= 1

    @cached_property
    def _hops(self) -> dict[int, tuple[tuple[Numbers, Numbers], ...]]:
        return {}


class Carried:
    """The routes of a batch of documents: the links taken, the routers reached, and the deliveries.

    Each of these is computed on first use, since few callers need all of them.
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
        """An array of documents × routers: whether the document reaches the router; it reaches its entry."""
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
        """An array of documents × links: the document takes the link, but reaches no subscriber behind it."""
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
    """Find the routes of a batch of documents through a network, or out of one router.

    ``entry`` has the router at which each document starts.  ``rows`` and ``positions`` are pairs, sorted by
    row: a document and a pattern that it matches.  ``flooded`` says which documents take all links, whatever
    they match.  ``arrived`` is the link back to the router that the batch came from; no document takes it.
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
    """Drop the wanted links whose source router the document does not reach."""
    taken = np.zeros_like(wanted)
    for start in set(entry.tolist()):
        here = np.flatnonzero(entry == start)[:, np.newaxis]
        for links, before in table.hops(start):
            taken[here, links] = wanted[here, links]
            if before[0] != NOWHERE:
                taken[here, links] &= taken[here, before]
    return taken
