"""Matches documents that arrive in fragments, without putting them together.

    fragments of many documents, in any order
          │ add
          ▼
    OpenDocument ──► Certain, Certain, …, Outcome           one for each document that has begun to arrive
          └── PartialMatcher: evaluates each fragment once, for all subscriptions, and joins the results

A document keeps the subscriptions of its first fragment: later changes of the index count for documents that
begin later.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from twigcast.errors import FragmentError
from twigcast.filtering import Index
from twigcast.fragmenting.fragments import Fragment
from twigcast.fragmenting.headers import Manifest
from twigcast.fragmenting.matching.open_document import OpenDocument, ReadingOptions
from twigcast.fragmenting.matching.outcomes import DocumentProgress, News, Outcome
from twigcast.fragmenting.matching.path_answers import linear_subscriptions
from twigcast.fragmenting.scheduling import POLICIES, PolicyName


@dataclass(frozen=True, slots=True)
class FragmentLimits:
    """What a ``FragmentIndex`` holds at most; beyond, the oldest open document is given up as incomplete.

    ``held_bytes`` counts the bodies that are kept: of fragments that wait, and of all fragments if some
    subscription can be decided only on the whole document.  ``ended`` is the number of documents whose
    outcome is remembered, so that a fragment that comes late is recognised, and ``ended_bytes`` about the
    memory that these outcomes take; the oldest are forgotten.
    """

    documents: int = 1000
    held_bytes: int = 1 << 30
    ended: int = 10_000
    ended_bytes: int = 1 << 26


class FragmentIndex:
    """Documents side by side, each in fragments that come in any order; answers are those of the whole."""

    def __init__(
        self,
        index: Index,
        *,
        schedule: PolicyName | None = None,
        window: float = 1,
        early: bool = False,
        checked: bool = True,
        limits: FragmentLimits | None = None,
    ) -> None:
        """With ``early``, ``add`` reports certain matches before a document is complete.

        With ``checked=False`` fragments are trusted to be parts of well-formed documents: those whose headers
        show that they make no difference are not parsed, and with ``early`` headers with label paths decide
        subscriptions to names and places before any body is there.  ``window`` fragments of a document are
        collected (``math.inf``: all), and evaluated in the order of the ``schedule``, or else as they came.
        """
        if schedule is not None and schedule not in POLICIES:
            raise ValueError(f"schedule: expected one of {', '.join(POLICIES)}, not {schedule!r}")
        if not window >= 1:
            raise ValueError(f"a window has at least one fragment, not {window}")
        self.index = index
        self.limits = limits or FragmentLimits()
        self._reading = ReadingOptions(schedule, window, early, checked)
        self._open: dict[str, OpenDocument] = {}
        self._held_bytes = 0
        self._ended: dict[str, Outcome] = {}
        self._ended_bytes = 0
        self._linear_index, self._linear_version = Index(), b""

    def __len__(self) -> int:
        """The number of open documents."""
        return len(self._open)

    def expect(self, manifest: Manifest) -> list[News]:
        """Take the headers of all fragments of a document that begins to arrive, or will.

        Returns what they make known.
        """
        return self._document(manifest.doc_id, 0).expect(manifest)

    def add(self, fragment: Fragment) -> list[News]:
        """Take a fragment; returns what it makes known.

        Raises ``FragmentError`` with the code ``fragment-late`` if its document has its outcome already.
        """
        document = self._document(fragment.doc_id, fragment.number)
        with self._counting(document):
            news = document.add(fragment)
        return news + self._settle(document)

    def flush(self, doc_id: str) -> list[News]:
        """Evaluate the fragments of a document that wait for their window to be full."""
        document = self._open[doc_id]
        with self._counting(document):
            news = document.flush()
        return news + self._settle(document)

    def finish(self, doc_id: str) -> Outcome:
        """End a document, of which no more fragments will come; returns its outcome."""
        if doc_id in self._ended:
            return self._ended[doc_id]
        document = self._open.get(doc_id)
        if document is None:
            raise FragmentError(
                f"no fragment of {doc_id!r} has come", code="fragments-missing", doc_id=doc_id
            )
        with self._counting(document):
            document.flush()
        return self._end(document, "ended")

    def expire(self, doc_ids: Iterable[str], reason: str = "expired") -> list[Outcome]:
        """Give up documents that are still open; returns their outcomes."""
        found = [self._open[doc_id] for doc_id in doc_ids if doc_id in self._open]
        outcomes = []
        for document in found:
            with self._counting(document):
                document.flush()
            outcomes.append(self._end(document, reason))
        return outcomes

    def status(self, doc_id: str) -> DocumentProgress | Outcome | None:
        """How far a document has come, or its outcome; ``None`` if nothing of it has come."""
        document = self._open.get(doc_id)
        return self._ended.get(doc_id) if document is None else document.progress

    def certain(self, doc_id: str) -> list[Hashable]:
        """The ids that are certain for an open document."""
        return self._open[doc_id].certain()

    def open_documents(self) -> Iterator[str]:
        """The documents that are open, the oldest first."""
        return iter(list(self._open))

    def _document(self, doc_id: str, number: int) -> OpenDocument:
        ended = self._ended.get(doc_id)
        if ended is not None:
            raise FragmentError(
                f"fragment {number} of {doc_id!r} came after the outcome of the document ({ended.status})",
                code="fragment-late",
                doc_id=doc_id,
                number=number,
            )
        document = self._open.get(doc_id)
        if document is None:
            linear = self._linear() if self._reading.early and not self._reading.checked else None
            document = self._open[doc_id] = OpenDocument(doc_id, self.index, self._reading, linear)
        return document

    def _linear(self) -> Index:
        """The linear subscriptions of the index as it is now."""
        version = self.index.partials().version
        if self._linear_version != version:
            self._linear_index, self._linear_version = linear_subscriptions(self.index), version
        return self._linear_index

    @contextmanager
    def _counting(self, document: OpenDocument) -> Iterator[None]:
        """Count the bytes that an open document holds after a change."""
        before = document.held_bytes
        yield
        self._held_bytes += document.held_bytes - before

    def _settle(self, document: OpenDocument) -> list[News]:
        """End a document that is complete or broken, and give up others if there are too many."""
        news: list[News] = []
        with self._counting(document):
            outcome = document.outcome()
        if outcome is not None:
            news.append(self._ended_with(document, outcome))
        while len(self._open) > self.limits.documents or self._held_bytes > self.limits.held_bytes:
            news.append(self._end(next(iter(self._open.values())), "limit"))
        return news

    def _end(self, document: OpenDocument, reason: str) -> Outcome:
        with self._counting(document):
            outcome = document.finish(reason)
        return self._ended_with(document, outcome)

    def _ended_with(self, document: OpenDocument, outcome: Outcome) -> Outcome:
        del self._open[document.doc_id]
        self._held_bytes -= document.held_bytes
        self._ended[document.doc_id] = outcome
        self._ended_bytes += _remembered_bytes(outcome)
        while len(self._ended) > self.limits.ended or self._ended_bytes > self.limits.ended_bytes:
            oldest = self._ended.pop(next(iter(self._ended)))
            self._ended_bytes -= _remembered_bytes(oldest)
        return outcome


def _remembered_bytes(outcome: Outcome) -> int:
    """About the memory of an outcome."""
    matches = 0 if outcome.match is None else len(outcome.match)
    return 500 + 4 * len(outcome.doc_id) + 8 * (matches + len(outcome.certain))
