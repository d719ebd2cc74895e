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
        self._waiting: dict[int, Fragment] = {}
        self._contexts: dict[int, Context] = {}
        self._opening: bytes | None = None
        self._merged = 0

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
                self._waiting[found.waiting.number] = found.waiting
            elif found.partial is not None:
                self._merge(self._matcher.decode(found.partial), found.arrivals[0].number)
            self._evaluate_waiting()
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

    def _evaluate_waiting(self) -> None:
        progress = True
        while progress:
            progress = False
            for number, fragment in list(self._waiting.items()):
                opening = self._opening if fragment.opening.text is None else fragment.opening.text
                contexts = known_contexts(fragment, self._contexts, self._partial)
                if opening is None or contexts is None:
                    continue
                del self._waiting[number]
                progress = True
                try:
                    found = evaluate_in_context(
                        self._index, self._matcher, fragment, opening, contexts, checked=self._checked
                    )
                except DocumentError as error:
                    self.fail(error, number)
                    return
                self._contexts.update(contexts_after(fragment, contexts))
                self._merge(found, number)

    def _merge(self, found: Partial, number: int) -> None:
        try:
            if len(self._partial):
                self._matcher.merge(self._partial, found)
            else:
                self._partial = found  # a partial that is decided can be taken, but not merged
        except PartialError as error:
            raise self._arrivals.fault(error.message, "fragment-inconsistent", number) from None
        self._merged += 1
        if self._merged % COMPACTED_AFTER == 0:
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
    def missing(self) -> tuple[int, ...]:
        """The numbers of the fragments that have not come, as far as they are known."""
        return self._arrivals.missing

    def status(self) -> Status:
        """Decide what can be decided; the document is then ``open``, ``complete`` or ``broken``."""
        if self.error is None:
            self._matcher.derive(self._partial)
            whole = self._arrivals.are_all
            if self._partial.is_decided:
                return "complete"
            if not whole:
                return "open"
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
            self._contexts if self._waiting else self._needed_contexts(),
            tuple(sorted(self.told)),
        )
        waiting = [
            EvaluatedFragments((self._arrivals[number],), None, fragment)
            for number, fragment in sorted(self._waiting.items())
        ]
        return [first, *waiting]

    def _needed_contexts(self) -> dict[int, Context]:
        """The contexts at holes that nothing fills yet."""
        filled = self._arrivals.filled
        return {hole: context for hole, context in self._contexts.items() if hole not in filled}
