"""Simulations: the same deliveries by every strategy, and figures that are computed by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from twigcast.errors import DocumentError
from twigcast.pattern import parse
from twigcast.routing import (
    FLOODING,
    STRATEGIES,
    Envelope,
    Strategy,
    advertisement,
)
from twigcast.schema import read_dtd
from twigcast.simulator import CostModel, LinkModel, Load, line, random_tree, simulate
from twigcast.workload import SubscriptionOptions, generate_documents, generate_subscriptions, news

SCHEMA = read_dtd(b"<!ELEMENT a (b|c)*><!ELEMENT b (#PCDATA)><!ELEMENT c EMPTY>")


def small() -> tuple[object, Load]:
    """Three routers in a line, with a publisher at the first and a subscriber at the last."""
    network = line(3).with_clients({"writer": "b1", "reader": "b3"})
    load = Load(
        {"writer": [advertisement("x", SCHEMA)]},
        {"reader": [("s", parse("/a/b")), ("t", parse("/a/b[.=1]")), ("u", parse("/d"))]},
        [("writer", Envelope("d", b"<a><b>1</b><c/></a>")), ("writer", Envelope("e", b"<a><c/></a>"))],
    )
    return network, load


def test_flooding_by_hand() -> None:
    """Three subscriptions reach three routers; the first document reaches three routers, the second one."""
    network, load = small()
    report = simulate(network, load, FLOODING, cost=CostModel())
    assert report.messages == {"subscription": 9, "publication": 4}
    assert (report.rows, report.largest_table, report.advertised) == (9, 3, 0)
    assert (report.deliveries, report.missing, report.extra, report.false_positives) == (1, 0, 0, 0)


def test_advertising_and_covering_by_hand() -> None:
    """/d overlaps nothing and /a/b[.=1] is covered, so one subscription goes beyond the reader's router."""
    network, load = small()
    report = simulate(network, load, Strategy(), cost=CostModel())
    assert report.messages == {"advertisement": 3, "subscription": 5, "publication": 4}
    assert report.correct


def test_each_path_counts_as_a_publication() -> None:
    """Two paths enter with the first document, and one goes on; one path enters with the second."""
    network, load = small()
    report = simulate(network, load, replace(FLOODING, publication="paths"), cost=CostModel())
    assert report.messages["publication"] == 2 + 2 + 1


def test_what_is_received_in_vain_is_counted() -> None:
    """A document outside its advertisement is flooded, whoever subscribes to it."""
    network, load = small()
    load = replace(load, documents=[("writer", Envelope("f", b"<e/>"))])
    report = simulate(network, load, Strategy(), cost=CostModel())
    assert (report.messages["publication"], report.false_positives) == (3, 2)
    assert report.correct


def test_the_delay_is_that_of_links_and_routers() -> None:
    """There are four links and three routers between the publisher and the subscriber."""
    network, load = small()
    load = replace(load, documents=load.documents[:1])
    link = LinkModel(latency=1.0, bandwidth=1e12)
    cost = CostModel(publication=0.25, row=0.0)
    report = simulate(network, load, FLOODING, cost=cost, link=link, interval=1.0)
    assert round(report.delay.mean, 6) == 4 * 1.0 + 3 * 0.25


def test_a_slow_link_carries_one_message_after_the_other() -> None:
    """The second of two documents of a hundred bytes waits for the first."""
    network, load = small()
    body = b"<a><b/>" + b" " * 89 + b"</a>"
    load = replace(load, documents=[("writer", Envelope(name, body)) for name in "de"])
    link = LinkModel(latency=0.0, bandwidth=132.0)
    cost = CostModel(publication=0.0, row=0.0)
    report = simulate(network, load, FLOODING, cost=cost, link=link, interval=1e-9)
    assert round(report.delay.p50) == 4
    assert round(report.delay.p99) == 5


def test_subscriptions_that_are_taken_back_halfway() -> None:
    """Later documents are not delivered to them, and the report is still correct."""
    network, load = small()
    load = replace(
        load,
        documents=[("writer", Envelope(name, b"<a><b/></a>")) for name in "de"],
        leaving={"reader": ["s", "t", "u"]},
    )
    report = simulate(network, load, Strategy(), cost=CostModel())
    assert report.deliveries == 1
    assert report.messages["unsubscription"] == 5
    assert report.correct


def test_in_batches_there_may_be_more_messages() -> None:
    """Subscriptions that are sent one by one are forwarded before their coverer arrives."""
    network, load = small()
    load = replace(load, subscriptions={"reader": [("s", parse("/a/b/c")), ("t", parse("/a/b"))]})
    strategy = Strategy(advertising=False)
    together = simulate(network, load, strategy, cost=CostModel())
    apart = simulate(network, load, strategy, cost=CostModel(), batch=1)
    assert (together.messages["subscription"], apart.messages["subscription"]) == (4, 6)
    assert apart.messages["unsubscription"] == 2
    assert apart.rows == together.rows


def test_a_document_that_cannot_be_read_is_an_error() -> None:
    """The error is in the load, not in the network."""
    network, load = small()
    with pytest.raises(DocumentError):
        simulate(network, replace(load, documents=[("writer", Envelope("d", b"<a>"))]), FLOODING)


@pytest.mark.parametrize("publication", ["documents", "paths"])
@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_delivers_what_flooding_delivers(name: str, publication: str) -> None:
    """On a random tree, with twigs, values and ending subscriptions; a second run gives the same report."""
    schema = news()
    network = random_tree(9, seed=3)
    network = network.with_clients({f"c{n}": name for n, name in enumerate(network.routers)})
    options = SubscriptionOptions(min_steps=3, nested=0.1, value=0.1, descendant=0.2)
    texts = list(generate_subscriptions(schema, 90, options))
    subscriptions = {
        f"c{n}": [(f"{n}.{i}", parse(text)) for i, text in enumerate(texts[10 * n : 10 * n + 10])]
        for n in range(9)
    }
    bodies = generate_documents(schema, 12)
    documents = [(f"c{n % 2}", Envelope(f"d{n}", body)) for n, body in enumerate(bodies)]
    announced = {f"c{n}": [advertisement(f"a{n}", schema)] for n in range(2)}
    leaving = {client: [id for id, _ in each[::3]] for client, each in subscriptions.items()}
    load = Load(announced, subscriptions, documents, leaving)
    strategy = replace(STRATEGIES[name], publication=publication)  # type: ignore[arg-type]
    report = simulate(network, load, strategy, cost=CostModel(), schema=schema)
    assert report.correct
    assert report.deliveries > 20
    assert simulate(network, load, strategy, cost=CostModel(), schema=schema) == report


def test_routers_can_be_measured() -> None:
    """Only the processing time differs from that of the model."""
    network, load = small()
    modelled = simulate(network, load, Strategy(), cost=CostModel())
    measured = simulate(network, load, Strategy())
    assert measured.delay.mean > 0.0
    assert replace(measured, delay=modelled.delay) == modelled
