"""Limits on the size and depth of one document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """Limits on one document; a document that exceeds one is refused with the error code of that limit.

    ``attributes`` limits the attributes of one element.  ``amplification`` limits how many times its own size
    a document may grow by expanding entities, once it has grown to ``amplification_threshold`` bytes.
    ``part_amplification`` limits how many times the size of a document the parts may have together that one
    subscription selects, once they have ``part_threshold`` bytes: parts may be nested in each other.
    """

    bytes: int = 256 << 20
    depth: int = 1000
    attributes: int = 1000
    amplification: float = 100.0
    amplification_threshold: int = 8 << 20
    part_amplification: float = 16.0
    part_threshold: int = 1 << 20
