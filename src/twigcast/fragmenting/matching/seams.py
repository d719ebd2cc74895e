"""What the two sides of each hole say about the place where they meet, compared.

    fragment 3   … <m><c> ⟦ ⟧ </c> …      the hole: what is open there, by the header and the tags of the body
    fragment 1             <k/>           the run that fills it: what its header says is open around it

The kernel joins what fragments show by the ids of the elements that they share.  It does not see namespaces
that no name on the path uses, nor whether the places that order the text of a document fit, nor runs that
fill holes of each other and belong to no document; these are compared here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from hashlib import blake2b
from typing import Any

from twigcast.errors import FragmentError
from twigcast.fragmenting.assembly import holes_of
from twigcast.fragmenting.fragments import (
    DOCUMENT_NODE,
    Fragment,
    OpenElement,
    Run,
    fragment_number,
)
from twigcast.fragmenting.matching.pieces import Context, open_after

InHoles = dict[int, tuple[OpenElement, ...]]
"""The elements of a fragment that are open at each of its holes, from the outermost one."""


@dataclass(frozen=True, slots=True)
class Seam:
    """What one side of a hole says about it.

    ``parent`` is the id of the innermost element that is open there, ``depth`` the number of open elements,
    ``namespaces`` a hash of those in scope, and ``context`` one of all open elements (empty if the names are
    not known).  ``place`` is where the content of the hole begins in the document, and ``end`` where it ends;
    -1 if this side does not say.  ``next`` is another hole, or 0: for the side of the hole the one that the
    run around fills, and for the side of the run the one at its end, in which it goes on.
    """

    hole: int
    parent: int
    depth: int
    namespaces: str
    context: str
    place: int
    end: int
    next: int


@dataclass(frozen=True, slots=True)
class Seams:
    """The seams of one fragment, or of several: by the side of their runs, and by that of their holes."""

    runs: tuple[Seam, ...] = ()
    holes: tuple[Seam, ...] = ()

    def lists(self) -> list[list[Any]]:
        """All fields, for JSON."""
        return [[astuple(seam) for seam in side] for side in (self.runs, self.holes)]

    @classmethod
    def of_lists(cls, lists: list[list[Any]]) -> Seams:
        """The seams of which these are the ``lists``."""
        return cls(*(tuple(Seam(*fields) for fields in side) for side in lists))


def seams_of(fragment: Fragment, contexts: Sequence[Context], in_holes: InHoles) -> Seams:
    """The seams of a fragment, of which the elements around each run and at each hole are known.

    Raises ``FragmentError`` if the places of one run do not rise.
    """
    runs: list[Seam] = []
    holes: list[Seam] = []
    paths = _Paths()
    end_hole = fragment.end_hole
    for run, context in zip(fragment.runs, contexts, strict=True):
        place, start = run.place, run.start
        inner = holes_of(fragment, run)
        for hole in inner:
            own = run.opens if hole is end_hole else in_holes[hole.id]
            where = paths.below(run, context, own, is_span=fragment.is_span)
            before = -1 if hole.offset == start and hole is not inner[0] else place + hole.offset - start
            after = -1 if hole is end_hole else hole.place
            holes.append(Seam(hole.id, *where, before, after, run.fills or 0))
            if hole.place < place + hole.offset - start:
                message = "what is after a hole has a place before what is before it"
                raise _inconsistent(message, fragment.doc_id, fragment.number)
            place, start = hole.place, hole.offset
        if run.fills is not None:
            goes_on = 0 if end_hole is None else end_hole.id
            end = -1 if goes_on else place + run.end - start
            runs.append(Seam(run.fills, *paths.around(run), run.place, end, goes_on))
    return Seams(tuple(runs), tuple(holes))


def check_seams(parts: Iterable[Seams], doc_id: str) -> None:
    """Compare the seams of all fragments of a document; raises ``FragmentError``."""
    known = list(parts)
    holes = {seam.hole: seam for each in known for seam in each.holes}
    runs = {seam.hole: seam for each in known for seam in each.runs}
    within: dict[int, list[int]] = {}
    for id, hole in holes.items():
        run = runs.get(id)
        if run is None:
            raise _inconsistent("no run fills a hole", doc_id, fragment_number(id))
        if _contradict(hole, run):
            message = "a run says that other elements are around it than those around the hole that it fills"
            raise _inconsistent(message, doc_id, fragment_number(id))
        if hole.place not in (-1, run.place):
            raise _inconsistent(f"a hole and its run are at {hole.place}, {run.place}", doc_id, id >> 32)
        within.setdefault(hole.next, []).append(id)
    reached = [0]
    for id in reached:  # it grows
        reached += within.get(id, ())
    if len(reached) <= len(runs):
        raise _inconsistent("a run belongs to no hole of the document", doc_id, 0)
    for id, hole in holes.items():
        if hole.end >= 0:
            run = runs[id]
            while run.next:
                run = runs[run.next]
            if run.end > hole.end:
                message = f"what is in a hole ends at {run.end}, and the hole at {hole.end}"
                raise _inconsistent(message, doc_id, fragment_number(id))


def _contradict(hole: Seam, run: Seam) -> bool:
    if (hole.parent, hole.depth, hole.namespaces) != (run.parent, run.depth, run.namespaces):
        return True
    return bool(hole.context and run.context and hole.context != run.context)


def _inconsistent(message: str, doc_id: str, number: int) -> FragmentError:
    return FragmentError(message, code="fragment-inconsistent", doc_id=doc_id, number=number)


_Where = tuple[int, int, str, str]


class _Paths:
    """Hashes of paths; what a path has in common with the one before is not hashed again."""

    def __init__(self) -> None:
        self._path: tuple[OpenElement, ...] = ()
        self._hashes = [""]
        self._scopes: list[dict[str, str]] = [{}]

    def around(self, run: Run) -> _Where:
        """What a header says about the place of a run."""
        if run.context is None:
            return run.parent, run.depth, _scope_hash(run.inherited), ""
        return self._written(run.context)

    def below(self, run: Run, context: Context, own: Context, *, is_span: bool) -> _Where:
        """Where some elements of the fragment's own, that are below a run's context, are open."""
        if run.fills is None or run.context is not None or is_span:
            return self._written(open_after(run, context) if run.closes else context + own)
        bound = _bound(dict(run.inherited), own)
        return own[-1].id if own else run.parent, run.depth + len(own), _scope_hash(bound.items()), ""

    def _written(self, path: Context) -> _Where:
        same = 0
        for one, two in zip(path, self._path, strict=False):
            if one is not two:
                break
            same += 1
        del self._hashes[same + 1 :]
        del self._scopes[same + 1 :]
        for element in path[same:]:
            self._hashes.append(_hash(self._hashes[-1] + repr(element)))
            self._scopes.append(_bound(self._scopes[-1], (element,)))
        self._path = path
        parent = path[-1].id if path else DOCUMENT_NODE
        return parent, len(path), _scope_hash(self._scopes[-1].items()), self._hashes[-1]


def _bound(above: dict[str, str], elements: Iterable[OpenElement]) -> dict[str, str]:
    """The namespaces in scope below some elements, by prefix."""
    bound = above
    for element in elements:
        if element.declarations:
            bound = {prefix: uri for prefix, uri in (bound | dict(element.declarations)).items() if uri}
    return bound


def _scope_hash(bound: Iterable[tuple[str, str]]) -> str:
    pairs = sorted(bound)
    return _hash(repr(pairs)) if pairs else ""


def _hash(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
