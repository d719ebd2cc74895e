"""Evaluates one fragment by itself, for all subscriptions, into a partial that can be sent and joined."""

from __future__ import annotations

from collections.abc import Mapping

from twigcast.errors import FragmentError
from twigcast.filtering import Index, Partial, PartialMatcher
from twigcast.fragmenting.fragments import Fragment, Run
from twigcast.fragmenting.headers import opening_of
from twigcast.fragmenting.joining.evaluated_fragments import EvaluatedFragments
from twigcast.fragmenting.matching.arrivals import Arrival
from twigcast.fragmenting.matching.pieces import Context, empty_pieces, open_after, pieces
from twigcast.fragmenting.matching.window_schedule import WindowSchedule


def evaluate_fragment(
    index: Index, matcher: PartialMatcher, fragment: Fragment, *, checked: bool = True
) -> EvaluatedFragments:
    """Evaluate a fragment; it is returned as it is, to wait for others, if its header does not say enough.

    Without ``checked``, the body is not parsed if the header shows that it makes no difference.
    Raises ``DocumentError`` and ``FragmentError`` if the document of the fragment is broken.
    """
    arrival = Arrival.of(fragment)
    opening = fragment.opening.text
    long_opening = None
    if fragment.starts_document:
        text = opening_of(fragment).text
        long_opening = text if opening is None else None
        opening = text
    contexts = {run: () if run.fills is None else run.context for run in fragment.runs}
    known = {run: context for run, context in contexts.items() if context is not None}
    if opening is None or len(known) < len(contexts):
        return EvaluatedFragments((arrival,), None, fragment)
    partial = evaluate_in_context(index, matcher, fragment, opening, known, checked=checked)
    return EvaluatedFragments(
        (arrival,), partial.encode(), None, long_opening, contexts_after(fragment, known)
    )


def evaluate_in_context(
    index: Index,
    matcher: PartialMatcher,
    fragment: Fragment,
    opening: bytes,
    contexts: Mapping[Run, Context],
    *,
    checked: bool = True,
) -> Partial:
    """Evaluate a fragment of which the opening and the elements around each run are known."""
    if not (checked or fragment.starts_document or _is_relevant(index, matcher, fragment)):
        return matcher.evaluate(fragment.number, empty_pieces(fragment, opening, contexts))
    found = matcher.evaluate(fragment.number, pieces(fragment, opening, contexts))
    for run, shape in zip(fragment.runs, found.shapes, strict=True):
        depth = run.depth - run.closes
        if (shape.least_depth, shape.last_depth) != (depth, depth + len(run.opens)):
            raise FragmentError(
                "the body opens or closes other elements than its header says",
                code="fragment-inconsistent",
                doc_id=fragment.doc_id,
                number=fragment.number,
            )
    return found


def contexts_after(fragment: Fragment, contexts: Mapping[Run, Context]) -> dict[int, Context]:
    """The elements that are open at the hole at the end of a span, by the id of the hole."""
    if fragment.end_hole is None:
        return {}
    run = fragment.runs[0]
    return {fragment.end_hole.id: open_after(run, contexts[run])}


def _is_relevant(index: Index, matcher: PartialMatcher, fragment: Fragment) -> bool:
    schedule = WindowSchedule(index, matcher, None, 1)
    schedule.add(fragment)
    return schedule.is_relevant(fragment)
