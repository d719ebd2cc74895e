"""What a neighbour must be told when a set of subscriptions has changed."""

from __future__ import annotations

from dataclasses import dataclass

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
