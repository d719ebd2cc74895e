"""Who stands at which position: ids and expressions by position, in the order of adding.

Positions are what the kernel knows of subscriptions.  They are given out once, in order, and never again, so
that a result means the same for as long as somebody holds it.  A roster may start with a part that lies in an
index file; ids and expressions of that part are decoded when they are asked for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import overload


class Roster(Sequence[Hashable]):
    """Ids by position; ``text`` and ``find`` beside it."""

    def __init__(self, ids: Sequence[Hashable] = (), texts: Sequence[str] = ()) -> None:
        self._stored_ids = ids
        self._stored_texts = texts
        self._ids: list[Hashable] = []
        self._texts: list[str] = []
        self._positions: dict[Hashable, int] | None = None if len(ids) else {}

    def __len__(self) -> int:
        return len(self._stored_ids) + len(self._ids)

    @overload
    def __getitem__(self, position: int) -> Hashable: ...
    @overload
    def __getitem__(self, position: slice) -> list[Hashable]: ...
    def __getitem__(self, position: int | slice) -> Hashable | list[Hashable]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        stored = len(self._stored_ids)
        return self._stored_ids[position] if position < stored else self._ids[position - stored]

    def text(self, position: int) -> str:
        stored = len(self._stored_ids)
        return self._stored_texts[position] if position < stored else self._texts[position - stored]

    def find(self, id: Hashable) -> int | None:
        """The position of an id that is there."""
        return self._known().get(id)

    def append(self, id: Hashable, text: str) -> int:
        position = len(self)
        self._known()[id] = position
        self._ids.append(id)
        self._texts.append(text)
        return position

    def forget(self, id: Hashable) -> int:
        """Take an id out; its position stays, and stays readable for those who hold it."""
        return self._known().pop(id)

    def living(self) -> Iterator[tuple[Hashable, int]]:
        """The ids that are there, with their positions, in order."""
        return iter(sorted(self._known().items(), key=lambda item: item[1]))

    @property
    def living_count(self) -> int:
        """How many ids are there."""
        return len(self._stored_ids) if self._positions is None else len(self._positions)

    def _known(self) -> dict[Hashable, int]:
        if self._positions is None:
            self._positions = {id: position for position, id in enumerate(self._stored_ids)}
        return self._positions
