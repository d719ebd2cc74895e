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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from twigcast.errors import DocumentError, FragmentError
from twigcast.fragmenting import Certain, Fragment, Outcome, assemble
from twigcast.routing.delivery_table import DeliveryTable
from twigcast.routing.forwarding import NOWHERE, ForwardingTable, wanted_links
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
from twigcast.routing.pool import NONE, Answer, FragmentReader

RelayStatus: TypeAlias = Literal["open", "complete", "failed"]


@dataclass(frozen=True, slots=True)
class RelayTables:
    """The tables of a router as they were at the first fragment of a document."""

    forwarding: ForwardingTable
    deliveries: DeliveryTable
    neighbours: tuple[str, ...]
    """The links to neighbours, in the order of their numbers."""
    clients: Mapping[int, str]
    """The names of the clients that are attached now, by number."""
    subscribers: frozenset[int]
    """The numbers of the clients that had subscriptions."""
    possible: int
    """The links, as bits, that the document may take: not the one it came from, and not those without
    subscriptions, unless it may be flooded."""
    arrived: int
    """The number of the link it came from, or ``NOWHERE`` if that is a client."""
    schemas: tuple[int, ...] | None
    """The numbers of its publisher's advertisements; None if it need not conform to one here."""
    takers: frozenset[str]
    """The clients that take fragments as they come."""

    @property
    def is_checked(self) -> bool:
        """Whether the document comes from a client, so that all of it must be read."""
        return self.arrived == NOWHERE

    @property
    def everywhere(self) -> int:
        """The links that a flooded document takes, as bits."""
        all_links = (1 << len(self.neighbours)) - 1
        return all_links if self.is_checked else all_links & ~(1 << self.arrived)


class RelayedDocument:
    """A document of which some fragments have come to a router."""

    def __init__(
        self,
        first: PublishFragment,
        origin: str,
        reader: FragmentReader,
        tables: RelayTables,
    ) -> None:
        self.doc_id = first.fragment.doc_id
        self.origin = origin
        self.status: RelayStatus = "open"
        self.reason = ""
        """Why the document has failed."""
        self.arrived_bytes = self.held_bytes = 0
        self._publisher, self._headers = first.publisher, first.headers
        self._reader: FragmentReader | None = reader
        self._tables = tables
        self._numbers: set[int] = set()
        self._last: int | None = None
        self._held: list[Fragment] = []  # in the order of arrival; empty once nobody can need them
        self._answer: Answer = NONE  # the patterns that match for certain
        self._is_flooded = False
        self._wanted = 0  # the links that are to be sent the document, as bits
        self._sent = 0  # those that were sent fragments
        self._gone = 0  # those that were cut meanwhile
        self._matched: dict[int, tuple[str, ...]] = {}  # clients that match, by number, and their ids
        self._begun: set[int] = set()  # the clients that were sent fragments
        if tables.schemas == ():
            self._flood()

    @property
    def receivers(self) -> list[str]:
        """The neighbours and clients that were sent fragments."""
        found = [each for bit, each in enumerate(self._tables.neighbours) if self._sent >> bit & 1]
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
        try:
            news = [] if self._reader is None else self._reader.index.add(fragment)
            if fragment.number in self._numbers and not news:
                return []
            self._hold(fragment)
            if is_flooded(message) and not self._is_flooded:
                self._flood()
            before = self._matched
            for each in news:
                if isinstance(each, Certain):
                    self._learn(each)
                else:
                    self._end(each)
            self._send(fragment, outgoing)
        except (DocumentError, FragmentError) as error:
            self.fail(f"{error.code}: {error.message}", outgoing)
            return []
        if self._reader is None and len(self._numbers) == self._last:
            self.status = "complete"
        self._release()
        clients = self._tables.clients
        return [clients[each] for each in self._matched if each not in before and each in clients]

    def open_all(self, outgoing: Outgoing) -> None:
        """Forward what has come, and what comes, to all neighbours that may want the document."""
        self._wanted |= self._closed
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
            self._sent &= ~bit

    # Within: what is known

    @property
    def _closed(self) -> int:
        """The links that may still want the document and were sent nothing."""
        return self._tables.possible & ~(self._sent | self._gone)

    def _hold(self, fragment: Fragment) -> None:
        self._numbers.add(fragment.number)
        self._last = fragment.number if fragment.is_last else self._last
        self._held.append(fragment)
        self.arrived_bytes += len(fragment.body)
        self.held_bytes += len(fragment.body)

    def _flood(self) -> None:
        self._is_flooded = True
        self._wanted = self._tables.everywhere
        if all(key != FLOODED for key, _ in self._headers):
            self._headers = (*self._headers, (FLOODED, OUTSIDE))

    def _learn(self, certain: Certain) -> None:
        """Take in what is certain: links and clients that match whatever the other fragments contain."""
        assert self._reader is not None
        new = self._reader.answer([int(str(position)) for position in certain.ids])
        self._answer = np.concatenate([self._answer, new])
        self._decide()

    def _end(self, outcome: Outcome) -> None:
        """Take in the outcome of the document; raises the error of a broken one."""
        assert self._reader is not None
        match = outcome.match
        if match is None:
            raise outcome.error or FragmentError(outcome.reason, code="fragments-missing", doc_id=self.doc_id)
        self._answer = self._reader.answer(match.positions, [each.position for each in match.undecided])
        schemas = self._tables.schemas
        if schemas is not None and not np.isin(schemas, self._answer).any() and not self._is_flooded:
            self._flood()
        self._decide()
        self.status = "complete"

    def _decide(self) -> None:
        tables = self._tables
        self._wanted |= wanted_links(
            tables.forwarding, self._answer, flooded=self._is_flooded, arrived=tables.arrived
        )
        if tables.subscribers:
            self._matched = dict(tables.deliveries.by_client(tables.deliveries.rows(self._answer)))

    # Within: what is sent

    def _send(self, current: Fragment | None, outgoing: Outgoing) -> None:
        """Send the current fragment to the links that had those before, and all of them to the others."""
        body = b""
        names = [self._tables.clients.get(client) for client in self._matched]
        if self.status == "complete" and any(name and name not in self._tables.takers for name in names):
            body = assemble(self._held)  # before anything is sent, since it finds faults
        only = [] if current is None else [current]
        wanted = self._wanted & ~self._gone
        for bit, neighbour in enumerate(self._tables.neighbours):
            if wanted >> bit & 1:
                sent = only if self._sent >> bit & 1 else self._held
                outgoing.setdefault(neighbour, []).extend(map(self._onward, sent))
        self._sent |= wanted
        for (client, ids), name in zip(self._matched.items(), names, strict=True):
            if name is None:
                continue
            if name in self._tables.takers:
                sent = only if client in self._begun else self._held
                outgoing.setdefault(name, []).extend(self._delivered(each, ids, sent) for each in sent)
                self._begun.add(client)
            elif self.status == "complete":
                envelope = Envelope(self.doc_id, body, self._publisher, self._headers)
                outgoing.setdefault(name, []).append(Deliver(envelope, ids))

    def _onward(self, fragment: Fragment) -> Message:
        return PublishFragment(fragment, self._publisher, self._headers, self.origin)

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
