"""The interest of each neighbour of a router, and the messages that tell the neighbours about changes.

The interest of a neighbour is the set of subscriptions of all other links; with advertising, only of those
that overlap an advertisement of the neighbour.  The stages of ``Interest`` reduce it to what is forwarded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from twigcast.analysis import Selectivity, schema_selectivity
from twigcast.pattern import Pattern
from twigcast.routing.advertising import Advertisement
from twigcast.routing.messages import Message, Outgoing
from twigcast.routing.pool import Pool
from twigcast.routing.stages.change import written
from twigcast.routing.stages.interest import Interest
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables import AdvertisementTable, PublicationTable
from twigcast.schema import ElementGraph


class Interests:
    """The interests of all neighbours of one router; the tables are those of the router."""

    def __init__(
        self,
        strategy: Strategy,
        schema: ElementGraph | None,
        selectivity: Selectivity | None,
        asked: PublicationTable,
        announced: AdvertisementTable,
        pool: Pool,
    ) -> None:
        self._advertising = strategy.advertising
        if strategy.aggregation is not None and selectivity is None and schema is not None:
            selectivity = schema_selectivity(schema)
        self._new = partial(Interest, strategy, schema, selectivity)
        self._asked, self._announced, self._pool = asked, announced, pool
        self._by_neighbour = {neighbour: self._new() for neighbour in asked.neighbours}

    def __getitem__(self, neighbour: str) -> Interest:
        return self._by_neighbour[neighbour]

    def __contains__(self, neighbour: str) -> bool:
        return neighbour in self._by_neighbour

    def __iter__(self) -> Iterator[tuple[str, Interest]]:
        return iter(self._by_neighbour.items())

    def connect(self, neighbour: str) -> list[Message]:
        """Start the interest of a new neighbour; return the subscriptions to forward to it."""
        interest = self._by_neighbour[neighbour] = self._new()
        return written(interest.change(self.of(neighbour), ()))

    def disconnect(self, neighbour: str) -> None:
        """Drop the interest of a neighbour."""
        del self._by_neighbour[neighbour]

    def of(self, neighbour: str) -> dict[str, Pattern]:
        """Return the interest of a neighbour: patterns by id."""
        announced = self._announced[neighbour]
        return {
            id: self._pool.pattern(number)
            for id, number in self._asked.elsewhere(neighbour).items()
            if not self._advertising or self._announced.leads(number, announced)
        }

    def told(self, neighbour: str) -> dict[str, Pattern]:
        """Return the subscriptions that have been forwarded to a neighbour."""
        interest = self._by_neighbour[neighbour]
        return dict(interest.known if interest.stages else self.of(neighbour))

    def tell(self, link: str, put: Mapping[str, int], taken: Mapping[str, int], outgoing: Outgoing) -> None:
        """Forward added and removed subscriptions of a link to the neighbours whose interest they change."""
        pattern = self._pool.pattern
        held = self._asked.holders({**put, **taken}, link)
        alike = not held and not self._advertising  # all neighbours get the same
        said: list[Message] | None = None
        for neighbour, interest in self:
            if neighbour == link:
                continue
            if said is None or interest.stages or not alike:
                new = self._relevant(put, neighbour, held)
                old = self._relevant(taken, neighbour, held)
                change = interest.change({id: pattern(number) for id, number in new.items()}, old)
                said = written(change)
            if said:
                outgoing.setdefault(neighbour, []).extend(said)

    def reroute(self, link: str, before: Mapping[str, Advertisement], outgoing: Outgoing) -> None:
        """Forward or withdraw subscriptions after the advertisements of a neighbour have changed."""
        after = self._announced[link]
        leads = self._announced.leads
        added: dict[str, Pattern] = {}
        removed: list[str] = []
        for id, number in self._asked.elsewhere(link).items():
            was, now = leads(number, before), leads(number, after)
            if now and not was:
                added[id] = self._pool.pattern(number)
            elif was and not now:
                removed.append(id)
        if said := written(self._by_neighbour[link].change(added, removed)):
            outgoing.setdefault(link, []).extend(said)

    def _relevant(self, ids: Mapping[str, int], target: str, held: Mapping[str, list[str]]) -> dict[str, int]:
        """Return the changed ids that change the interest of a neighbour: no third link has them."""
        announced = self._announced[target]
        leads = self._announced.leads
        if self._advertising:
            ids = {id: number for id, number in ids.items() if leads(number, announced)}
        if not held:
            return dict(ids)
        return {
            id: number for id, number in ids.items() if all(other == target for other in held.get(id, ()))
        }
