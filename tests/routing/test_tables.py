"""The tables of a router, and the frozen tables made from them."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.routing.expression_automaton import advertisement_of
from experiments.engines.routing.path_expression import parse_path_expression
from twigcast.pattern import parse
from twigcast.routing import NOWHERE
from twigcast.routing.pool import Pool
from twigcast.routing.tables import SELF, AdvertisementTable, PublicationTable


def test_holders_are_the_other_links_with_an_id() -> None:
    """Only an id that routers generated can belong to several links."""
    table = PublicationTable("r", ["n", "m", "o"])
    table.change("n", {"merge:/a": 1, "x": 2}, ())
    table.change("m", {"merge:/a": 1}, ())
    assert table.holders({"merge:/a": 1, "x": 2}, "n") == {"merge:/a": ["m"]}
    assert table.elsewhere("m") == {"merge:/a": 1, "x": 2}
    assert len(table) == 3


def test_a_link_asks_for_a_pattern_until_its_last_id_is_gone() -> None:
    """Several ids of a link may have the same pattern."""
    table = PublicationTable("r", ["n", "m"])
    table.change("m", {"x": 0, "y": 0}, ())
    assert table.forwarding(1).asked.tolist() == [[0b10]]
    table.change("m", {}, ["x"])
    assert table.forwarding(1).asked.tolist() == [[0b10]]
    table.change("m", {}, ["y"])
    assert table.forwarding(1).asked.tolist() == [[0]]


def test_the_tables_are_made_once_for_a_change() -> None:
    """Documents use the same tables until the next change."""
    table = PublicationTable("r", ["n"])
    table.attach("c")
    table.change("c", {"x": 0}, ())
    assert table.forwarding(1) is table.forwarding(1)
    assert table.deliveries(1) is table.deliveries(1)


@settings(max_examples=200, deadline=None)
@given(st.randoms(use_true_random=False))
def test_frozen_tables_say_what_the_dictionaries_say(random: Random) -> None:
    """This holds through changes, added and dropped links, and compaction."""
    table = PublicationTable("r", ["n0", "n1"])
    links = ["n0", "n1"]
    held: dict[str, dict[str, int]] = {"n0": {}, "n1": {}}
    order: list[str] = []
    for made in range(10, 10 + random.randint(1, 40)):
        action = random.randint(0, 9)
        if action == 0:
            held[f"c{made}"] = {}
            links.append(f"c{made}")
            table.attach(f"c{made}")
        elif action == 1:
            held[f"n{made}"] = {}
            links.append(f"n{made}")
            table.connect(f"n{made}")
        elif action == 2 and links:
            link = links.pop(random.randrange(len(links)))
            table.change(link, {}, list(held.pop(link)))
            (table.disconnect if link[0] == "n" else table.detach)(link)
        elif links:
            link = random.choice(links)
            gone = random.sample(list(held[link]), random.randint(0, len(held[link])))
            new = {f"{made}-{each}": random.randrange(6) for each in range(random.randint(0, 4))}
            table.change(link, new, gone)
            for id in gone:
                del held[link][id]
            held[link] |= new
            order += new
        if random.randint(0, 2) == 0:
            _compare(table, links, held, order)
        if random.randint(0, 9) == 0:
            table._compact()
    _compare(table, links, held, order)


def _compare(
    table: PublicationTable, links: list[str], held: dict[str, dict[str, int]], order: list[str]
) -> None:
    forwarding, deliveries = table.forwarding(6), table.deliveries(6)
    assert list(table.neighbours) == [link for link in links if link[0] == "n"]
    for number in range(6):
        asked = [link for link in table.neighbours if number in held[link].values()]
        bits = int(forwarding.asked[0, number])
        assert [link for n, link in enumerate(table.neighbours) if bits >> n & 1] == asked
        at_clients = any(number in held[link].values() for link in links if link[0] == "c")
        assert forwarding.home[number] == (SELF if at_clients else NOWHERE)
    for numbers in ([0], [1, 2], [0, 1, 2, 3, 4, 5]):
        rows = deliveries.rows(np.array(numbers))
        found = {table.clients[client]: ids for client, ids in deliveries.by_client(rows)}
        assert found == {
            link: tuple(sorted(ids, key=order.index))
            for link in links
            if link[0] == "c" and (ids := [id for id, number in held[link].items() if number in numbers])
        }
        items, rows = deliveries.pairs(np.array(numbers), np.array(numbers))
        pairs = zip(items.tolist(), deliveries.ids[rows].tolist(), strict=True)
        assert sorted(pairs) == sorted(
            (number, id)
            for link in links
            if link[0] == "c"
            for id, number in held[link].items()
            if number in numbers
        )


def test_a_subscription_leads_to_overlapping_advertisements() -> None:
    """It overlaps one of several advertisements; without any advertisement it overlaps none."""
    pool = Pool()
    number = pool.hold(parse("/a/b"))
    table = AdvertisementTable(["n", "m"], pool)
    table["n"]["x"] = advertisement_of("x", [parse_path_expression("/a/c")])
    table["n"]["y"] = advertisement_of("y", [parse_path_expression("/a/b/c")])
    assert table.leads(number, table["n"])
    assert not table.leads(number, table["m"])
    assert table.origin("y") == "n"
    assert table.origin("z") is None
