"""Limits on the complexity of one subscription."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PatternLimits:
    """Limits on one subscription; one that exceeds a limit is refused with the code ``too-complex``.

    ``length`` is the number of characters without the URIs in ``Q{uri}name``; ``steps`` and ``predicates``
    are counted over the whole expression; ``nesting`` limits the depth of brackets and parentheses, and the
    number of steps up; ``alternatives`` counts the branches of unions, including those that the rewriting of
    ``..`` and ``parent::`` adds; ``size`` is the number of characters of the whole subscription: expression,
    prefixes, URIs, id and subscriber, and also of the canonical text, which repeats the URIs.
    """

    length: int = 8192
    steps: int = 256
    predicates: int = 256
    nesting: int = 32
    alternatives: int = 64
    size: int = 32768
