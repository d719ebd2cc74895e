"""Joins the fragments of one document that were evaluated elsewhere, in any order and grouping."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError, FragmentError, PartialError
from twigcast.filtering import Index, Partial
from twigcast.fragmenting.fragments import Fragment
from twigcast.fragmenting.joining.evaluated_fragments import EvaluatedFragments
from twigcast.fragmenting.joining.fragment_evaluation import contexts_after, evaluate_in_context
from twigcast.fragmenting.matching.arrivals import Arrival, Arrivals
from twigcast.fragmenting.matching.outcomes import Status
from twigcast.fragmenting.matching.pieces import Context, known_contexts
from twigcast.fragmenting.matching.seams import Seams, check_seams
from twigcast.fragmenting.matching.waiting import OPENING, WaitingFragments, needed_fragments

COMPACTED_AFTER = 64
"""Fragments that are merged before their elements are closed."""


class DocumentJoin:
    """The fragments of one document that have come, each evaluated once, wherever that was.

    Invariant: whatever the order in which fragments are added and however they were grouped, ``status`` and
    ``partial`` are the same.  ``compacted`` gives values that can be added to another join, before any
    duplicate of their fragments: one fragment that came before is ignored, a group with such a one cannot be.
    """

    def __init__(
        self, doc_id: str, index: Index, *, limits: DocumentLimits | None = None, checked: bool = True
    ) -> None:
        """``limits`` bound the bytes of the document; none if they are not bounded."""
        self.doc_id = doc_id
        self.error: DocumentError | FragmentError | None = None
        self.error_number = 0
        """The number of the fragment with the error; 0 if it is none in particular."""
        self.told: set[int] = set()
        self._index = index
        self._matcher = index.partials()
        self._limits = limits
        self._checked = checked
        self._partial = self._matcher.empty()
        self._arrivals = Arrivals(doc_id)
        self._waiting = WaitingFragments()
        self._seams: list[Seams] = []
        self._contexts: dict[int, Context] = {}
        self._opening: bytes | None = None
        self._merged = self._derived = 0

    # Arrival

    def add(self, found: EvaluatedFragments) -> None:
        """Take evaluated fragments; those that came before are ignored."""
        if self.error is not None:
            return
        self.told.update(found.told)
        try:
            if not self._note(found.arrivals):
                return
            if found.opening is not None:
                self._opening = found.opening
            self._contexts.update(found.contexts)
            if found.waiting is not None:
                self._evaluate([found.waiting])
            elif found.partial is not None:
                self._merge(self._decoded(found), found.arrivals[0].number, found.seams)
                waiting = [each for other in found.arrivals for each in self._waiting.take(other.number)]
                self._evaluate(waiting)
            if self._opening is not None:
                self._evaluate(self._waiting.take(OPENING))
        except (DocumentError, FragmentError) as error:
            self.fail(error)

    def fail(self, error: DocumentError | FragmentError, number: int = 0) -> None:
        """Note that the document is broken; the first error counts."""
        if self.error is None:
            self.error = error
            self.error_number = error.number if isinstance(error, FragmentError) else number

    def _note(self, arrivals: Sequence[Arrival]) -> bool:
        """Compare headers with those that came before; false if all of them did."""
        new = [arrival for arrival in arrivals if self._arrivals.add(arrival)]
        if self._limits is not None and self.size > self._limits.bytes:
            message = f"the document is too large (limit bytes: {self._limits.bytes:,})"
            raise DocumentError(message, code="too-large", line=1, column=1, offset=self._limits.bytes)
        return bool(new)

    # Evaluation of those that waited

    def _evaluate(self, fragments: list[Fragment]) -> None:
        while fragments:
            following: list[Fragment] = []
            for fragment in fragments:
                opening = self._opening if fragment.opening.text is None else fragment.opening.text
                other = OPENING if opening is None else self._needed(fragment)
                if opening is None or other is not None:
                    self._waiting.add(fragment, other or OPENING)
                    continue
                following += self._evaluate_one(fragment, opening)
            fragments = following

    def _needed(self, fragment: Fragment) -> int | None:
        """The fragment that must be joined before this one; ``None`` if there is none."""
        needed = needed_fragments(fragment)
        return next((number for number in needed if not self._has_joined(number)), None)

    def _has_joined(self, number: int) -> bool:
        return number in self._arrivals and number not in self._waiting

    def _evaluate_one(self, fragment: Fragment, opening: bytes) -> list[Fragment]:
        """Evaluate a fragment; returns those that have waited for it."""
        number = fragment.number
        contexts = known_contexts(fragment, self._contexts, self._partial)
        if contexts is None:
            message = "the fragment belongs in an element that the fragment before does not leave open"
            raise self._arrivals.fault(message, "fragment-inconsistent", number)
        try:
            found, seams = evaluate_in_context(
                self._index, self._matcher, fragment, opening, contexts, checked=self._checked
            )
        except DocumentError as error:
            self.fail(error, number)
            return []
        self._contexts.update(contexts_after(fragment, contexts))
        self._merge(found, number, seams)
        return self._waiting.take(number)

    def _decoded(self, found: EvaluatedFragments) -> Partial:
        assert found.partial is not None
        try:
            return self._matcher.decode(found.partial)
        except PartialError as error:
            if error.code != "partial":
                raise
            number = found.arrivals[0].number
            raise self._arrivals.fault(error.message, "fragment-inconsistent", number) from None

    def _merge(self, found: Partial, number: int, seams: Seams) -> None:
        if self._merged and (self._partial.is_decided or found.is_decided):
            raise self._arrivals.superfluous(number)
        try:
            if self._merged:
                self._matcher.merge(self._partial, found)
            else:
                self._partial = found  # a partial that is decided can be taken, but not merged
        except PartialError as error:
            raise self._arrivals.fault(error.message, "fragment-inconsistent", number) from None
        self._seams.append(seams)
        self._merged += 1
        if self._merged - self._derived >= max(COMPACTED_AFTER, self._partial.unfinished // 2):
            self._derived = self._merged
            self._matcher.derive(self._partial)

    # State

    @property
    def size(self) -> int:
        """The bytes of the fragments that have come."""
        return self._arrivals.size

    @property
    def digest(self) -> bytes:
        """A hash of the digests of all fragments in the order of their numbers."""
        content = blake2b(digest_size=16)
        for arrival in self._arrivals:
            content.update(arrival.digest.encode())
        return content.digest()

    @property
    def missing(self) -> tuple[range, ...]:
        """The numbers of the fragments that have not come, as far as they are known, as ranges."""
        return self._arrivals.missing

    def status(self) -> Status:
        """Decide what can be decided; the document is then ``open``, ``complete`` or ``broken``."""
        if self.error is None:
            self._matcher.derive(self._partial)
            if self._arrivals.has_gaps:
                return "open"
            if self._partial.is_decided:
                try:
                    check_seams(self._seams, self.doc_id)
                    return "complete"
                except FragmentError as error:
                    self.fail(error)
            elif not self._arrivals.are_all:
                return "open"
            else:
                self.fail(self._arrivals.unjoined())
        return "broken"

    @property
    def partial(self) -> Partial:
        """What all fragments show together."""
        return self._partial

    def certain(self) -> list[int]:
        """The positions that match whatever the missing fragments contain."""
        self._matcher.derive(self._partial, early=True)
        return list(self._matcher.certain_positions(self._partial))

    def compacted(self) -> list[EvaluatedFragments]:
        """All that is needed to go on later: one value for what is joined, and one for each that waits."""
        joined = tuple(arrival for arrival in self._arrivals if arrival.number not in self._waiting)
        first = EvaluatedFragments(
            joined,
            self._partial.encode() if joined else None,
            None,
            self._opening,
            self._contexts if len(self._waiting) else self._needed_contexts(),
            tuple(sorted(self.told)),
            Seams(
                tuple(seam for each in self._seams for seam in each.runs),
                tuple(seam for each in self._seams for seam in each.holes),
            ),
        )
        waiting = [
            EvaluatedFragments((self._arrivals[fragment.number],), None, fragment)
            for fragment in sorted(self._waiting, key=lambda fragment: fragment.number)
        ]
        return [first, *waiting]

    def _needed_contexts(self) -> dict[int, Context]:
        """The contexts at holes that nothing fills yet."""
        filled = self._arrivals.filled
        return {hole: context for hole, context in self._contexts.items() if hole not in filled}
