"""Documents in fragments: delays by hand, order, loss and delay, and deliveries that these do not change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from twigcast.pattern import parse
from twigcast.routing import FLOODING, Envelope, Network, Strategy
from twigcast.simulator import Report, line, simulate
from twigcast.simulator.cost import CostModel, LinkModel
from twigcast.simulator.fragment_traffic import FragmentOptions
from twigcast.simulator.load import Load
from twigcast.simulator.topologies import random_tree
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
    news,
)

BY_FRAGMENTS = replace(FLOODING, publication="fragments")
FREE = CostModel(control=0.0, publication=0.0, row=0.0)
LINK = LinkModel(latency=0.0, bandwidth=1e6)


def sections(count: int = 8, items: int = 100) -> bytes:
    """A document of sections, each with items of its own name."""
    made = []
    for number in range(count):
        item = b"<i%d>%s</i%d>" % (number, b"some text " * 40, number)
        made.append(b"<s%d>%s</s%d>" % (number, item * items, number))
    return b"<site>" + b"".join(made) + b"</site>"


def four_links(pattern: str, body: bytes) -> tuple[Network, Load]:
    """A publisher, three routers in a line, and a subscriber with one subscription."""
    network = line(3).with_clients({"writer": "b1", "reader": "b3"})
    return network, Load({}, {"reader": [("s", parse(pattern))]}, [("writer", Envelope("d", body))])


def run(pattern: str, body: bytes, strategy: Strategy = BY_FRAGMENTS, **options: Any) -> Report:
    network, load = four_links(pattern, body)
    chosen: dict[str, Any] = {"bytes": len(body) // 40, "delivery": "fragments"}
    fragments = FragmentOptions(**chosen | options)
    report = simulate(network, load, strategy, cost=FREE, link=LINK, fragments=fragments)
    assert report.correct
    assert report.deliveries == 1
    return report


def test_cut_through_takes_one_transmission_and_three_waits() -> None:
    """The document takes 1; each of three routers waits until its match is certain, for a share s of it."""
    body = sections()
    stored = run("//i4", body, FLOODING)
    assert stored.fragments is None
    assert stored.delay.mean == pytest.approx(4 * len(body) / LINK.bandwidth, rel=0.01)
    found = run("//i4", body)
    assert found.fragments is not None
    share = found.fragments.earliness
    assert 0.5 < share < 0.6
    assert found.delay.mean / stored.delay.mean == pytest.approx((1 + 3 * share) / 4, rel=0.1)
    assert found.fragments.first.mean < found.fragments.certain.mean < found.delay.mean
    assert found.false_positives == 0


def test_the_figure_of_cut_through_at_a_small_scale() -> None:
    """One subscription on each of four links: in order at most 0.65 of store and forward, by novelty 0.35."""
    body = sections()
    stored = run("//i0", body, FLOODING).delay.mean
    for order, bar in (("document", 0.65), ("novelty", 0.35)):
        delays = [run(f"//i{number}", body, order=order).delay.mean for number in range(8)]
        assert sum(delays) / len(delays) / stored <= bar


def test_a_whole_document_is_delivered_at_its_end() -> None:
    """Then the last link takes a transmission of its own."""
    body = sections()
    by_parts, whole = run("//i0", body), run("//i0", body, delivery="documents")
    assert whole.delay.mean - by_parts.delay.mean == pytest.approx(len(body) / LINK.bandwidth, rel=0.1)
    assert by_parts.fragments is not None
    assert whole.fragments is not None
    assert by_parts.fragments.held_bytes < len(body) // 8
    assert whole.fragments.held_bytes > 0.9 * len(body)


def test_what_is_not_wanted_is_held_back() -> None:
    """No fragment goes to a router behind which nobody matches, and those that go on are parsed less."""
    body = sections()
    network, load = four_links("//i1[.='other text']", body)
    report = simulate(network, load, BY_FRAGMENTS, cost=FREE, link=LINK)
    assert report.messages["publication"] == 1 + len(body) // 65_536
    assert (report.deliveries, report.false_positives, report.correct) == (0, 0, True)
    found = run("//i1", body).fragments
    assert found is not None
    assert found.parsed < 0.8 * found.received


def test_beyond_the_bytes_that_may_be_held_there_are_false_positives() -> None:
    """They are counted by fragments."""
    body = sections()
    network, load = four_links("//i1[.='other text']", body)
    strategy = replace(BY_FRAGMENTS, held_bytes=len(body) // 2)
    options = FragmentOptions(bytes=len(body) // 40)
    report = simulate(network, load, strategy, cost=FREE, link=LINK, fragments=options)
    assert report.false_positives > 40
    assert report.correct


@pytest.mark.parametrize("order", ["document", "novelty", "random"])
@pytest.mark.parametrize("delivery", ["documents", "fragments"])
def test_loss_and_delay_change_no_delivery(order: Any, delivery: Any) -> None:
    """Fragments overtake others on every link, and some come late; the figures are the same in each run."""
    schema = news()
    network = random_tree(6, 1).with_clients({"writer": "b1", "ada": "b4", "bob": "b6"})
    load = Load(
        {},
        {
            client: [
                (f"{client}/{number}", parse(text))
                for number, text in enumerate(
                    generate_subscriptions(schema, 20, SubscriptionOptions(seed=seed, max_steps=4))
                )
            ]
            for seed, client in enumerate(("ada", "bob"))
        },
        [
            ("writer", Envelope(f"d{number}", body))
            for number, body in enumerate(generate_documents(schema, 4, DocumentOptions(seed=3)))
        ],
    )
    options = FragmentOptions(bytes=500, order=order, loss=0.2, delay=0.01, delivery=delivery)
    reports = [
        simulate(network, load, strategy, cost=CostModel(), interval=0.001, fragments=options)
        for strategy in (Strategy(publication="fragments"), BY_FRAGMENTS, BY_FRAGMENTS)
    ]
    assert all(report.correct and report.deliveries for report in reports)
    assert all(report.fragments and report.fragments.resent for report in reports)
    assert reports[1] == replace(reports[2], wall=0.0)


@pytest.mark.parametrize("wrong", [{"bytes": 0}, {"loss": 1.0}, {"delay": -1.0}, {"resend": -1.0}])
def test_what_is_no_option_is_refused(wrong: dict[str, Any]) -> None:
    """The error names the option."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        FragmentOptions(**wrong)
