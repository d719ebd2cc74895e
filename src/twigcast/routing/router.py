"""A content-based router: messages in, messages out, two tables between.

            n1 ─────┐                                    ┌──► n2     what is asked for behind it
            n2 ─────┤  Router                            │
        client ─────┘    publication table   link ─► patterns
                         subscription table  link ─► advertisements
                         interest of n       what n is told, for each neighbour n

Links are names: of neighbours, which are routers, and of clients, which subscribe, advertise and publish.
A subscription goes to each neighbour it did not come from; with advertising, to those alone behind which
something overlapping is announced; what else holds it back is decided by the stages of ``Interest``.
A document goes to each neighbour, other than the one it came from, that asks for it, and to each client of
which a subscription matches it.  What routers ask of one another may be more general than what clients asked
for, so documents may travel in vain; at a client its own patterns decide.

Invariant: in a network without cycles, once all messages are handled, a document reaches exactly the clients
that have a subscription it matches.  A document that none of its publisher's advertisements describes is
flooded, for subscriptions to it may have been held back.

There is no clock, lock or socket here.  A batch of messages is refused as a whole, with nothing changed,
where one of them cannot be handled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from twigcast.analysis import Selectivity, describes, schema_selectivity
from twigcast.document import read
from twigcast.errors import RoutingError
from twigcast.pattern import Pattern
from twigcast.routing.advertising import Advertisement
from twigcast.routing.change import Change
from twigcast.routing.interest import Interest
from twigcast.routing.messages import (
    Advertise,
    Deliver,
    Envelope,
    Message,
    Paths,
    Publish,
    Send,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    flooded,
    is_flooded,
)
from twigcast.routing.path_publication import branches, leaf_paths, reassemble
from twigcast.routing.pool import Pool
from twigcast.routing.state import RouterState
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables import LinkTable, PublicationTable, SubscriptionTable
from twigcast.schema import ElementGraph

RESERVED = ("merge:", "aggregate:", "branch:")
"""How ids begin that routers make; a client cannot use them."""

Outgoing: TypeAlias = dict[str, list[Message]]


class Router:
    """A node of the overlay; ``exchange`` is what it does, everything else asks it for one thing."""

    def __init__(
        self,
        name: str,
        neighbours: Iterable[str],
        clients: Iterable[str] = (),
        *,
        strategy: Strategy | None = None,
        schema: ElementGraph | None = None,
        selectivity: Selectivity | None = None,
        pool: Pool | None = None,
    ) -> None:
        """``schema`` is for merging; for aggregation, too, if there is no ``selectivity``.

        A ``pool`` may be shared by routers.
        """
        self.name = name
        self.neighbours = tuple(neighbours)
        self.strategy = strategy or Strategy()
        self.pool = pool if pool is not None else Pool()
        if self.strategy.aggregation is not None and selectivity is None and schema is not None:
            selectivity = schema_selectivity(schema)
        self._clients: dict[str, LinkTable] = {}  # what clients subscribed to, word for word
        self._interests = {link: Interest(self.strategy, schema, selectivity) for link in self.neighbours}
        _distinct([*self.neighbours, *clients], name)
        self._asked = PublicationTable(self.neighbours)
        self._announced = SubscriptionTable(self.neighbours, self.pool)
        for client in clients:
            self.attach(client)

    # Clients

    @property
    def clients(self) -> tuple[str, ...]:
        """The links that are no routers."""
        return tuple(self._clients)

    def attach(self, client: str) -> None:
        """A client comes."""
        if client in self._asked.links or client == self.name:
            raise RoutingError(
                f"router {self.name!r} already has a link {client!r}", code="duplicate-link", name=client
            )
        table = self._asked.links[client] = LinkTable()
        # As a client asks for whole documents, and routers for paths, its patterns are kept beside branches.
        self._clients[client] = LinkTable() if self._by_paths else table
        self._announced.links[client] = {}

    def detach(self, client: str) -> list[Send]:
        """A client goes, and with it what it subscribed to and advertised."""
        self._check_link(client)
        if client not in self._clients:
            raise RoutingError(f"{client!r} is a neighbour, not a client", code="unknown-link", name=client)
        leaving: list[Message] = [Unsubscribe(id) for id in self._clients[client].numbers]
        leaving += [Unadvertise(id) for id in self._announced[client]]
        sends = self.handle(leaving, client)
        del self._clients[client], self._asked.links[client], self._announced.links[client]
        return sends

    def subscribe(self, id: str, pattern: Pattern, link: str) -> list[Send]:
        """Someone behind the link wants the documents that match the pattern."""
        return self.handle((Subscribe(id, pattern),), link)

    def unsubscribe(self, id: str, link: str) -> list[Send]:
        """What was subscribed by this id is no longer wanted."""
        return self.handle((Unsubscribe(id),), link)

    def advertise(self, advertisement: Advertisement, link: str) -> list[Send]:
        """Someone behind the link will publish documents of a schema."""
        return self.handle((Advertise(advertisement),), link)

    def unadvertise(self, id: str, link: str) -> list[Send]:
        """What was advertised by this id will not come any more."""
        return self.handle((Unadvertise(id),), link)

    def receive(self, envelope: Envelope, link: str) -> list[Send]:
        """A document comes; raises ``DocumentError`` where it cannot be read."""
        return self.handle((Publish(envelope),), link)

    # Messages

    def handle(self, messages: Sequence[Message], link: str) -> list[Send]:
        """Handle messages of one link together, and tell what to send: of changes, the net change."""
        return [
            Send(link, message) for link, sent in self.exchange(messages, link).items() for message in sent
        ]

    def exchange(self, messages: Sequence[Message], link: str) -> Outgoing:
        """The same as ``handle``, with what is sent gathered by link."""
        outgoing: Outgoing = {}
        for part in self._checked(messages, link):
            if part.subscriptions:
                self._change_subscriptions(part.subscriptions, link, outgoing)
            if part.advertisements:
                self._change_advertisements(part.advertisements, link, outgoing)
            for publication in part.publications:
                self._route(publication, link, outgoing)
        return outgoing

    # State

    def told(self, neighbour: str) -> dict[str, Pattern]:
        """What a neighbour has been told of the others' subscriptions."""
        interest = self._interests[neighbour]
        return dict(interest.known if interest.stages else self._interest(neighbour))

    def subscriptions(self, link: str) -> dict[str, Pattern]:
        """What a link has subscribed to."""
        table = self._own(link)
        return {id: self.pool.pattern(number) for id, number in table.numbers.items()}

    @property
    def table_size(self) -> int:
        """Rows of the publication table: what documents are matched against."""
        return len(self._asked)

    @property
    def advertisement_count(self) -> int:
        """Rows of the subscription table."""
        return len(self._announced)

    def save(self) -> dict[str, Any]:
        """The state as JSON can hold it."""
        links = (*self.neighbours, *self.clients)
        return RouterState(
            self.name,
            self.neighbours,
            self.clients,
            self.strategy,
            {link: self.subscriptions(link) for link in links},
            {link: tuple(self._announced[link].values()) for link in links},
            {link: dict(interest.known) for link, interest in self._interests.items()},
        ).to_json()

    @classmethod
    def restore(
        cls,
        saved: Mapping[str, Any],
        *,
        schema: ElementGraph | None = None,
        selectivity: Selectivity | None = None,
        pool: Pool | None = None,
    ) -> Router:
        """The router that was saved, as its neighbours know it; raises ``RoutingError``."""
        state = RouterState.from_json(saved)
        router = cls(
            state.name,
            state.neighbours,
            state.clients,
            strategy=state.strategy,
            schema=schema,
            selectivity=selectivity,
            pool=pool,
        )
        for link, announced in state.advertisements.items():
            router._announced[link].update({each.id: each for each in announced})
        for link, table in state.subscriptions.items():
            router._put(link, table, {})
        for link, interest in router._interests.items():
            interest.restore(router._interest(link), state.told.get(link, {}))
        return router

    # Within: checking

    @property
    def _by_paths(self) -> bool:
        return self.strategy.publication == "paths"

    def _own(self, link: str) -> LinkTable:
        """What a link subscribed to, in its own words."""
        return self._clients[link] if link in self._clients else self._asked[link]

    def _check_link(self, link: str) -> None:
        if link not in self._asked.links:
            raise RoutingError(f"router {self.name!r} has no link {link!r}", code="unknown-link", name=link)

    def _checked(self, messages: Sequence[Message], link: str) -> list[_Part]:
        """The batch in parts, each with its net change; raises where a message cannot be handled."""
        self._check_link(link)
        table = self._own(link)
        present: dict[str, Pattern | None] = {}
        announced: dict[str, Advertisement | None] = {}
        parts = [_Part()]
        for message in messages:
            if isinstance(message, Subscribe):
                id = message.id
                if present[id] is not None if id in present else id in table.numbers:
                    raise _duplicate("subscription", id, link)
                present[id] = _changing(parts).subscriptions[id] = message.pattern
            elif isinstance(message, Unsubscribe):
                id = message.id
                if present[id] is None if id in present else id not in table.numbers:
                    raise _unknown("subscription", id, link)
                present[id] = _changing(parts).subscriptions[id] = None
            elif isinstance(message, Advertise):
                id = message.advertisement.id
                origin = self._announced.origin(id)
                if announced[id] is not None if id in announced else origin is not None:
                    raise _duplicate("advertisement", id, origin or link)
                announced[id] = _changing(parts).advertisements[id] = message.advertisement
            elif isinstance(message, Unadvertise):
                id = message.id
                if announced[id] is None if id in announced else id not in self._announced[link]:
                    raise _unknown("advertisement", id, link)
                announced[id] = _changing(parts).advertisements[id] = None
            elif isinstance(message, Publish):
                self.pool.match(message.envelope.body)
                parts[-1].publications.append(message)
            elif isinstance(message, Paths) and self._by_paths and link not in self._clients:
                parts[-1].publications.append(message)
            else:
                raise RoutingError(
                    f"router {self.name!r} cannot take {type(message).__name__} from {link!r}",
                    code="unexpected-message",
                    name=type(message).__name__,
                )
        self._check_ids({id: new for id, new in present.items() if new is not None}, link)
        return parts

    def _check_ids(self, added: Mapping[str, Pattern], link: str) -> None:
        """An id is new, unless it is one that routers make, and then stands for the same pattern."""
        if link in self._clients:
            for id in added:
                if id.startswith(RESERVED):
                    raise RoutingError(
                        f"the id {id!r} begins as those that routers make: {', '.join(RESERVED)}",
                        code="reserved-id",
                        name=id,
                    )
            for other, table in self._clients.items():
                if other != link and (taken := added.keys() & table.numbers.keys()):
                    raise _duplicate("subscription", min(taken), other)
        for id, links in self._asked.holders(added, link).items():
            other = links[0]
            number = self._asked[other].numbers[id]
            if link in self._clients or other in self._clients or self.pool.pattern(number) != added[id]:
                raise _duplicate("subscription", id, other)

    # Within: subscriptions

    def _change_subscriptions(
        self, changed: Mapping[str, Pattern | None], link: str, outgoing: Outgoing
    ) -> None:
        table = self._own(link).numbers
        added: dict[str, Pattern] = {}
        removed: dict[str, Pattern] = {}
        for id, pattern in changed.items():
            number = table.get(id)
            if number is not None:
                before = self.pool.pattern(number)
                if before == pattern:
                    continue
                removed[id] = before
            if pattern is not None:
                added[id] = pattern
        put, taken = self._put(link, added, removed)
        self._tell(link, put, taken, outgoing)
        for number in taken.values():
            self.pool.release(number)

    def _put(
        self, link: str, added: Mapping[str, Pattern], removed: Mapping[str, Pattern]
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Change the table of a link; what came into it and what went, the latter still held."""
        hold = self.pool.hold
        if self._by_paths and link in self._clients:
            exact = self._clients[link]
            gone = [exact.numbers[id] for id in removed]
            exact.change({id: hold(pattern) for id, pattern in added.items()}, removed)
            for number in gone:
                self.pool.release(number)
            added, removed = _by_branch(added), _by_branch(removed)
        table = self._asked[link]
        taken = {id: table.numbers[id] for id in removed}
        put = {id: hold(pattern) for id, pattern in added.items()}
        table.change(put, removed)
        return put, taken

    def _tell(self, link: str, put: Mapping[str, int], taken: Mapping[str, int], outgoing: Outgoing) -> None:
        """Tell the neighbours what a link asks for now, and what it does not ask for any more."""
        pattern = self.pool.pattern
        held = self._asked.holders({**put, **taken}, link)
        alike = not held and not self.strategy.advertising  # nothing makes a difference between neighbours
        said: list[Message] | None = None
        for neighbour, interest in self._interests.items():
            if neighbour == link:
                continue
            if said is None or interest.stages or not alike:
                news = self._among(put, neighbour, held)
                olds = self._among(taken, neighbour, held)
                change = interest.change({id: pattern(number) for id, number in news.items()}, olds)
                said = _written(change)
            if said:
                outgoing.setdefault(neighbour, []).extend(said)

    def _among(self, ids: Mapping[str, int], neighbour: str, held: Mapping[str, list[str]]) -> dict[str, int]:
        """Of changed ids, those by which the interest of a neighbour changes: no other link has them."""
        announced = self._announced[neighbour]
        leads = self._announced.leads
        if self.strategy.advertising:
            ids = {id: number for id, number in ids.items() if leads(number, announced)}
        if not held:
            return dict(ids)
        return {
            id: number for id, number in ids.items() if all(other == neighbour for other in held.get(id, ()))
        }

    def _interest(self, neighbour: str) -> dict[str, Pattern]:
        """What links other than a neighbour ask for, as far as it leads to something announced there."""
        announced = self._announced[neighbour]
        return {
            id: self.pool.pattern(number)
            for id, number in self._asked.elsewhere(neighbour).items()
            if not self.strategy.advertising or self._announced.leads(number, announced)
        }

    # Within: advertisements

    def _change_advertisements(
        self, changed: Mapping[str, Advertisement | None], link: str, outgoing: Outgoing
    ) -> None:
        before = dict(self._announced[link])
        gone = [id for id in changed if id in before]
        new = [each for each in changed.values() if each is not None]
        for id in gone:
            del self._announced[link][id]
        self._announced[link].update({each.id: each for each in new})
        if self.strategy.advertising:
            for neighbour in self.neighbours:
                if neighbour != link:
                    sent = outgoing.setdefault(neighbour, [])
                    sent += [Unadvertise(id) for id in gone]
                    sent += [Advertise(each) for each in new]
            if link in self._interests:
                self._turn(link, before, outgoing)
        self.pool.forget(gone)

    def _turn(self, link: str, before: Mapping[str, Advertisement], outgoing: Outgoing) -> None:
        """Tell a neighbour what changes for it now that it announces something else than before."""
        after = self._announced[link]
        leads = self._announced.leads
        added: dict[str, Pattern] = {}
        removed: list[str] = []
        for id, number in self._asked.elsewhere(link).items():
            was, now = leads(number, before), leads(number, after)
            if now and not was:
                added[id] = self.pool.pattern(number)
            elif was and not now:
                removed.append(id)
        if said := _written(self._interests[link].change(added, removed)):
            outgoing.setdefault(link, []).extend(said)

    # Within: publications

    def _route(self, publication: Publish | Paths, link: str, outgoing: Outgoing) -> None:
        if isinstance(publication, Paths):
            self._route_paths(publication, link, outgoing)
            return
        envelope = publication.envelope
        if self.strategy.advertising and link in self._clients:
            envelope = self._entering(envelope, link)
        if self._by_paths:
            paths = leaf_paths(envelope.doc_id, read(envelope.body))
            whole = Paths(envelope.doc_id, paths, envelope.publisher, envelope.headers)
            self._route_paths(whole, link, outgoing)
            return
        answer = self.pool.match(envelope.body)
        everywhere = is_flooded(envelope)
        onward = Publish(envelope)
        for neighbour in self.neighbours:
            if neighbour != link and (everywhere or self._asked[neighbour].wants(answer)):
                outgoing.setdefault(neighbour, []).append(onward)
        for client, table in self._clients.items():
            if ids := table.matched(answer):
                outgoing.setdefault(client, []).append(Deliver(envelope, ids))

    def _entering(self, envelope: Envelope, link: str) -> Envelope:
        """A document as it sets out: to be flooded, unless its publisher has advertised such documents."""
        if any(describes(each.automaton, envelope.body) for each in self._announced[link].values()):
            return envelope
        return flooded(envelope, "outside its publisher's advertisements")

    def _route_paths(self, publication: Paths, link: str, outgoing: Outgoing) -> None:
        everywhere = is_flooded(publication)
        answers = [(path, self.pool.match(path.body)) for path in publication.paths]
        for other, table in self._asked.links.items():
            if other == link and other not in self._clients:
                continue
            if everywhere and other not in self._clients:
                outgoing.setdefault(other, []).append(publication)
                continue
            wants = table.wants
            wanted = tuple([path for path, answer in answers if wants(answer)])
            if not wanted:
                continue
            if other not in self._clients:
                part = Paths(publication.doc_id, wanted, publication.publisher, publication.headers)
                outgoing.setdefault(other, []).append(part)
                continue
            body = reassemble(wanted)
            if ids := self._clients[other].matched(self.pool.match(body)):
                envelope = Envelope(publication.doc_id, body, publication.publisher, publication.headers)
                outgoing.setdefault(other, []).append(Deliver(envelope, ids))


@dataclass(slots=True)
class _Part:
    """A part of a batch: changes that can be made together, then publications that see them."""

    subscriptions: dict[str, Pattern | None] = field(default_factory=dict)
    advertisements: dict[str, Advertisement | None] = field(default_factory=dict)
    publications: list[Publish | Paths] = field(default_factory=list)


def _changing(parts: list[_Part]) -> _Part:
    """The part that a change belongs to: a new one where publications have come since."""
    if parts[-1].publications:
        parts.append(_Part())
    return parts[-1]


def _by_branch(patterns: Mapping[str, Pattern]) -> dict[str, Pattern]:
    """Subscriptions as what they ask for of a document's paths; one that is its own branch keeps its id."""
    found: dict[str, Pattern] = {}
    for id, pattern in patterns.items():
        parts = branches(pattern)
        if parts == (pattern,):
            found[id] = pattern
        else:
            found.update({f"branch:{number}:{id}": part for number, part in enumerate(parts)})
    return found


def _written(change: Change) -> list[Message]:
    """A change as messages: what is withdrawn first, for the same id may be forwarded anew."""
    said: list[Message] = [Unsubscribe(id) for id in change.withdraw]
    said += [Subscribe(id, pattern) for id, pattern in change.forward]
    return said


def _distinct(links: Sequence[str], name: str) -> None:
    seen = {name}
    for link in links:
        if link in seen:
            raise RoutingError(
                f"router {name!r} has two links {link!r}, or one to itself", code="duplicate-link", name=link
            )
        seen.add(link)


def _duplicate(what: str, id: str, link: str) -> RoutingError:
    return RoutingError(f"the {what} {id!r} is already there, from {link!r}", code="duplicate-id", name=id)


def _unknown(what: str, id: str, link: str) -> RoutingError:
    return RoutingError(f"{link!r} has no {what} {id!r}", code="unknown-id", name=id)
