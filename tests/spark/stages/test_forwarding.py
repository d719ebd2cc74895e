"""Frozen tables carry documents as the routers do that they were taken from."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.routing.overlay import any_document, graph, subscription, valid_document
from twigcast.analysis.conformance import describes
from twigcast.analysis.selectivity import schema_selectivity
from twigcast.filtering import Index
from twigcast.pattern import Pattern, parse
from twigcast.routing import (
    Advertise,
    Envelope,
    Network,
    Overlay,
    Publish,
    Strategy,
    Subscribe,
    advertisement,
)
from twigcast.spark.stages.forwarding import Carried, Forwarding, forwarding

STRATEGIES = [each for each in Strategy.all_combinations() if each.publication == "documents"]


def carried(tables: Forwarding, patterns: list[Pattern], entry: str, body: bytes, flooded: bool) -> Carried:
    """One document through the tables, matched against the positions and what routers made."""
    index = Index(enumerate([*patterns, *map(parse, tables.made)]))
    positions = np.array(index.match(body).ids, dtype=np.int64)
    at = np.array([tables.routers.index(entry)])
    return tables.carry(at, np.array([flooded]), np.zeros(len(positions), dtype=np.int64), positions)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
@settings(max_examples=12, deadline=None)
@given(st.randoms(use_true_random=False))
def test_carries_as_the_routers_do(strategy: Strategy, random: Random) -> None:
    """Every strategy, on random trees: the same hops and the same deliveries, in vain or not."""
    routers = [f"r{i}" for i in range(random.randint(1, 5))]
    links = tuple((routers[random.randrange(i)], routers[i]) for i in range(1, len(routers)))
    clients = {f"c{i}": random.choice(routers) for i in range(3)} | {"writer": random.choice(routers)}
    schema = graph(random)
    overlay = Overlay(
        Network(tuple(routers), links, tuple(clients.items())),
        strategy,
        schema=schema,
        selectivity=schema_selectivity(schema),
    )
    announced = advertisement("a", schema)
    overlay.send("writer", Advertise(announced))
    patterns = [subscription(random) for _ in range(random.randint(0, 8))]
    owners = {f"s{i}": f"c{random.randrange(3)}" for i in range(len(patterns))}
    for (id, owner), pattern in zip(owners.items(), patterns, strict=True):
        overlay.send(owner, Subscribe(id, pattern))
    tables = forwarding(overlay, list(owners), {id: clients[owner] for id, owner in owners.items()})
    for number in range(4):
        body = valid_document(random, schema) if number % 2 else any_document(random)
        flooded = strategy.advertising and not describes(announced.automaton, body)
        before = overlay.received["Publish"]
        delivered = overlay.send("writer", Publish(Envelope("d", body)))
        found = carried(tables, patterns, clients["writer"], body, flooded)
        assert int(found.hops.sum()) == overlay.received["Publish"] - before - 1
        expected = sorted(id for delivery in delivered for id in delivery.subscriptions)
        matched = [f"s{i}" for i in Index(enumerate(patterns)).match(body).ids]
        assert sorted(np.array(matched)[found.kept].tolist()) == expected
        assert not (found.vain & ~found.hops).any()


def test_a_hop_behind_which_nobody_gets_it_is_in_vain() -> None:
    """What a merger lets in beyond its parts travels, and arrives nowhere."""
    network = Network(("a", "b"), (("a", "b"),), (("reader", "b"),))
    overlay = Overlay(network, Strategy(advertising=False, covering=False))
    overlay.send("reader", Subscribe("s0", parse("/x/y")))
    tables = forwarding(overlay, ["s0"], {"s0": "b"})
    merged = Forwarding(
        tables.routers, tables.links, np.array([[False, True], [False, False]]), tables.home, ("/x/*",)
    )
    wanted = carried(merged, [parse("/x/y")], "a", b"<x><y/></x>", flooded=False)
    other = carried(merged, [parse("/x/y")], "a", b"<x><z/></x>", flooded=False)
    assert (wanted.hops.sum(), wanted.vain.sum(), wanted.kept.tolist()) == (1, 0, [True])
    assert (other.hops.sum(), other.vain.sum(), other.kept.tolist()) == (1, 1, [])
