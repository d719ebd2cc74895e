"""Projection on the tree of a document: the definition of what the compiled ``Projector`` writes.

Everything is a copied range of bytes, but for the end tags that close a part before its ancestors end:

    <a x="1"> text <b><c/></b> <d/> </a>        b TREE, a ABOVE, d DROP
    <a x="1"><b><c/></b></a>

- Bytes before the root element begin every part; what follows it is dropped.
- Start tags of ancestors are written when the first thing below them is kept, the root of an undivided output
  always.
- A reference to an entity that has elements is one unit: if one of them is kept, the reference is copied.
- Between two subtrees with no element in between, a gap of up to 64 bytes is kept, so that a run of records
  is one range.
- A divided output closes its part at the end of a subtree once the part has ``part_bytes``.
- At a cut between two pieces, a divided output closes its part; any other output writes the start tags of all
  open elements that it does not drop.  No gap is kept across a cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from twigcast.document.projection.decisions import Decisions, Keep
from twigcast.document.projection.source_map import SourceMap
from twigcast.document.tree import Document, Element, elements

GAP = 64  # bytes between two subtrees that are kept with them


@dataclass(frozen=True, slots=True)
class ProjectedPart:
    """A part of an output: a document of its own, and where its bytes come from."""

    body: bytes
    source_map: SourceMap


def project(
    document: Document,
    decisions: Decisions,
    divided: Sequence[bool],
    part_bytes: int,
    cuts: Sequence[int] = (),
) -> list[list[ProjectedPart]]:
    """The parts of each output; an output that is not divided has one, a divided one may have none.

    ``cuts`` has the offsets at which the document is cut into pieces, each just before a start tag.
    """
    return [
        _Projection(document, decisions, output, part_bytes if is_divided else None, cuts).parts()
        for output, is_divided in enumerate(divided)
    ]


def joined_parts(parts: Iterable[ProjectedPart]) -> ProjectedPart:
    """One part that several make, one after the other: an output that consecutive pieces have written."""
    body = bytearray()
    pairs: list[tuple[int, int]] = []
    last = -1
    for part in parts:
        for offset, source in part.source_map.pairs():
            if offset or source != last:
                pairs.append((len(body) + offset, source))
        body += part.body
        if part.body:
            last = part.source_map.end(len(part.body))
    return ProjectedPart(bytes(body), SourceMap(pairs))


class _Projection:
    """Writes one output: the parts that are finished, the part that is being written, the open elements."""

    def __init__(
        self,
        document: Document,
        decisions: Decisions,
        output: int,
        part_bytes: int | None,
        cuts: Sequence[int],
    ) -> None:
        self.cuts = frozenset(cuts)
        self.document = document
        self.body = document.body
        self.decisions = decisions
        self.output = output
        self.part_bytes = part_bytes
        wide = document.encoding if document.encoding.startswith("utf-16") else None
        self.encoded: Callable[[str], bytes] = lambda text: text.encode(wide or "ascii")
        self.width = 2 if wide else 1
        self.finished: list[ProjectedPart] = []
        self.written = bytearray()
        self.pairs: list[tuple[int, int]] = []
        self.last = -1  # the offset in the document after the last byte that was copied
        self.open: list[Element] = []  # elements that are not in a subtree, from the root
        self.opened = 0  # how many of them have their start tags in the part

    def parts(self) -> list[ProjectedPart]:
        if self.keep(self.decisions.start) is Keep.TREE:
            self.copy(0, len(self.body))
            self.finish()
            return self.finished
        root = self.document.root
        state = self.decisions.step(self.decisions.start, root.namespace, root.local)
        least = Keep.TAG if self.part_bytes is None else Keep.DROP
        self.element(root, state, max(self.keep(state), least))
        if self.written:
            self.finish()
        return self.finished

    def keep(self, state: int) -> Keep:
        return self.decisions.keeps(state)[self.output]

    def element(self, element: Element, state: int, keep: Keep) -> None:
        """Write what is kept of an element that has bytes of its own."""
        if keep is Keep.DROP:
            if any(element.start < each < element.end for each in self.cuts):
                self.cut()
            return
        if keep is Keep.TREE:
            self.write(element.start, element.end)
            return
        self.open.append(element)
        if keep is not Keep.ABOVE:
            self.open_ancestors()
        at = self.tag_end(element)
        is_empty = at == element.end
        end_tag = at if is_empty else self.body.rindex(self.encoded("</"), at, element.end)
        self.content(element, state, keep, at, end_tag)
        if self.opened == len(self.open):
            self.copy(end_tag, element.end)
            self.opened -= 1
        self.open.pop()

    def content(self, element: Element, state: int, keep: Keep, at: int, end: int) -> None:
        """Write what is kept between the tags of an element, which are before ``at`` and after ``end``."""
        tree_end: int | None = None
        for unit in self.units(element):
            start = unit[0].start
            if start in self.cuts:
                self.cut()
                tree_end = None
            if keep is Keep.OWN:
                if self.is_reference(start):
                    continue  # it is among the bytes that are copied anyway
                self.copy(at, start)
                at = unit[0].end
            steps = [self.decisions.step(state, each.namespace, each.local) for each in unit]
            if self.is_reference(start):
                if any(self.is_kept(each, step) for each, step in zip(unit, steps, strict=True)):
                    self.write(start, self.reference_end(start))
                tree_end = None
                continue
            kept = max(self.keep(steps[0]), Keep.TAG if keep is Keep.OWN else Keep.DROP)
            if kept is Keep.TREE and tree_end is not None and start - tree_end <= GAP and self.written:
                self.copy(tree_end, start)
            self.element(unit[0], steps[0], kept)
            tree_end = unit[0].end if kept is Keep.TREE and keep is not Keep.OWN else None
        if keep is Keep.OWN:
            self.copy(at, end)

    def units(self, element: Element) -> Iterator[list[Element]]:
        """The children: each by itself, but those of one reference together."""
        unit: list[Element] = []
        for child in elements(element):
            if unit and not (child.start == unit[0].start and self.is_reference(child.start)):
                yield unit
                unit = []
            unit.append(child)
        if unit:
            yield unit

    def is_kept(self, element: Element, state: int) -> bool:
        """Whether an element that an entity brings in, or one below it, is kept."""
        keep = self.keep(state)
        step = self.decisions.step
        return keep >= Keep.TAG or (
            keep is Keep.ABOVE
            and any(
                self.is_kept(child, step(state, child.namespace, child.local)) for child in elements(element)
            )
        )

    def cut(self) -> None:
        """Go on in the next piece."""
        if self.part_bytes is None:
            self.open_ancestors()
        elif self.written:
            self.finish()

    # Bytes

    def write(self, start: int, end: int) -> None:
        """Write a subtree or a reference below its ancestors; a part that is large enough ends with it."""
        self.open_ancestors()
        self.copy(start, end)
        if self.part_bytes is not None and len(self.written) >= self.part_bytes:
            self.finish()

    def open_ancestors(self) -> None:
        if not self.written:
            self.copy(0, self.document.root.start)
        for element in self.open[self.opened :]:
            self.copy(element.start, self.tag_end(element))
        self.opened = len(self.open)

    def finish(self) -> None:
        """Close the open elements and the part."""
        for element in reversed(self.open[: self.opened]):
            self.written += self.encoded("</") + self.name(element) + self.encoded(">")
        self.finished.append(ProjectedPart(bytes(self.written), SourceMap(self.pairs)))
        self.written.clear()
        self.pairs.clear()
        self.opened, self.last = 0, -1

    def copy(self, start: int, end: int) -> None:
        if start < end:
            if start != self.last:
                self.pairs.append((len(self.written), start))
            self.written += self.body[start:end]
            self.last = end

    def sign(self, at: int) -> str:
        """The character at an offset, if it is one of ASCII."""
        if self.width == 1:
            return chr(self.body[at])
        first, second = self.body[at : at + 2]
        high, low = (first, second) if self.document.encoding.endswith("be") else (second, first)
        return "\x7f" if high else chr(low)

    def is_reference(self, at: int) -> bool:
        return self.sign(at) == "&"

    def reference_end(self, at: int) -> int:
        while self.sign(at) != ";":
            at += self.width
        return at + self.width

    def tag_end(self, element: Element) -> int:
        at, quote = element.start, ""
        while True:
            sign = self.sign(at)
            at += self.width
            if quote:
                quote = "" if sign == quote else quote
            elif sign in "\"'":
                quote = sign
            elif sign == ">":
                return at

    def name(self, element: Element) -> bytes:
        start = at = element.start + self.width
        while self.sign(at) not in " \t\r\n/>":
            at += self.width
        return self.body[start:at]
