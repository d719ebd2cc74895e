"""What a router tells one neighbour of the subscriptions that it has from its other links.

    interest of n ──► covering ──► merging ──► aggregating ──► what n is told

The interest of a neighbour n is the set of subscriptions of all other links; with advertising, of those that
overlap an advertisement from n.  Each stage keeps its own state and answers a change of its input with the
change of its output; the change that comes out at the end is sent.  Stages that the strategy has switched off
do not exist.

Invariant: a document that matches the interest matches what the neighbour was told.
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
from twigcast.routing.subscription_tree import SavedNode, SubscriptionTree
from twigcast.schema import ElementGraph


class Stage(Protocol):
    """Reduces a set of patterns to a smaller one that matches every document the first one matches."""

    def change(self, added: Iterable[tuple[str, Pattern]], removed: Iterable[str]) -> Change:
        """Take ids out of the input, put patterns in, and return how the output changes."""
        ...


class Interest:
    """Passes the interest of one neighbour through the stages of a strategy; ``told`` is what comes out.

    Without stages nothing is kept here: the neighbour is told its interest, which is in the router's tables.
    """

    def __init__(
        self, strategy: Strategy, schema: ElementGraph | None = None, selectivity: Selectivity | None = None
    ) -> None:
        self.stages = _stages(strategy, schema, selectivity)
        self.told: dict[str, Pattern] = {}
        self._restored: dict[str, Pattern] | None = None

    def change(self, added: Mapping[str, Pattern], removed: Iterable[str]) -> Change:
        """Change the interest, and return what to tell the neighbour."""
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

    def restore(
        self, interest: Mapping[str, Pattern], told: Mapping[str, Pattern], tree: Iterable[SavedNode]
    ) -> None:
        """Begin with an interest of which the neighbour has been told a part already.

        The covering stage is restored from its saved ``tree``.  Stages may settle differently if their input
        comes in another order, so what was told comes first.  If they still do, both outcomes are right: the
        neighbour keeps what it knows until its interest changes.
        """
        if not self.stages:
            return
        first, *others = self.stages
        interest = {id: interest[id] for id in told if id in interest} | dict(interest)
        if isinstance(first, SubscriptionTree):
            change = first.restore(interest, tree)
        else:
            change = first.change(interest.items(), ())
        for stage in others:
            change = stage.change(change.forward, change.withdraw)
        self.told = dict(change.forward)
        if self.told != told:
            self._restored = dict(told)

    @property
    def tree(self) -> tuple[SavedNode, ...]:
        """The saved tree of the covering stage; empty if there is none."""
        first = self.stages[0] if self.stages else None
        return first.save() if isinstance(first, SubscriptionTree) else ()

    @property
    def known(self) -> Mapping[str, Pattern]:
        """What the neighbour has been told; empty without stages."""
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
                "merging needs a schema, to compute the degree of mergers", code="strategy", name="merging"
            )
        stages.append(Merging(schema, strategy.merging))
    if strategy.aggregation is not None:
        if selectivity is None:
            raise RoutingError(
                "aggregation needs a selectivity, to compute what an aggregate loses",
                code="strategy",
                name="aggregation",
            )
        stages.append(Aggregating(strategy.aggregation, selectivity))
    return tuple(stages)
