"""The saved state of a router, which is written as JSON and from which the router is restored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from twigcast.errors import RoutingError, TwigcastError
from twigcast.pattern import Pattern, parse, render
from twigcast.rewriting import Mapping as RewritingMapping
from twigcast.routing.advertising import Advertisement
from twigcast.routing.piggyback import AnnotationPlan
from twigcast.routing.stages.subscription_tree import SavedNode
from twigcast.routing.strategy import Strategy

VERSION = 3


@dataclass(frozen=True, slots=True)
class RouterState:
    """A router as a value: its links with their subscriptions and advertisements, by link.

    ``told`` holds the subscriptions that have been forwarded to each neighbour.  ``trees`` holds the
    subscription tree of each neighbour, so that a restored router need not rebuild it by searching.
    """

    name: str
    neighbours: tuple[str, ...]
    clients: tuple[str, ...]
    strategy: Strategy
    subscriptions: dict[str, dict[str, Pattern]]
    advertisements: dict[str, tuple[Advertisement, ...]]
    told: dict[str, dict[str, Pattern]]
    trees: dict[str, tuple[SavedNode, ...]]
    mappings: tuple[RewritingMapping, ...] = ()
    """The mappings that the router knows, in the order in which it learnt them."""
    plans: Mapping[str, AnnotationPlan] = field(default_factory=dict)
    """The annotation plans that neighbours have sent."""
    fragments: Mapping[str, Any] | None = None
    """The documents in fragments that were open, as ``FragmentRelay`` writes them; not their bytes."""

    def to_json(self) -> dict[str, Any]:
        """Return the state as plain lists, dictionaries and strings."""
        return {
            "version": VERSION,
            "name": self.name,
            "neighbours": list(self.neighbours),
            "clients": list(self.clients),
            "strategy": asdict(self.strategy),
            "subscriptions": {link: _texts(table) for link, table in self.subscriptions.items()},
            "advertisements": {
                link: [each.to_json() for each in announced]
                for link, announced in self.advertisements.items()
            },
            "told": {link: _texts(table) for link, table in self.told.items()},
            "trees": {
                link: [[list(ids), parent, list(above)] for ids, parent, above in tree]
                for link, tree in self.trees.items()
            },
            "mappings": [[each.name, each.version, each.canonical] for each in self.mappings],
            "plans": {link: plan.to_json() for link, plan in self.plans.items()},
            "fragments": self.fragments,
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> RouterState:
        """Read the output of ``to_json``; raises ``RoutingError``."""
        version = fields.get("version")
        if version != VERSION:
            raise RoutingError(
                f"the state of a router has version {version!r}, not {VERSION}",
                code="router-state",
                name="version",
            )
        try:
            parsed = lru_cache(maxsize=None)(parse)  # most forwarded patterns are in the tables, too
            state = cls(
                str(fields["name"]),
                tuple(fields["neighbours"]),
                tuple(fields["clients"]),
                Strategy(**fields["strategy"]),
                {link: _patterns(table, parsed) for link, table in fields["subscriptions"].items()},
                {
                    link: tuple(map(Advertisement.from_json, announced))
                    for link, announced in fields["advertisements"].items()
                },
                {link: _patterns(table, parsed) for link, table in fields["told"].items()},
                {link: tuple(map(_node, tree)) for link, tree in fields["trees"].items()},
                tuple(
                    RewritingMapping.parse(name, rules, version)
                    for name, version, rules in fields.get("mappings", ())
                ),
                {link: AnnotationPlan.from_json(plan) for link, plan in fields["plans"].items()},
                fields.get("fragments"),
            )
        except (KeyError, TypeError, ValueError, AttributeError, TwigcastError) as error:
            raise RoutingError(
                f"the state of a router cannot be read: {type(error).__name__}: {error}", code="router-state"
            ) from error
        strangers = set(state.neighbours) - state.told.keys()
        if strangers:
            raise RoutingError(
                f"the state lacks the subscriptions forwarded to {min(strangers)!r}: restore the router "
                "without this neighbour, then connect it",
                code="router-state",
                name="neighbours",
            )
        return state


def _texts(table: Mapping[str, Pattern]) -> dict[str, str]:
    return {id: render(pattern) for id, pattern in table.items()}


def _patterns(table: Mapping[str, str], parsed: Callable[[str], Pattern]) -> dict[str, Pattern]:
    return {id: parsed(text) for id, text in table.items()}


def _node(fields: tuple[list[str], int, list[int]]) -> SavedNode:
    ids, parent, above = fields
    return SavedNode(tuple(ids), int(parent), tuple(above))
