"""An overlay of routers in one process, and random test cases for it.

``expected`` has the correct deliveries: each document is matched against each live subscription.  ``story``
draws a network, schemas, subscriptions, documents, and the order of all actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random

from twigcast import routing
from twigcast.document import read
from twigcast.pattern import Pattern, matches, parse
from twigcast.routing import Network, advertisement
from twigcast.routing.messages import (
    Advertise,
    Envelope,
    Message,
    Publish,
    Send,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from twigcast.routing.router import Router
from twigcast.routing.stages.aggregating import Selectivity
from twigcast.routing.strategy import Strategy
from twigcast.schema import (
    AttributeDeclaration,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    element_graph,
)

Edge = tuple[str, str]
Delivery = tuple[str, str, tuple[str, ...]]


class Overlay:
    """An overlay that records its deliveries and whose routers can be restarted."""

    def __init__(
        self,
        edges: Iterable[Edge],
        clients: Mapping[str, str],
        strategy: Strategy,
        schema: ElementGraph | None = None,
        selectivity: Selectivity | None = None,
    ) -> None:
        edges = tuple(edges)
        names = dict.fromkeys([*(name for edge in edges for name in edge), *clients.values()])
        network = Network(tuple(names), edges, tuple(clients.items()))
        self.schema, self.selectivity = schema, selectivity
        self.joined = routing.Overlay(network, strategy, schema=schema, selectivity=selectivity)
        self.deliveries: list[Delivery] = []

    @property
    def routers(self) -> dict[str, Router]:
        """The routers by name."""
        return self.joined.routers

    def do(self, client: str, *messages: Message) -> None:
        """Send messages of a client as one batch, and pass messages until none is left."""
        self.deliveries += self.joined.send(client, *messages)

    def restart(self, name: str) -> None:
        """Replace a router by one that is restored from its saved state."""
        self.routers[name] = Router.restore(
            self.routers[name].save(), schema=self.schema, selectivity=self.selectivity
        )

    def reconnect(self, one: str, other: str, *, restarted: bool) -> None:
        """Cut the link between two routers, restart one of them in some cases, and connect them again."""
        self._pass_on(one, self.routers[one].disconnect(other))
        self._pass_on(other, self.routers[other].disconnect(one))
        if restarted:
            self.restart(one)
        sends = self.routers[one].connect(other), self.routers[other].connect(one)
        self._pass_on(one, sends[0])
        self._pass_on(other, sends[1])

    def replan(self, name: str) -> None:
        """Let a router send new annotation plans to its neighbours."""
        self._pass_on(name, self.routers[name].replan())

    def _pass_on(self, name: str, sends: Iterable[Send]) -> None:
        waiting = [(name, send) for send in sends]
        for source, (target, message) in waiting:  # grows while it is walked
            if target in self.routers:
                answers = self.routers[target].handle((message,), source)
                waiting += [(target, answer) for answer in answers]

    def take(self) -> list[Delivery]:
        """Return the deliveries since the last call, sorted by client and document."""
        taken = sorted((client, doc_id, tuple(sorted(ids))) for client, doc_id, ids in self.deliveries)
        self.deliveries.clear()
        return taken


def expected(subscriptions: Mapping[str, tuple[str, Pattern]], envelope: Envelope) -> list[Delivery]:
    """Return the deliveries of flooding: each document is matched against each live subscription."""
    document = read(envelope.body)
    found: dict[str, list[str]] = {}
    for id, (client, pattern) in subscriptions.items():
        if matches(pattern, document):
            found.setdefault(client, []).append(id)
    return sorted((client, envelope.doc_id, tuple(sorted(ids))) for client, ids in found.items())


# Stories


@dataclass(frozen=True, slots=True)
class Story:
    """A random test case: a network, a schema, sample documents, and the actions of the clients in order."""

    edges: tuple[Edge, ...]
    clients: dict[str, str]
    schema: ElementGraph
    sample: tuple[bytes, ...]
    events: tuple[tuple[str, tuple[Message, ...]], ...]


@dataclass(slots=True)
class _Teller:
    random: Random
    clients: dict[str, str]
    graphs: list[ElementGraph]
    subscribed: dict[str, str] = field(default_factory=dict)
    advertised: dict[str, tuple[str, ElementGraph]] = field(default_factory=dict)
    number: int = 0


def story(random: Random, length: int = 14) -> Story:
    """Draw a random sequence of actions on a random tree of one to six routers."""
    routers = [f"r{i}" for i in range(random.randint(1, 6))]
    edges = tuple((routers[random.randrange(i)], routers[i]) for i in range(1, len(routers)))
    clients = {f"c{i}": random.choice(routers) for i in range(random.randint(2, 4))}
    graphs = [graph(random) for _ in range(2)]
    teller = _Teller(random, clients, graphs)
    events = [_advertise(teller)] if random.randint(0, 3) else []
    events += [_subscribe(teller) for _ in range(random.randint(0, 4))]
    for _ in range(length):
        tell = random.choice(
            [_subscribe, _subscribe, _unsubscribe, _advertise, _unadvertise, _publish, _publish]
        )
        events.append(tell(teller))
    events.append(_publish(teller))
    sample = tuple(valid_document(random, graphs[0]) for _ in range(4))
    return Story(edges, clients, graphs[0], sample, tuple(events))


NAMES = ("a", "b", "c", "d", "e")


def graph(random: Random) -> ElementGraph:
    """Draw a schema of up to five elements, which is often recursive."""
    names = random.sample(NAMES, random.randint(2, 5))
    elements = []
    for name in names:
        children = random.sample(names, random.randint(0, min(3, len(names))))
        model = Choice(tuple(map(Child, children)), 0, None) if children else None
        elements.append(ElementDeclaration(name, ContentKind.MIXED, model, (AttributeDeclaration("x"),)))
    return element_graph(elements, random.choice(names))


def valid_document(random: Random, graph: ElementGraph) -> bytes:
    """Draw a document that the schema admits."""

    def write(name: str, depth: int) -> str:
        children = [child.name for child in graph.children(name)]
        inside = [
            write(random.choice(children), depth - 1)
            for _ in range(random.randint(0, 3) if children and depth else 0)
        ]
        inside += random.choice([[], [], ["1"], ["5"]])
        return _written(random, name, inside)

    return write(graph.root, 4).encode()


def any_document(random: Random) -> bytes:
    """Draw a document that follows no particular schema."""

    def write(depth: int) -> str:
        inside = [write(depth - 1) for _ in range(random.randint(0, 3) if depth else 0)]
        return _written(random, random.choice(NAMES), inside + random.choice([[], ["5"]]))

    return write(3).encode()


def subscription(random: Random) -> Pattern:
    """Draw a linear path, a twig with values or negation, or a union."""
    text = _path(random, 2)
    if random.randint(0, 7) == 0:
        text += " | " + _path(random, 1)
    return parse(text)


def _path(random: Random, conditions: int) -> str:
    pieces = []
    for _ in range(random.randint(1, 3)):
        pieces.append(random.choice(["/", "/", "//"]) + random.choice([*NAMES[:4], "*"]))
        if conditions and random.randint(0, 3) == 0:
            pieces.append(f"[{_condition(random, conditions - 1)}]")
    return "".join(pieces)


def _condition(random: Random, conditions: int) -> str:
    below = random.choice(["", ".//"]) + _path(random, conditions).lstrip("/")
    value = random.choice(["1", "3", "5"])
    return random.choice(
        [
            below,
            below,
            f"@x={value}",
            f"@x<{value}",
            f".={value}",
            f"{below}={value}",
            f"not({below})",
            f"{below} or @x={value}",
            f"count({below})>1",
        ]
    )


def _written(random: Random, name: str, inside: list[str]) -> str:
    attribute = random.choice(["", "", ' x="1"', ' x="3"', ' x="5"'])
    return f"<{name}{attribute}>{''.join(inside)}</{name}>"


Event = tuple[str, tuple[Message, ...]]


def _subscribe(teller: _Teller) -> Event:
    random = teller.random
    client = random.choice(list(teller.clients))
    messages = []
    for _ in range(random.choice([1, 1, 3])):
        teller.number += 1
        id = f"s{teller.number}"
        teller.subscribed[id] = client
        messages.append(Subscribe(id, subscription(random)))
    return client, tuple(messages)


def _unsubscribe(teller: _Teller) -> Event:
    random = teller.random
    if not teller.subscribed:
        return _subscribe(teller)
    id, client = random.choice(list(teller.subscribed.items()))
    if random.randint(0, 3) == 0:
        return client, (Unsubscribe(id), Subscribe(id, subscription(random)))
    del teller.subscribed[id]
    return client, (Unsubscribe(id),)


def _advertise(teller: _Teller) -> Event:
    random = teller.random
    client = random.choice(list(teller.clients))
    graph = random.choice(teller.graphs)
    teller.number += 1
    id = f"a{teller.number}"
    teller.advertised[id] = client, graph
    return client, (Advertise(advertisement(id, graph)),)


def _unadvertise(teller: _Teller) -> Event:
    if not teller.advertised:
        return _advertise(teller)
    id, (client, _) = teller.random.choice(list(teller.advertised.items()))
    del teller.advertised[id]
    return client, (Unadvertise(id),)


def _publish(teller: _Teller) -> Event:
    random = teller.random
    teller.number += 1
    client, body = random.choice(list(teller.clients)), b""
    if teller.advertised and random.randint(0, 3):
        client, graph = random.choice(list(teller.advertised.values()))
        body = valid_document(random, graph)
    return client, (Publish(Envelope(f"d{teller.number}", body or any_document(random))),)
