"""Puts the fragments of a document together, byte for byte.

Each run stands in its hole; the runs and holes form a tree with the run that begins the document as its root.
Cost: linear in the bytes; the order of the fragments does not matter.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from twigcast.errors import FragmentError
from twigcast.fragmenting.fragments import Fragment, Hole, Run, missing_numbers, printed_numbers


def assemble(parts: Iterable[Fragment]) -> bytes:
    """The document of these fragments, which come in any order; a fragment that comes twice counts once.

    Raises ``FragmentError``: ``fragments-missing`` with the numbers that are not there, ``fragment-conflict``
    if two have one number and differ, ``fragments-overlap`` if two runs fill one hole, and
    ``fragment-inconsistent`` if a run has no hole or the fragments are of several documents.
    """
    fragments = _by_number(parts)
    _check_complete(fragments, next(iter(fragments.values())).doc_id)
    return joined(fragments)


def joined(fragments: dict[int, Fragment]) -> bytes:
    """The document of its fragments by number, which must make it whole; raises ``FragmentError``."""
    doc_id = next(iter(fragments.values())).doc_id
    filling: dict[int | None, tuple[Fragment, Run]] = {}
    for fragment in fragments.values():
        for run in fragment.runs:
            if run.fills in filling:
                numbers = sorted({filling[run.fills][0].number, fragment.number})
                message = f"two runs stand in one place: fragments {' and '.join(map(str, numbers))}"
                raise FragmentError(message, code="fragments-overlap", doc_id=doc_id, number=fragment.number)
            filling[run.fills] = fragment, run
    out: list[bytes | memoryview] = []
    first = filling.pop(None, None)
    if first is None:
        raise _inconsistent("no fragment begins the document", doc_id, 0)
    waiting: list[Iterator[bytes | memoryview | Hole]] = [_pieces(*first)]
    while waiting:
        for piece in waiting[-1]:
            if not isinstance(piece, Hole):
                out.append(piece)
                continue
            inner = filling.pop(piece.id, None)
            if inner is None:
                raise _inconsistent("no run fills a hole", doc_id, piece.id >> 32)
            waiting.append(_pieces(*inner))
            break
        else:
            waiting.pop()
    if filling:
        fragment, _ = next(iter(filling.values()))
        raise _inconsistent("a run belongs to no hole of the document", doc_id, fragment.number)
    return b"".join(out)


def holes_of(fragment: Fragment, run: Run) -> list[Hole]:
    """The holes in one run of a fragment, in order; the hole at the end of a span belongs to the span."""
    holes = fragment.holes
    first = bisect_right(holes, run.start, key=_offset)
    return list(holes[first : bisect_right(holes, run.end, lo=first, key=_offset)])


def _offset(hole: Hole) -> int:
    return hole.offset


def _pieces(fragment: Fragment, run: Run) -> Iterator[bytes | memoryview | Hole]:
    body = memoryview(fragment.body)
    at = run.start
    for hole in holes_of(fragment, run):
        yield body[at : hole.offset]
        yield hole
        at = hole.offset
    yield body[at : run.end]


def _by_number(parts: Iterable[Fragment]) -> dict[int, Fragment]:
    found: dict[int, Fragment] = {}
    for part in parts:
        known = found.setdefault(part.number, part)
        if known.doc_id != part.doc_id or part.doc_id != next(iter(found.values())).doc_id:
            other = next(iter(found.values())).doc_id
            raise _inconsistent(f"fragments of two documents: {other!r}, {part.doc_id!r}", other, part.number)
        if known is not part and known != part:
            message = f"two fragments have the number {part.number} and differ"
            raise FragmentError(message, code="fragment-conflict", doc_id=part.doc_id, number=part.number)
    if not found:
        raise FragmentError("there are no fragments", code="fragments-missing")
    return found


def _check_complete(fragments: dict[int, Fragment], doc_id: str) -> None:
    lasts = sorted(number for number, fragment in fragments.items() if fragment.is_last)
    highest = max(fragments)
    if len(lasts) > 1 or (lasts and lasts[0] != highest):
        raise _inconsistent(f"fragment {lasts[0]} says that it is the last one", doc_id, lasts[0])
    missing = missing_numbers(fragments, highest)
    if missing or not lasts:
        what = f"of {highest} fragments these are missing: {printed_numbers(missing)}" if missing else ""
        if not lasts:
            what = f"{what}, and" if what else ""
            what = f"{what} the fragments after {highest} are missing".strip()
        raise FragmentError(what, code="fragments-missing", doc_id=doc_id, missing=missing)


def _inconsistent(message: str, doc_id: str, number: int) -> FragmentError:
    return FragmentError(message, code="fragment-inconsistent", doc_id=doc_id, number=number)
