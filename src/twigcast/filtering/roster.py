"""The roster: the id, subscriber and expression of the subscription at each position.

The kernel knows subscriptions only by their positions.  Positions are assigned in the order of adding and are
never reused, so a result stays valid for as long as it is held.  A roster may begin with rows that are stored
in segment files; these are decoded on first use.

Invariant: the row of an assigned position never changes.  So a match that is in progress confirms its
candidates with the right patterns, whatever is added or removed meanwhile.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, overload

import pyarrow as pa

from twigcast.analysis import SchemaAutomaton
from twigcast.errors import IndexFileError, SchemaError
from twigcast.filtering.levels import has_bit, set_bit
from twigcast.filtering.mapped_file import MappedFile
from twigcast.filtering.segment_file import HOLE, Row
from twigcast.filtering.stored_rows import ROW_SCHEMA, StoredRows
from twigcast.pattern import Pattern, PatternLimits, parse

AT_ONCE = 1024  # stored ids that one search adds to the hash tables; all of 100,000 would take 19 ms
TABLES = 128  # at most about so many hash tables of stored ids
SCHEMA = "{"  # the text of a schema is a JSON object; no expression begins like one


class Roster(Sequence[Hashable]):
    """The ids as a sequence by position; other methods return text, subscriber or pattern of a position."""

    def __init__(
        self,
        blocks: Sequence[StoredRows] = (),
        gone: Iterable[int] = (),
        files: Sequence[MappedFile] = (),
    ) -> None:
        """``blocks`` are the rows of consecutive segment ``files``; ``gone`` are removed positions."""
        self._blocks = blocks
        self._files = tuple(file for file in files if file.is_mapped)
        self._starts = list(accumulate(map(len, blocks), initial=0))
        self._stored = self._starts[-1]
        self._ids: list[Hashable] = []
        self._texts: list[str] = []
        self._subscribers: list[str] = []
        self._parts: set[int] = set()
        self._positions: dict[Hashable, int] = {}  # of living ids that are not stored
        self._tables: list[dict[Hashable, int]] = []  # hash tables of stored ids, from the first position on
        self._tabled = 0  # the number of stored positions that are in the hash tables
        self._gone = bytearray()  # bitmap of removed stored positions
        self._living = self._stored
        self._patterns: dict[int, Pattern | SchemaAutomaton] = {}  # of inexact subscriptions, for confirming
        self._tables_of_blocks: list[Any] | None = None
        for start, block in zip(self._starts, blocks, strict=False):
            for row in range(len(block)) if block.holes else ():
                if has_bit(block.holes, row):
                    self._mark_removed(start + row)
        for position in gone:
            self._mark_removed(position)

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
            block, row = self._stored_row(position)
            return block.ids[row]
        return self._ids[position - self._stored]

    def check_files(self) -> None:
        """Raise ``IndexFileError`` if a mapped file was changed in place: it must not be touched then."""
        for file in self._files:
            file.check()

    def take(self, positions: Iterable[int]) -> list[Hashable]:
        """The ids at many positions."""
        if not self._stored:
            ids = self._ids
            return [ids[position] for position in positions]
        self.check_files()
        return [self[position] for position in positions]

    def text(self, position: int) -> str:
        """The expression at a position."""
        if position < self._stored:
            self.check_files()
            block, row = self._stored_row(position)
            return block.texts[row]
        return self._texts[position - self._stored]

    def subscriber(self, position: int) -> str:
        """The subscriber of the subscription at a position."""
        if position < self._stored:
            block, row = self._stored_row(position)
            return block.subscriber(row)
        return self._subscribers[position - self._stored]

    def is_part(self, position: int) -> bool:
        """Whether the subscription at a position receives only the selected parts."""
        if position < self._stored:
            block, row = self._stored_row(position)
            return row in block.part_rows
        return position in self._parts

    def pattern(self, position: int, limits: PatternLimits) -> Pattern | SchemaAutomaton:
        """The pattern or the schema at a position."""
        known = self._patterns.get(position)
        if known is not None:
            return known
        text = self.text(position)
        if text.startswith(SCHEMA):
            try:
                return SchemaAutomaton.from_json(json.loads(text))
            except (SchemaError, ValueError, KeyError, TypeError, RecursionError) as error:
                raise IndexFileError(
                    f"a schema of the index cannot be read: {error}", code="altered"
                ) from error
        return parse(text, None, limits)

    def keep_pattern(self, position: int, pattern: Pattern | SchemaAutomaton) -> None:
        """Keep the pattern at a position, so that confirming its candidates does not parse the text again."""
        self._patterns[position] = pattern

    def row(self, position: int) -> Row:
        """The row at a position as a segment file stores it; a hole if the subscription was removed."""
        if not self.is_living(position):
            return HOLE
        return Row(self[position], self.text(position), self.subscriber(position), self.is_part(position))

    def table(self) -> Any:
        """All rows, in the order of positions, as an Arrow table with the columns of ``ROW_SCHEMA``."""
        self.check_files()
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
        """The position of an id; none if it is unknown or was removed."""
        known = self._positions.get(id)
        if known is not None or not self._stored:
            return known
        return self._find_stored(id)

    def _find_stored(self, id: Hashable) -> int | None:
        """Search the stored ids, first in the hash tables, then by a scan of the files.

        Each scan moves some more ids into a hash table, so that many changes do not cost as many scans.
        """
        self.check_files()
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
        """Assign the next position to an id that is not in use, and return it."""
        position = len(self)
        self._ids.append(id)
        self._texts.append(text)
        self._subscribers.append(subscriber)
        self._positions[id] = position
        if part:
            self._parts.add(position)
        self._living += 1
        return position

    def truncate(self, size: int) -> None:
        """Drop the positions from ``size`` on, which were appended by a change that failed."""
        kept = size - self._stored
        for row in range(kept, len(self._ids)):
            position = self._stored + row
            if self._positions.get(self._ids[row]) == position:
                del self._positions[self._ids[row]]
            self._parts.discard(position)
            self._patterns.pop(position, None)
        for rows in (self._ids, self._texts, self._subscribers):
            del rows[kept:]
        self._living = self._stored - sum(byte.bit_count() for byte in self._gone) + len(self._positions)

    def forget(self, id: Hashable) -> int:
        """Remove an id; the row of its position stays readable for results that are still held."""
        position = self.find(id)
        assert position is not None
        if position < self._stored:
            self._mark_removed(position)
            for table in self._tables:
                table.pop(id, None)
        else:
            del self._positions[id]
            self._living -= 1
        return position

    def is_living(self, position: int) -> bool:
        """Whether the subscription at a position still exists."""
        if position < self._stored:
            return not has_bit(self._gone, position)
        return self._positions.get(self._ids[position - self._stored]) == position

    def living(self) -> Iterator[tuple[Hashable, int]]:
        """The ids that were not removed, with their positions, in order."""
        self.check_files()
        for start, block in zip(self._starts, self._blocks, strict=False):
            for position, id in enumerate(block.ids, start):
                if not has_bit(self._gone, position):
                    yield id, position
        for position, id in enumerate(self._ids, self._stored):
            if self._positions.get(id) == position:
                yield id, position

    @property
    def living_count(self) -> int:
        """The number of ids that were not removed."""
        return self._living

    def _stored_row(self, position: int) -> tuple[StoredRows, int]:
        """The block that has a stored position, and its row there."""
        block = bisect_right(self._starts, position) - 1
        while len(self._blocks[block]) == 0:  # a segment that has only tombstones
            block -= 1
        return self._blocks[block], position - self._starts[block]

    def _mark_removed(self, position: int) -> None:
        if not has_bit(self._gone, position):
            set_bit(self._gone, position)
            self._living -= 1
