"""One document of which some fragments have come: what is known, what waits, and what is missing."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from twigcast.document import TOO_LARGE, document_error
from twigcast.errors import DocumentError, FragmentError, PartialError
from twigcast.filtering import Index, Match
from twigcast.fragmenting.assembly import joined
from twigcast.fragmenting.fragments import Fragment
from twigcast.fragmenting.headers import Manifest, opening_of, reduced_header
from twigcast.fragmenting.matching.arrivals import Arrival, Arrivals
from twigcast.fragmenting.matching.evaluation import check_depth, evaluate_parsed, evaluate_skipped
from twigcast.fragmenting.matching.outcomes import Certain, DocumentProgress, News, Outcome
from twigcast.fragmenting.matching.path_answers import PathAnswers
from twigcast.fragmenting.matching.pieces import Context, known_contexts, open_after
from twigcast.fragmenting.matching.seams import Seams, check_seams
from twigcast.fragmenting.matching.waiting import OPENING, WaitingFragments, needed_fragments
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
        self._kept_bytes = 0
        self._schedule = WindowSchedule(index, self._matcher, reading.schedule, reading.window)
        self._waiting = WaitingFragments()
        self._seams: dict[int, Seams] = {}  # of the fragments that were evaluated
        self._contexts: dict[int, Context] = {}  # by the hole at the end of a span
        self._opening: bytes | None = None
        self._manifest: Manifest | None = None
        self._told: set[Hashable] = set()
        self._path_answers = None if linear is None else PathAnswers(linear)
        self._error: DocumentError | FragmentError | None = None
        self._parsed = self._skipped = self._duplicates = self._derived = 0

    # Arrival

    def expect(self, manifest: Manifest) -> list[News]:
        """Take the headers of all fragments; returns what they make certain."""
        if self._error is not None:
            return []
        try:
            self._compare(manifest)
            self._arrivals.last = len(manifest.headers)
            self._manifest = manifest
            self._schedule.expect(manifest)
            if self._path_answers is not None:
                self._path_answers.learn(manifest.headers)
        except FragmentError as error:
            self._error = self._arrivals.fault(error.message, error.code, error.number)
        return self._news()

    def add(self, fragment: Fragment) -> list[News]:
        """Take a fragment, evaluate what can be evaluated, and return what is certain now."""
        if self._error is not None:
            return []
        try:
            if not self._arrivals.add(Arrival.of(fragment)):
                self._duplicates += 1
                return []
            if self._arrivals.size > self._limits.bytes:
                raise document_error(TOO_LARGE, 1, 0, self._limits.bytes, limits=self._limits)
            check_depth(fragment, self._limits)
            if self._manifest is not None:
                stated = self._manifest.headers[fragment.number - 1]
                if fragment.kind != stated.kind:
                    stated = reduced_header(stated, fragment.kind)
                if stated != fragment.header:
                    message = "the header of a fragment is not the one in the manifest"
                    raise self._arrivals.fault(message, "fragment-inconsistent", fragment.number)
            if self._path_answers is not None and self._manifest is None:
                self._path_answers.learn([fragment.header])
            ready = self._schedule.add(fragment)
        except DocumentError as error:
            self._error = error
            return []
        except FragmentError as error:
            self._error = self._arrivals.fault(error.message, error.code, fragment.number)
            return []
        if not self._matcher.is_exact:
            self._kept[fragment.number] = fragment
            self._kept_bytes += len(fragment.body)
        return self._read(ready)

    def flush(self) -> list[News]:
        """Evaluate the fragments that wait for their window to be full."""
        return self._read(self._schedule.flush())

    def _compare(self, manifest: Manifest) -> None:
        """Compare a manifest with what came before; raises ``FragmentError``."""
        if self._manifest not in (None, manifest):
            raise self._arrivals.fault("two manifests differ", "fragment-inconsistent", 0)
        for arrival in self._arrivals:
            if not arrival.number <= len(manifest.headers) or not arrival.agrees_with(
                manifest.headers[arrival.number - 1]
            ):
                message = "the header of a fragment is not the one in the manifest"
                raise self._arrivals.fault(message, "fragment-inconsistent", arrival.number)

    # Evaluation

    def _read(self, ready: list[Fragment]) -> list[News]:
        while ready and self._error is None:
            following: list[Fragment] = []
            for fragment in ready:
                other = self._needed(fragment)
                if other is not None:
                    self._waiting.add(fragment, other)
                    continue
                try:
                    self._evaluate(fragment)
                except (DocumentError, FragmentError) as error:
                    self._error = error
                    break
                if fragment.starts_document:
                    following += self._waiting.take(OPENING)
                following += self._waiting.take(fragment.number)
            ready = following
        return self._news()

    def _needed(self, fragment: Fragment) -> int | None:
        """The fragment that must be evaluated before this one; ``None`` if there is none."""
        if fragment.starts_document:
            return None
        if fragment.opening.text is None and self._opening is None:
            return OPENING
        return next((number for number in needed_fragments(fragment) if number not in self._seams), None)

    def _evaluate(self, fragment: Fragment) -> None:
        if fragment.starts_document and self._opening is None:
            self._opening = opening_of(fragment).text
        opening = fragment.opening.text if self._opening is None else self._opening
        assert opening is not None
        contexts = known_contexts(fragment, self._contexts, self._partial)
        if contexts is None:
            message = "the fragment belongs in an element that the fragment before does not leave open"
            raise self._arrivals.fault(message, "fragment-inconsistent", fragment.number)
        if fragment.end_hole is not None:
            self._contexts[fragment.end_hole.id] = open_after(fragment.runs[0], contexts[0])
        if self._reading.checked or fragment.starts_document or self._schedule.is_relevant(fragment):
            self._parsed += 1
            found, seams = evaluate_parsed(self._matcher, fragment, opening, contexts)
        else:
            self._skipped += 1
            found, seams = evaluate_skipped(self._matcher, fragment, opening, contexts)
        if self._partial.is_decided:
            raise self._arrivals.superfluous(fragment.number)
        try:
            self._matcher.merge(self._partial, found)
        except PartialError as error:
            raise self._arrivals.fault(error.message, "fragment-inconsistent", fragment.number) from None
        self._seams[fragment.number] = seams
        self._schedule.evaluated(fragment)
        self._derive()

    def _derive(self) -> None:
        """Close elements, each time if early answers are wanted, else when many fragments are new."""
        is_whole = self._arrivals.last == len(self._seams)
        many = len(self._seams) - self._derived >= max(COMPACTED_AFTER, self._partial.unfinished // 2)
        if self._reading.early or is_whole or many:
            self._derived = len(self._seams)
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
        return (self._kept_bytes or self._waiting.bytes) + self._schedule.held_bytes

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
        if whole and self._error is None and not self._partial.is_decided:
            self._read(self._schedule.flush())
        if self._error is None:
            try:
                match = self._match(whole=whole)
            except FragmentError as error:
                self._error = self._arrivals.fault(error.message, error.code, error.number)
            else:
                if match is None:
                    return None
                if match.error is None:
                    return Outcome(self.doc_id, "complete", match=match)
                self._error = match.error
        return Outcome(self.doc_id, "broken", error=self._error)

    def finish(self, reason: str) -> Outcome:
        """The outcome of a document of which no more fragments will come."""
        outcome = self.outcome()
        if outcome is not None:
            return outcome
        certain, missing = tuple(self.certain()), self._arrivals.missing
        return Outcome(self.doc_id, "incomplete", missing=missing, certain=certain, reason=reason)

    def _match(self, *, whole: bool) -> Match | None:
        """The match of a document that is decided; raises ``FragmentError`` if its fragments do not fit."""
        if self._arrivals.has_gaps:
            return None
        if not self._partial.is_decided:
            if whole:
                raise self._arrivals.unjoined()
            return None
        check_seams(self._seams.values(), self.doc_id)
        if not len(self._matcher.candidates(self._partial)):
            return self._matcher.match(self._partial)
        return self._matcher.match(self._partial, joined(self._kept))
