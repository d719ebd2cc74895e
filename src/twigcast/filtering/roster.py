"""Who stands at which position: ids and expressions by position, in the order of adding.

Positions are what the kernel knows of subscriptions.  They are given out once, in order, and never again, so
that a result means the same for as long as somebody holds it.  A roster may start with a part that lies in an
index file; ids and expressions of that part are decoded when they are asked for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Protocol, overload

AT_ONCE = 1024  # stored ids put into a table by one search; all of 100,000 would take 19 ms
TABLES = 128


class StoredIds(Protocol):
    """Ids that lie in a file: they can be read, and searched one by one."""

    def __len__(self) -> int: ...
    def __getitem__(self, position: int, /) -> Hashable: ...
    def __iter__(self) -> Iterator[Hashable]: ...
    def find(self, id: Hashable) -> int | None:
        """The position of an id."""
        ...


class Roster(Sequence[Hashable]):
    """Ids by position; ``text`` and ``find`` beside it."""

    def __init__(self, ids: StoredIds | None = None, texts: Sequence[str] = ()) -> None:
        self._stored_ids = ids
        self._stored = 0 if ids is None else len(ids)
        self._stored_texts = texts
        self._ids: list[Hashable] = []
        self._texts: list[str] = []
        self._positions: dict[Hashable, int] = {}  # of those added here
        self._tables: list[dict[Hashable, int]] = []  # of the stored, from the first on
        self._tabled = 0  # how many of the stored are in tables
        self._gone: set[int] = set()  # of the stored
        self._living = self._stored

    def __len__(self) -> int:
        return self._stored + len(self._ids)

    @overload
    def __getitem__(self, position: int) -> Hashable: ...
    @overload
    def __getitem__(self, position: slice) -> list[Hashable]: ...
    def __getitem__(self, position: int | slice) -> Hashable | list[Hashable]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        if self._stored_ids is not None and position < self._stored:
            return self._stored_ids[position]
        return self._ids[position - self._stored]

    def text(self, position: int) -> str:
        """The expression at a position."""
        return (
            self._stored_texts[position] if position < self._stored else self._texts[position - self._stored]
        )

    def find(self, id: Hashable) -> int | None:
        """The position of an id that is there."""
        known = self._positions.get(id)
        if known is not None or self._stored_ids is None:
            return known
        found = self._find_stored(id, self._stored_ids)
        return None if found in self._gone else found

    def _find_stored(self, id: Hashable, stored: StoredIds) -> int | None:
        """A search puts some more of the ids into a table, so that many changes are not as many searches."""
        for table in self._tables:
            if id in table:
                return table[id]
        if self._tabled == self._stored:
            return None
        start = self._tabled
        self._tabled = min(self._stored, start + max(AT_ONCE, self._stored // TABLES))
        self._tables.append({stored[position]: position for position in range(start, self._tabled)})
        return stored.find(id)

    def append(self, id: Hashable, text: str) -> int:
        """Give the next position to an id that is not there."""
        position = len(self)
        self._positions[id] = position
        self._ids.append(id)
        self._texts.append(text)
        self._living += 1
        return position

    def forget(self, id: Hashable) -> int:
        """Take an id out; its position stays, and stays readable for those who hold it."""
        position = self.find(id)
        assert position is not None
        self._positions.pop(id, None)
        self._living -= 1
        if position < self._stored:
            self._gone.add(position)
        return position

    def living(self) -> Iterator[tuple[Hashable, int]]:
        """The ids that are there, with their positions, in order."""
        for position, id in enumerate(self._stored_ids or ()):
            if position not in self._gone:
                yield id, position
        for position, id in enumerate(self._ids, self._stored):
            if self._positions.get(id) == position:
                yield id, position

    @property
    def living_count(self) -> int:
        """How many ids are there."""
        return self._living
