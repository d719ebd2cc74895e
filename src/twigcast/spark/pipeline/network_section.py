"""The section of a pipeline file that describes a network of routers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import Field, model_validator

from twigcast.config import ConfigSection, wrong
from twigcast.errors import RoutingError
from twigcast.routing import TechniquesSection
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


class NetworkSection(TechniquesSection):
    """A network of routers between publishers and subscribers.

    ``publishers`` and ``subscribers`` name the router of each.  The documents of other publishers enter at
    ``entry``, and other subscribers are at ``home``; both are the first router by default.  The publisher of
    a document is its column ``publisher``.  ``schema`` is the DTD or XSD that publishers advertise; a
    document that does not conform to it is flooded, unless the publishers are ``trusted``.
    Each ``remote`` is a site with a pipeline of its own.  To be such a site, a pipeline writes its ``plan``,
    in which it asks for ``annotations``, by default for structures.
    """

    routers: Annotated[list[str], Field(min_length=1)]
    links: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
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
    piggyback: str | None = None
    """The older key for ``annotations``, by the papers' names."""

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
        """The techniques of the network."""
        chosen = self.techniques(has_schema=self.schema_path is not None)
        return replace(chosen, piggyback=self.wanted_annotations)

    @property
    def wanted_annotations(self) -> str | None:
        """The name of the annotations that routers ask for; a site that writes a plan wants structures."""
        if self.piggyback is not None:
            return self.piggyback
        if self.plan is not None and "annotations" not in self.model_fields_set:
            return "L+t"
        return self.annotations

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
        self.check_techniques(has_schema=self.schema_path is not None)
        self._check_annotations()
        try:
            known = set(self.network.routers) - self.remote.keys()
        except RoutingError as error:
            key = "routers" if error.code == "duplicate-router" else "links"
            raise wrong(key, error.message) from None
        named = {"entry": self.entry, "home": self.home}
        named |= {f"publishers.{name}": at for name, at in self.publishers.items()}
        named |= {f"subscribers.{name}": at for name, at in self.subscribers.items()}
        for key, router in named.items():
            if router is not None and router not in known:
                raise wrong(key, f"expected one of the routers {', '.join(self.routers)}, got {router!r}")
        return self

    def _check_annotations(self) -> None:
        from twigcast.routing import Timing, protocol

        key = "annotations"
        if self.piggyback is not None:
            key = "piggyback"
            if "annotations" in self.model_fields_set:
                raise wrong(key, "expected only annotations, which is the newer key for the same")
            if self.plan is None:
                raise wrong(key, "expected only with plan, in which the annotations are asked for")
        named = self.wanted_annotations
        if named is None:
            if self.plan is not None:
                raise wrong(key, 'expected annotations, since plan asks for them: "structure" or "answers"')
            return
        try:
            timing = protocol(named).timing
        except RoutingError as error:
            raise wrong(key, error.message) from None
        if timing is not Timing.LAZY:
            expected = 'expected annotations of documents that are read to their end, such as "structure"'
            raise wrong(key, f"{expected}, got {named!r}")
