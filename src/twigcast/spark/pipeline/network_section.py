"""The section of a pipeline file that describes a network of routers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from twigcast.config import ConfigSection, wrong
from twigcast.errors import RoutingError
from twigcast.spark.pipeline.values import AnyPath, LocalPath

if TYPE_CHECKING:
    from twigcast.routing import Network, Strategy


class NetworkSection(ConfigSection):
    """A network of routers between publishers and subscribers.

    ``publishers`` and ``subscribers`` name the router of each.  The documents of other publishers enter at
    ``entry``, and other subscribers are at ``home``; both are the first router by default.  The publisher of
    a document is its column ``publisher``.  ``schema`` is the DTD or XSD that publishers advertise; a
    document that does not conform to it is flooded, unless the publishers are ``trusted``.
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

    @property
    def network(self) -> Network:
        """The routers and links, without clients."""
        from twigcast.routing import Network  # only files with a network need routers

        return Network(tuple(self.routers), tuple((one, other) for one, other in self.links))

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
        try:
            known = set(self.network.routers)
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
