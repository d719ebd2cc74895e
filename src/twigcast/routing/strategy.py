"""Which of the techniques a network of routers uses; they change what it costs, never what is delivered.

The six of the paper, by its names (R, Tables 2 and 3):

    no-Adv-no-Cov            every subscription is flooded
    no-Adv-with-Cov          those that another one covers are held back
    with-Adv-no-Cov          subscriptions travel toward advertisements that they overlap
    with-Adv-with-Cov        both
    with-Adv-with-CovPM      and those that merge without loss are merged
    with-Adv-with-CovIPM     and those that merge with a loss of 0.1 at most
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
    """What is switched on; all routers of a network have the same."""

    advertising: bool = True
    covering: bool = True
    merging: float | None = None
    """The imperfect degree that a merger may have; 0 for perfect ones only, None for none."""
    aggregation: float | None = None
    """The part of the steps that is left after aggregation, above 0 and at most 1; None for none."""
    publication: Publication = "documents"
    """Whether documents travel whole, or as those of their paths that are asked for."""

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
                f"publication is documents or paths, not {self.publication!r}",
                code="strategy",
                name="publication",
            )

    @classmethod
    def all_combinations(cls) -> Iterator[Strategy]:
        """Every combination of techniques, with one or two settings of each: what a test goes through."""
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
