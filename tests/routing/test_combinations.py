"""Any set of techniques, together: the deliveries are those of flooding.

A trial draws a tree of routers, a strategy, mappings and how they are applied, and what clients do.  Each
document is compared with the patterns evaluated one by one on the document, or on its image.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from experiments.engines.piggyback.protocols import PIGGYBACK
from tests.pattern.strategies import NAMESPACES
from tests.rewriting.strategies import (
    random_mapping,
    random_pattern,
    random_schema,
    random_source_document,
)
from twigcast.analysis import sample_selectivity
from twigcast.document import Document, read
from twigcast.errors import DocumentError, PatternError
from twigcast.fragmenting import Spans, fragment
from twigcast.fragmenting.fragments import HEADER_KINDS
from twigcast.pattern import Pattern, matches, parse
from twigcast.rewriting import Mapping
from twigcast.routing import (
    APPROACHES,
    Advertise,
    Announce,
    Deliver,
    DeliverFragment,
    Envelope,
    Message,
    Network,
    NetworkMediation,
    Publish,
    PublishFragment,
    Router,
    Send,
    Strategy,
    Subscribe,
    Unsubscribe,
    Work,
    advertisement,
    image_advertisement,
    join,
    pool_for,
)
from twigcast.schema import ElementGraph

TRIALS = int(os.environ.get("TWIGCAST_TRIALS", "300"))
SETTINGS = settings(
    max_examples=TRIALS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a trial takes too long to be shrunk
)

Delivered = dict[tuple[str, str], tuple[str, ...]]
"""The ids of the subscriptions by client and document."""


def random_strategy(random: Random) -> Strategy:
    """Draw any set of techniques; fragments are small enough to be several, and to be too many to be held."""
    return Strategy(
        advertising=random.random() < 0.5,
        covering=random.random() < 0.7,
        merging=random.choice([None, None, 0.0, 0.5]),
        aggregation=random.choice([None, None, 0.3]),
        publication=random.choice(["documents", "fragments", "paths"]),
        piggyback=random.choice([None, *PIGGYBACK, "L+t", "L+a", "L+s-sd", "L+sdta-sdr"]),
        annotation_bytes=random.choice([16, 128]),
        fragment_bytes=random.choice([16, 64]),
        fragment_order=random.choice(["document", "novelty"]),
        held_bytes=random.choice([64, 1 << 20]),
    )


@dataclass
class Publisher:
    """A client that publishes documents of one schema, which has a mapping in a network with mappings."""

    name: str
    mapping: Mapping

    def document(self, random: Random) -> bytes:
        """Draw a document, in most cases long enough for its structure to travel with it."""
        body = random_source_document(random, self.mapping.source)
        padding = b"<!--" + b" " * 4000 + b"-->"  # not in an encoding of several bytes
        return (
            body + padding if b"<!" not in body[1:9] and b"\0" not in body and random.random() < 0.7 else body
        )


@dataclass
class Trial:
    """A network in which clients act one after the other; all messages are passed on in between."""

    random: Random
    strategy: Strategy
    mediation: NetworkMediation | None
    schema: ElementGraph = field(init=False)
    routers: dict[str, Router] = field(init=False)

    def __post_init__(self) -> None:
        random = self.random
        names = [f"r{at}" for at in range(random.randint(1, 5))]
        self.edges = [(random.choice(names[:at]), names[at]) for at in range(1, len(names))]
        self.at = {client: random.choice(names) for client in ("p0", "p1", "ada", "bob", "eve")}
        self.schema = random_schema(random).graph
        self.publishers = [self._publisher("p0"), self._publisher("p1")]
        sample = [read(self.publishers[0].document(random)) for _ in range(3)]
        self.options = {"schema": self.schema, "selectivity": sample_selectivity(sample)}
        network = Network(tuple(names), tuple(self.edges), tuple(self.at.items()))
        self.routers = join(
            network, self.strategy, lambda: pool_for(self.mediation), mediation=self.mediation, **self.options
        )
        self.live: dict[str, tuple[str, Pattern]] = {}
        self.delivered: Delivered = {}
        self.unread = self.early = self.subscribed = 0

    def _publisher(self, name: str) -> Publisher:
        return Publisher(name, replace(random_mapping(self.random, random_schema(self.random), 4), name=name))

    def run(self) -> None:
        """Let clients act, and compare the deliveries of each document with those of flooding."""
        random = self.random
        for publisher in self.publishers:
            if self.mediation is not None:
                self.send(publisher.name, Announce(publisher.mapping))
            if random.random() < 0.7:
                self.send(publisher.name, Advertise(self._advertisement(publisher)))
        for _ in range(6):
            self._subscribe()
        for step in range(8):
            act = random.choice([self._subscribe, self._unsubscribe, self._disturb, self._nothing])
            act()
            self._publish(f"d{step}")

    def _advertisement(self, publisher: Publisher) -> object:
        if self.mediation is not None:
            return image_advertisement(publisher.name, publisher.mapping)
        return advertisement(publisher.name, publisher.mapping.source.graph)

    def _subscribe(self) -> None:
        client = self.random.choice(["ada", "bob", "eve"])
        try:
            pattern = parse(random_pattern(self.random).ours, NAMESPACES)
        except PatternError:
            return
        self.subscribed += 1
        id = f"s{self.subscribed}"
        self.live[id] = client, pattern
        self.send(client, Subscribe(id, pattern))

    def _unsubscribe(self) -> None:
        if self.live:
            id = self.random.choice(list(self.live))
            self.send(self.live.pop(id)[0], Unsubscribe(id))

    def _nothing(self) -> None:
        pass

    def _disturb(self) -> None:
        """Restart a router, or cut a link and join it again, or let a router ask for other annotations."""
        name = self.random.choice(list(self.routers))
        match self.random.randrange(3):
            case 0:
                saved = self.routers[name].save()
                self.routers[name] = Router.restore(saved, mediation=self.mediation, **self.options)
            case 1 if self.edges:
                one, other = self.random.choice(self.edges)
                self._pass_on(one, self.routers[one].disconnect(other))
                self._pass_on(other, self.routers[other].disconnect(one))
                sends = self.routers[one].connect(other), self.routers[other].connect(one)
                self._pass_on(one, sends[0])
                self._pass_on(other, sends[1])
            case _:
                self._pass_on(name, self.routers[name].replan())

    def _publish(self, doc_id: str) -> None:
        publisher = self.random.choice(self.publishers)
        body = publisher.document(self.random)
        image = read(body)
        if self.mediation is not None:
            try:
                image = publisher.mapping.apply(image)
            except DocumentError:  # the image is beyond a limit
                return
        self.delivered = {}
        for batch in self._as_published(Envelope(doc_id, body, publisher.name)):
            self.send(publisher.name, *batch)
        assert self.delivered == self._expected(doc_id, image)

    def _as_published(self, envelope: Envelope) -> Iterable[Sequence[Message]]:
        """Publish a document whole or, where they are taken, in fragments in any order."""
        if self.strategy.publication != "fragments" or self.random.random() < 0.5:
            return [[Publish(envelope)]]
        cut = self.random.choice([Spans(elements=1), Spans(bytes=40)])
        header = self.random.choice(HEADER_KINDS)
        made = list(fragment(envelope.body, doc_id=envelope.doc_id, cut=cut, header=header))
        self.random.shuffle(made)
        return [[PublishFragment(each, envelope.publisher)] for each in made]

    def _expected(self, doc_id: str, image: Document) -> Delivered:
        found: dict[tuple[str, str], list[str]] = {}
        for id, (client, pattern) in self.live.items():
            if matches(pattern, image):
                found.setdefault((client, doc_id), []).append(id)
        return {key: tuple(sorted(ids)) for key, ids in found.items()}

    def send(self, client: str, *messages: Message) -> None:
        """Send messages of a client as one batch, and pass messages on until there are none."""
        self._handle(deque([(self.at[client], client, messages)]))

    def _pass_on(self, name: str, sends: Iterable[Send]) -> None:
        self._handle(deque((link, name, [message]) for link, message in sends if link in self.routers))

    def _handle(self, waiting: deque[tuple[str, str, Sequence[Message]]]) -> None:
        while waiting:
            router, link, batch = waiting.popleft()
            work = Work()
            for outgoing in self.routers[router].exchange_in_steps(batch, link, work):
                for target, said in outgoing.items():
                    if target in self.routers:
                        waiting.append((target, router, said))
                    else:
                        self._take(target, said)
            self.unread += sum(not each.parsed for each in work.documents)
            self.early += sum(0.0 in each.eager.values() for each in work.documents)

    def _take(self, client: str, said: Iterable[Message]) -> None:
        for message in said:
            if isinstance(message, Deliver):
                key = client, message.envelope.doc_id
                assert not message.envelope.annotations
                assert message.envelope.image is None
            else:
                assert isinstance(message, DeliverFragment)
                if not message.is_complete:
                    continue
                key = client, message.fragment.doc_id
            assert key not in self.delivered, "a document is delivered once"
            self.delivered[key] = tuple(sorted(message.subscriptions))


@SETTINGS
@given(st.randoms(use_true_random=False))
def test_any_techniques_together_deliver_what_flooding_delivers(random: Random) -> None:
    """Covering, merging, aggregation, advertisements, annotations, mappings, and every publication."""
    strategy = random_strategy(random)
    mediation = NetworkMediation(random.choice(APPROACHES)) if random.random() < 0.6 else None
    Trial(random, strategy, mediation).run()


@pytest.mark.parametrize("piggyback", ["L+t", "L+a", "L+s-sd"])
def test_annotations_of_images_decide_documents(piggyback: str) -> None:
    """With a mapping, what routers tell each other is about the image, and saves reading the document."""
    unread = 0
    for seed in range(12):
        trial = Trial(Random(seed), Strategy(piggyback=piggyback), NetworkMediation())
        trial.run()
        unread += trial.unread
    assert unread
