"""The load of a simulation: the advertisements, subscriptions and documents of the clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from twigcast.pattern import Pattern
from twigcast.rewriting import Mapping as RewritingMapping
from twigcast.routing import Advertisement, Envelope


@dataclass(frozen=True, slots=True)
class Load:
    """Advertisements and subscriptions, as (id, pattern), by client; and documents, as (client, document).

    Documents are published in this order.  ``leaving`` has, by client, the ids of the subscriptions that end
    after the first half of the documents.
    """

    advertisements: Mapping[str, Sequence[Advertisement]] = field(default_factory=dict)
    subscriptions: Mapping[str, Sequence[tuple[str, Pattern]]] = field(default_factory=dict)
    documents: Sequence[tuple[str, Envelope]] = ()
    leaving: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mappings: Mapping[str, Sequence[RewritingMapping]] = field(default_factory=dict)
    """By client, the mappings that it announces before the first document."""
    originals: Mapping[str, bytes] = field(default_factory=dict)
    """By name of a document, the same document in the global schema."""
