"""What a router knows about one document, and what it can tell the next router about it.

    annotations, structure      claimed by the router before: yes, no, or nothing about a pattern
    the document itself         everything

Evidence grows: what annotations leave open is found out by reading the document.  Annotations for the next
router are made from what is known by then.  A router that has read the document can answer every question;
one that has not passes on what it was told.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property

from twigcast.document import Document, NameTable, Structure, read
from twigcast.rewriting import Mapping
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
from twigcast.routing.pool import NONE, Answer, Reading

MOST_STRUCTURE = 0.1
"""A structure travels only if it is at most this part of its document: that of Treebank hardly merges."""


class Facts:
    """What the next router can be told about a document beside the patterns that it matches; here nothing."""

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


NO_FACTS = Facts()


class DocumentEvidence:
    """Which patterns a document matches for certain, and which it may match; all others it does not.

    ``open`` is None as long as nothing is known.
    """

    __slots__ = (
        *("_answers", "_find_known", "_is_complete", "_known"),
        *("annotations", "facts", "is_read", "matched", "open", "record"),
    )

    def __init__(self, record: DocumentWork) -> None:
        self.record = record
        self.facts: Facts = NO_FACTS
        self.matched: Answer = NONE
        self.open: Answer | None = None
        self.is_read = False
        """Whether it comes from the document itself, not from annotations."""
        self.annotations: bytes | None = None
        """Those that were made last from this evidence; several neighbours are often told the same."""
        self._is_complete = False
        self._answers: tuple[ClaimTable, Serials] | None = None
        self._find_known: Callable[[], Known] | None = None
        self._known: Known | None = None

    @classmethod
    def of_claims(
        cls,
        record: DocumentWork,
        facts: Facts,
        matched: Answer,
        open: Answer,
        find_known: Callable[[], Known],
    ) -> DocumentEvidence:
        """Return what annotations prove: ``matched`` and ``open`` are complete for the rows of the router."""
        made = cls(record)
        made.facts, made.matched, made.open, made._find_known = facts, matched, open, find_known
        return made

    def complete_by(self, table: ClaimTable, serials: Serials) -> None:
        """Note that the patterns which a plan asks about are all answered."""
        self._answers = table, serials

    def read(self, reading: Reading, size: int, facts: Facts) -> None:
        """Take in what reading the document has shown; ``size`` is one for arrays by number."""
        self.matched, self.open, self.facts, self.annotations = reading.answer, NONE, facts, None
        self.is_read = self.record.parsed = True
        self._is_complete = not len(reading.undecided)
        self._find_known = lambda: Known.of_answer(reading.answer, reading.undecided, size)
        self._known = None

    def read_plainly(self, answer: Answer) -> None:
        """Take in which patterns match, where nobody asks for more."""
        self.matched, self.open, self.is_read = answer, NONE, True

    @property
    def known(self) -> Known:
        """What is known of each pattern of the pool."""
        if self._known is None:
            self._known = Known(0) if self._find_known is None else self._find_known()
        return self._known

    def matched_among(self, questions: QuestionList) -> Answer | None:
        """Return all patterns that match; None if this is not known of all that are asked about."""
        if self._is_complete or (self._answers is not None and questions.are_answered_by(*self._answers)):
            return self.matched
        return None


class ReadFacts(Facts):
    """The facts of a document that was read, or of its image."""

    def __init__(
        self, body: bytes, mapping: Mapping | None, reading: Reading, names: NameTable | None
    ) -> None:
        self._body, self._mapping, self._reading, self._names = body, mapping, reading, names

    @property
    def figures(self) -> DocumentFigures:
        figures = DocumentFigures(*self._reading.figures)
        if self._mapping is not None and self._tree is not None:
            # Bindings are of the image, which may be deeper than the document whose size was measured.
            figures = figures._replace(depth=max(figures.depth, self._tree.depth))
        return figures

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
        document = read(self._body)
        return document if self._mapping is None else self._mapping.apply(document)


class ClaimedFacts(Facts):
    """The facts that came with a document which was not read."""

    def __init__(self, annotations: Annotations, reader: ClaimReader) -> None:
        self._annotations, self._reader = annotations, reader

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
