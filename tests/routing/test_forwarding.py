"""The data plane: frozen tables route documents like the routers from which they were made."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.routing.conformance import describes
from tests.routing.overlay import any_document, graph, subscription, valid_document
from twigcast.analysis import schema_selectivity
from twigcast.filtering import Index
from twigcast.pattern import Pattern, parse
from twigcast.routing import (
    NOWHERE,
    Advertise,
    Carried,
    Demand,
    Envelope,
    ForwardingTable,
    Network,
    Overlay,
    Publish,
    Strategy,
    Subscribe,
    Unsubscribe,
    advertisement,
    carry,
)

STRATEGIES = [each for each in Strategy.all_combinations() if each.publication == "documents"]


def carried(
    table: ForwardingTable,
    patterns: list[Pattern],
    entries: list[int],
    bodies: list[bytes],
    floods: list[bool],
) -> Carried:
    """Route documents that are matched against the patterns of all positions."""
    index = Index(enumerate(patterns))
    answers = [index.match(body).ids for body in bodies]
    rows = np.repeat(np.arange(len(bodies)), list(map(len, answers)))
    positions = np.array([position for answer in answers for position in answer], dtype=np.int64)
    return carry(table, np.array(entries), rows, positions, flooded=np.array(floods))


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@settings(max_examples=12, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_batch_is_carried_as_the_routers_route_each_document(strategy: Strategy, random: Random) -> None:
    """With every strategy, on random trees and from several entries, hops and deliveries are the same."""
    routers = [f"r{i}" for i in range(random.randint(1, 5))]
    links = tuple((routers[random.randrange(i)], routers[i]) for i in range(1, len(routers)))
    writers = {"w0": random.choice(routers), "w1": random.choice(routers)}
    clients = {f"c{i}": random.choice(routers) for i in range(3)} | writers
    schema = graph(random)
    network = Network(tuple(routers), links, tuple(clients.items()))
    overlay = Overlay(network, strategy, schema=schema, selectivity=schema_selectivity(schema))
    for writer in writers:
        overlay.send(writer, Advertise(advertisement(writer, schema)))
    patterns: dict[str, Pattern] = {}
    homes: dict[str, str] = {}
    owners: dict[str, str] = {}
    ids: list[str] = []
    table = overlay.forwarding_table((), {})
    for step in range(3):
        for number in range(random.randint(0, 4)):
            id, owner = f"s{step}-{number}", f"c{random.randrange(3)}"
            patterns[id], owners[id], homes[id] = subscription(random), owner, clients[owner]
            overlay.send(owner, Subscribe(id, patterns[id]))
        if homes and random.randint(0, 1):
            id = random.choice(list(homes))
            overlay.send(owners[id], Unsubscribe(id))
            del homes[id]
        patterns |= {id: asked.pattern for id, asked in overlay.asked.items()}
        changed = [*overlay.take_changes(), *owners]
        ids += [id for id in dict.fromkeys(changed) if id not in ids and id in patterns]
        changes = {ids.index(id): overlay.demand(id, homes) for id in changed if id in ids}
        table = table.with_changes(changes)
        _compare(overlay, table, ids, patterns, homes, list(writers), schema_documents(random, schema))
    again = overlay.forwarding_table(ids, homes)
    assert (again.asked == table.asked).all()
    assert (again.home == table.home).all()


def schema_documents(random: Random, schema: object) -> list[bytes]:
    return [
        valid_document(random, schema) if number % 2 else any_document(random)  # type: ignore[arg-type]
        for number in range(6)
    ]


def _compare(
    overlay: Overlay,
    table: ForwardingTable,
    ids: list[str],
    patterns: dict[str, Pattern],
    homes: dict[str, str],
    writers: list[str],
    bodies: list[bytes],
) -> None:
    at = dict(overlay.network.clients)
    senders = [writers[number // 2 % 2] for number in range(len(bodies))]
    floods, hops, deliveries = [], [], []
    for sender, body in zip(senders, bodies, strict=True):
        before = overlay.received["Publish"]
        delivered = overlay.send(sender, Publish(Envelope("d", body)))
        hops.append(overlay.received["Publish"] - before - 1)
        deliveries.append(sorted(id for delivery in delivered for id in delivery.subscriptions))
        announced = [each.automaton for each in overlay.routers[at[sender]]._announced[sender].values()]
        floods.append(
            overlay.routers[at[sender]].strategy.advertising
            and not any(describes(each, body) for each in announced)
        )
    entries = [table.routers.index(at[sender]) for sender in senders]
    found = carried(table, [patterns[id] for id in ids], entries, bodies, floods)
    assert found.taken.sum(axis=1).tolist() == hops
    got = [
        sorted(ids[position] for position in found.positions[found.delivered & (found.rows == row)])
        for row in range(len(bodies))
    ]
    assert got == deliveries
    assert not (found.false_positives & ~found.taken).any()
    for row, body in enumerate(bodies):  # what is no false positive is on the way to a delivery
        ways = [overlay.network.route(at[senders[row]], homes[id]) for id in deliveries[row]]
        needed = {hop for way in ways for hop in pairwise(way)}
        useful = found.taken[row] & ~found.false_positives[row]
        assert {
            (table.routers[table.links[n].source], table.routers[table.links[n].target])
            for n in np.flatnonzero(useful)
        } == needed, body


def test_a_link_behind_which_nobody_gets_the_document_is_a_false_positive() -> None:
    """A merger matches more than its parts: the document takes the link, and reaches no subscriber."""
    table = ForwardingTable.of(("a", "b"), [(0, 1), (1, 0)], [Demand((), 1), Demand((0,))])
    patterns = [parse("/x/y"), parse("/x/*")]
    found = carried(table, patterns, [0, 0], [b"<x><y/></x>", b"<x><z/></x>"], [False, False])
    assert found.taken.tolist() == [[True, False], [True, False]]
    assert found.false_positives.tolist() == [[False, False], [True, False]]
    assert found.delivered.tolist() == [True, False, False]


def test_a_document_is_not_sent_back() -> None:
    """This holds for a document that matches a subscription there, and for a flooded document."""
    table = ForwardingTable.of(("r", "n", "m"), [(0, 1), (0, 2)], [Demand((0, 1))])
    entry, rows = np.zeros(2, dtype=np.int64), np.array([0])
    floods = np.array([False, True])
    found = carry(table, entry, rows, np.array([0]), flooded=floods, arrived=0)
    assert found.taken.tolist() == [[False, True], [False, True]]


def test_more_than_64_links_take_more_than_one_word() -> None:
    """Each link has its own bit."""
    table = ForwardingTable.of(
        [str(number) for number in range(131)],
        [(0, number) for number in range(1, 131)],
        [Demand((number,)) for number in range(130)],
    )
    for number in (0, 63, 64, 127, 128, 129):
        found = carry(table, np.array([0]), np.array([0]), np.array([number]))
        assert np.flatnonzero(found.taken[0]).tolist() == [number]


def test_a_table_does_not_change() -> None:
    """A change makes a new table, which may have more positions."""
    table = ForwardingTable.of(("r", "n"), [(0, 1)], [Demand((0,), 0)])
    other = table.with_changes({0: Demand(()), 3: Demand((0,))})
    assert (table.asked.tolist(), table.home.tolist()) == ([[1]], [0])
    assert other.asked.tolist() == [[0, 0, 0, 1]]
    assert other.home.tolist() == [NOWHERE] * 4
