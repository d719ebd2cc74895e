"""The roster: positions are assigned once, and their rows never change."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from twigcast.filtering.roster import AT_ONCE, TABLES, Roster
from twigcast.filtering.segment_file import HOLE, Row
from twigcast.filtering.stored_rows import StoredRows


class Stored(list[Hashable]):
    """Stored ids in memory, with the interface of those in a file."""

    def find(self, id: Hashable) -> Iterator[int]:
        if id in self:
            yield self.index(id)

    def to_arrow(self) -> Any:
        return pa.array(list(map(str, self)), pa.large_string())


def stored(ids: Iterable[Hashable], holes: bytes = b"") -> StoredRows:
    return StoredRows(Stored(ids), [f"//{id}" for id in ids], None, [], holes)


def append(roster: Roster, id: Hashable, text: str) -> int:
    return roster.append(id, text, str(id), False)


def test_positions_are_given_in_order() -> None:
    """The first subscription gets position 0, the next one 1."""
    roster = Roster()
    assert [append(roster, id, f"//{id}") for id in "abc"] == [0, 1, 2]
    assert list(roster) == ["a", "b", "c"]
    assert (roster.find("b"), roster.text(1)) == (1, "//b")


def test_who_is_gone_is_not_found_but_remembered() -> None:
    """The row of a removed subscription stays readable, and its position is not reused."""
    roster = Roster()
    append(roster, "a", "//a")
    append(roster, "b", "//b")
    assert roster.forget("a") == 0
    assert roster.find("a") is None
    assert roster[0] == "a"
    assert append(roster, "a", "//x") == 2
    assert list(roster.living()) == [("b", 1), ("a", 2)]
    assert (roster.living_count, len(roster)) == (2, 3)


def test_a_roster_goes_on_from_a_stored_one() -> None:
    """The positions of added ids follow those of the stored ids, and both are found."""
    roster = Roster([stored("ab")])
    assert roster.living_count == 2
    assert append(roster, "c", "//c") == 2
    assert [roster.find(id) for id in "abcd"] == [0, 1, 2, None]
    assert [roster.text(position) for position in range(3)] == ["//a", "//b", "//c"]
    assert roster[0:2] == ["a", "b"]


def test_stored_ids_are_searched_and_then_kept_in_tables() -> None:
    """Each scan adds some ids to a hash table until no scan is needed; the answers are always the same."""
    count = AT_ONCE * 3 + 5
    rows = stored(range(count))
    roster = Roster([rows])
    assert roster.forget(1) == 1
    for _ in range(6):
        sought = [0, 1, 2, AT_ONCE, count - 1, count, "0"]
        assert [roster.find(id) for id in sought] == [0, None, 2, AT_ONCE, count - 1, None, None]
    rows.ids.find = None  # type: ignore[assignment,method-assign]  # no scan is needed any more
    assert [roster.find(id) for id in (0, 1, count - 1, count)] == [0, None, count - 1, None]
    assert append(roster, 1, "//x") == count
    assert roster.find(1) == count
    assert roster.forget(2) == 2
    assert [id for id, _ in roster.living()] == [0, *range(3, count), 1]
    assert roster.living_count == count - 1


def test_tables_are_few_however_many_ids_are_stored() -> None:
    """The number of hash tables is bounded, because every search looks into each of them."""
    count = AT_ONCE * TABLES * 3
    roster = Roster([StoredRows(Stored(range(count)), range(0), None, [], b"")])  # type: ignore[arg-type]
    for number in range(TABLES + 1):
        roster.find(f"not there {number}")
    assert len(roster._tables) == TABLES


def test_rows_of_several_files_stand_one_after_the_other() -> None:
    """Positions continue from file to file; ids of holes and removed positions are not found."""
    roster = Roster([stored("abc", holes=b"\x02"), stored(""), stored("de")], gone=[4])
    assert append(roster, "b", "//x") == 5
    assert list(roster.living()) == [("a", 0), ("c", 2), ("d", 3), ("b", 5)]
    assert [roster.find(id) for id in "abcde"] == [0, 5, 2, 3, None]
    assert roster.living_count == 4
    assert [roster.row(position) for position in (1, 3, 4)] == [HOLE, Row("d", "//d", "d", False), HOLE]


def test_rows_are_a_table_by_position() -> None:
    """The table has stored and added rows; the pattern is set only if parts are delivered."""
    roster = Roster([stored("ab")])
    roster.append("c", "//c", "desk", True)
    assert roster.table().to_pydict() == {
        "subscription": ["a", "b", "c"],
        "subscriber": ["a", "b", "desk"],
        "pattern": [None, None, "//c"],
    }
