"""Joins the fragments of one document that were evaluated elsewhere, in any order and grouping."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from twigcast.document import DocumentLimits
from twigcast.errors import DocumentError, FragmentError, PartialError
from twigcast.filtering import Index, Partial
from twigcast.fragmenting.fragments import Fragment, Run
from twigcast.fragmenting.joining.evaluated_fragments import Arrival, EvaluatedFragments
from twigcast.fragmenting.joining.fragment_evaluation import contexts_after, evaluate_in_context
from twigcast.fragmenting.matching.outcomes import Status
from twigcast.fragmenting.matching.pieces import Context, made_up_context

COMPACTED_AFTER = 64
"""Fragments that are merged before their elements are closed."""


class DocumentJoin:
    """The fragments of one document that have come, each evaluated once, wherever that was.

    Invariant: whatever the order in which fragments are added and however they were grouped, ``status``,
    ``partial`` and ``error`` are the same; ``compacted`` gives values that can be added to another join.
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
        self._arrivals: dict[int, Arrival] = {}
        self._waiting: dict[int, Fragment] = {}
        self._contexts: dict[int, Context] = {}
        self._fillers: dict[int | None, int] = {}
        self._opening: bytes | None = None
        self._opening_digest: str | None = None
        self._last: int | None = None
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
        new = 0
        for arrival in arrivals:
            known = self._arrivals.get(arrival.number)
            if known is None:
                self._check(arrival)
                self._arrivals[arrival.number] = arrival
                new += 1
            elif known.digest != arrival.digest:
                message = f"two fragments have the number {arrival.number} and differ"
                raise self._fault(message, "fragment-conflict", arrival.number)
        if self._limits is not None and self.size > self._limits.bytes:
            message = f"the document is too large (limit bytes: {self._limits.bytes:,})"
            raise DocumentError(message, code="too-large", line=1, column=1, offset=self._limits.bytes)
        return new > 0

    def _check(self, arrival: Arrival) -> None:
        number = arrival.number
        if self._opening_digest not in (None, arrival.opening):
            raise self._fault("fragments have different openings", "fragment-inconsistent", number)
        self._opening_digest = arrival.opening
        if arrival.is_last:
            if self._last not in (None, number) or any(other > number for other in self._arrivals):
                raise self._fault("two fragments are the last one", "fragment-inconsistent", number)
            self._last = number
        elif self._last is not None and number > self._last:
            raise self._fault("a fragment comes after the last one", "fragment-inconsistent", number)
        for hole in arrival.fills:
            other = self._fillers.setdefault(hole, number)
            if other != number:
                message = f"two runs stand in one place: fragments {other} and {number}"
                raise self._fault(message, "fragments-overlap", number)

    # Evaluation of those that waited

    def _evaluate_waiting(self) -> None:
        progress = True
        while progress:
            progress = False
            for number, fragment in list(self._waiting.items()):
                opening = self._opening if fragment.opening.text is None else fragment.opening.text
                contexts = self._known_contexts(fragment)
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

    def _known_contexts(self, fragment: Fragment) -> dict[Run, Context] | None:
        """The elements around each run, or ``None`` if another fragment must come before."""
        found: dict[Run, Context] = {}
        for run in fragment.runs:
            context = run.context
            if context is None and fragment.is_span:
                context = self._contexts.get(run.fills or 0)
            elif context is None:
                path = self._partial.path(run.parent)
                context = None if path is None else made_up_context(path, run.inherited)
            if context is None:
                return None
            found[run] = context
        return found

    def _merge(self, found: Partial, number: int) -> None:
        try:
            if len(self._partial):
                self._matcher.merge(self._partial, found)
            else:
                self._partial = found  # a partial that is decided can be taken, but not merged
        except PartialError as error:
            raise self._fault(error.message, "fragment-inconsistent", number) from None
        self._merged += 1
        if self._merged % COMPACTED_AFTER == 0:
            self._matcher.derive(self._partial)

    # State

    @property
    def size(self) -> int:
        """The bytes of the fragments that have come."""
        return sum(arrival.size for arrival in self._arrivals.values())

    @property
    def digest(self) -> bytes:
        """A hash of the digests of all fragments in the order of their numbers."""
        content = blake2b(digest_size=16)
        for number in sorted(self._arrivals):
            content.update(self._arrivals[number].digest.encode())
        return content.digest()

    @property
    def missing(self) -> tuple[int, ...]:
        """The numbers of the fragments that have not come, as far as they are known."""
        last = self._last or max(self._arrivals, default=0)
        return tuple(number for number in range(1, last + 1) if number not in self._arrivals)

    def status(self) -> Status:
        """Decide what can be decided; the document is then ``open``, ``complete`` or ``broken``."""
        if self.error is None:
            self._matcher.derive(self._partial)
            whole = self._last is not None and len(self._arrivals) == self._last
            if self._partial.is_decided:
                return "complete"
            if not whole:
                return "open"
            self.fail(self._fault("the fragments do not make a whole document", "fragment-inconsistent", 0))
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
        joined = tuple(
            arrival for number, arrival in sorted(self._arrivals.items()) if number not in self._waiting
        )
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
        return {hole: context for hole, context in self._contexts.items() if hole not in self._fillers}

    def _fault(self, message: str, code: str, number: int) -> FragmentError:
        return FragmentError(message, code=code, doc_id=self.doc_id, number=number)
