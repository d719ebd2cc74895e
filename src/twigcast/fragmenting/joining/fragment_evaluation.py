"""Evaluates one fragment by itself, for all subscriptions, into a partial that can be sent and joined."""

from __future__ import annotations

from collections.abc import Sequence

from twigcast.filtering import Index, Partial, PartialMatcher
from twigcast.fragmenting.fragments import Fragment
from twigcast.fragmenting.headers import opening_of
from twigcast.fragmenting.joining.evaluated_fragments import EvaluatedFragments
from twigcast.fragmenting.matching.arrivals import Arrival
from twigcast.fragmenting.matching.evaluation import check_depth, evaluate_parsed, evaluate_skipped
from twigcast.fragmenting.matching.pieces import Context, open_after
from twigcast.fragmenting.matching.seams import Seams
from twigcast.fragmenting.matching.window_schedule import WindowSchedule


def evaluate_fragment(
    index: Index,
    matcher: PartialMatcher,
    fragment: Fragment,
    *,
    checked: bool = True,
    is_own: bool = False,
) -> EvaluatedFragments:
    """Evaluate a fragment; it is returned as it is, to wait for others, if its header does not say enough.

    Without ``checked``, the body is not parsed if the header shows that it makes no difference.
    The header of a fragment that was cut here (``is_own``) is not compared with the body.
    Raises ``DocumentError`` and ``FragmentError`` if the document of the fragment is broken.
    """
    check_depth(fragment, index.limits)
    arrival = Arrival.of(fragment)
    opening = fragment.opening.text
    long_opening = None
    if fragment.starts_document:
        text = opening_of(fragment).text
        long_opening = text if opening is None else None
        opening = text
    contexts = [() if run.fills is None else run.context for run in fragment.runs]
    known = [context for context in contexts if context is not None]
    if opening is None or len(known) < len(contexts):
        return EvaluatedFragments((arrival,), None, fragment)
    partial, seams = evaluate_in_context(
        index, matcher, fragment, opening, known, checked=checked, is_own=is_own
    )
    after = contexts_after(fragment, known)
    return EvaluatedFragments((arrival,), partial.encode(), None, long_opening, after, seams=seams)


def evaluate_in_context(
    index: Index,
    matcher: PartialMatcher,
    fragment: Fragment,
    opening: bytes,
    contexts: Sequence[Context],
    *,
    checked: bool = True,
    is_own: bool = False,
) -> tuple[Partial, Seams]:
    """Evaluate a fragment of which the opening and the elements around each run are known."""
    is_parsed = checked or fragment.starts_document or _is_relevant(index, matcher, fragment)
    if is_parsed:
        return evaluate_parsed(matcher, fragment, opening, contexts, is_own=is_own)
    return evaluate_skipped(matcher, fragment, opening, contexts)


def contexts_after(fragment: Fragment, contexts: Sequence[Context]) -> dict[int, Context]:
    """The elements that are open at the hole at the end of a span, by the id of the hole."""
    if fragment.end_hole is None:
        return {}
    return {fragment.end_hole.id: open_after(fragment.runs[0], contexts[0])}


def _is_relevant(index: Index, matcher: PartialMatcher, fragment: Fragment) -> bool:
    schedule = WindowSchedule(index, matcher, None, 1)
    schedule.add(fragment)
    return schedule.is_relevant(fragment)
