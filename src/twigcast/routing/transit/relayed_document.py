"""One document that passes a router in fragments: what is known, what was sent, what is held back.

    fragment 1 ──► no link is certain          held
    fragment 2 ──► a pattern of n is certain   1, 2 to n
    fragment 3 ──► nothing new                 3 to n
    fragment 4 ──► complete: m matches too     4 to n; 1, 2, 3, 4 to m; the whole to clients that match

A link is open once it is certain that a pattern of it matches, whatever the missing fragments contain; it is
then sent all fragments, those that have come and each one that comes.  Nothing goes to a link that is not
open.  The document keeps the subscriptions that the router had at its first fragment.

Invariant: a neighbour that was sent a fragment is sent all of them, or an ``Unpublish``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from twigcast.errors import DocumentError, FragmentError, MappingError
from twigcast.fragmenting import Certain, Fragment, Outcome, assemble
from twigcast.routing.messages import (
    FLOODED,
    OUTSIDE,
    Deliver,
    DeliverFragment,
    Envelope,
    Message,
    Outgoing,
    PublishFragment,
    Unpublish,
    is_flooded,
)
from twigcast.routing.piggyback.annotation_links import AnnotationLinks
from twigcast.routing.piggyback.work import DocumentWork
from twigcast.routing.pool import NONE, FragmentReader, Reading
from twigcast.routing.transit.evidence import DocumentEvidence, Facts
from twigcast.routing.transit.tables import TransitTables
from twigcast.routing.transit.transit import Transit

RelayStatus: TypeAlias = Literal["open", "complete", "failed"]

ReadJoined: TypeAlias = Callable[[Envelope], tuple[Envelope, Reading]]
"""Reads a document that was put together; returns it as it travels on, with the headers of its mapping."""


class RelayedDocument:
    """A document of which some fragments have come to a router."""

    def __init__(
        self,
        first: PublishFragment,
        link: str,
        origin: str,
        reader: FragmentReader,
        tables: TransitTables,
        *,
        takers: frozenset[str] = frozenset(),
        annotations: AnnotationLinks | None = None,
        read_joined: ReadJoined | None = None,
    ) -> None:
        """``takers`` are the clients that take fragments as they come.

        With ``read_joined`` the document has a mapping, which cannot be applied to fragments: its fragments
        are put together, and ``reader`` only checks that they are complete.
        """
        self.doc_id = first.doc_id
        self.origin = origin
        self.status: RelayStatus = "open"
        self.reason = ""
        """Why the document has failed."""
        self.arrived_bytes = self.held_bytes = 0
        self._link, self._publisher, self._headers = link, first.publisher, first.headers
        self._reader: FragmentReader | None = reader
        self._read_joined = read_joined
        self._tables, self._takers, self._annotations = tables, takers, annotations
        self._numbers: set[int] = set()
        self._last: int | None = None
        self._held: list[Fragment] = []  # in the order of arrival; empty once nobody can need them
        self._transit = Transit(tables, flooded=False)
        self._evidence = DocumentEvidence(DocumentWork(self.doc_id))
        self._entered = tables.pool.entered
        self._claims = b""  # the annotations that came with the document
        self._gone = 0  # the links that were cut meanwhile, as bits
        self._annotated = 0  # those that were sent annotations
        self._matched: dict[int, tuple[str, ...]] = {}  # clients that match, by number, and their ids
        self._begun: set[int] = set()  # the clients that were sent fragments
        if tables.schemas == ():
            self._flood()

    @property
    def receivers(self) -> list[str]:
        """The neighbours and clients that were sent fragments."""
        sent = self._transit.sent & ~self._gone
        found = [each for bit, each in enumerate(self._tables.neighbours) if sent >> bit & 1]
        clients = self._tables.clients
        return found + [clients[each] for each in sorted(self._begun) if each in clients]

    @property
    def undecided_bytes(self) -> int:
        """The bytes that are held back from a neighbour whose subscriptions are not decided."""
        return self.held_bytes if self._closed else 0

    @property
    def is_parsed(self) -> bool:
        """Whether fragments are still evaluated; if not, all links that can want the document receive it."""
        return self._reader is not None

    def add(self, message: PublishFragment, outgoing: Outgoing) -> list[str]:
        """Take a fragment, and add the messages to send; return the clients that match from now on.

        A fragment that has come before is ignored.  A fault of the document ends it, as ``fail`` does.
        """
        fragment = message.fragment
        before = self._matched
        try:
            if is_flooded(message) and not self._transit.is_flooded:
                self._flood()
            self._conclude(message)
            news = [] if self._reader is None else self._reader.index.add(fragment)
            if fragment.number in self._numbers and not news:
                return []
            self._hold(fragment)
            for each in news:
                if isinstance(each, Certain):
                    self._learn(each)
                else:
                    self._end(each)
            if self._reader is None and len(self._numbers) == self._last:
                self.status = "complete"
            self._send(fragment, outgoing)
        except (DocumentError, FragmentError, MappingError) as error:
            self.fail(f"{error.code}: {error.message}", outgoing)
            return []
        if self.status == "complete" and self._annotations is not None:
            self._annotations.passed(self._link, self._evidence.record)
        self._release()
        clients = self._tables.clients
        return [clients[each] for each in self._matched if each not in before and each in clients]

    def open_all(self, outgoing: Outgoing) -> None:
        """Forward what has come, and what comes, to all neighbours that may want the document."""
        self._transit.wanted |= self._closed
        self._send(None, outgoing)
        self._release()

    def fail(self, reason: str, outgoing: Outgoing) -> None:
        """End the document; those that were sent fragments are told to drop them."""
        self.status, self.reason = "failed", reason
        for link in self.receivers:
            outgoing.setdefault(link, []).append(Unpublish(self.doc_id, self.origin, reason))

    def leave(self, link: str) -> None:
        """Send nothing more to a neighbour that is not connected any more."""
        if link in self._tables.neighbours:
            bit = 1 << self._tables.neighbours.index(link)
            self._gone |= bit

    # Within: what is known

    @property
    def _closed(self) -> int:
        """The links that may still want the document and were sent nothing."""
        transit = self._transit
        return (transit.wanted | transit.undecided) & ~(transit.sent | self._gone)

    def _hold(self, fragment: Fragment) -> None:
        self._numbers.add(fragment.number)
        self._last = fragment.number if fragment.is_last else self._last
        self._held.append(fragment)
        self.arrived_bytes += len(fragment.body)
        self.held_bytes += len(fragment.body)

    def _flood(self) -> None:
        self._transit.flood()
        if all(key != FLOODED for key, _ in self._headers):
            self._headers = (*self._headers, (FLOODED, OUTSIDE))

    def _conclude(self, message: PublishFragment) -> None:
        """Take in what the annotations of a fragment prove of the document."""
        if self._annotations is None or not message.annotations or self._claims or self._tables.is_checked:
            return
        if self._tables.pool.entered != self._entered:
            return  # some numbers may stand for other patterns than when the document began
        found = self._annotations.conclude(message, self._link, self._tables, self._evidence.record)
        if found is None:
            return
        self._evidence, self._claims = found, message.annotations
        self._transit.learn(np.concatenate([self._transit.matched, found.matched]), found.open)
        self._find_clients()
        if self._transit.is_decided:  # the router before has read it, and what it found is enough
            self._reader = None
            found.record.parsed = False

    def _learn(self, certain: Certain) -> None:
        """Take in what is certain: links and clients that match whatever the other fragments contain."""
        assert self._reader is not None
        new = self._reader.answer([int(str(position)) for position in certain.ids])
        self._transit.learn(np.concatenate([self._transit.matched, new]), self._transit.open)
        self._find_clients()

    def _end(self, outcome: Outcome) -> None:
        """Take in the outcome of the document; raises the error of a broken one."""
        assert self._reader is not None
        match = outcome.match
        if match is None:
            raise outcome.error or FragmentError(outcome.reason, code="fragments-missing", doc_id=self.doc_id)
        if self._read_joined is None:
            undecided = [each.position for each in match.undecided]
            unsure = self._reader.answer(undecided) if undecided else NONE
            reading = Reading(self._reader.answer(match.positions, undecided), unsure)
        else:
            joined, reading = self._read_joined(self._envelope(assemble(self._held)))
            self._headers = joined.headers
        self._evidence.read(reading, self._tables.pool.capacity, Facts())
        self._transit.learn(reading.answer, NONE)
        schemas = self._tables.schemas
        if schemas is not None and not np.isin(schemas, reading.answer).any():
            self._flood()
        self._find_clients()
        self.status = "complete"

    def _find_clients(self) -> None:
        if self._tables.subscribers:
            deliveries = self._tables.deliveries
            self._matched = dict(deliveries.by_client(deliveries.rows(np.unique(self._transit.matched))))

    # Within: what is sent

    def _send(self, current: Fragment | None, outgoing: Outgoing) -> None:
        """Send the current fragment to the links that had those before, and all of them to the others."""
        if self._read_joined is not None and self._tables.is_checked and self.status == "open":
            return  # its mapping is not chosen yet, and travels with each fragment
        body = b""
        names = [self._tables.clients.get(client) for client in self._matched]
        if self.status == "complete" and any(name and name not in self._takers for name in names):
            body = assemble(self._held)  # before anything is sent, since it finds faults
        only = [] if current is None else [current]
        transit = self._transit
        had = transit.sent
        transit.take_neighbours()
        for bit, neighbour in enumerate(self._tables.neighbours):
            if transit.sent & ~self._gone & 1 << bit:
                sent = only if had >> bit & 1 else self._held
                outgoing.setdefault(neighbour, []).extend(self._onward(sent, neighbour, 1 << bit))
        for (client, ids), name in zip(self._matched.items(), names, strict=True):
            if name is None:
                continue
            if name in self._takers:
                sent = only if client in self._begun else self._held
                outgoing.setdefault(name, []).extend(self._delivered(each, ids, sent) for each in sent)
                self._begun.add(client)
            elif self.status == "complete":
                outgoing.setdefault(name, []).append(Deliver(self._envelope(body).delivered(), ids))

    def _onward(self, fragments: Sequence[Fragment], neighbour: str, bit: int) -> list[PublishFragment]:
        """Return fragments as they go to a neighbour, the first one with annotations if there are any."""
        about = self._publisher, self._headers, self.origin
        sent = [PublishFragment(each, *about) for each in fragments]
        is_known = self._claims or self._evidence.is_read
        is_current = self._tables.pool.entered == self._entered
        if self._annotations is not None and is_known and is_current and sent and not self._annotated & bit:
            self._annotated |= bit
            first = PublishFragment(fragments[0], *about, self._claims)
            found = self._annotations.annotations_for(neighbour, first, self._evidence, None)
            sent[0] = PublishFragment(fragments[0], *about, found)
        return sent

    def _envelope(self, body: bytes) -> Envelope:
        return Envelope(self.doc_id, body, self._publisher, self._headers)

    def _delivered(self, fragment: Fragment, ids: tuple[str, ...], sent: Sequence[Fragment]) -> Message:
        is_complete = self.status == "complete" and fragment is sent[-1]
        return DeliverFragment(fragment, ids, is_complete, self._publisher, self._headers)

    def _release(self) -> None:
        """Drop the fragments, and end the evaluation, if neither can make a difference any more.

        What a neighbour has checked is not evaluated further if all links are open and no client subscribes.
        """
        if self._closed or self._tables.subscribers - self._begun:
            return
        self._held, self.held_bytes = [], 0
        if not self._tables.is_checked and not self._tables.subscribers:
            self._reader = None
