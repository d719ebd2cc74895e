"""The tables of all routers of a network, frozen, as workers use them: many documents at once.

                    patterns
                    0  1  2  3 │ 4            0 … 3  subscriptions, by position; 4 …  made by routers
    north ─► hub    1  1  .  . │ .            asked: what the hub has told north to send it
    hub ─► south    .  .  .  . │ 1            here a merger of 2 and 3
    home         north north south south      where the subscriber of each position is

A document is matched once against all patterns.  Then it goes from its entry, hop by hop, over the links for
which a matched pattern is asked; at a router that it reaches, the subscriptions at home there get it.  That
is what ``Router`` does with one document, and a test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from twigcast.pattern import Pattern, render
from twigcast.routing import Overlay

Flags: TypeAlias = Any  # arrays of numpy: truth values
Numbers: TypeAlias = Any  # arrays of numpy: whole numbers


@dataclass(frozen=True, slots=True)
class Hop:
    """A document's way over a link, from a router to the next."""

    source: int
    target: int


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of documents: which links each took, over which of them in vain, and who gets it."""

    hops: Flags  # links × documents
    vain: Flags  # links × documents: behind the link nobody got it
    kept: Flags  # matches of positions, in their order: whether the document reached the subscriber's router


@dataclass(frozen=True, slots=True)
class Forwarding:
    """Frozen tables; ``made`` are the patterns behind the positions, as text."""

    routers: tuple[str, ...]
    links: tuple[Hop, ...]
    asked: Flags  # links × (positions + made)
    home: Numbers  # by position, a router
    made: tuple[str, ...] = ()

    def carry(self, entry: Numbers, everywhere: Flags, rows: Numbers, positions: Numbers) -> Carried:
        """Carry documents that enter at routers ``entry``, ``everywhere`` those that are flooded.

        ``positions[i]`` is a pattern that the document ``rows[i]`` matches.
        """
        documents = len(entry)
        reached = np.zeros((len(self.routers), documents), dtype=bool)
        hops = np.zeros((len(self.links), documents), dtype=bool)
        got = np.zeros_like(reached)
        subscribed = positions < len(self.home)
        homes = self.home[positions[subscribed]]
        got[homes, rows[subscribed]] = True
        wanted: dict[int, Flags] = {}
        ways: dict[int, list[int]] = {}
        for start in np.unique(entry):
            here = entry == start
            reached[start] |= here
            ways[int(start)] = way = self._way(int(start))
            for number in way:
                if number not in wanted:
                    asking = rows[self.asked[number][positions]]
                    wanted[number] = np.bincount(asking, minlength=documents).astype(bool) | everywhere
                link = self.links[number]
                taken = here & reached[link.source] & wanted[number]
                hops[number] |= taken
                reached[link.target] |= taken
        vain = np.zeros_like(hops)
        for start, way in ways.items():
            here = entry == start
            useful = got & reached
            for number in reversed(way):
                link = self.links[number]
                vain[number] |= hops[number] & here & ~useful[link.target]
                useful[link.source] |= hops[number] & useful[link.target]
        return Carried(hops, vain, reached[homes, rows[subscribed]])

    def _way(self, start: int) -> list[int]:
        """The links from a router to all others, each after the one before it."""
        way: list[int] = []
        waiting = [(start, -1)]
        while waiting:
            router, before = waiting.pop()
            for number, link in enumerate(self.links):
                if link.source == router and link.target != before:
                    way.append(number)
                    waiting.append((link.target, router))
        return way


def forwarding(overlay: Overlay, ids: Sequence[str], homes: Mapping[str, str]) -> Forwarding:
    """The tables of an overlay; ``ids`` are its subscriptions by position, ``homes`` their routers by id."""
    routers = overlay.network.routers
    number_of = {name: number for number, name in enumerate(routers)}
    columns = {id: position for position, id in enumerate(ids)}
    made: dict[str, Pattern] = {}
    links: list[Hop] = []
    asked: list[list[int]] = []
    for name, router in overlay.routers.items():
        for neighbour in router.neighbours:
            links.append(Hop(number_of[name], number_of[neighbour]))
            told = router.subscriptions(neighbour)
            for id, pattern in told.items():
                if id not in columns:
                    columns[id] = len(ids) + len(made)
                    made[id] = pattern
            asked.append([columns[id] for id in told])
    table = np.zeros((len(links), len(ids) + len(made)), dtype=bool)
    for row, told_columns in enumerate(asked):
        table[row, told_columns] = True
    home = np.array([number_of[homes[id]] for id in ids], dtype=np.int32)
    return Forwarding(routers, tuple(links), table, home, tuple(render(each) for each in made.values()))
