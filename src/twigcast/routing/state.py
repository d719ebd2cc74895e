"""What a router must remember to go on where it was: plain lists and strings, with a version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from twigcast.errors import RoutingError, TwigcastError
from twigcast.pattern import Pattern, parse, render
from twigcast.routing.advertising import Advertisement
from twigcast.routing.strategy import Strategy

VERSION = 1


@dataclass(frozen=True, slots=True)
class RouterState:
    """A router as a value: its links, what each asks for and announces, what each neighbour was told."""

    name: str
    neighbours: tuple[str, ...]
    clients: tuple[str, ...]
    strategy: Strategy
    subscriptions: dict[str, dict[str, Pattern]]
    advertisements: dict[str, tuple[Advertisement, ...]]
    told: dict[str, dict[str, Pattern]]

    def to_json(self) -> dict[str, Any]:
        """The state as JSON can hold it."""
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
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> RouterState:
        """The state that ``to_json`` wrote; raises ``RoutingError``."""
        version = fields.get("version")
        if version != VERSION:
            raise RoutingError(
                f"the state of a router has version {version!r}, not {VERSION}",
                code="router-state",
                name="version",
            )
        try:
            return cls(
                str(fields["name"]),
                tuple(fields["neighbours"]),
                tuple(fields["clients"]),
                Strategy(**fields["strategy"]),
                {link: _patterns(table) for link, table in fields["subscriptions"].items()},
                {
                    link: tuple(map(Advertisement.from_json, announced))
                    for link, announced in fields["advertisements"].items()
                },
                {link: _patterns(table) for link, table in fields["told"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError, TwigcastError) as error:
            raise RoutingError(
                f"the state of a router cannot be read: {type(error).__name__}: {error}", code="router-state"
            ) from error


def _texts(table: Mapping[str, Pattern]) -> dict[str, str]:
    return {id: render(pattern) for id, pattern in table.items()}


def _patterns(table: Mapping[str, str]) -> dict[str, Pattern]:
    return {id: parse(text) for id, text in table.items()}
