"""What the links of a router ask for, and what they announce: the two tables of a router.

    publication table (the paper's PRT)      where documents go: link ─► id ─► pattern
    subscription table (the paper's SRT)     where subscriptions go: link ─► advertisements

Patterns are numbers of a ``Pool``; a row of a table is a string and a number, both shared with other routers.
An id stands for one pattern.  One that a router made itself (a merger, an aggregate) is made from its
pattern, so several links may have it; any other comes from one link.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from twigcast.routing.advertising import Advertisement
from twigcast.routing.pool import Pool

REMEMBERED = 4096


class LinkTable:
    """What one link asks for: ids and the numbers of their patterns."""

    __slots__ = ("_decided", "_distinct", "numbers")

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self._distinct: frozenset[int] | None = None
        self._decided: dict[frozenset[int], bool] = {}

    def change(self, added: Mapping[str, int], removed: Iterable[str]) -> None:
        """Take out ids, then put in others."""
        for id in removed:
            del self.numbers[id]
        self.numbers.update(added)
        self._distinct = None
        self._decided.clear()

    def wants(self, answer: frozenset[int]) -> bool:
        """Whether a document with this answer of the pool is asked for."""
        decided = self._decided.get(answer)
        if decided is None:
            if self._distinct is None:
                self._distinct = frozenset(self.numbers.values())
            if len(self._decided) >= REMEMBERED:
                self._decided.clear()
            decided = self._decided[answer] = not answer.isdisjoint(self._distinct)
        return decided

    def matched(self, answer: frozenset[int]) -> tuple[str, ...]:
        """The ids that a document with this answer of the pool matches, in the order they came."""
        if not self.wants(answer):
            return ()
        return tuple([id for id, number in self.numbers.items() if number in answer])

    def __len__(self) -> int:
        return len(self.numbers)


class PublicationTable:
    """What each link asks for."""

    def __init__(self, links: Iterable[str]) -> None:
        self.links = {link: LinkTable() for link in links}

    def __getitem__(self, link: str) -> LinkTable:
        return self.links[link]

    def __len__(self) -> int:
        return sum(map(len, self.links.values()))

    def holders(self, ids: Mapping[str, object], link: str) -> dict[str, list[str]]:
        """Of these ids, those that other links than this one have, and which."""
        held: dict[str, list[str]] = {}
        for other, table in self.links.items():
            if other != link and table.numbers:
                for id in ids.keys() & table.numbers.keys():
                    held.setdefault(id, []).append(other)
        return held

    def elsewhere(self, link: str) -> dict[str, int]:
        """What the other links ask for, together."""
        together: dict[str, int] = {}
        for other, table in self.links.items():
            if other != link:
                together.update(table.numbers)
        return together


class SubscriptionTable:
    """What each link announces."""

    def __init__(self, links: Iterable[str], pool: Pool) -> None:
        self.links: dict[str, dict[str, Advertisement]] = {link: {} for link in links}
        self._pool = pool

    def __getitem__(self, link: str) -> dict[str, Advertisement]:
        return self.links[link]

    def __len__(self) -> int:
        return sum(map(len, self.links.values()))

    def origin(self, id: str) -> str | None:
        """The link that an advertisement came from."""
        return next((link for link, announced in self.links.items() if id in announced), None)

    def leads(self, number: int, announced: Mapping[str, Advertisement]) -> bool:
        """Whether a subscription overlaps one of these advertisements."""
        return any(self._pool.overlaps(each, number) for each in announced.values())
