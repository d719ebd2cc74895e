"""How the routers of a network find the patterns that match the image of a document.

    NDDR_router   the mapping is known to all routers (``Announce``); each rewrites while it parses
    NDDR_data     the same, but each document has its mapping in a header
    SDR           the edge router writes the image, which travels with the document

The approach changes the cost, never a delivery: a subscriber always receives the publisher's bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from twigcast.errors import RoutingError
from twigcast.routing.mediation.image_matching import MatcherMaker
from twigcast.routing.pool import Pool

Approach: TypeAlias = Literal["NDDR_router", "NDDR_data", "SDR"]
"""The name of a way to match images in a network."""

APPROACHES: tuple[Approach, ...] = get_args(Approach)
"""The values of ``Approach``."""


@dataclass(frozen=True, slots=True)
class NetworkMediation:
    """The approach of a network, and what it does with a document that no mapping is for."""

    approach: Approach = "NDDR_router"
    unknown: Literal["dead-letter", "as-is"] = "dead-letter"
    """Whether such a document is refused, or matched as it is."""
    matcher: MatcherMaker | None = None
    """Makes what routers match the documents of a mapping with, in place of the index that rewrites them."""

    def __post_init__(self) -> None:
        if self.approach not in APPROACHES:
            raise RoutingError(
                f"the approach must be one of {', '.join(APPROACHES)}, not {self.approach!r}",
                code="strategy",
                name="approach",
            )
        if self.unknown not in ("dead-letter", "as-is"):
            raise RoutingError(
                f"unknown must be 'dead-letter' or 'as-is', not {self.unknown!r}",
                code="strategy",
                name="unknown",
            )


def pool_for(mediation: NetworkMediation | None, answers: int = 0) -> Pool:
    """A pool of patterns that matches documents as the approach of a network says."""
    return Pool(answers, None if mediation is None else mediation.matcher)
