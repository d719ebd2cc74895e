"""What clients of a network do: who advertises what, who subscribes to what, who publishes what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from twigcast.pattern import Pattern
from twigcast.routing import Advertisement, Envelope


@dataclass(frozen=True, slots=True)
class Load:
    """By client: advertisements, subscriptions as (id, pattern), documents in turn as (client, document).

    ``leaving`` are ids of subscriptions that are taken back after the first half of the documents.
    """

    advertisements: Mapping[str, Sequence[Advertisement]] = field(default_factory=dict)
    subscriptions: Mapping[str, Sequence[tuple[str, Pattern]]] = field(default_factory=dict)
    documents: Sequence[tuple[str, Envelope]] = ()
    leaving: Mapping[str, Sequence[str]] = field(default_factory=dict)
