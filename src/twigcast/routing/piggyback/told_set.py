"""The subscriptions that one router has forwarded to another, as both ends of the link know them.

Both ends apply the same messages to a set of their own.  Its fingerprint names its content, so that an
annotation can refer to "the third subscription, by id" without sending ids: it says for which content.
A number of changes would do as well as long as no router is restarted.

Cost: the fingerprint is the hash of a sum of hashes, one for each subscription, and a change adds and
subtracts; the order of the ids is computed when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b

from twigcast.pattern import Pattern, render
from twigcast.routing.messages import Message, Subscribe, Unsubscribe

MODULUS = 1 << 128


class ToldSet:
    """Forwarded subscriptions by id, in the order of their ids, under a fingerprint."""

    __slots__ = ("_fingerprint", "_hashes", "_ids", "_sum", "patterns", "version")

    def __init__(self, patterns: Mapping[str, Pattern] | None = None) -> None:
        self.patterns: dict[str, Pattern] = {}
        self._hashes: dict[str, int] = {}
        self.version = 0
        """How many changes there were; unlike the fingerprint, it never comes back."""
        self._sum = 0
        self._fingerprint = 0
        self._ids: tuple[str, ...] | None = None
        for id, pattern in (patterns or {}).items():
            self._add(id, pattern)

    def __len__(self) -> int:
        return len(self.patterns)

    def apply(self, messages: Iterable[Message]) -> None:
        """Follow the subscriptions and withdrawals among the messages that pass the link."""
        for message in messages:
            if isinstance(message, Subscribe):
                self._add(message.id, message.pattern)
            elif isinstance(message, Unsubscribe):
                self._remove(message.id)

    @property
    def fingerprint(self) -> int:
        """A number of 64 bits that both ends have if they know the same subscriptions; never 0."""
        if not self._fingerprint:
            content = self._sum.to_bytes(16, "little")
            self._fingerprint = int.from_bytes(blake2b(content, digest_size=8).digest(), "little") or 1
        return self._fingerprint

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids in order."""
        if self._ids is None:
            self._ids = tuple(sorted(self.patterns))
        return self._ids

    def _add(self, id: str, pattern: Pattern) -> None:
        if id in self.patterns:
            self._remove(id)
        self.patterns[id] = pattern
        self._hashes[id] = number = _hash(id, pattern)
        self._change(number)

    def _remove(self, id: str) -> None:
        if id in self.patterns:
            del self.patterns[id]
            self._change(-self._hashes.pop(id))

    def _change(self, number: int) -> None:
        self._sum = (self._sum + number) % MODULUS
        self._fingerprint = 0
        self._ids = None
        self.version += 1


@lru_cache(maxsize=1 << 16)
def _hash(id: str, pattern: Pattern) -> int:
    content = f"{len(id)} {id}{render(pattern)}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=16).digest(), "little")
