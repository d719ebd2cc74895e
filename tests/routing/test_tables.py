"""The tables of a router."""

from __future__ import annotations

from twigcast.analysis import parse_path_expression
from twigcast.pattern import parse
from twigcast.routing import advertisement
from twigcast.routing.pool import Pool
from twigcast.routing.tables import LinkTable, PublicationTable, SubscriptionTable


def test_a_link_wants_what_one_of_its_patterns_matches() -> None:
    """Also after a change, though it remembers what it decided."""
    table = LinkTable()
    table.change({"x": 1, "y": 2}, ())
    assert table.wants(frozenset({2, 3}))
    assert not table.wants(frozenset({3}))
    table.change({"z": 3}, ["y"])
    assert not table.wants(frozenset({2}))
    assert table.wants(frozenset({3}))


def test_matched_ids_come_in_the_order_they_were_added() -> None:
    """Several may stand for one pattern."""
    table = LinkTable()
    table.change({"x": 2, "y": 1, "z": 2}, ())
    assert table.matched(frozenset({2})) == ("x", "z")
    assert table.matched(frozenset()) == ()


def test_holders_are_the_other_links_with_an_id() -> None:
    """Which only ids that routers make can have."""
    table = PublicationTable(["n", "m", "o"])
    table["n"].change({"merge:/a": 1, "x": 2}, ())
    table["m"].change({"merge:/a": 1}, ())
    assert table.holders({"merge:/a": 1, "x": 2}, "n") == {"merge:/a": ["m"]}
    assert table.elsewhere("m") == {"merge:/a": 1, "x": 2}
    assert len(table) == 3


def test_a_subscription_leads_to_overlapping_advertisements() -> None:
    """One of them is enough; without any it leads nowhere."""
    pool = Pool()
    number = pool.hold(parse("/a/b"))
    table = SubscriptionTable(["n", "m"], pool)
    table["n"]["x"] = advertisement("x", [parse_path_expression("/a/c")])
    table["n"]["y"] = advertisement("y", [parse_path_expression("/a/b/c")])
    assert table.leads(number, table["n"])
    assert not table.leads(number, table["m"])
    assert table.origin("y") == "n"
    assert table.origin("z") is None
