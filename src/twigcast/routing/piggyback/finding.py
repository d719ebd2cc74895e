"""What a router found out about a document: by parsing it, or from the annotations that came with it.

Both kinds of findings answer the same questions, so that annotations for the next router are made in one way.
A router that has parsed the document can answer all of them; one that has not passes on what it was told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from twigcast.document import Document, NameTable, Structure, read
from twigcast.routing.messages import Envelope
from twigcast.routing.piggyback.annotations import AnnotationKind, Annotations, DocumentFigures
from twigcast.routing.piggyback.payloads import MOST_BINDINGS
from twigcast.routing.piggyback.plan import Wish
from twigcast.routing.piggyback.question_list import QuestionList
from twigcast.routing.piggyback.questions.bindings import Binding
from twigcast.routing.piggyback.questions.data_patterns import Chain, last_positions
from twigcast.routing.piggyback.questions.embeddings import embeddings
from twigcast.routing.piggyback.questions.ranges import RangeQuestion, Ranges, measure
from twigcast.routing.piggyback.verdict import ClaimReader, ClaimTable, Known, Serials
from twigcast.routing.piggyback.work import DocumentWork
from twigcast.routing.pool import Answer, Reading

MOST_STRUCTURE = 0.1
"""A structure travels only if it is at most this part of its document: that of Treebank hardly merges."""


class DocumentFinding:
    """The patterns that match a document, and what else is known about it.

    ``answer`` has at least one matching row of each neighbour that wants the document, and all matching rows
    of clients.
    """

    is_derived = False
    """Whether the document was not parsed."""

    def __init__(self, answer: Answer, record: DocumentWork) -> None:
        self.answer = answer
        self.record = record
        self.sent: Envelope | None = None
        """The document as it was last sent to a neighbour; others are often sent the same."""

    @property
    def known(self) -> Known:
        """What is known of each pattern of the pool."""
        raise NotImplementedError

    def matched_among(self, questions: QuestionList) -> Answer | None:
        """Return all patterns that match; None if this is not known of all that are asked about."""
        return None

    @property
    def figures(self) -> DocumentFigures:
        """The size of the document."""
        return DocumentFigures(0, 0, 0)

    @property
    def structure(self) -> bytes | None:
        """The structure of the document, if it is known and small enough to travel."""
        return None

    def bindings(self, wish: Wish) -> Sequence[Binding]:
        """Return bindings of the wildcards that are asked for, each from one occurrence of the pattern."""
        return ()

    def positions(self, chains: Collection[Chain]) -> dict[Chain, int]:
        """Return for chains that occur the number of the last end tag of their first element."""
        return {}

    def ranges(self, questions: Sequence[RangeQuestion]) -> Ranges | None:
        """Return the ranges of the values that are asked for."""
        return None


class ParsedFinding(DocumentFinding):
    """What was found by parsing a document."""

    def __init__(
        self, body: bytes, reading: Reading, size: int, names: NameTable | None, record: DocumentWork
    ) -> None:
        super().__init__(reading.answer, record)
        self._body = body
        self._reading = reading
        self._size = size
        self._names = names

    @cached_property
    def known(self) -> Known:
        return Known.of_answer(self._reading.answer, self._reading.undecided, self._size)

    def matched_among(self, questions: QuestionList) -> Answer | None:
        return None if len(self._reading.undecided) else self._reading.answer

    @property
    def figures(self) -> DocumentFigures:
        return DocumentFigures(*self._reading.figures)

    @property
    def structure(self) -> bytes | None:
        found = self._reading.structure
        return found if found is not None and len(found) <= MOST_STRUCTURE * len(self._body) else None

    def bindings(self, wish: Wish) -> Sequence[Binding]:
        if self._tree is None:
            return ()
        return embeddings(wish.pattern, self._tree, wish.numbers, MOST_BINDINGS)

    def positions(self, chains: Collection[Chain]) -> dict[Chain, int]:
        return last_positions(self._document, chains)

    def ranges(self, questions: Sequence[RangeQuestion]) -> Ranges | None:
        return measure(self._document, questions)

    @cached_property
    def _tree(self) -> Structure | None:
        found = self._reading.structure
        return None if found is None else Structure.decode(found, self._names)

    @cached_property
    def _document(self) -> Document:
        return read(self._body)


class DerivedFinding(DocumentFinding):
    """What follows from the annotations of a document that is forwarded unread."""

    is_derived = True

    def __init__(
        self,
        answer: Answer,
        conclude: Callable[[], Known | None],
        annotations: Annotations,
        reader: ClaimReader,
        record: DocumentWork,
        answered: tuple[ClaimTable, Serials] | None = None,
    ) -> None:
        """``answered`` has the table and the serials of numbers by which ``answer`` is complete, if it is."""
        super().__init__(answer, record)
        self._answered = answered
        self._conclude = conclude
        self._annotations = annotations
        self._reader = reader

    @cached_property
    def known(self) -> Known:
        found = self._conclude()
        assert found is not None  # the annotations were read before
        return found

    def matched_among(self, questions: QuestionList) -> Answer | None:
        if self._answered is None or not questions.are_answered_by(*self._answered):
            return None
        return self.answer

    @property
    def figures(self) -> DocumentFigures:
        return self._annotations.figures

    @property
    def structure(self) -> bytes | None:
        return self._annotations.sections.get(AnnotationKind.STRUCTURE)

    def bindings(self, wish: Wish) -> Sequence[Binding]:
        return self._bindings.get((str(wish.pattern), wish.numbers), ())

    def positions(self, chains: Collection[Chain]) -> dict[Chain, int]:
        table = self._reader.table(self._annotations)
        if table is None:
            return {}
        found = self._reader.positions(self._annotations)
        ends = {table.plan.positions[at]: end for at, end in found.items()}
        return {chain: ends[chain] for chain in chains if chain in ends}

    def ranges(self, questions: Sequence[RangeQuestion]) -> Ranges | None:
        found = self._reader.ranges(self._annotations)
        return None if found is None else found.answering(questions)

    @cached_property
    def _bindings(self) -> dict[tuple[str, tuple[int, ...]], list[Binding]]:
        table = self._reader.table(self._annotations)
        found: dict[tuple[str, tuple[int, ...]], list[Binding]] = {}
        if table is not None:
            for number, binding in self._reader.bindings(self._annotations):
                wish = table.plan.wishes[number]
                found.setdefault((str(wish.pattern), wish.numbers), []).append(binding)
        return found
