"""The trees of a part, and where the elements of lxml's tree are in its bytes."""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import Any

from twigcast.chunking.evaluation.lxml_cost import TreeFigures
from twigcast.chunking.evaluation.lxml_tree import LxmlSelection, is_read_alike, lxml_tree, selection
from twigcast.document import Document, DocumentLimits, element_ranges, read
from twigcast.pattern import Pattern

_FEW = 20  # elements of a part that are counted one by one


class PartTrees:
    """The trees of a part, each made when it is first needed, for all queries.

    ``steps`` is the limit on the steps of one query.
    """

    def __init__(self, body: bytes, limits: DocumentLimits) -> None:
        self.body = body
        self.limits = limits
        self.steps = limits.steps(len(body))

    @cached_property
    def document(self) -> Document:
        """What twigcast reads."""
        return read(self.body, self.limits)

    @cached_property
    def lxml(self) -> Any:
        """What lxml reads."""
        return lxml_tree(self.body)

    @cached_property
    def places(self) -> ElementPlaces:
        """Where the elements of the tree of lxml are."""
        return ElementPlaces(self.body, self.lxml)

    @cached_property
    def figures(self) -> TreeFigures:
        """The size and shape of the tree of lxml."""
        return TreeFigures(self.body, self.lxml, lambda: self.places.ranges)

    def selection_by_lxml(self, pattern: Pattern) -> LxmlSelection | None:
        """What a pattern selects in the tree of lxml; ``None`` if lxml might differ, or take too long."""
        if not self._is_read_alike:
            return None
        return selection(pattern, self.lxml, self.figures, self.steps)

    @cached_property
    def _is_read_alike(self) -> bool:
        try:
            return is_read_alike(self.body, self.lxml)
        except Exception:  # lxml cannot read it, for example because of a limit of libxml2
            return False


class ElementPlaces:
    """The byte ranges of the elements of a tree of lxml, by their numbers in document order.

    A few elements are counted one by one in libxml2; for many, all elements are numbered once, which takes
    a Python object for each of them.  All are numbered, too, if there is a DTD: the axis ``preceding`` of
    libxml2 leads into the elements of its entity declarations.
    """

    def __init__(self, body: bytes, tree: Any) -> None:
        self._body = body
        self._tree = tree
        self._numbers: dict[Any, int] | None = None
        self._expected = 0 if tree.docinfo.internalDTD is None else _FEW + 1

    @cached_property
    def ranges(self) -> array[int]:
        """Start and end of each element, in turn, in document order."""
        found = array("Q")
        found.frombytes(element_ranges(self._body))
        return found

    def expect(self, count: int) -> None:
        """Say that so many more elements will be asked for."""
        self._expected += count

    def number(self, element: Any) -> int:
        """The number of an element in document order, from 0."""
        from lxml import etree

        if self._numbers is None and self._expected > _FEW:
            found = self._tree.getroot().iter(etree.Element)
            self._numbers = {each: number for number, each in enumerate(found)}
        if self._numbers is None:
            return int(element.xpath("count(preceding::*) + count(ancestor::*)"))
        return self._numbers[element]

    def of(self, number: int) -> tuple[int, int]:
        """The byte range of the element with a number."""
        return self.ranges[2 * number], self.ranges[2 * number + 1]
