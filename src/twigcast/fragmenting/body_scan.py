"""What the tags of a fragment's body show: the elements that begin, end and stay open in each of its runs.

    body     </b> <c> <d/> ⟦ ⟧ </c> <e>        context: a, b
    scan     closes 1, opens e; roots c and e, 1 step high; in the hole: c

The scanner of the cutter reads them again, in about a tenth of the time of a parse.  Bytes that are not
well-formed may be passed; their error comes from the parser.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from twigcast.document import TagReader, TagScanner
from twigcast.errors import DocumentError
from twigcast.fragmenting.assembly import holes_of
from twigcast.fragmenting.fragments import Fragment, OpenElement, Opening, Run, SubtreeRoots, node_id

_ANY_DEPTH = 1 << 20


@dataclass(frozen=True, slots=True)
class ScannedRun:
    """What the tags of a run show; the fields are as in ``Run``.

    ``elements`` is the number of its start tags, and ``in_holes`` has for each hole the elements of the
    fragment's own that are open there, from the outermost one.
    """

    elements: int
    closes: int
    opens: tuple[OpenElement, ...]
    roots: tuple[SubtreeRoots, ...]
    in_holes: dict[int, tuple[OpenElement, ...]]


@lru_cache(maxsize=16)
def tag_reader(opening: Opening) -> TagReader:
    """The reader of the tags of a document with this opening, which must have its text."""
    encoding = "utf-8" if opening.is_transcribed else None
    return TagReader(scanned(opening.text or b"", opening), opening.codec, encoding=encoding)


def scan_run(
    fragment: Fragment, run: Run, closed: tuple[OpenElement, ...], opening: Opening, tags: TagReader
) -> ScannedRun | None:
    """Scan a run; ``None`` if its tags do not fit each other, or a hole is within one.

    ``closed`` are the elements around the run that it closes, as its header says.
    """
    codec = "utf-8" if opening.is_transcribed else opening.codec
    start = fragment.prolog if run.fills is None else run.start
    below = run.depth - len(closed)
    base = 0
    in_holes = {}

    def own(number: int, name: bytes, declared: bytes) -> OpenElement:
        return OpenElement(node_id(fragment.number, run.first + number), *tags.read(name, declared))

    try:
        scanner = TagScanner(
            content=run.fills is not None,
            roots=True,
            depth=_ANY_DEPTH,
            context=[element.name.encode(codec) for element in closed],
        )
        for end, hole in [*((hole.offset, hole) for hole in holes_of(fragment, run)), (run.end, None)]:
            text = scanned(fragment.body[start:end], opening)
            scanner.scan(text, base, False)
            base += len(text)
            start = end
            if scanner.fault or scanner.at != base:
                return None
            if hole is not None:
                in_holes[hole.id] = tuple(own(*each) for each in scanner.open() if each[0])
        _, elements, closes, opens, roots, _, _ = scanner.so_far()
        return ScannedRun(
            elements,
            closes,
            tuple(own(*each) for each in opens),
            tuple(
                SubtreeRoots(tags.read(name, b"")[0], below + depth, count, height)
                for name, depth, count, height in roots
            ),
            in_holes,
        )
    except (DocumentError, UnicodeEncodeError):
        return None


def scanned(text: bytes, opening: Opening) -> bytes:
    """Bytes of a document as they are scanned."""
    if not opening.is_transcribed:
        return text
    return text.decode(opening.codec, "replace").removeprefix("\ufeff").encode("utf-8", "replace")
