"""A content-based router: it takes messages from its links and returns the messages to send.

            n1 ─────┐                                    ┌──► n2     documents subscribed to behind n2
            n2 ─────┤  Router                            │
        client ─────┘    publication table    link ─► patterns
                         advertisement table  link ─► advertisements
                         interest of n        the subscriptions forwarded to n, for each neighbour n

A link leads to a neighbour, which is a router, or to a client, which subscribes, advertises and publishes.
A subscription is forwarded to each neighbour except the one it came from; with advertising, only to those
that sent an advertisement which it overlaps.  The stages of ``Interest`` hold back more.
A document goes to each neighbour that subscribes to it, except the one it came from, and to each client that
has a matching subscription.  Routers may subscribe to more than their clients do, so false positives travel
between routers; a client receives exactly the documents that its own patterns match.

Invariant: in a network without cycles, once all messages are handled, a document reaches exactly the clients
that have a matching subscription.  A document that no advertisement of its publisher describes is flooded,
since subscriptions to it may have been held back.

The router is the control plane: it keeps subscriptions, advertisements and interests.  Documents go through
the frozen tables of the data plane (``forwarding``), which are remade for the first document after a change.
There is no clock, lock or socket here.  If one message of a batch cannot be handled, the whole batch is
refused and nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from twigcast.analysis import Selectivity
from twigcast.errors import RoutingError, TwigcastError
from twigcast.pattern import Pattern
from twigcast.routing.advertising import Advertisement
from twigcast.routing.interests import Interests
from twigcast.routing.mediation import KnownMappings, NetworkMediation, pool_for
from twigcast.routing.message_batch import BatchPart, added, check_ids, in_parts
from twigcast.routing.messages import (
    Advertise,
    Announce,
    Envelope,
    Message,
    Outgoing,
    Paths,
    Publish,
    Send,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    sends,
)
from twigcast.routing.path_publication import by_branch
from twigcast.routing.piggyback import ClaimReader, RoutingExplanation, Work
from twigcast.routing.piggyback.annotation_links import AnnotationLinks
from twigcast.routing.pool import Pool
from twigcast.routing.state import RouterState
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables import (
    AdvertisementTable,
    LinkTable,
    PublicationTable,
    check_distinct,
    net_change,
)
from twigcast.routing.transit import TablesByLink
from twigcast.routing.transit.document_relay import DocumentRelay, WholeDocument
from twigcast.routing.transit.fragment_relay import FragmentRelay
from twigcast.routing.transit.path_relay import as_paths, send_paths
from twigcast.schema import ElementGraph
from twigcast.system import garbage_collection_paused


class Router:
    """A node of the overlay.  ``exchange`` handles messages; the other methods wrap one message each."""

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
        mediation: NetworkMediation | None = None,
        sample: Iterable[bytes] = (),
        secret: bytes = b"",
    ) -> None:
        """Merging needs a ``schema``; aggregation needs a ``selectivity``, or a schema to derive it from.

        Several routers may share a ``pool``.  With ``mediation``, documents that have a mapping are matched
        as it rewrites them.  With piggyback, questions are chosen by the documents in ``sample`` until others
        have passed, and only annotations of routers that know the ``secret`` are accepted.
        """
        self.name = name
        self.neighbours = tuple(neighbours)
        self.strategy = strategy or Strategy()
        self._by_paths = self.strategy.publication == "paths"
        self.pool = pool if pool is not None else pool_for(mediation)
        sends_images = self.strategy.publication != "fragments"
        self.mappings = None if mediation is None else KnownMappings(mediation, sends_images=sends_images)
        clients = tuple(clients)
        check_distinct([*self.neighbours, *clients], name)
        self._asked = PublicationTable(name, self.neighbours)
        # Routers subscribe to paths, clients to documents, so the patterns of clients are kept here.
        self._exact = PublicationTable(name, ()) if self._by_paths else self._asked
        self._announced = AdvertisementTable(self.neighbours, self.pool)
        self._interests = Interests(
            self.strategy, schema, selectivity, self._asked, self._announced, self.pool
        )
        self._schemas: dict[str, int] = {}  # numbers in the pool of the clients' advertisements
        announced = self._announced if self.strategy.advertising else None
        self._tables = TablesByLink(self.pool, self._asked, self._exact, announced, self._schemas)
        self._documents = DocumentRelay(
            self.pool, self._asked, self._tables, self.mappings, self.strategy.publication
        )
        self.fragments: FragmentRelay | None = None
        """The documents that pass in fragments, if they do."""
        if self.strategy.publication == "fragments":
            self.fragments = FragmentRelay(
                name, self.strategy, self._asked, self.pool, self._tables, self._documents, self.mappings
            )
        self.switch_piggyback(self.strategy, sample, secret)
        for client in clients:
            self.attach(client)

    # Links

    @property
    def clients(self) -> tuple[str, ...]:
        """The names of the clients."""
        return tuple(self._asked.clients.values())

    def attach(self, client: str) -> None:
        """Add a client."""
        self._asked.check_new(client)
        self._asked.attach(client)
        if self._exact is not self._asked:
            self._exact.attach(client)
        self._announced.links[client] = {}

    def detach(self, client: str) -> list[Send]:
        """Remove a client with its subscriptions and advertisements; return the messages to send."""
        self._asked.check_link(client, is_client=True)
        left = self._leave(client)
        self._asked.detach(client)
        if self._exact is not self._asked:
            self._exact.detach(client)
        return left

    def connect(self, neighbour: str) -> list[Send]:
        """Add a neighbour to a running or restored router; return the messages to send to it.

        These are the advertisements of all other links, and their subscriptions as far as the neighbour needs
        them.  The router at the other end connects to this one in the same way.
        """
        self._asked.check_new(neighbour)
        self.neighbours = (*self.neighbours, neighbour)
        self._asked.connect(neighbour)
        self._announced.links[neighbour] = {}
        said: list[Message] = [Announce(each) for each in self.mappings or ()]
        if self.strategy.advertising:
            said += [
                Advertise(each)
                for link, announced in self._announced.links.items()
                if link != neighbour
                for each in announced.values()
            ]
        said += self._interests.connect(neighbour)
        if self._annotations is not None:
            self._annotations.connect(neighbour)
            self._annotations.sent({neighbour: said})
        return [Send(neighbour, message) for message in said]

    def disconnect(self, neighbour: str) -> list[Send]:
        """Remove a neighbour, its subscriptions and its advertisements; return the messages to send."""
        self._asked.check_link(neighbour, is_client=False)
        left = self._leave(neighbour)
        self.neighbours = tuple(link for link in self.neighbours if link != neighbour)
        self._asked.disconnect(neighbour)
        self._interests.disconnect(neighbour)
        if self._annotations is not None:
            self._annotations.disconnect(neighbour)
        return left

    def _leave(self, link: str) -> list[Send]:
        leaving: list[Message] = [Unsubscribe(id) for id in self._own(link).numbers]
        leaving += [Unadvertise(id) for id in self._announced[link]]
        outgoing = self.exchange(leaving, link)
        del self._announced.links[link]
        if self.fragments is not None:
            self.fragments.leave(link, outgoing)
        outgoing.pop(link, None)
        return sends(outgoing)

    # Messages

    def subscribe(self, id: str, pattern: Pattern, link: str) -> list[Send]:
        """Handle a new subscription of a link; return the messages to send."""
        return self.handle((Subscribe(id, pattern),), link)

    def unsubscribe(self, id: str, link: str) -> list[Send]:
        """Handle the end of a subscription; return the messages to send."""
        return self.handle((Unsubscribe(id),), link)

    def advertise(self, advertisement: Advertisement, link: str) -> list[Send]:
        """Handle a new advertisement of a link; return the messages to send."""
        return self.handle((Advertise(advertisement),), link)

    def unadvertise(self, id: str, link: str) -> list[Send]:
        """Handle the end of an advertisement; return the messages to send."""
        return self.handle((Unadvertise(id),), link)

    def receive(self, envelope: Envelope, link: str) -> list[Send]:
        """Route a document; raises ``DocumentError`` if it cannot be read."""
        return self.handle((Publish(envelope),), link)

    def handle(self, messages: Sequence[Message], link: str) -> list[Send]:
        """Handle a batch of messages from one link; return the messages to send (of changes, the net)."""
        return sends(self.exchange(messages, link))

    def exchange(self, messages: Sequence[Message], link: str, work: Work | None = None) -> Outgoing:
        """Do the same as ``handle``, and return the messages to send by link.

        What was done for each document is added to ``work``.
        """
        steps = self.exchange_in_steps(messages, link, work)
        together = next(steps)
        for target, sent in chain.from_iterable(each.items() for each in steps):
            together.setdefault(target, []).extend(sent)
        return together

    def exchange_in_steps(
        self, messages: Sequence[Message], link: str, work: Work | None = None
    ) -> Iterator[Outgoing]:
        """Do the same as ``exchange``, and yield what can be sent before the documents are parsed at once.

        If a document turns out to be unreadable after that, its batch is refused all the same: nothing has
        changed but the documents that have left, each of which was proven to be wanted.
        """
        parts, announced = self._checked(messages, link)
        documents: list[list[WholeDocument]] = []
        outgoing: Outgoing = {}
        try:
            is_stale = False
            for part in parts:
                is_stale = is_stale or part.has_changes
                documents.append([self._documents.begin(each, link, work) for each in part.documents])
                if self._annotations is not None and not is_stale:
                    self._documents.send_early(documents[-1], outgoing, work)
            if outgoing:
                yield outgoing
            for document in chain.from_iterable(documents):
                self._documents.finish(document)
        except TwigcastError:
            if self.mappings is not None:
                self.mappings.discard(announced)
            raise
        outgoing = {each: list(announced) for each in self.neighbours if announced and each != link}
        is_stale = False
        for part, found in zip(parts, documents, strict=True):
            if part.subscriptions:
                self._change_subscriptions(part.subscriptions, link, outgoing)
            if part.advertisements:
                self._change_advertisements(part.advertisements, link, outgoing)
            is_stale = is_stale or part.has_changes
            for publication in part.paths:
                self._send_paths(publication, link, outgoing)
            if self.fragments is not None:
                self.fragments.receive_all(part.fragments, link, outgoing, work)
            for document in found:
                current = document
                if is_stale:
                    current = self._documents.begin(document.envelope, link, work)
                    self._documents.finish(current)
                self._route(current, outgoing, work)
        if self._annotations is not None:
            self._annotations.exchanged(messages, link, outgoing, self._tables.of(link), work)
        yield outgoing

    def replan(self, work: Work | None = None, neighbours: Iterable[str] | None = None) -> list[Send]:
        """Return new annotation plans for these or all neighbours; others are sent when documents come."""
        return [] if self._annotations is None else sends(self._annotations.replan(work, neighbours))

    def switch_piggyback(self, strategy: Strategy, sample: Iterable[bytes] = (), secret: bytes = b"") -> None:
        """Use the piggyback of a strategy from now on, without plans; raises ``RoutingError``.

        In all else the strategy is the present one, so that tables and forwarded subscriptions stay.
        """
        if strategy.with_piggyback_of(self.strategy) != self.strategy:
            why = "a running router can change its piggyback, not its other techniques"
            raise RoutingError(why, code="strategy", name="piggyback")
        if self._annotations is not None:
            for link in self.neighbours:
                self._annotations.disconnect(link)
        self.strategy, self._documents.annotations = strategy, None
        if strategy.piggyback is not None:
            annotations = self._documents.annotations = AnnotationLinks(
                strategy, self.pool, self._asked, self._announced, self._interests, secret
            )
            annotations.learn(sample)
            for link in self.neighbours:
                annotations.connect(link, self.told(link), self.subscriptions(link))

    def explain(self, envelope: Envelope, link: str) -> RoutingExplanation:
        """Explain what the annotations of a document from a link decide, and what they leave open."""
        self._asked.check_link(link)
        if self._annotations is None or self._is_client(link):
            why = f"router {self.name!r} takes no annotations from {link!r}"
            raise RoutingError(why, code="unexpected-message", name=link)
        others = [other for other in (*self.neighbours, *self.clients) if other != link]
        ids = {each: self._own(each).numbers for each in others}
        return self._annotations.explain(envelope, link, self._tables.of(link), ids)

    # State

    def told(self, neighbour: str) -> dict[str, Pattern]:
        """Return the subscriptions that have been forwarded to a neighbour."""
        return self._interests.told(neighbour)

    def subscriptions(self, link: str) -> dict[str, Pattern]:
        """Return the subscriptions of a link, by id."""
        table = self._own(link)
        return {id: self.pool.pattern(number) for id, number in table.numbers.items()}

    def numbers(self, link: str) -> dict[str, int]:
        """Return the numbers of a link's subscriptions in the pool, by id."""
        return dict(self._own(link).numbers)

    def claim_reader(self, neighbour: str) -> ClaimReader:
        """Return what reads the annotations of a neighbour; the router must have a piggyback strategy."""
        assert self._annotations is not None
        return self._annotations.readers[neighbour]

    @property
    def table_size(self) -> int:
        """The number of rows of the publication table: the patterns that documents are matched against."""
        return len(self._asked)

    @property
    def advertisement_count(self) -> int:
        """The number of rows of the advertisement table."""
        return len(self._announced)

    def save(self) -> dict[str, Any]:
        """Return the state as plain lists, dictionaries and strings, for JSON."""
        links = (*self.neighbours, *self.clients)
        return RouterState(
            self.name,
            self.neighbours,
            self.clients,
            self.strategy,
            {link: self.subscriptions(link) for link in links},
            {link: tuple(self._announced[link].values()) for link in links},
            {link: dict(interest.known) for link, interest in self._interests},
            {link: interest.tree for link, interest in self._interests},
            tuple(self.mappings or ()),
            {} if self._annotations is None else self._annotations.plans,
            None if self.fragments is None else self.fragments.to_json(),
        ).to_json()

    @classmethod
    def restore(cls, saved: Mapping[str, Any], **options: Any) -> Router:
        """Make a router from its saved state, as its neighbours know it; raises ``RoutingError``.

        It has the neighbours of the saved state; ``connect`` and ``disconnect`` change them afterwards.  The
        options are those of the constructor: schema, selectivity, pool, mediation, sample and secret.
        """
        with garbage_collection_paused():
            state = RouterState.from_json(saved)
            router = cls(state.name, state.neighbours, state.clients, strategy=state.strategy, **options)
            if router.mappings is not None:
                router.mappings.learned([Announce(each) for each in state.mappings])
            for link, announced in state.advertisements.items():
                router._announce(link, announced, ())
            for link, table in state.subscriptions.items():
                router._put(link, table, {})
            for link, interest in router._interests:
                interest.restore(router._interests.of(link), state.told[link], state.trees.get(link, ()))
            if router.fragments is not None and state.fragments is not None:
                router.fragments.restore(state.fragments)
            if router._annotations is not None:
                for link in router.neighbours:
                    heard, plan = router.subscriptions(link), state.plans.get(link)
                    router._annotations.connect(link, router.told(link), heard, plan)
        return router

    # Within: checking

    @property
    def _annotations(self) -> AnnotationLinks | None:
        return self._documents.annotations

    def _is_client(self, link: str) -> bool:
        return self._asked[link].is_client

    def _own(self, link: str) -> LinkTable:
        """Return the subscriptions of a link; for a client the patterns, not their branches."""
        return self._exact[link] if link in self._exact.links else self._asked[link]

    def _checked(self, messages: Sequence[Message], link: str) -> tuple[list[BatchPart], list[Announce]]:
        """Validate a batch and split it into parts, and its new mappings; raises if it must be refused."""
        self._asked.check_link(link)
        announced: list[Announce] = []
        if self.mappings is not None:
            messages, announced = self.mappings.learned(messages)
        is_client = self._is_client(link)
        try:
            if self.mappings is not None and is_client:
                messages = self.mappings.all_entered(messages)
            parts = in_parts(
                messages,
                link,
                self._own(link).numbers,
                self._announced,
                takes_paths=self._by_paths and not is_client,
                takes_plans=self._annotations is not None and not is_client,
                takes_fragments=self.fragments is not None,
            )
            if new := added(parts):
                check_ids(new, link, self._asked, self._exact, self.pool.pattern)
        except TwigcastError:
            if self.mappings is not None:
                self.mappings.discard(announced)
            raise
        return parts, announced

    # Within: subscriptions

    def _change_subscriptions(
        self, changed: Mapping[str, Pattern | None], link: str, outgoing: Outgoing
    ) -> None:
        put, taken = self._put(link, *net_change(self._own(link).numbers, changed, self.pool.pattern))
        self._interests.tell(link, put, taken, outgoing)
        if self._annotations is not None:
            self._annotations.rows_changed(len(put) + len(taken))
        for number in taken.values():
            self.pool.release(number)

    def _put(
        self, link: str, added: Mapping[str, Pattern], removed: Mapping[str, Pattern]
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Change the table of a link; return the added and removed numbers, the latter not yet released."""
        if link in self._exact.links and self._exact is not self._asked:
            _, gone = self._exact.replace(link, added, removed, self.pool)
            for number in gone.values():
                self.pool.release(number)
            added, removed = by_branch(added), by_branch(removed)
        return self._asked.replace(link, added, removed, self.pool)

    # Within: advertisements

    def _change_advertisements(
        self, changed: Mapping[str, Advertisement | None], link: str, outgoing: Outgoing
    ) -> None:
        before = dict(self._announced[link])
        gone = [id for id in changed if id in before]
        new = [each for each in changed.values() if each is not None]
        self._announce(link, new, gone)
        self._tables.forget()
        if self._annotations is not None:
            self._annotations.advertisements_changed()
        if self.strategy.advertising:
            for neighbour in self.neighbours:
                if neighbour != link:
                    sent = outgoing.setdefault(neighbour, [])
                    sent += [Unadvertise(id) for id in gone]
                    sent += [Advertise(each) for each in new]
            if link in self._interests:
                self._interests.reroute(link, before, outgoing)
        self.pool.forget(gone)

    def _announce(self, link: str, new: Iterable[Advertisement], gone: Iterable[str]) -> None:
        """Change the advertisements of a link; those of clients are matched against their documents."""
        published_here = self.strategy.advertising and self._is_client(link)
        for id in gone:
            del self._announced[link][id]
            if published_here:
                self.pool.release(self._schemas.pop(id))
        for each in new:
            self._announced[link][each.id] = each
            if published_here:
                self._schemas[each.id] = self.pool.hold(each.automaton)

    # Within: publications

    def _route(self, document: WholeDocument, outgoing: Outgoing, work: Work | None) -> None:
        if work is not None:
            work.documents.append(document.evidence.record)
        if self._documents.takes_whole(document.envelope):
            self._documents.send(document, outgoing, work)
        elif self.fragments is not None:
            self.fragments.publish(document, outgoing, work)
        else:
            self._send_paths(as_paths(document.envelope), document.link, outgoing)

    def _send_paths(self, publication: Paths, link: str, outgoing: Outgoing) -> None:
        send_paths(publication, link, self._asked, self._exact, self.pool, outgoing)
