"""One document of which some fragments have come: what is known, what waits, and what is missing."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from twigcast.document import TOO_LARGE, document_error
from twigcast.errors import DocumentError, FragmentError, PartialError
from twigcast.filtering import Index, Match
from twigcast.fragmenting.assembly import assemble
from twigcast.fragmenting.fragments import Fragment
from twigcast.fragmenting.headers import Manifest, opening_of
from twigcast.fragmenting.matching.arrivals import Arrival, Arrivals
from twigcast.fragmenting.matching.outcomes import Certain, DocumentProgress, News, Outcome
from twigcast.fragmenting.matching.path_answers import PathAnswers
from twigcast.fragmenting.matching.pieces import Context, empty_pieces, known_contexts, open_after, pieces
from twigcast.fragmenting.matching.window_schedule import WindowSchedule
from twigcast.fragmenting.scheduling import PolicyName

COMPACTED_AFTER = 64
"""Fragments that are merged before their elements are closed, unless early answers are wanted."""


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How the fragments of documents are read; see ``FragmentIndex``."""

    schedule: PolicyName | None
    window: float
    early: bool
    checked: bool


class OpenDocument:
    """The fragments of one document that have come, evaluated as far as possible.

    Invariant: a fragment is in the partial, or it waits: for its window to be full, for the fragment that
    begins the document (if its header does not have the opening), or for the one that has its context (if its
    header is of the kind ``edge``).
    """

    def __init__(
        self, doc_id: str, index: Index, reading: ReadingOptions, linear: Index | None = None
    ) -> None:
        self.doc_id = doc_id
        self._reading = reading
        self._matcher = index.partials()
        self._limits = index.limits
        self._partial = self._matcher.empty()
        self._arrivals = Arrivals(doc_id)
        self._kept: dict[int, Fragment] = {}  # all fragments, if the document itself may be needed
        self._schedule = WindowSchedule(index, self._matcher, reading.schedule, reading.window)
        self._waiting: dict[int, Fragment] = {}  # for another fragment
        self._contexts: dict[int, Context] = {}  # by the hole at the end of a span
        self._opening: bytes | None = None
        self._manifest: Manifest | None = None
        self._told: set[Hashable] = set()
        self._path_answers = None if linear is None else PathAnswers(linear)
        self._error: DocumentError | FragmentError | None = None
        self._parsed = self._skipped = self._duplicates = self._merged = 0

    # Arrival

    def expect(self, manifest: Manifest) -> list[News]:
        """Take the headers of all fragments; returns what they make certain."""
        self._manifest = manifest
        self._arrivals.last = len(manifest.headers)
        self._schedule.expect(manifest)
        if self._path_answers is not None:
            self._path_answers.learn(manifest.headers)
        return self._news()

    def add(self, fragment: Fragment) -> list[News]:
        """Take a fragment, evaluate what can be evaluated, and return what is certain now."""
        if self._error is not None:
            return []
        try:
            if not self._arrivals.add(Arrival.of(fragment)):
                self._duplicates += 1
                return []
        except FragmentError as error:
            self._error = error
            return []
        if self._arrivals.size > self._limits.bytes:
            self._error = document_error(TOO_LARGE, 1, 0, self._limits.bytes, limits=self._limits)
            return []
        if not self._matcher.is_exact:
            self._kept[fragment.number] = fragment
        if self._path_answers is not None and self._manifest is None:
            self._path_answers.learn([fragment.header])
        return self._read(self._schedule.add(fragment))

    def flush(self) -> list[News]:
        """Evaluate the fragments that wait for their window to be full."""
        return self._read(self._schedule.flush())

    # Evaluation

    def _read(self, ready: list[Fragment]) -> list[News]:
        for fragment in ready:
            self._waiting[fragment.number] = fragment
        progress = True
        while progress and self._waiting and self._error is None:
            progress = False
            for number, fragment in list(self._waiting.items()):
                if self._can_be_read(fragment):
                    del self._waiting[number]
                    progress = True
                    try:
                        self._evaluate(fragment)
                    except (DocumentError, FragmentError) as error:
                        self._error = error
                        break
        return self._news()

    def _can_be_read(self, fragment: Fragment) -> bool:
        if fragment.starts_document:
            return True
        if fragment.opening.text is None and self._opening is None:
            return False
        return known_contexts(fragment, self._contexts, self._partial) is not None

    def _evaluate(self, fragment: Fragment) -> None:
        if fragment.starts_document and self._opening is None:
            self._opening = opening_of(fragment).text
        opening = fragment.opening.text if self._opening is None else self._opening
        assert opening is not None
        contexts = known_contexts(fragment, self._contexts, self._partial)
        assert contexts is not None
        if fragment.end_hole is not None:
            self._contexts[fragment.end_hole.id] = open_after(fragment.runs[0], contexts[fragment.runs[0]])
        if self._reading.checked or fragment.starts_document or self._schedule.is_relevant(fragment):
            self._parsed += 1
            found = self._matcher.evaluate(fragment.number, pieces(fragment, opening, contexts))
            for run, shape in zip(fragment.runs, found.shapes, strict=True):
                depth = run.depth - run.closes
                if (shape.least_depth, shape.last_depth) != (depth, depth + len(run.opens)):
                    message = "the body opens or closes other elements than its header says"
                    raise self._arrivals.fault(message, "fragment-inconsistent", fragment.number)
        else:
            self._skipped += 1
            found = self._matcher.evaluate(fragment.number, empty_pieces(fragment, opening, contexts))
        try:
            self._matcher.merge(self._partial, found)
        except PartialError as error:
            raise self._arrivals.fault(error.message, "fragment-inconsistent", fragment.number) from None
        self._merged += 1
        self._schedule.evaluated(fragment)
        is_whole = self._arrivals.last == len(self._partial)
        if self._reading.early or is_whole or self._merged % COMPACTED_AFTER == 0:
            self._matcher.derive(self._partial, early=self._reading.early and not is_whole)

    def _news(self) -> list[News]:
        if not self._reading.early or self._partial.is_decided or self._error is not None:
            return []
        new = [id for id in self._known() if id not in self._told]
        if not new:
            return []
        self._told.update(new)
        self._schedule.decided(new)
        size = None if self._manifest is None else self._manifest.size
        return [Certain(self.doc_id, tuple(new), self._arrivals.size, size)]

    # State

    def certain(self) -> list[Hashable]:
        """The ids that are certain."""
        self._matcher.derive(self._partial, early=True)
        return self._known()

    def _known(self) -> list[Hashable]:
        """The ids that are certain by the partial, and those that are by headers alone."""
        found = self._matcher.certain(self._partial)
        if self._path_answers is None:
            return found
        return list(dict.fromkeys([*found, *self._path_answers.ids]))

    @property
    def held_bytes(self) -> int:
        """The bytes of the bodies that are kept."""
        kept = self._kept or self._waiting
        return sum(len(fragment.body) for fragment in kept.values()) + self._schedule.held_bytes

    @property
    def progress(self) -> DocumentProgress:
        """How far the document has come."""
        waiting = len(self._waiting) + len(self._schedule)
        return DocumentProgress(
            "open",
            self._arrivals.size,
            len(self._arrivals),
            self._parsed,
            self._skipped,
            waiting,
            self._duplicates,
            self._arrivals.missing,
        )

    # Outcome

    def outcome(self) -> Outcome | None:
        """The outcome, if the document is complete or broken."""
        whole = self._arrivals.are_all
        if whole and not self._partial.is_decided:
            self._read(self._schedule.flush())
        error = self._error
        if error is None and not self._partial.is_decided:
            if not whole:
                return None
            error = self._arrivals.unjoined()
        if error is None:
            match = self._match()
            if match.error is None:
                return Outcome(self.doc_id, "complete", match=match)
            error = match.error
        return Outcome(self.doc_id, "broken", error=error)

    def finish(self, reason: str) -> Outcome:
        """The outcome of a document of which no more fragments will come."""
        outcome = self.outcome()
        if outcome is not None:
            return outcome
        certain, missing = tuple(self.certain()), self._arrivals.missing
        return Outcome(self.doc_id, "incomplete", missing=missing, certain=certain, reason=reason)

    def _match(self) -> Match:
        if not len(self._matcher.candidates(self._partial)):
            return self._matcher.match(self._partial)
        return self._matcher.match(self._partial, assemble(self._kept.values()))
