"""How well a mapping that was proposed agrees with one that a person made: in pairs, and in deliveries.

precision = right / proposed        what was proposed and is right
recall    = right / wanted          what is right and was proposed
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from twigcast.document import Document, DocumentLimits
from twigcast.pattern import Pattern, matches
from twigcast.rewriting.mapping import Mapping as SchemaMapping


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many things are right, of those that were proposed and of those that are wanted."""

    right: int = 0
    proposed: int = 0
    wanted: int = 0

    @property
    def precision(self) -> float:
        """The share of the proposed that is right; 1 if nothing was proposed."""
        return self.right / self.proposed if self.proposed else 1.0

    @property
    def recall(self) -> float:
        """The share of the wanted that was proposed; 1 if nothing is wanted."""
        return self.right / self.wanted if self.wanted else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        total = self.proposed + self.wanted
        return 2 * self.right / total if total else 1.0

    def __add__(self, other: Agreement) -> Agreement:
        return Agreement(self.right + other.right, self.proposed + other.proposed, self.wanted + other.wanted)


def pair_agreement(proposed: Mapping[str, str], true: Mapping[str, str]) -> Agreement:
    """The agreement of pairs."""
    return Agreement(len(proposed.items() & true.items()), len(proposed), len(true))


def delivery_agreement(
    proposed: SchemaMapping,
    true: SchemaMapping,
    documents: Iterable[Document],
    patterns: Sequence[Pattern],
    limits: DocumentLimits | None = None,
) -> Agreement:
    """The agreement of deliveries: which subscriptions match the image of each document.

    Raises ``MappingError`` (``no-mapping``) for a document with another root element.
    """
    limits = limits or DocumentLimits()
    total = Agreement()
    for document in documents:
        image, wanted = proposed.apply(document, limits), true.apply(document, limits)
        steps = limits.steps(len(document.body))
        ours = {number for number, each in enumerate(patterns) if matches(each, image, steps)}
        theirs = {number for number, each in enumerate(patterns) if matches(each, wanted, steps)}
        total += Agreement(len(ours & theirs), len(ours), len(theirs))
    return total
