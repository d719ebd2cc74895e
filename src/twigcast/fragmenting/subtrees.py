"""Makes the fragments of a document from which subtrees are cut out, when all separators are known.

    <a> <b><f/><e/><e/></b> <m/> </a>       separators: second e, m

    runs as the scanner reports them        run 1: f e, at the first separator;  run 2: b;  the rest: a
    as a tree, by their byte ranges         a ⊃ run 2 ⊃ run 1
    fragments                               1: f e    2: b, with a hole for run 1    3: a, with one for run 2

An element belongs to the innermost run around it, so its number in its fragment is its number in the
document, less the elements of that run's holes before it, plus the elements of the fragment's earlier runs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from twigcast.document import TagScanner
from twigcast.fragmenting.fragments import (
    DOCUMENT_NODE,
    Fragment,
    Header,
    Hole,
    OpenElement,
    Run,
    namespaces_in_scope,
    node_id,
)
from twigcast.fragmenting.spans import CutDocument, ScanStop


class SubtreeMaker:
    """Collects the runs of all separators; the fragments are made when the document ends."""

    def __init__(self, document: CutDocument) -> None:
        self.kept = 0
        self._document = document
        self._open: list[tuple[int, bytes, bytes]] = []
        self._taken: list[_Taken] = []
        self._number = 0

    def take(self, stop: ScanStop, view: memoryview, base: int) -> list[Fragment]:
        """Note the runs of a separator; no fragment is complete before the document ends."""
        self._number += 1
        self._open[len(self._open) - stop.closes :] = stop.opens
        for depth, start, end, first, last in stop.runs:
            self._taken.append(_Taken(self._number, start, end, first, last, tuple(self._open[:depth])))
        return []

    def finish(self, stop: ScanStop, view: memoryview, base: int) -> list[Fragment]:
        """All fragments; ``view`` has the whole document."""
        self._number += 1
        whole = _Taken(self._number, 0, stop.offset, 1, stop.elements + 1, ())
        runs = _nested([whole, *self._taken])
        by_fragment: dict[int, list[_Taken]] = {}
        for run in runs:
            by_fragment.setdefault(run.fragment, []).append(run)
        for number, members in by_fragment.items():
            before = hole_number = 0
            for run in members:
                run.before = before
                before += run.own
                for hole in run.holes:
                    hole_number += 1
                    hole.fills = node_id(number, hole_number)
        tags = self._document.tags
        for run in runs:
            run.resolve(tags.read)
        bodies = _Bodies(self._document, runs, view)
        told: set[int] = set()
        return [
            self._made(number, by_fragment[number], bodies, told) for number in range(1, self._number + 1)
        ]

    def _made(self, number: int, members: list[_Taken], bodies: _Bodies, told: set[int]) -> Fragment:
        document = self._document
        is_edge = document.kind == "edge"
        body = bytearray()
        runs: list[Run] = []
        holes: list[Hole] = []
        label_paths: set[int] = set()
        for member in members:
            start = len(body)
            for piece, hole in zip(member.pieces(), [*member.holes, None], strict=True):
                body += bodies.encoded(*piece)
                if hole is not None:
                    assert hole.fills is not None
                    holes.append(Hole(hole.fills, len(body), bodies.place(hole.resumes)))
            roots, numbers = bodies.measured(member)
            label_paths |= numbers
            context = member.context
            runs.append(
                Run(
                    start=start,
                    end=len(body),
                    place=bodies.place(member.start),
                    fills=member.fills,
                    parent=context[-1].id if context else DOCUMENT_NODE,
                    depth=len(context),
                    context=None if is_edge else context,
                    inherited=tuple(sorted(namespaces_in_scope(context).items())) if is_edge else (),
                    roots=document.roots(roots, len(context)),
                    first=member.before,
                )
            )
        is_last = number == self._number
        header = Header(
            document.doc_id,
            number,
            len(body),
            runs=tuple(runs),
            holes=tuple(holes),
            opening=document.opening,
            elements=sum(member.own for member in members),
            is_last=is_last,
            kind=document.kind,
            paths=document.label_paths(frozenset(label_paths), told),
            prolog=bodies.place(document.root) if is_last else 0,
        )
        return Fragment(header, bytes(body))


@dataclass(slots=True)
class _Taken:
    """A run that was taken at a separator: byte range, first element and the element after the last.

    ``path`` has the open elements above it as the scanner reports them; ``holes`` are the runs directly in
    it, in document order; ``resumes`` is where the run around it goes on.
    """

    fragment: int
    start: int
    end: int
    first: int
    last: int
    path: tuple[tuple[int, bytes, bytes], ...]
    around: _Taken | None = None
    holes: list[_Taken] = field(default_factory=list)
    context: tuple[OpenElement, ...] = ()
    fills: int | None = None
    before: int = 0  # elements of the fragment before this run
    own: int = 0  # elements of this run that are not in one of its holes
    resumes: int = 0
    _ends: list[int] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)

    def pieces(self) -> Iterator[tuple[int, int]]:
        """The byte ranges before, between and after the holes."""
        start = self.start
        for hole in self.holes:
            yield start, hole.start
            start = hole.end
        yield start, self.end

    def count(self) -> None:
        """Count the elements, when all holes are known."""
        self._ends = [hole.last for hole in self.holes]
        self._sizes = list(accumulate((hole.last - hole.first for hole in self.holes), initial=0))
        self.own = self.last - self.first - self._sizes[-1]
        resumes: dict[int, int] = {}  # of a hole that begins at an offset
        for hole in reversed(self.holes):
            hole.resumes = resumes[hole.start] = resumes.get(hole.end, hole.end)

    def number(self, element: int) -> int:
        """The number in the fragment of an element of this run, from its number in the document."""
        inside = self._sizes[bisect_right(self._ends, element)]
        return self.before + element - self.first + 1 - inside

    def resolve(self, read: Callable[[bytes, bytes], tuple[str, tuple[tuple[str, str], ...]]]) -> None:
        """Set the context; that of the run around must be there."""
        if self.around is None:
            return
        above = self.around.context
        self.context = above + tuple(
            OpenElement(node_id(self.around.fragment, self.around.number(element)), *read(name, declared))
            for element, name, declared in self.path[len(above) :]
        )


def _nested(taken: list[_Taken]) -> list[_Taken]:
    """The runs in document order, each with the run around it and the runs in its holes."""
    runs = sorted(taken, key=lambda run: (run.start, -run.end))
    around: list[_Taken] = []
    for run in runs:
        while around and around[-1].end <= run.start:
            around.pop()
        if around:
            run.around = around[-1]
            run.around.holes.append(run)
        around.append(run)
    for run in runs:
        run.count()
    return runs


class _Bodies:
    """The bytes of runs, and the places in the document of the offsets at which it was scanned."""

    def __init__(self, document: CutDocument, runs: list[_Taken], view: memoryview) -> None:
        self._document = document
        self._view = view
        self._places: dict[int, int] | None = None
        if document.is_transcoded:
            offsets = sorted({0, document.root, *(at for run in runs for at in (run.start, run.end))})
            sizes = (len(document.encode(view[a:b])) for a, b in pairwise(offsets))
            self._places = dict(zip(offsets, accumulate(sizes, initial=0), strict=True))

    def encoded(self, start: int, end: int) -> bytes:
        return self._document.encode(self._view[start:end])

    def place(self, offset: int) -> int:
        return offset if self._places is None else self._places[offset]

    def measured(self, run: _Taken) -> tuple[list[tuple[bytes, int, int, int]], set[int]]:
        """The roots and the label paths of a run, without what is in its holes."""
        document = self._document
        if document.kind == "edge":
            return [], set()
        path = 0
        if document.paths is not None:
            for _, name, declared in run.path:
                path = document.paths.step(path, name, declared)
        starts_document = not run.path
        own = b"".join(
            self._view[max(start, document.root) if starts_document else start : end]
            for start, end in run.pieces()
        )
        scanner = TagScanner(content=True, roots=True, depth=document.depth, paths=document.paths, path=path)
        (found,) = scanner.scan(own, 0, True)
        stop = ScanStop.of(found)
        return stop.roots, set(stop.paths)
