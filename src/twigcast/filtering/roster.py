"""Who stands at which position: ids, subscribers and expressions by position, in the order of adding.

Positions are what the kernel knows of subscriptions.  They are given out once, in order, and never again, so
that a result means the same for as long as somebody holds it.  A roster may start with rows that lie in
segment files; these are decoded when they are asked for.

Invariant: a position that was given out never changes its row.  So a match that began with a roster confirms
its candidates with the right patterns, whatever is added or removed meanwhile.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, overload

import pyarrow as pa

from twigcast.analysis import SchemaAutomaton
from twigcast.filtering.levels import has_bit, set_bit
from twigcast.filtering.segment_file import HOLE, Row
from twigcast.filtering.stored_rows import ROW_SCHEMA, StoredRows
from twigcast.pattern import Pattern, PatternLimits, parse

AT_ONCE = 1024  # stored ids put into a table by one search; all of 100,000 would take 19 ms
TABLES = 128
SCHEMA = "{"  # the text of a schema is JSON, which no expression is


class Roster(Sequence[Hashable]):
    """Ids by position; ``text``, ``subscriber``, ``pattern`` and ``find`` beside it."""

    def __init__(self, blocks: Sequence[StoredRows] = (), gone: Iterable[int] = ()) -> None:
        """``blocks`` are the rows of segment files, one after the other; ``gone`` are removed positions."""
        self._blocks = blocks
        self._starts = list(accumulate(map(len, blocks), initial=0))
        self._stored = self._starts[-1]
        self._ids: list[Hashable] = []
        self._texts: list[str] = []
        self._subscribers: list[str] = []
        self._parts: set[int] = set()
        self._positions: dict[Hashable, int] = {}  # of those added here
        self._tables: list[dict[Hashable, int]] = []  # of the stored, from the first on
        self._tabled = 0  # how many of the stored are in tables
        self._gone = bytearray()  # bitmap of the stored
        self._living = self._stored
        self._patterns: dict[int, Pattern | SchemaAutomaton] = {}  # of those that were asked for
        self._tables_of_blocks: list[Any] | None = None
        for start, block in zip(self._starts, blocks, strict=False):
            for row in range(len(block)) if block.holes else ():
                if has_bit(block.holes, row):
                    self._bury(start + row)
        for position in gone:
            self._bury(position)

    def __len__(self) -> int:
        return self._stored + len(self._ids)

    @overload
    def __getitem__(self, position: int) -> Hashable: ...
    @overload
    def __getitem__(self, position: slice) -> list[Hashable]: ...
    def __getitem__(self, position: int | slice) -> Hashable | list[Hashable]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        if position < self._stored:
            block, row = self._place(position)
            return block.ids[row]
        return self._ids[position - self._stored]

    def take(self, positions: Iterable[int]) -> list[Hashable]:
        """The ids at many positions."""
        if not self._stored:
            ids = self._ids
            return [ids[position] for position in positions]
        return [self[position] for position in positions]

    def text(self, position: int) -> str:
        """The expression at a position."""
        if position < self._stored:
            block, row = self._place(position)
            return block.texts[row]
        return self._texts[position - self._stored]

    def subscriber(self, position: int) -> str:
        """Who receives what the subscription at a position asks for."""
        if position < self._stored:
            block, row = self._place(position)
            return block.subscriber(row)
        return self._subscribers[position - self._stored]

    def is_part(self, position: int) -> bool:
        """Whether only the selected part is delivered."""
        if position < self._stored:
            block, row = self._place(position)
            return row in block.part_rows
        return position in self._parts

    def pattern(self, position: int, limits: PatternLimits) -> Pattern | SchemaAutomaton:
        """The pattern at a position, or the schema."""
        known = self._patterns.get(position)
        if known is not None:
            return known
        text = self.text(position)
        if text.startswith(SCHEMA):
            return SchemaAutomaton.from_json(json.loads(text))
        return parse(text, None, limits)

    def keep_pattern(self, position: int, pattern: Pattern | SchemaAutomaton) -> None:
        """Remember the pattern at a position: for those that candidates are confirmed with."""
        self._patterns[position] = pattern

    def row(self, position: int) -> Row:
        """The row at a position as a segment file keeps it; a hole where the subscription was removed."""
        if not self.is_living(position):
            return HOLE
        return Row(self[position], self.text(position), self.subscriber(position), self.is_part(position))

    def table(self) -> Any:
        """All rows as an Arrow table of ``ROW_SCHEMA``, row by position."""
        if self._tables_of_blocks is None:
            self._tables_of_blocks = [block.table for block in self._blocks]
        tables = list(self._tables_of_blocks)
        if self._ids or not tables:
            parts = [
                self._texts[row] if self._stored + row in self._parts else None
                for row in range(len(self._ids))
            ]
            columns = [[str(id) for id in self._ids], self._subscribers, parts]
            tables.append(
                pa.Table.from_arrays(
                    [pa.array(column, pa.large_string()) for column in columns], schema=ROW_SCHEMA
                )
            )
        return pa.concat_tables(tables)

    def find(self, id: Hashable) -> int | None:
        """The position of an id that is there."""
        known = self._positions.get(id)
        if known is not None or not self._stored:
            return known
        return self._find_stored(id)

    def _find_stored(self, id: Hashable) -> int | None:
        """A search puts some more of the ids into a table, so that many changes are not as many searches."""
        for table in self._tables:
            if id in table:
                return table[id]
        if self._tabled == self._stored:
            return None
        start = self._tabled
        self._tabled = min(self._stored, start + max(AT_ONCE, self._stored // TABLES))
        living = (position for position in range(start, self._tabled) if not has_bit(self._gone, position))
        self._tables.append({self[position]: position for position in living})
        for first, block in zip(self._starts, self._blocks, strict=False):
            for row in block.ids.find(id):
                if not has_bit(self._gone, first + row):
                    return first + row
        return None

    def append(self, id: Hashable, text: str, subscriber: str, part: bool) -> int:
        """Give the next position to an id that is not there."""
        position = len(self)
        self._positions[id] = position
        self._ids.append(id)
        self._texts.append(text)
        self._subscribers.append(subscriber)
        if part:
            self._parts.add(position)
        self._living += 1
        return position

    def forget(self, id: Hashable) -> int:
        """Take an id out; its position stays, and stays readable for those who hold it."""
        position = self.find(id)
        assert position is not None
        if position < self._stored:
            self._bury(position)
            for table in self._tables:
                table.pop(id, None)
        else:
            del self._positions[id]
            self._living -= 1
        return position

    def is_living(self, position: int) -> bool:
        """Whether the subscription at a position was not removed."""
        if position < self._stored:
            return not has_bit(self._gone, position)
        return self._positions.get(self._ids[position - self._stored]) == position

    def living(self) -> Iterator[tuple[Hashable, int]]:
        """The ids that are there, with their positions, in order."""
        for start, block in zip(self._starts, self._blocks, strict=False):
            for position, id in enumerate(block.ids, start):
                if not has_bit(self._gone, position):
                    yield id, position
        for position, id in enumerate(self._ids, self._stored):
            if self._positions.get(id) == position:
                yield id, position

    @property
    def living_count(self) -> int:
        """How many ids are there."""
        return self._living

    def _place(self, position: int) -> tuple[StoredRows, int]:
        block = bisect_right(self._starts, position) - 1
        while len(self._blocks[block]) == 0:  # one with removals only
            block -= 1
        return self._blocks[block], position - self._starts[block]

    def _bury(self, position: int) -> None:
        if not has_bit(self._gone, position):
            set_bit(self._gone, position)
            self._living -= 1
