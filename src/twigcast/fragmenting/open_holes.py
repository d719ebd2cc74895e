"""The places where more of a document belongs, for producers that make fragments themselves.

    outline  <log><site id="a">⟦1⟧</site><site id="b">⟦2⟧</site></log>    fragment 1, with two holes
    part     <reading>7</reading> <reading>8</reading>⟦1⟧                fills one, and leaves one at its end

A sensor or a pager gets the ``OpenHole`` that it has to fill: a small value with the path of elements around
it.  It needs neither the document nor the other producers.  A part that leaves a hole at its end can be
followed by another part; the one that leaves none is the last one there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from twigcast.document import PrologReader, TagReader, TagScanner, document_error, multibyte_codec, wide_codec
from twigcast.errors import FragmentError
from twigcast.fragmenting.assembly import holes_of
from twigcast.fragmenting.body_scan import scan_run, tag_reader
from twigcast.fragmenting.fragments import (
    DOCUMENT_NODE,
    Fragment,
    Header,
    Hole,
    OpenElement,
    Opening,
    Run,
    SubtreeRoots,
    node_id,
)

_ALL_PLACES = 1 << 60  # places order the text of a document; each hole gets a share of them
_FEWEST_PLACES = 1 << 10


@dataclass(frozen=True, slots=True)
class OpenHole:
    """A hole of a document, with all that is needed to make the fragment that fills it.

    ``context`` has the elements around it, from the root on.  ``place`` is where its content begins in the
    order of the document, and ``room`` the number of places that it has.
    """

    doc_id: str
    id: int
    context: tuple[OpenElement, ...]
    opening: Opening
    place: int
    room: int

    def fill(
        self, body: bytes, *, number: int, holes: Sequence[int] = (), is_last: bool = False
    ) -> tuple[Fragment, list[OpenHole]]:
        """A fragment of complete elements and text that stands in this hole, and the holes in it.

        ``number`` is the fragment's own in the document; ``is_last`` marks the highest one that there will
        be.  ``holes`` are offsets in the body, in rising order, where other fragments belong; a hole at the
        end of the body is for what follows it.  Raises ``DocumentError`` if the tags do not match.
        """
        parent = self.context[-1].id if self.context else DOCUMENT_NODE
        run = Run(0, len(body), self.place, self.id, parent, len(self.context), self.context)
        return _made(self.doc_id, number, body, run, holes, self.opening, self.room, is_last, prolog=0)


def outline(
    body: bytes, holes: Sequence[int], *, doc_id: str, number: int = 1, is_last: bool = False
) -> tuple[Fragment, list[OpenHole]]:
    """The fragment with the root element, with holes at these offsets of its body; the other parameters are
    those of ``OpenHole.fill``."""
    if wide_codec(body) or multibyte_codec(body):
        raise ValueError("producers of fragments write UTF-8, or one byte for each character")
    prolog = PrologReader()
    prolog.feed(body, final=True)
    assert prolog.root is not None
    opening = Opening.of(prolog.text, prolog.codec)
    run = Run(0, len(body), 0, None, DOCUMENT_NODE, 0, ())
    return _made(doc_id, number, body, run, holes, opening, _ALL_PLACES, is_last, prolog=prolog.root)


def elements_at_holes(
    fragment: Fragment, opening: Opening | None = None
) -> dict[int, tuple[OpenElement, ...]]:
    """For each hole the elements of the fragment's own that are open there, from the outermost one.

    These are found by scanning the tags of the body; so the names of all elements are known also where the
    headers do not say them (``edge``), when the fragments up to the root have come.  ``opening`` is that of
    the document, if the header does not have it in full.
    """
    opening = opening or fragment.opening
    tags = tag_reader(opening)
    found: dict[int, tuple[OpenElement, ...]] = {}
    for run in fragment.runs:
        holes = holes_of(fragment, run)
        if holes and holes[-1] is fragment.end_hole:  # of a span: what it leaves open is in its header
            found[holes.pop().id] = run.opens
        if holes:
            scan = scan_run(fragment, run, (), opening, tags)
            if scan is None:
                message = "the tags of the body do not fit each other"
                raise FragmentError(
                    message, code="fragment-inconsistent", doc_id=fragment.doc_id, number=fragment.number
                )
            found |= scan.in_holes
    return found


def _made(
    doc_id: str,
    number: int,
    body: bytes,
    run: Run,
    holes: Sequence[int],
    opening: Opening,
    room: int,
    is_last: bool,
    *,
    prolog: int,
) -> tuple[Fragment, list[OpenHole]]:
    if list(holes) != sorted(set(holes)) or any(not prolog < at <= len(body) for at in holes):
        raise ValueError("holes are offsets in the body, after its first tag, in rising order")
    scanner = TagScanner(content=run.fills is not None, roots=True, at=prolog)
    stops = scanner.scan(memoryview(body)[prolog:], prolog, True)
    if scanner.fault:
        raise document_error(scanner.fault, 1, 0, scanner.at)
    share = (room - len(body)) // max(len(holes), 1)
    if share < _FEWEST_PLACES:
        message = f"fragment {number} is too large, or has too many holes, for the hole that it fills"
        raise FragmentError(message, code="fragment-inconsistent", doc_id=doc_id, number=number)
    begins = [run.place + at + k * share for k, at in enumerate(holes)]
    tags = TagReader(opening.text or b"", opening.codec)
    roots = tuple(
        SubtreeRoots(tags.read(name, b"")[0], run.depth, count, height)
        for name, _, count, height in stops[0][4]
    )
    header = Header(
        doc_id,
        number,
        len(body),
        runs=(replace(run, roots=roots),),
        holes=tuple(
            Hole(node_id(number, k), at, begin if at == len(body) else begin + share)
            for k, (at, begin) in enumerate(zip(holes, begins, strict=True), 1)
        ),
        opening=opening.inlined(),
        elements=scanner.elements,
        is_last=is_last,
        kind="prefix+level",
        prolog=prolog,
    )
    fragment = Fragment(header, body)
    inner = elements_at_holes(fragment, opening)
    context = run.context or ()
    return fragment, [
        OpenHole(doc_id, hole.id, context + inner[hole.id], opening, begin, share)
        for hole, begin in zip(header.holes, begins, strict=True)
    ]
