"""The control plane of a site's border: its subscriptions as another site is told them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from twigcast.pattern import Pattern
from twigcast.routing.border.site_plan import SitePlan
from twigcast.routing.border.site_reader import NO_ROW, OTHER_ROW, SiteReader
from twigcast.routing.messages import Message, RequestAnnotations, Subscribe, Unsubscribe
from twigcast.routing.router import Router
from twigcast.routing.strategy import Strategy
from twigcast.schema import ElementGraph

HERE, SITE = "subscribers", "site"


class SiteBorder:
    """A router that has all subscriptions of the site, and whose only neighbour is the other site.

    ``strategy`` says how subscriptions are reduced and which annotations are wanted.  Advertisements do not
    cross the border, so advertising is off.
    """

    def __init__(self, strategy: Strategy, schema: ElementGraph | None = None) -> None:
        strategy = replace(strategy, advertising=False)
        assert strategy.piggyback is not None
        self._piggyback = strategy.piggyback
        self._router = Router("here", [SITE], [HERE], strategy=strategy, schema=schema)

    def change(self, gone: Iterable[str], came: Mapping[str, Pattern]) -> None:
        """Remove subscriptions, and add others or replace them."""
        known = self._router.numbers(HERE)
        said: list[Message] = [Unsubscribe(id) for id in dict.fromkeys((*gone, *came)) if id in known]
        said += [Subscribe(id, pattern) for id, pattern in came.items()]
        self._router.handle(said, HERE)

    def plan(self) -> SitePlan:
        """Return the plan for the other site; documents that are annotated by it can be read from now on."""
        asked = [each.message for each in self._router.replan()]
        questions = next((each.plan for each in asked if isinstance(each, RequestAnnotations)), None)
        return SitePlan(self._piggyback, self._router.told(SITE), questions)

    def reader(self, position: Callable[[str], int | None], others: Iterable[int], size: int) -> SiteReader:
        """Return what reads annotations for an index of ``size`` positions.

        ``position`` gives the position of a subscription, and ``others`` are the positions of other entries
        of the index, of which annotations say nothing.
        """
        numbers = np.full(size, NO_ROW, dtype=np.int32)
        numbers[list(others)] = OTHER_ROW
        for id, number in self._router.numbers(HERE).items():
            at = position(id)
            if at is not None:
                numbers[at] = number
        claims = self._router.claim_reader(SITE)
        pool = self._router.pool
        return SiteReader(claims, numbers, pool.serials.copy(), pool.entered, pool.capacity)
