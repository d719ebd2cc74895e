"""How large a document may be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """Bounds on one document; beyond any of them it is refused with the code that names the bound.

    ``attributes`` counts those of one element; ``amplification`` is how many times its own size a document
    may grow by its entities, once it has grown to ``amplification_threshold`` bytes.
    """

    bytes: int = 256 << 20
    depth: int = 1000
    attributes: int = 1000
    amplification: float = 100.0
    amplification_threshold: int = 8 << 20
