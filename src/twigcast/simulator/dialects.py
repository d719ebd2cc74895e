"""Publishers that write one global schema in dialects of their own, as a scenario asks for them.

Dialects are made for experiments only, which say here how: ``experiments/engines/mapping/publishers.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from twigcast.errors import RoutingError
from twigcast.routing import Announce, NetworkMediation
from twigcast.schema import ElementGraph
from twigcast.simulator.load import Load


@dataclass(frozen=True, slots=True)
class DialectOptions:
    """How many dialects there are, and the names of the approaches that are compared."""

    dialects: int = 40
    approach: tuple[str, ...] = ("NDDR_router",)


@dataclass(frozen=True, slots=True)
class PublisherDialects:
    """What makes a load in dialects: takes a load, its schema, the number of dialects and a seed."""

    write: Callable[[Load, ElementGraph, int, int], Load]
    networks: Mapping[str, NetworkMediation]
    """The approaches by name."""


_provided: PublisherDialects | None = None


def provide_dialects(dialects: PublisherDialects) -> None:
    """Say how scenarios get their dialects from now on."""
    global _provided
    _provided = dialects


def provided_dialects() -> PublisherDialects:
    """What makes dialects; raises ``RoutingError`` if nothing does, as in an installed package."""
    if _provided is None:
        raise RoutingError(
            "mediation: dialects of publishers are made by the experiments, in a checkout of the project:"
            " python -m experiments.engines simulate FILE",
            code="scenario",
            name="mediation",
        )
    return _provided


def announcements(load: Load, client: str) -> Sequence[Announce]:
    """What a publisher announces before it publishes."""
    return [Announce(each) for each in load.mappings.get(client, ())]
