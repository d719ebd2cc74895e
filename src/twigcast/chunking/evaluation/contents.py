"""The contents of answers: documents of their own, or bare ranges of bytes.

An element that is cut out of a part has the bytes that it would have if it were cut out of the document: a
part has the start tags of the ancestors, so the same namespaces are in scope, and the prolog of the
document, so the same entities and encoding.
Most parts are not read for this: where there is no internal DTD subset, it is enough to know which
namespaces are declared where, which expat tells without a tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from twigcast.chunking.evaluation.part_trees import PartTrees
from twigcast.document import (
    Document,
    Element,
    Node,
    PartCutter,
    PartForm,
    descendants,
    read_heading,
)

_UTF8_WITHOUT_DECLARATIONS = (b"<?xml", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")


class AnswerContents:
    """Cuts answers out of one part, for all its queries."""

    def __init__(self, trees: PartTrees) -> None:
        self._trees = trees
        self._cutters: dict[PartForm, PartCutter] = {}

    def of_nodes(self, nodes: Sequence[Node], form: PartForm) -> Iterator[bytes]:
        """The contents of nodes of the tree of twigcast; raises ``DocumentError`` if they are too large."""
        if form not in self._cutters:
            self._cutters[form] = PartCutter(self._trees.document, form, self._trees.limits)
        return self._cutters[form].cut(nodes)

    def of_elements(self, numbers: Sequence[int], form: PartForm) -> Iterator[bytes]:
        """The contents of elements of lxml, by their numbers in document order; like ``of_nodes``."""
        heading = Document(self._trees.body) if form == "range" else self._heading
        if heading is None:
            return self.of_nodes([self._elements[number] for number in numbers], form)
        places = map(self._trees.places.of, numbers)
        nodes = [Element("", "", heading, start, start, end) for start, end in places]
        cutter = PartCutter(heading, form, self._trees.limits) if form == "range" else self._heading_cutter
        return cutter.cut(nodes)

    @cached_property
    def _heading_cutter(self) -> PartCutter:
        assert self._heading is not None
        return PartCutter(self._heading, "document", self._trees.limits)

    @cached_property
    def _heading(self) -> Document | None:
        """What parts inherit from the document, by offsets; ``None`` if that takes its tree."""
        body = self._trees.body
        is_bare = b"xmlns" not in body and b"<!DOCTYPE" not in body
        if is_bare and not body.startswith(_UTF8_WITHOUT_DECLARATIONS):
            return Document(body)
        return read_heading(body, self._trees.limits)

    @cached_property
    def _elements(self) -> list[Element]:
        return list(descendants(self._trees.document))
