"""How large a subscription may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PatternLimits:
    """Bounds on one subscription; beyond any of them it is refused with the code ``too-complex``.

    ``length`` counts characters without the URIs in ``Q{uri}name``; ``steps`` and ``predicates`` count the
    whole expression; ``nesting`` counts open brackets and parentheses; ``alternatives`` counts the branches
    of unions, and those that cleaning away ``..`` and ``parent::`` adds.
    """

    length: int = 8192
    steps: int = 256
    predicates: int = 256
    nesting: int = 32
    alternatives: int = 64
