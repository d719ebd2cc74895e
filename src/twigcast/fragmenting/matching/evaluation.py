"""Evaluates one fragment whose place in its document is known: what it shows, and what its seams are."""

from __future__ import annotations

from collections.abc import Sequence

from twigcast.document import TOO_DEEP, DocumentLimits, document_error
from twigcast.filtering import Partial, PartialMatcher
from twigcast.fragmenting.fragments import Fragment
from twigcast.fragmenting.matching.body_check import check_body
from twigcast.fragmenting.matching.pieces import Context, empty_pieces, pieces
from twigcast.fragmenting.matching.seams import InHoles, Seams, seams_of


def evaluate_parsed(
    matcher: PartialMatcher,
    fragment: Fragment,
    opening: bytes,
    contexts: Sequence[Context],
    *,
    is_own: bool = False,
) -> tuple[Partial, Seams]:
    """Parse a fragment and compare its header with its body; raises ``DocumentError``, ``FragmentError``.

    One that was cut here (``is_own``) has the header of its body, so that its tags need not be looked at:
    that takes a seventh of the time of the parse.
    """
    found = matcher.evaluate(fragment.number, pieces(fragment, opening, contexts))
    in_holes: InHoles = {}
    if not is_own or _has_inner_holes(fragment):
        in_holes = check_body(fragment, opening, contexts)
    return found, seams_of(fragment, contexts, in_holes)


def evaluate_skipped(
    matcher: PartialMatcher, fragment: Fragment, opening: bytes, contexts: Sequence[Context]
) -> tuple[Partial, Seams]:
    """Evaluate a trusted fragment that makes no difference: it only fills holes, and opens others.

    Its tags are looked at if it has holes within, since only they show which elements are open there.
    """
    found = matcher.evaluate(fragment.number, empty_pieces(fragment, opening, contexts))
    in_holes: InHoles = {}
    if _has_inner_holes(fragment):
        in_holes = check_body(fragment, opening, contexts)
    return found, seams_of(fragment, contexts, in_holes)


def check_depth(fragment: Fragment, limits: DocumentLimits) -> None:
    """Raise ``DocumentError`` if the header names more open elements than a document may have."""
    for run in fragment.runs:
        if max(run.depth, run.depth - run.closes + len(run.opens)) > limits.depth:
            raise document_error(TOO_DEEP, 1, 0, run.place, limits=limits)


def _has_inner_holes(fragment: Fragment) -> bool:
    """Whether a fragment has holes whose elements only its tags show."""
    return any(hole is not fragment.end_hole for hole in fragment.holes)
