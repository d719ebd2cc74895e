"""Limits on the size and depth of one document."""

from __future__ import annotations

from dataclasses import dataclass

NO_LIMIT = 1 << 62
"""As a limit: more than any document has, and small enough for every counter."""


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """Limits on one document; a document that exceeds one is refused with the error code of that limit.

    ``attributes`` limits the attributes of one element.  ``amplification`` limits how many times its own size
    a document may grow by expanding entities and namespaces, once it has grown to ``amplification_threshold``
    bytes; ``entity_depth`` limits how deep entities refer to entities.  ``work`` limits the steps per byte of
    the document that may be spent on evaluating one subscription, once it has taken ``work_threshold`` steps;
    ``matching_work`` and ``matching_work_threshold`` limit likewise the steps, of a few nanoseconds each,
    that an index may spend on matching the document with all its subscriptions.
    ``part_amplification`` limits how many times the size of a document the parts may have together that one
    subscription selects, once they have ``part_threshold`` bytes: parts may be nested in each other.
    """

    bytes: int = 256 << 20
    depth: int = 1000
    attributes: int = 1000
    amplification: float = 100.0
    amplification_threshold: int = 8 << 20
    entity_depth: int = 64
    work: float = 16.0
    work_threshold: int = 1_000_000
    part_amplification: float = 16.0
    part_threshold: int = 1 << 20
    matching_work: float = 5000.0
    matching_work_threshold: int = 1 << 28

    def steps(self, size: int) -> int:
        """How many steps may be spent on one subscription in a document of ``size`` bytes."""
        return max(self.work_threshold, int(self.work * size))
