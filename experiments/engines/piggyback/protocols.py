"""The piggyback strategies of the papers by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from twigcast.routing import Timing
from twigcast.routing.piggyback.protocols import Protocol


def _of_the_papers() -> Iterator[str]:
    kinds = ("", "s", "d", "sd")
    for positive in kinds:
        yield Protocol(Timing.EAGER, positive).name
    for positive, negative in product(kinds, kinds):
        yield Protocol(Timing.LAZY, positive, negative).name
    yield Timing.ADAPTIVE.value


PAPER_PROTOCOLS = tuple(_of_the_papers())
"""The 21 names of the papers."""


PIGGYBACK = (*PAPER_PROTOCOLS, "L+t", "L+a", "L+t-r", "L+sdta-sdr")
"""The names of the papers, and combinations with our own kinds; ``protocol`` accepts every other one, too."""
