"""The rules by which documents are cut; every cut is just before the start tag of an element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from twigcast.filtering import Index


@dataclass(frozen=True, slots=True)
class Spans:
    """Cuts a document into contiguous byte ranges.

    A span ends before the first start tag after it has so many ``elements``, or so many ``bytes``, whichever
    comes first; and before each of the ``nodes``, elements by their number in document order from 1.
    """

    elements: int = 0
    bytes: int = 0
    nodes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.elements < 0 or self.bytes < 0 or not (self.elements or self.bytes or self.nodes):
            raise ValueError("Spans needs elements, bytes or nodes, and none below 0")
        _check_nodes(self.nodes)


@dataclass(frozen=True, slots=True)
class Subtrees:
    """Cuts subtrees out, by the rule of Natix (Kanne, Moerkotte) that the thesis uses.

    The elements are counted in document order; when the count exceeds ``elements``, the current one is the
    separator.  A fragment is made of all subtrees, not taken before, whose roots are left siblings of the
    elements on the path from the root to the separator, and the count begins again with the separator as 1.
    Where there are no such subtrees (a chain of elements) no fragment is made and counting goes on, so that
    ``elements`` is an aim and not a bound.  What is left at the end, with the root, is the last fragment.
    """

    elements: int

    def __post_init__(self) -> None:
        if self.elements < 1:
            raise ValueError("Subtrees needs at least 1 element for each fragment")


@dataclass(frozen=True, slots=True)
class Cuts:
    """Cuts subtrees out as ``Subtrees`` does, with given separators: ``nodes`` are numbers of elements."""

    nodes: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_nodes(self.nodes)


@dataclass(frozen=True, slots=True)
class Aware:
    """Cuts a document into spans of about so many ``bytes`` by what the subscriptions of an index ask for.

    Parts that make no difference to any subscription become fragments of their own, which a receiver with
    this index need not parse, or be sent.  Elsewhere, of the places from half of ``bytes`` on, the one is
    taken where the fewest conditions are open; and none within an element whose text is asked for, so that
    ``bytes`` is an aim and not a bound.  A receiver with any other index gets its right answers.
    """

    index: Index
    bytes: int = 256_000

    def __post_init__(self) -> None:
        if self.bytes < 1:
            raise ValueError("Aware needs at least 1 byte for each fragment")


CutRule: TypeAlias = Spans | Subtrees | Cuts | Aware
"""A rule that says where a document is cut."""


def _check_nodes(nodes: tuple[int, ...]) -> None:
    if any(node < 1 for node in nodes):
        raise ValueError("elements are numbered from 1")
