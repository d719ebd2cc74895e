"""The delivery table: for each pattern, the client subscriptions to which a matched document is delivered.

A row is a subscription of a client; rows are in the order of subscribing.  The rows with the same pattern
form a linked list, newest first:

    position   0   1   2              row     0     1     2     3
    first      0   3   -              id      x     y     z     w
                                      client  ada   bob   ada   cyd
                                      after   2     -     -     1        position 1: w, then y

Invariant: the rows of a position are those reached from ``first`` along ``after``; ``before`` links back, so
that a row is removed without a search.  A table never changes: ``with_changes`` makes a new one.
Cost: the number of array operations for an answer is the length of its longest list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from twigcast.routing.forwarding import Numbers

Rows: TypeAlias = npt.NDArray[np.int32]

NO_ROW = -1


class ClientRow(NamedTuple):
    """A subscription of a client: the position of its pattern, the number of the client, and its id."""

    position: int
    client: int
    id: str


@dataclass(frozen=True, slots=True, eq=False)
class DeliveryTable:
    """The subscriptions of clients as rows, and for each position the linked list of its rows."""

    first: Rows
    after: Rows
    before: Rows
    """The previous row in the list; for the first row of a list, ``NO_ROW - 1 - position``."""
    client: Rows
    ids: npt.NDArray[np.object_]
    has_chains: bool = False
    """Whether some position has, or once had, several rows."""
    only_client: int = NO_ROW
    """The number of the client, if all rows belong to the same one; else ``NO_ROW``."""

    @classmethod
    def of(cls, rows: Sequence[ClientRow] = (), size: int = 0) -> DeliveryTable:
        """Make the table of these subscriptions, for at least ``size`` positions."""
        none = np.zeros(0, dtype=np.int32)
        return cls(none, none, none, none, np.zeros(0, dtype=np.object_)).with_changes(rows, (), size)

    def __len__(self) -> int:
        """The number of rows, including removed ones."""
        return len(self.client)

    def with_changes(
        self, added: Sequence[ClientRow], removed: Iterable[int], size: int = 0
    ) -> DeliveryTable:
        """Return a table without the rows numbered ``removed`` and with the rows ``added`` at its end."""
        size = max(size, len(self.first), max([row.position for row in added], default=-1) + 1)
        first = _grown(self.first, size)
        count = len(self) + len(added)
        after, before = _grown(self.after, count), _grown(self.before, count)
        client = _grown(self.client, count)
        ids = np.concatenate([self.ids, np.empty(len(added), dtype=np.object_)])
        for row in removed:
            ahead, behind = int(before[row]), int(after[row])
            if ahead >= 0:
                after[ahead] = behind
            else:
                first[NO_ROW - 1 - ahead] = behind
            if behind != NO_ROW:
                before[behind] = ahead
            client[row] = NO_ROW
            ids[row] = None
        has_chains = self.has_chains
        for row, (position, number, id) in enumerate(added, len(self)):
            behind = int(first[position])
            first[position], after[row], before[row] = row, behind, NO_ROW - 1 - position
            if behind != NO_ROW:
                before[behind] = row
                has_chains = True
            client[row] = number
            ids[row] = id
        living = client[client != NO_ROW]
        only = int(living[0]) if len(living) and (living == living[0]).all() else NO_ROW
        return DeliveryTable(first, after, before, client, ids, has_chains, only)

    def rows(self, positions: Numbers) -> Rows:
        """Return the rows of these positions, in the order of subscribing."""
        rows = self.first.take(positions)
        rows = rows[rows >= 0]
        if self.has_chains:
            parts = [rows]
            while len(parts[-1]):
                after = self.after[parts[-1]]
                parts.append(after[after >= 0])
            rows = np.concatenate(parts)
        rows.sort()
        return rows

    def pairs(self, items: Numbers, positions: Numbers) -> tuple[Numbers, Rows]:
        """Return all pairs of an item and a row of its position, where ``items[i]`` has ``positions[i]``."""
        found = self.first[positions]
        parts: list[tuple[Numbers, Rows]] = []
        while True:
            present = np.flatnonzero(found >= 0)
            items, found = items[present], found[present]
            parts.append((items, found))
            if not len(found):
                break
            found = self.after[found]
        return np.concatenate([each for each, _ in parts]), np.concatenate([each for _, each in parts])

    def by_client(self, rows: Rows) -> Iterable[tuple[int, tuple[str, ...]]]:
        """Yield the clients of these rows by number, each with the ids of its subscriptions in row order."""
        if not len(rows):
            return
        if self.only_client != NO_ROW:
            yield self.only_client, tuple(self.ids.take(rows).tolist())
            return
        clients = self.client.take(rows)
        order = np.argsort(clients, kind="stable")
        rows, clients = rows[order], clients[order]
        starts = np.flatnonzero(np.diff(clients, prepend=NO_ROW)).tolist()
        for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
            yield int(clients[start]), tuple(self.ids[rows[start:end]].tolist())


def _grown(rows: Rows, size: int) -> Rows:
    grown = np.full(size, NO_ROW, dtype=np.int32)
    grown[: len(rows)] = rows
    return grown
