"""Limits on the complexity of one subscription."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PatternLimits:
    """Limits on one subscription; a subscription that exceeds one is refused with the code ``too-complex``.

    ``length`` counts characters without the URIs in ``Q{uri}name``; ``steps`` and ``predicates`` count over
    the whole expression; ``nesting`` counts open brackets and parentheses; ``alternatives`` counts the
    branches of unions, including those that the rewriting of ``..`` and ``parent::`` adds.
    """

    length: int = 8192
    steps: int = 256
    predicates: int = 256
    nesting: int = 32
    alternatives: int = 64
