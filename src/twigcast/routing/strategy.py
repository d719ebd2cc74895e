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
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias, get_args

from twigcast.errors import RoutingError

Publication: TypeAlias = Literal["documents", "paths"]


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
    """Whether documents travel whole, or as the paths that are subscribed to."""

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
                f"publication must be 'documents' or 'paths', not {self.publication!r}",
                code="strategy",
                name="publication",
            )

    @classmethod
    def all_combinations(cls) -> Iterator[Strategy]:
        """Yield every combination of techniques, with one or two settings of each, for tests."""
        for values in product((True, False), (True, False), (None, 0.0, 0.5), (None, 0.5), _PUBLICATIONS):
            yield cls(*values)


_PUBLICATIONS: tuple[Publication, ...] = get_args(Publication)

FLOODING = Strategy(advertising=False, covering=False)

STRATEGIES = {
    "no-Adv-no-Cov": FLOODING,
    "no-Adv-with-Cov": Strategy(advertising=False),
    "with-Adv-no-Cov": Strategy(covering=False),
    "with-Adv-with-Cov": Strategy(),
    "with-Adv-with-CovPM": Strategy(merging=0.0),
    "with-Adv-with-CovIPM": Strategy(merging=0.1),
}
