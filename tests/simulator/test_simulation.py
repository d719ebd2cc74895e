"""Simulations: the same deliveries by every strategy, and figures that are computed by hand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from twigcast.errors import DocumentError, RoutingError
from twigcast.pattern import parse
from twigcast.routing import (
    FLOODING,
    STRATEGIES,
    Envelope,
    Network,
    Strategy,
    advertisement,
)
from twigcast.schema import read_dtd
from twigcast.simulator import Report, line, simulate
from twigcast.simulator.cost import PAPER, CostModel, LinkModel
from twigcast.simulator.load import Load
from twigcast.simulator.topologies import random_tree
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


def test_a_batch_that_a_router_refuses_is_an_error() -> None:
    """The error is that of the router."""
    network, load = small()
    twice = {"reader": [("s", parse("/a"))], "writer": [("s", parse("/b"))]}
    with pytest.raises(RoutingError) as refused:
        simulate(network, replace(load, subscriptions=twice), FLOODING)
    assert refused.value.name == "s"


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
    assert replace(measured, delay=modelled.delay, work=modelled.work) == modelled


@cache
def load_of_a_tree() -> tuple[Network, Load, list[bytes]]:
    """Nine routers with clients at all of them, documents from two of them, and a sample of documents."""
    schema = news()
    network = random_tree(9, seed=3)
    network = network.with_clients({f"c{n}": name for n, name in enumerate(network.routers)})
    options = SubscriptionOptions(min_steps=3, nested=0.2, value=0.1, descendant=0.2)
    texts = list(generate_subscriptions(schema, 90, options))
    subscriptions = {
        f"c{n}": [(f"{n}.{i}", parse(text)) for i, text in enumerate(texts[10 * n : 10 * n + 10])]
        for n in range(9)
    }
    bodies = list(generate_documents(schema, 14))
    documents = [(f"c{n % 2}", Envelope(f"d{n}", body)) for n, body in enumerate(bodies[:8])]
    leaving = {client: [id for id, _ in each[::3]] for client, each in subscriptions.items()}
    return network, Load({}, subscriptions, documents, leaving), bodies[8:]


def tree(piggyback: str, *, relay: str = "store", **options: Any) -> Report:
    """The report of a piggyback on that network, with the cost model of the papers."""
    network, load, sample = load_of_a_tree()
    strategy = Strategy(advertising=False, piggyback=piggyback)
    link = LinkModel(bandwidth=1e6, relay=relay)  # type: ignore[arg-type]
    return simulate(network, load, strategy, cost=PAPER, link=link, sample=sample, **options)


@pytest.mark.parametrize("name", ["ES", "ES+sd", "L+s-sd", "L+sd-sd", "adaptive", "L+t", "L+a", "L+sdta-sdr"])
def test_every_piggyback_delivers_what_flooding_delivers(name: str) -> None:
    """With twigs, values and ending subscriptions, also if headers come first."""
    report, relayed = tree(name), tree(name, relay="cut-through")
    assert report.correct
    assert relayed.correct
    assert relayed.deliveries == report.deliveries > 20


def test_a_run_with_annotations_can_be_repeated() -> None:
    """The same load gives the same report, and so the same times."""
    assert tree("adaptive") == tree("adaptive")


def test_documents_close_to_each_other_are_delivered_too() -> None:
    """Links and routers are busy with one document when the next one comes."""
    for relay in ("store", "cut-through"):
        report = tree("L+t", relay=relay, interval=0.001)
        assert report.correct
        assert report.delay.mean > tree("L+t", relay=relay).delay.mean


def test_the_work_of_the_routers_is_in_the_report() -> None:
    """The sums over routers and over levels are the same; routers at level 0 have nothing to read."""
    work = tree("L+s-sd").work
    assert work.total.documents == sum(each.documents for each in work.by_level.values())
    assert work.by_level[0].documents == work.by_level[0].parsed == 8
    assert work.by_level[0].refuted == 0
    assert 0 < work.downstream.refuted < work.downstream.rows
    assert work.total.annotation_bytes > 0
    assert work.total.plan_bytes > 0
    assert tree("L").work.total.plan_bytes == 0


def test_structure_decides_all_but_values() -> None:
    """Fewer documents are parsed, and the annotations are in the bytes on links."""
    plain, structured = tree("L"), tree("L+t")
    assert plain.work.downstream.parsed == plain.work.downstream.documents
    assert structured.work.downstream.parsed < structured.work.downstream.documents
    assert structured.bytes == plain.bytes + structured.work.total.annotation_bytes


def test_the_first_documents_may_be_left_out() -> None:
    """They are delivered and compared, but not in the delays and the work."""
    report, all_of_them = tree("L", warm_up=3), tree("L")
    assert report.deliveries == all_of_them.deliveries
    assert report.work.by_level[0].documents == 5


def along_a_line(relay: str, piggyback: str) -> Report:
    network = line(8).with_clients({"writer": "b1", "reader": "b8"})
    body = b"<a>" + b"<b>some text</b>" * 62_500 + b"</a>"
    load = Load({}, {"reader": [("s", parse("/a/b"))]}, [("writer", Envelope("d", body))])
    link = LinkModel(bandwidth=1e7, relay=relay)  # type: ignore[arg-type]
    strategy = Strategy(advertising=False, piggyback=piggyback)
    return simulate(network, load, strategy, cost=PAPER, link=link)


def test_headers_first_a_document_of_a_megabyte_takes_a_fifth_of_the_time() -> None:
    """Eight routers in a line, of which only the first parses the document."""
    stored, relayed = along_a_line("store", "L"), along_a_line("cut-through", "L+t")
    assert stored.correct
    assert relayed.correct
    assert relayed.work.downstream.parsed == 0
    assert relayed.delay.mean <= 0.2 * stored.delay.mean
    transmission = 1_000_000 / 1e7
    assert relayed.delay.mean == pytest.approx(2 * transmission + 0.2 + 9 * 0.0005, rel=0.02)


def test_headers_first_do_not_help_routers_that_parse() -> None:
    """They wait for the whole body, as with store and forward."""
    stored, relayed = along_a_line("store", "L"), along_a_line("cut-through", "L")
    assert relayed.delay.mean == pytest.approx(stored.delay.mean)


def test_a_router_handles_other_messages_while_a_body_comes() -> None:
    """A small document is not kept waiting by a large one on another link that has to be parsed."""
    network = line(3).with_clients({"large": "b1", "small": "b3", "reader": "b2"})
    load = Load(
        {},
        {"reader": [("s", parse("//b"))]},
        [
            ("large", Envelope("d", b"<a>" + b" " * 1_000_000 + b"<b/></a>")),
            ("small", Envelope("e", b"<a><b/></a>")),
        ],
    )
    strategy = Strategy(advertising=False, piggyback="L")
    cost = CostModel(publication=0.0, row=0.0)
    link = LinkModel(latency=0.0, bandwidth=1e7, relay="cut-through")
    # The header of the large document is at b2 after 0.1 s, its body after 0.2 s.
    report = simulate(network, load, strategy, cost=cost, link=link, interval=0.15)
    assert report.correct
    assert report.delay.p50 < 0.001
    assert report.delay.p99 == pytest.approx(0.3, rel=0.01)
