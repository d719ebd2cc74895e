"""The section of a pipeline file that describes a network of routers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from twigcast.config import ConfigSection, wrong
from twigcast.errors import RoutingError
from twigcast.spark.pipeline.values import AnyPath, LocalPath

if TYPE_CHECKING:
    from twigcast.routing import Network, Strategy


class RemoteSection(ConfigSection):
    """A remote site, which has a pipeline of its own, behind the router ``at``, by default the first one.

    That pipeline writes the ``plan``, and reads the documents that are written ``to`` a folder.
    """

    plan: LocalPath
    to: LocalPath
    at: str | None = None


class NetworkSection(ConfigSection):
    """A network of routers between publishers and subscribers.

    ``publishers`` and ``subscribers`` name the router of each.  The documents of other publishers enter at
    ``entry``, and other subscribers are at ``home``; both are the first router by default.  The publisher of
    a document is its column ``publisher``.  ``schema`` is the DTD or XSD that publishers advertise; a
    document that does not conform to it is flooded, unless the publishers are ``trusted``.
    Each ``remote`` is a site with a pipeline of its own.  To be such a site, a pipeline writes its ``plan``,
    in which it asks for annotations by the name of a ``piggyback`` strategy.
    """

    routers: Annotated[list[str], Field(min_length=1)]
    links: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    strategy: str | None = None
    schema_path: LocalPath | None = Field(default=None, alias="schema")
    root: str | None = None
    entry: str | None = None
    home: str | None = None
    publishers: dict[str, str] = Field(default_factory=dict)
    subscribers: dict[str, str] = Field(default_factory=dict)
    trusted: bool = False
    metrics: AnyPath = "out/hops"
    remote: dict[str, RemoteSection] = Field(default_factory=dict)
    plan: LocalPath | None = None
    piggyback: str = "L+t"

    @property
    def sites(self) -> tuple[str, ...]:
        """The routers, and after them the remote sites."""
        return (*self.routers, *self.remote)

    @property
    def network(self) -> Network:
        """The routers, links and remote sites, without clients."""
        from twigcast.routing import Network  # only files with a network need routers

        links = [(one, other) for one, other in self.links]
        links += [(each.at or self.routers[0], name) for name, each in self.remote.items()]
        return Network(self.sites, tuple(links))

    @property
    def entry_router(self) -> str:
        """The router at which documents enter whose publisher is not named."""
        return self.entry or self.routers[0]

    @property
    def home_router(self) -> str:
        """The router of subscribers who are not named."""
        return self.home or self.routers[0]

    @property
    def chosen_strategy(self) -> Strategy:
        """The named strategy; by default covering, with advertisements if there is a schema."""
        from twigcast.routing import STRATEGIES

        return STRATEGIES[self.strategy or f"{'with' if self.schema_path else 'no'}-Adv-with-Cov"]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        for end in (end for link in self.links for end in link):
            if end not in self.routers:
                raise wrong("links", f"there is no router {end!r}: expected {', '.join(self.routers)}")
        for name, remote in self.remote.items():
            if name in self.routers:
                raise wrong(
                    f"remote.{name}", "expected a name of its own, but there is a router of that name"
                )
            if remote.at is not None and remote.at not in self.routers:
                expected = f"expected one of the routers {', '.join(self.routers)}, got {remote.at!r}"
                raise wrong(f"remote.{name}.at", expected)
        self._check_piggyback()
        try:
            known = set(self.network.routers) - self.remote.keys()
        except RoutingError as error:
            key = "routers" if error.code == "duplicate-router" else "links"
            raise wrong(key, error.message) from None
        from twigcast.routing import STRATEGIES

        if self.strategy is not None and self.strategy not in STRATEGIES:
            raise wrong("strategy", f"expected one of {', '.join(STRATEGIES)}")
        chosen = self.chosen_strategy
        if self.schema_path is None and (chosen.advertising or chosen.merging is not None):
            raise wrong("schema", f"expected a DTD or XSD, since strategy is {self.strategy!r}")
        named = {"entry": self.entry, "home": self.home}
        named |= {f"publishers.{name}": at for name, at in self.publishers.items()}
        named |= {f"subscribers.{name}": at for name, at in self.subscribers.items()}
        for key, router in named.items():
            if router is not None and router not in known:
                raise wrong(key, f"expected one of the routers {', '.join(self.routers)}, got {router!r}")
        return self

    def _check_piggyback(self) -> None:
        from twigcast.routing import Timing, protocol

        if "piggyback" in self.model_fields_set and self.plan is None:
            raise wrong("piggyback", "expected only with plan, in which the annotations are asked for")
        try:
            timing = protocol(self.piggyback).timing
        except RoutingError as error:
            raise wrong("piggyback", error.message) from None
        if timing is not Timing.LAZY:
            expected = 'expected a strategy that reads documents to their end, such as "L+t"'
            raise wrong("piggyback", f"{expected}, got {self.piggyback!r}")
