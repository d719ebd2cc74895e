"""Positions are given out once, and mean the same for as long as somebody asks."""

from __future__ import annotations

from collections.abc import Hashable

from twigcast.filtering.roster import SEARCHES, Roster


class Stored(list[Hashable]):
    """Ids as a file holds them."""

    def find(self, id: Hashable) -> int | None:
        return self.index(id) if id in self else None


def test_positions_are_given_in_order() -> None:
    """The first gets 0, the next 1."""
    roster = Roster()
    assert [roster.append(id, f"//{id}") for id in "abc"] == [0, 1, 2]
    assert list(roster) == ["a", "b", "c"]
    assert (roster.find("b"), roster.text(1)) == (1, "//b")


def test_who_is_gone_is_not_found_but_remembered() -> None:
    """A position outlives its subscription; a later one gets another."""
    roster = Roster()
    roster.append("a", "//a")
    roster.append("b", "//b")
    assert roster.forget("a") == 0
    assert roster.find("a") is None
    assert roster[0] == "a"
    assert roster.append("a", "//x") == 2
    assert list(roster.living()) == [("b", 1), ("a", 2)]
    assert (roster.living_count, len(roster)) == (2, 3)


def test_a_roster_goes_on_from_a_stored_one() -> None:
    """The stored part is only searched when it must be."""
    roster = Roster(Stored(["a", "b"]), ["//a", "//b"])
    assert roster.living_count == 2
    assert roster.append("c", "//c") == 2
    assert [roster.find(id) for id in "abcd"] == [0, 1, 2, None]
    assert [roster.text(position) for position in range(3)] == ["//a", "//b", "//c"]
    assert roster[0:2] == ["a", "b"]


def test_stored_ids_are_searched_and_then_kept_in_a_table() -> None:
    """Few changes cost a search each, many a table; the answers are the same."""
    roster = Roster(Stored(["a", "b", "c"]), ["//a", "//b", "//c"])
    assert roster.forget("b") == 1
    for _ in range(SEARCHES + 3):
        assert [roster.find(id) for id in "abcd"] == [0, None, 2, None]
    assert roster.append("b", "//x") == 3
    assert roster.forget("c") == 2
    assert list(roster.living()) == [("a", 0), ("b", 3)]
    assert roster.living_count == 2
