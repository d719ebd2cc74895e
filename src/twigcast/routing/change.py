"""What a neighbour must be told when a set of subscriptions has changed; what stages of a router share."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from twigcast.filtering import duplicate_id, unknown_id
from twigcast.pattern import Pattern


@dataclass(frozen=True, slots=True)
class Change:
    """Patterns to forward and ids to withdraw, so that a copy of the outgoing set is right again.

    Withdrawals come first: an id in both stands from now on for the forwarded pattern.
    """

    forward: tuple[tuple[str, Pattern], ...] = ()
    withdraw: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.forward or self.withdraw)


def net_change(before: Mapping[str, Pattern | None], now: Mapping[str, Pattern]) -> Change:
    """How the ids of ``before``, each with what it stood for, or with None, differ from what they are now."""
    different = [id for id, pattern in before.items() if now.get(id) != pattern]
    return Change(
        tuple((id, now[id]) for id in different if id in now),
        tuple(id for id in different if before[id] is not None),
    )


def check_ids(added: Iterable[tuple[str, Pattern]], removed: Iterable[str], held: Container[str]) -> None:
    """Raises ``SubscriptionError`` unless what is removed is held, and what is added then is not."""
    gone: set[str] = set()
    for id in removed:
        if id not in held or id in gone:
            raise unknown_id(id)
        gone.add(id)
    new: set[str] = set()
    for id, _ in added:
        if (id in held and id not in gone) or id in new:
            raise duplicate_id(id)
        new.add(id)
