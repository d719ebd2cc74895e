"""Every piggyback strategy delivers what flooding delivers, also while subscriptions change."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from experiments.engines.piggyback.protocols import PIGGYBACK
from tests.routing.overlay import Overlay, Story, expected, story
from twigcast.analysis import sample_selectivity
from twigcast.document import read
from twigcast.errors import DocumentError
from twigcast.pattern import Pattern, matches, parse
from twigcast.routing import Network, Router, Strategy
from twigcast.routing.messages import Deliver, Envelope, Message, Publish, Subscribe, Unsubscribe, is_flooded
from twigcast.routing.overlay import join
from twigcast.routing.piggyback import Work
from twigcast.routing.pool import Pool

SETTINGS = settings(
    max_examples=int(os.environ.get("TWIGCAST_STORIES", "4")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a story takes too long to be shrunk
)


def strategies(name: str) -> Iterator[Strategy]:
    """The strategy with and without covering and aggregation, with and without advertising."""
    for advertising in (True, False):
        yield Strategy(advertising, covering=False, piggyback=name)
        yield Strategy(advertising, piggyback=name)
        yield Strategy(advertising, aggregation=0.5, piggyback=name, selection="greedy", annotation_bytes=16)


@pytest.mark.parametrize("name", PIGGYBACK)
@SETTINGS
@given(st.randoms(use_true_random=False))
def test_every_strategy_delivers_what_flooding_delivers(name: str, random: Random) -> None:
    """This holds with routers restarted, links cut and joined again, and plans made at any time."""
    told = padded(story(random))
    for strategy in strategies(name):
        tell(told, strategy, random)


def padded(story: Story) -> Story:
    """The same story with long comments in its documents: a structure travels only with a larger document."""
    return replace(
        story,
        events=tuple((client, tuple(map(_longer, messages))) for client, messages in story.events),
    )


def _longer(message: Message) -> Message:
    if not isinstance(message, Publish):
        return message
    body = message.envelope.body + b"<!--" + b" " * 4000 + b"-->"
    return Publish(replace(message.envelope, body=body))


def tell(story: Story, strategy: Strategy, random: Random) -> None:
    """Run a story, and compare its deliveries with those of each subscription matched by itself."""
    selectivity = sample_selectivity(map(read, story.sample))
    overlay = Overlay(story.edges, story.clients, strategy, story.schema, selectivity)
    live: dict[str, tuple[str, Pattern]] = {}
    for client, messages in story.events:
        if random.randint(0, 9) == 0:
            overlay.restart(random.choice(list(overlay.routers)))
        if story.edges and random.randint(0, 9) == 0:
            overlay.reconnect(*random.choice(story.edges), restarted=random.random() < 0.5)
        if random.randint(0, 2) == 0:
            overlay.replan(random.choice(list(overlay.routers)))
        overlay.do(client, *messages)
        for message in messages:
            if isinstance(message, Subscribe):
                live[message.id] = client, message.pattern
            elif isinstance(message, Unsubscribe):
                del live[message.id]
            elif isinstance(message, Publish):
                assert overlay.take() == expected(live, message.envelope)


@pytest.mark.parametrize("name", PIGGYBACK)
@SETTINGS
@given(st.randoms(use_true_random=False))
def test_annotations_change_no_decision_while_messages_are_under_way(name: str, random: Random) -> None:
    """Whatever is under way, a router sends a document where it would send it had it parsed it."""
    told = padded(story(random, length=20))
    for strategy in strategies(name):
        Busy(told, strategy, random).run()


class Busy:
    """A network in which messages wait in queues, one for each direction of a link."""

    def __init__(self, story: Story, strategy: Strategy, random: Random) -> None:
        names = dict.fromkeys([*(name for edge in story.edges for name in edge), *story.clients.values()])
        network = Network(tuple(names), story.edges, tuple(story.clients.items()))
        selectivity = sample_selectivity(map(read, story.sample))
        self.story, self.random = story, random
        self.routers = join(network, strategy, Pool, schema=story.schema, selectivity=selectivity)
        self.queues: dict[tuple[str, str], deque[Message]] = {}
        self.unread = 0

    def run(self) -> None:
        """Let each client act when it is its turn, and routers handle one message after the other."""
        events = deque(self.story.events)
        while events or self.queues:
            if events and (not self.queues or self.random.random() < 0.4):
                client, messages = events.popleft()
                self.put(client, self.story.clients[client], messages)
            else:
                self.step(*self.random.choice(list(self.queues)))
            if self.random.randint(0, 9) == 0:
                name = self.random.choice(list(self.routers))
                for link, message in self.routers[name].replan():
                    self.put(name, link, [message])

    def put(self, source: str, target: str, messages: Sequence[Message]) -> None:
        """Queue messages on a link."""
        if target in self.routers and messages:
            self.queues.setdefault((source, target), deque()).extend(messages)

    def step(self, source: str, target: str) -> None:
        """Let a router handle the next message of a link, and check what it does with a document."""
        queue = self.queues[source, target]
        message = queue.popleft()
        if not queue:
            del self.queues[source, target]
        router, work = self.routers[target], Work()
        outgoing = router.exchange([message], source, work)
        if isinstance(message, Publish):
            sent = [each for messages in outgoing.values() for each in messages if isinstance(each, Publish)]
            flooded = any(is_flooded(each.envelope) for each in sent)
            wanted = parsed_decisions(router, message.envelope, source, flooded=flooded)
            assert decisions(outgoing) == wanted
            self.unread += not work.documents[0].parsed
        for link, messages in outgoing.items():
            self.put(target, link, messages)


def decisions(outgoing: dict[str, list[Message]]) -> dict[str, tuple[str, ...]]:
    """Where a document was sent: to neighbours, and to clients with the ids of their subscriptions."""
    found: dict[str, tuple[str, ...]] = {}
    for link, messages in outgoing.items():
        for message in messages:
            if isinstance(message, Publish):
                found[link] = ()
            elif isinstance(message, Deliver):
                assert not message.envelope.annotations
                found[link] = tuple(sorted(message.subscriptions))
    return found


def parsed_decisions(
    router: Router, envelope: Envelope, link: str, *, flooded: bool
) -> dict[str, tuple[str, ...]]:
    """Where a router with the same tables sends the document if it matches all its rows one by one."""
    document = read(envelope.body)
    found: dict[str, tuple[str, ...]] = {}
    for other in (*router.neighbours, *router.clients):
        ids = [id for id, pattern in router.subscriptions(other).items() if matches(pattern, document)]
        if other in router.clients:
            if ids:
                found[other] = tuple(sorted(ids))
        elif other != link and (ids or flooded):
            found[other] = ()
    return found


@pytest.mark.parametrize("name", PIGGYBACK)
def test_a_malformed_document_is_refused_where_it_enters(name: str) -> None:
    """No strategy lets it travel."""
    router = Router("r", ["n"], ["c"], strategy=Strategy(advertising=False, piggyback=name))
    router.subscribe("s", parse("//*"), "n")
    with pytest.raises(DocumentError):
        router.receive(Envelope("d", b"<a><b></a>"), "c")
