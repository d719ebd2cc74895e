"""The documents that pass a router in fragments.

    client ──whole document──► cut ─────────────────────────┐
    client ──its own fragments──► RelayedDocument, checked ─┼──► PublishFragment, DeliverFragment, Deliver
    neighbour ──fragments──► RelayedDocument ───────────────┘    Unpublish, if a document fails

The router of the publisher gives each document an ``origin``, a name that no other publication has; so two
publishers may use one ``doc_id`` at the same time.
There is no clock here: a caller that has one gives documents up that take too long (``give_up``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from twigcast.filtering import Index
from twigcast.fragmenting import Fragment, FragmentIndex, Spans, by_novelty, fragment
from twigcast.routing.mediation import KnownMappings
from twigcast.routing.messages import (
    MAPPING,
    Deliver,
    DeliverFragment,
    Envelope,
    Outgoing,
    PublishFragment,
    Send,
    Unpublish,
    sends,
)
from twigcast.routing.piggyback.work import FragmentWork, Work
from twigcast.routing.pool import NONE, FragmentReader, Pool, Reading
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables import PublicationTable
from twigcast.routing.transit.document_relay import DocumentRelay, WholeDocument
from twigcast.routing.transit.relayed_document import ReadJoined, RelayedDocument
from twigcast.routing.transit.tables import TablesByLink

MOST_OPEN = 1000
"""The open documents of a router; beyond, the oldest one is given up."""
MOST_FAILED = 10_000
"""The failed documents that are remembered, so that their late fragments are ignored."""
RESTARTED = "a router was restarted"


class OpenPublication(NamedTuple):
    """Where an open document came from: the link, its origin if that is a neighbour, and its name."""

    link: str
    origin: str
    doc_id: str


class FragmentRelay:
    """The open documents of a router, the oldest first."""

    def __init__(
        self,
        name: str,
        strategy: Strategy,
        asked: PublicationTable,
        pool: Pool,
        tables: TablesByLink,
        documents: DocumentRelay,
        mappings: KnownMappings | None,
    ) -> None:
        self._name, self._strategy = name, strategy
        self._asked, self._pool, self._tables = asked, pool, tables
        self._documents, self._mappings = documents, mappings
        self.takers: set[str] = set()
        """The clients that take fragments as they come, from the next document on; others get the whole."""
        self._open: dict[OpenPublication, RelayedDocument] = {}
        self._failed: dict[OpenPublication, None] = {}
        self._notices: Outgoing = {}
        self._published = 0

    def __len__(self) -> int:
        """The number of open documents."""
        return len(self._open)

    def __iter__(self) -> Iterator[OpenPublication]:
        return iter(list(self._open))

    @property
    def held_bytes(self) -> int:
        """The bytes of the fragments that are held."""
        return sum(each.held_bytes for each in self._open.values())

    # Messages

    def publish(self, document: WholeDocument, outgoing: Outgoing, work: Work | None) -> None:
        """Cut a whole document, which has been read, and send its fragments where they are wanted."""
        envelope, transit = document.envelope, document.transit
        neighbours, matched = transit.take_neighbours(), list(transit.take_clients())
        name = self._new_origin(document.link)
        parts: list[Fragment] = []
        if neighbours or any(client in self.takers for client, _ in matched):
            parts = self._cut(envelope)
        about = envelope.publisher, envelope.headers
        annotations = self._documents.annotations
        for neighbour in neighbours:
            sent = [PublishFragment(each, *about, name) for each in parts]
            if annotations is not None:
                said = annotations.annotations_for(neighbour, sent[0], document.evidence, work)
                sent[0] = PublishFragment(parts[0], *about, name, said)
            outgoing.setdefault(neighbour, []).extend(sent)
        delivered = envelope.delivered()
        for client, ids in matched:
            into = outgoing.setdefault(client, [])
            if client in self.takers:
                about = delivered.publisher, delivered.headers
                into += [DeliverFragment(each, ids, each is parts[-1], *about) for each in parts]
            else:
                into.append(Deliver(delivered, ids))

    def receive_all(
        self,
        messages: Iterable[PublishFragment | Unpublish],
        link: str,
        outgoing: Outgoing,
        work: Work | None = None,
    ) -> None:
        """Handle the fragments of a batch from one link; adds the messages to send."""
        for message in messages:
            self.receive(message, link, outgoing, work)
        if self._notices:
            self._take_notices(outgoing)

    def receive(
        self, message: PublishFragment | Unpublish, link: str, outgoing: Outgoing, work: Work | None = None
    ) -> None:
        """Handle a fragment of a link, or the end of a document that will not be complete.

        A fragment of a document that has failed is ignored.  If a client's document has failed, the client is
        told; it must send ``Unpublish`` before it can publish another one of this name by fragments.
        """
        is_client = self._asked[link].is_client
        doc_id = message.doc_id if isinstance(message, Unpublish) else message.fragment.doc_id
        key = OpenPublication(link, "" if is_client else message.origin, doc_id)
        if isinstance(message, Unpublish):
            if key in self._open:
                self._open.pop(key).fail(message.reason or "taken back by its publisher", outgoing)
            if is_client:
                self._failed.pop(key, None)
            else:
                self._remember(key)
            return
        if key in self._failed:
            return
        if key not in self._open:
            self._open[key] = self._begun(message, link)
            self._limit_documents(outgoing)
        document = self._open[key]
        is_parsed = document.is_parsed
        matched = document.add(message, outgoing)
        if document.status != "open":
            del self._open[key]
        if document.status == "failed":
            self._remember(key)
            if is_client:
                self._tell(link, document, outgoing)
        self._limit_bytes(outgoing)
        if work is not None:
            size, rows = len(message.fragment.body), len(self._asked)
            arrived, held = document.arrived_bytes, self.held_bytes
            work.fragments.append(FragmentWork(doc_id, size, rows, is_parsed, arrived, held, tuple(matched)))

    def give_up(self, documents: Iterable[OpenPublication], reason: str = "given up") -> list[Send]:
        """Give up open documents; return the messages that tell so to those that were sent fragments."""
        outgoing: Outgoing = {}
        for key in documents:
            self._give_up(key, reason, outgoing)
        return sends(outgoing)

    def leave(self, link: str, outgoing: Outgoing) -> None:
        """Drop a link: documents that come over it are given up, and nothing more is sent to it."""
        for key in self:
            if key.link == link:
                self._open.pop(key).fail(f"{link!r} is no longer connected", outgoing)
            else:
                self._open[key].leave(link)
        self.takers.discard(link)
        outgoing.pop(link, None)
        self._notices.pop(link, None)

    # State

    def to_json(self) -> dict[str, Any]:
        """Return what is kept of a router that is saved: not the fragments, only what has to be ended."""
        return {
            "published": self._published,
            "takers": sorted(self.takers),
            "open": [[*key, each.origin, each.receivers] for key, each in self._open.items()],
        }

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take up a saved state: the documents that were open have failed, and their receivers are told so.

        The messages go out with the next ones that the router sends.
        """
        self._published = int(saved["published"])
        self.takers = set(saved["takers"])
        for link, inner, doc_id, origin, receivers in saved["open"]:
            key = OpenPublication(link, inner, doc_id)
            self._remember(key)
            told = [*receivers, link] if self._asked[link].is_client else receivers
            for each in told:
                notice = Unpublish(doc_id, origin, RESTARTED)
                self._notices.setdefault(each, []).append(notice)

    # Within

    def _take_notices(self, outgoing: Outgoing) -> None:
        """Add the messages that are left to send after the router was restored."""
        for link, sent in self._notices.items():
            outgoing.setdefault(link, []).extend(sent)
        self._notices = {}

    def _new_origin(self, link: str) -> str:
        self._published += 1
        return f"{self._name}/{link}/{self._published}"

    def _cut(self, envelope: Envelope) -> list[Fragment]:
        by_paths = self._strategy.fragment_order == "novelty"
        parts = fragment(
            envelope.body,
            doc_id=envelope.doc_id,
            cut=Spans(bytes=self._strategy.fragment_bytes),
            header="prefix+paths" if by_paths else "prefix+level",
            limits=self._pool.limits,
        )
        return by_novelty(parts) if by_paths else list(parts)

    def _begun(self, message: PublishFragment, link: str) -> RelayedDocument:
        tables = self._tables.of(link)
        read_joined: ReadJoined | None = None
        if self._mappings is not None and (tables.is_checked or MAPPING in dict(message.headers)):
            read_joined = self._read_entering if tables.is_checked else self._read_mapped
            index = FragmentIndex(Index(limits=self._pool.limits), checked=tables.is_checked)
            reader = FragmentReader(index, NONE)
        else:
            reader = self._pool.fragment_reader(checked=tables.is_checked)
        return RelayedDocument(
            message,
            link,
            self._new_origin(link) if tables.is_checked else message.origin,
            reader,
            tables,
            takers=frozenset(self.takers),
            annotations=self._documents.annotations,
            read_joined=read_joined,
        )

    def _read_entering(self, envelope: Envelope) -> tuple[Envelope, Reading]:
        """Choose the mapping of a client's document, and read its image."""
        assert self._mappings is not None
        return self._read_mapped(self._mappings.entered(envelope))

    def _read_mapped(self, envelope: Envelope) -> tuple[Envelope, Reading]:
        assert self._mappings is not None
        return envelope, self._pool.read(envelope.body, self._mappings.of(envelope))

    def _remember(self, key: OpenPublication) -> None:
        self._failed[key] = None
        while len(self._failed) > MOST_FAILED:
            del self._failed[next(iter(self._failed))]

    def _give_up(self, key: OpenPublication, reason: str, outgoing: Outgoing) -> None:
        document = self._open.pop(key)
        document.fail(reason, outgoing)
        self._remember(key)
        if self._asked[key.link].is_client:
            self._tell(key.link, document, outgoing)

    def _tell(self, client: str, document: RelayedDocument, outgoing: Outgoing) -> None:
        """Tell the publisher of a document why it has failed."""
        sent = outgoing.setdefault(client, [])
        notice = Unpublish(document.doc_id, document.origin, document.reason)
        if notice not in sent:
            sent.append(notice)

    def _limit_documents(self, outgoing: Outgoing) -> None:
        while len(self._open) > MOST_OPEN:
            self._give_up(next(iter(self._open)), f"more than {MOST_OPEN} open documents", outgoing)

    def _limit_bytes(self, outgoing: Outgoing) -> None:
        """Forward undecided documents, the oldest first, until few enough bytes are held back."""
        undecided = sum(each.undecided_bytes for each in self._open.values())
        for document in list(self._open.values()):
            if undecided <= self._strategy.held_bytes:
                return
            undecided -= document.undecided_bytes
            document.open_all(outgoing)
