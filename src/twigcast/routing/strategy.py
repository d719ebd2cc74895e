"""A strategy is the set of techniques that a network of routers uses; it changes costs, never deliveries.

The six strategies of the routing paper, under its names (Tables 2 and 3):

    no-Adv-no-Cov            every subscription is flooded
    no-Adv-with-Cov          a subscription that another one covers is not forwarded
    with-Adv-no-Cov          a subscription is forwarded only toward advertisements that it overlaps
    with-Adv-with-Cov        both techniques
    with-Adv-with-CovPM      both, and perfect merging
    with-Adv-with-CovIPM     both, and imperfect merging with a degree of at most 0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, TypeAlias, get_args

from twigcast.errors import RoutingError
from twigcast.routing.piggyback.protocols import protocol

Publication: TypeAlias = Literal["documents", "paths", "fragments"]
FragmentOrder: TypeAlias = Literal["document", "novelty"]
Selection: TypeAlias = Literal["marginal", "greedy", "knapsack", "printed"]


@dataclass(frozen=True, slots=True)
class Strategy:
    """The techniques that are switched on; all routers of a network have the same strategy."""

    advertising: bool = True
    covering: bool = True
    merging: float | None = None
    """The largest imperfect degree of a merger: 0 allows only perfect mergers, None switches merging off."""
    aggregation: float | None = None
    """The share of the steps that aggregation leaves, above 0 and at most 1; None switches it off."""
    publication: Publication = "documents"
    """Whether documents travel whole, as the paths that are subscribed to, or in fragments."""
    piggyback: str | None = None
    """What routers tell each other about documents, by name (``protocol``); None switches it off."""
    annotation_bytes: int = 128
    """The bytes of annotations that a router may ask for, for each document.

    Those about forwarded subscriptions (``-s``), structure, answers and ranges are not counted.
    """
    selection: Selection = "marginal"
    """How a router chooses these annotations."""
    fragment_bytes: int = 65_536
    """The size of the fragments into which the router of the publisher cuts a whole document."""
    fragment_order: FragmentOrder = "document"
    """Whether it sends them in document order, or those first that have the most new label paths."""
    held_bytes: int = 1 << 26
    """The bytes of undecided documents that a router holds back from neighbours; beyond, it forwards them."""

    def __post_init__(self) -> None:
        if self.merging is not None and not 0.0 <= self.merging < 1.0:
            raise RoutingError(
                f"the merging degree must be at least 0 and below 1, not {self.merging}",
                code="strategy",
                name="merging",
            )
        if self.aggregation is not None and not 0.0 < self.aggregation <= 1.0:
            raise RoutingError(
                f"the aggregation share must be above 0 and at most 1, not {self.aggregation}",
                code="strategy",
                name="aggregation",
            )
        if self.publication not in get_args(Publication):
            raise RoutingError(
                f"publication must be 'documents', 'paths' or 'fragments', not {self.publication!r}",
                code="strategy",
                name="publication",
            )
        if self.selection not in get_args(Selection):
            raise RoutingError(
                f"selection must be one of {', '.join(get_args(Selection))}, not {self.selection!r}",
                code="strategy",
                name="selection",
            )
        if self.fragment_order not in get_args(FragmentOrder):
            raise RoutingError(
                f"fragment_order must be 'document' or 'novelty', not {self.fragment_order!r}",
                code="strategy",
                name="fragment_order",
            )
        for name, least in (("fragment_bytes", 1), ("held_bytes", 0), ("annotation_bytes", 0)):
            if getattr(self, name) < least:
                why = f"{name} must be at least {least}, not {getattr(self, name)}"
                raise RoutingError(why, code="strategy", name=name)
        if self.piggyback is not None:
            object.__setattr__(self, "piggyback", protocol(self.piggyback).name)

    def with_piggyback_of(self, other: Strategy) -> Strategy:
        """Return the same techniques with the piggyback of another strategy."""
        return replace(
            self,
            piggyback=other.piggyback,
            annotation_bytes=other.annotation_bytes,
            selection=other.selection,
        )

    @classmethod
    def all_combinations(cls) -> Iterator[Strategy]:
        """Yield every combination of techniques, with one or two settings of each, for tests."""
        for values in product((True, False), (True, False), (None, 0.0, 0.5), (None, 0.5), _PUBLICATIONS):
            combination = cls(*values)
            if combination.publication == "fragments":  # small enough to be several, and to be too many
                combination = replace(combination, fragment_bytes=16, held_bytes=64)
            yield combination


_PUBLICATIONS: tuple[Publication, ...] = get_args(Publication)

FLOODING = Strategy(advertising=False, covering=False)
"""Every subscription is forwarded to all routers: the definition of correct deliveries."""

STRATEGIES = {
    "no-Adv-no-Cov": FLOODING,
    "no-Adv-with-Cov": Strategy(advertising=False),
    "with-Adv-no-Cov": Strategy(covering=False),
    "with-Adv-with-Cov": Strategy(),
    "with-Adv-with-CovPM": Strategy(merging=0.0),
    "with-Adv-with-CovIPM": Strategy(merging=0.1),
}
"""The six strategies of the routing paper, by its names."""
