"""What one neighbour is told of what the others ask for.

    interest of n ──► covering ──► merging ──► aggregating ──► what n is told

The interest is what links other than n ask for and what n's advertisements, if they count, have to offer.
Each stage keeps its own state and answers a change of its input with the change of its output; what is sent
is the change that comes out at the end.  Stages that the strategy has switched off are not there.

Invariant: whatever matches the interest matches what the neighbour was told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from twigcast.analysis import Selectivity
from twigcast.errors import RoutingError
from twigcast.pattern import Pattern
from twigcast.routing.aggregating import Aggregating
from twigcast.routing.change import Change, net_change
from twigcast.routing.merging import Merging
from twigcast.routing.strategy import Strategy
from twigcast.routing.subscription_tree import SubscriptionTree
from twigcast.schema import ElementGraph


class Stage(Protocol):
    """A set of patterns that stands for another one."""

    def change(self, added: Iterable[tuple[str, Pattern]], removed: Iterable[str]) -> Change:
        """Take ids out of the input, put patterns in, and tell how the output changes."""
        ...


class Interest:
    """The interest of one neighbour, through the stages of a strategy; ``told`` is what it knows.

    Without stages nothing is kept here: what is told is what is asked for, and that stands in the table.
    """

    def __init__(
        self, strategy: Strategy, schema: ElementGraph | None = None, selectivity: Selectivity | None = None
    ) -> None:
        self.stages = _stages(strategy, schema, selectivity)
        self.told: dict[str, Pattern] = {}
        self._restored: dict[str, Pattern] | None = None

    def change(self, added: Mapping[str, Pattern], removed: Iterable[str]) -> Change:
        """What to tell the neighbour when its interest changes."""
        change = Change(tuple(added.items()), tuple(removed))
        if not self.stages:
            return change
        for stage in self.stages:
            if not change:
                break
            change = stage.change(change.forward, change.withdraw)
        for id in change.withdraw:
            del self.told[id]
        self.told.update(change.forward)
        if self._restored is not None and change:
            ids = self._restored | self.told
            change = net_change({id: self._restored.get(id) for id in ids}, self.told)
            self._restored = None
        return change

    def restore(self, interest: Mapping[str, Pattern], told: Mapping[str, Pattern]) -> None:
        """Begin with an interest of which the neighbour has been told this already.

        Stages may settle differently when their input comes in another order, so what was told comes first.
        Where they still do, both outcomes are right: the neighbour keeps the one it knows until its interest
        changes.
        """
        first = {id: pattern for id, pattern in interest.items() if id in told}
        self.change(first | dict(interest), ())
        if self.stages and self.told != told:
            self._restored = dict(told)

    @property
    def known(self) -> Mapping[str, Pattern]:
        """What the neighbour has been told; nothing is kept, and so none here, where there are no stages."""
        return self.told if self._restored is None else self._restored


def _stages(
    strategy: Strategy, schema: ElementGraph | None, selectivity: Selectivity | None
) -> tuple[Stage, ...]:
    stages: list[Stage] = []
    if strategy.covering:
        stages.append(SubscriptionTree())
    if strategy.merging is not None:
        if schema is None:
            raise RoutingError(
                "merging needs a schema, to tell how much a merger lets in", code="strategy", name="merging"
            )
        stages.append(Merging(schema, strategy.merging))
    if strategy.aggregation is not None:
        if selectivity is None:
            raise RoutingError(
                "aggregation needs a selectivity, to tell what an aggregate lets in",
                code="strategy",
                name="aggregation",
            )
        stages.append(Aggregating(strategy.aggregation, selectivity))
    return tuple(stages)
