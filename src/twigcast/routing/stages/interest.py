"""Computes which subscriptions a router forwards to one neighbour.

    interest of n ──► covering ──► merging ──► aggregating ──► subscriptions forwarded to n

The interest of a neighbour n is the set of subscriptions of all other links; with advertising, only of those
that overlap an advertisement from n.  Each stage keeps its own state and turns a change of its input into the
change of its output; the change of the last stage is sent to n.  A stage that the strategy has switched off
does not exist.

Invariant: every document that matches the interest matches a forwarded subscription.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from twigcast.analysis import Selectivity
from twigcast.errors import RoutingError
from twigcast.pattern import Pattern
from twigcast.routing.stages.aggregating import Aggregating
from twigcast.routing.stages.change import Change, net_change, through
from twigcast.routing.stages.merging import Merging
from twigcast.routing.stages.subscription_tree import SavedNode, SubscriptionTree
from twigcast.routing.strategy import Strategy
from twigcast.schema import ElementGraph


class Stage(Protocol):
    """Reduces a set of patterns to a smaller set that matches at least the same documents."""

    def change(self, added: Iterable[tuple[str, Pattern]], removed: Iterable[str]) -> Change:
        """Remove ids from the input, then add patterns; return the change of the output."""
        ...

    def behind(self) -> dict[str, list[str]]:
        """Return, for each id of the output, ids of the input whose patterns its pattern covers."""
        ...


class Interest:
    """Passes the interest of one neighbour through the stages of a strategy; ``told`` holds their output.

    Without stages nothing is stored here: the whole interest is forwarded, and the router's tables have it.
    """

    def __init__(
        self, strategy: Strategy, schema: ElementGraph | None = None, selectivity: Selectivity | None = None
    ) -> None:
        self.stages = _stages(strategy, schema, selectivity)
        self.told: dict[str, Pattern] = {}
        self._restored: dict[str, Pattern] | None = None

    def change(self, added: Mapping[str, Pattern], removed: Iterable[str]) -> Change:
        """Change the interest, and return the change to send to the neighbour."""
        change = Change(tuple(added.items()), tuple(removed))
        if not self.stages or not change:
            return change
        for stage in self.stages:
            if not change:
                break
            change = stage.change(change.forward, change.withdraw)
        for id in change.withdraw:
            del self.told[id]
        self.told.update(change.forward)
        if self._restored is not None:  # what the neighbour knows may not cover the changed interest
            ids = self._restored | self.told
            change = net_change({id: self._restored.get(id) for id in ids}, self.told)
            self._restored = None
        return change

    def restore(
        self, interest: Mapping[str, Pattern], told: Mapping[str, Pattern], tree: Iterable[SavedNode]
    ) -> None:
        """Start with an ``interest`` of which the subscriptions ``told`` have already been forwarded.

        The covering stage is restored from its saved ``tree``.  The output of a stage may depend on the order
        of its input, so the forwarded subscriptions come first.  If the output still differs, both outputs
        are correct: the neighbour keeps the old one until the interest changes, and then gets the difference,
        even if the change makes none to the output of the stages.
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

    def behind(self) -> dict[str, list[str]]:
        """Return, for each forwarded id, ids of the interest whose patterns it is known to cover.

        It is empty without stages: each subscription is then forwarded for itself.
        """
        found: dict[str, list[str]] = {}
        for number, stage in enumerate(reversed(self.stages)):
            found = through(found, stage.behind()) if number else stage.behind()
        return found

    @property
    def tree(self) -> tuple[SavedNode, ...]:
        """The saved tree of the covering stage; empty if there is none."""
        first = self.stages[0] if self.stages else None
        return first.save() if isinstance(first, SubscriptionTree) else ()

    @property
    def known(self) -> Mapping[str, Pattern]:
        """The subscriptions that have been forwarded to the neighbour; empty without stages."""
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
                "merging needs a schema to compute the degree of mergers", code="strategy", name="merging"
            )
        stages.append(Merging(schema, strategy.merging))
    if strategy.aggregation is not None:
        if selectivity is None:
            raise RoutingError(
                "aggregation needs a selectivity to compute what an aggregate loses",
                code="strategy",
                name="aggregation",
            )
        stages.append(Aggregating(strategy.aggregation, selectivity))
    return tuple(stages)
