"""Changes of a set of subscriptions, which stages pass on to each other and a router sends to a neighbour."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from twigcast.filtering import duplicate_id, unknown_id
from twigcast.pattern import Pattern
from twigcast.routing.messages import Message, Subscribe, Unsubscribe


@dataclass(frozen=True, slots=True)
class Change:
    """Patterns to forward and ids to withdraw.

    Withdrawals come first: an id in both stands for the forwarded pattern from now on.
    """

    forward: tuple[tuple[str, Pattern], ...] = ()
    withdraw: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.forward or self.withdraw)


def net_change(before: Mapping[str, Pattern | None], now: Mapping[str, Pattern]) -> Change:
    """Return the change from ``before``, where None stands for an absent id, to ``now``."""
    different = [id for id, pattern in before.items() if now.get(id) != pattern]
    return Change(
        tuple((id, now[id]) for id in different if id in now),
        tuple(id for id in different if before[id] is not None),
    )


def check_ids(added: Iterable[tuple[str, Pattern]], removed: Iterable[str], held: Container[str]) -> None:
    """Raise ``SubscriptionError`` if a removed id is not held, or an added id is held and not removed."""
    dropped: set[str] = set()
    for id in removed:
        if id not in held or id in dropped:
            raise unknown_id(id)
        dropped.add(id)
    new: set[str] = set()
    for id, _ in added:
        if (id in held and id not in dropped) or id in new:
            raise duplicate_id(id)
        new.add(id)


def written(change: Change) -> list[Message]:
    """Return a change as messages; withdrawals come first, since an id may be withdrawn and forwarded."""
    messages: list[Message] = [Unsubscribe(id) for id in change.withdraw]
    messages += [Subscribe(id, pattern) for id, pattern in change.forward]
    return messages


def through(output: Mapping[str, Iterable[str]], inputs: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """Return what the outputs of a stage stand for, given what its inputs stand for."""
    return {
        id: list(dict.fromkeys(each for middle in between for each in inputs.get(middle, (middle,))))
        for id, between in output.items()
    }
