"""The piggyback side of one router: what it says about documents, and what it concludes from what it is told.

    document with annotations ──► conclude ──► all links decided: it is sent on unread
                                      └──────► something open: it is parsed
    document for a neighbour  ──► annotate by the neighbour's plan ──► document with annotations

A router sends a plan to a neighbour from which documents come, as soon as it has rows to decide, and again
when its rows have changed much, when other neighbours have sent plans with new questions, or when it has seen
enough documents to choose better questions.

Invariant: a link is decided only by conclusions that are proved, so deliveries are those of a router that
parses every document.  The router at which a document enters always parses it to its end: a malformed
document never travels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from twigcast.errors import RoutingError
from twigcast.pattern import Pattern
from twigcast.routing.interests import Interests
from twigcast.routing.messages import Envelope, Message, Outgoing, Publish, RequestAnnotations, is_flooded
from twigcast.routing.piggyback.annotating import Annotator
from twigcast.routing.piggyback.annotations import AnnotationKind, Annotations, accepted
from twigcast.routing.piggyback.choice.document_sample import DocumentSample
from twigcast.routing.piggyback.choice.plan_making import Chooser, make_plan
from twigcast.routing.piggyback.explanation import RoutingExplanation, RowVerdict, Statement
from twigcast.routing.piggyback.finding import DerivedFinding, DocumentFinding, ParsedFinding
from twigcast.routing.piggyback.link_rows import LinkRows, rows_for
from twigcast.routing.piggyback.name_tables import NameTables
from twigcast.routing.piggyback.payloads import Bits
from twigcast.routing.piggyback.plan import AnnotationPlan
from twigcast.routing.piggyback.protocols import Protocol, Timing, protocol
from twigcast.routing.piggyback.told_set import ToldSet
from twigcast.routing.piggyback.verdict import (
    NO_NUMBERS,
    Claim,
    ClaimReader,
    ClaimTable,
    Known,
    Numbers,
)
from twigcast.routing.piggyback.work import DocumentWork, Work
from twigcast.routing.pool import Pool
from twigcast.routing.strategy import Strategy
from twigcast.routing.tables import AdvertisementTable, PublicationTable

FEW_CHANGES = 16
"""A plan stays in force until more than this many rows, and an eighth of them, have changed.

A single new row may leave all documents undecided, so fewer changes suffice after ``PATIENCE`` documents.
"""
PATIENCE = 64
"""After this many documents in a row that were not annotated by the last plan, a new one is sent."""


class RouterPiggyback:
    """What a router keeps for each neighbour: the plan that it follows, and those by which it reads."""

    def __init__(
        self,
        strategy: Strategy,
        pool: Pool,
        asked: PublicationTable,
        announced: AdvertisementTable,
        interests: Interests,
        secret: bytes = b"",
    ) -> None:
        assert strategy.piggyback is not None
        self.protocol: Protocol = protocol(strategy.piggyback)
        self._has_plan = self.protocol.has_plan
        self._wants_structure = bool(set("ts") & set(self.protocol.positive))
        self._strategy = strategy
        self._pool, self._asked, self._announced, self._interests = pool, asked, announced, interests
        self._secret = secret
        self._annotators: dict[str, Annotator] = {}
        self.readers: dict[str, ClaimReader] = {}
        self._planned: dict[str, _Planned] = {}
        self._sample = DocumentSample()
        self._samples = "d" in self.protocol.negative
        self._says_structure_only = self.protocol == Protocol(Timing.LAZY, "t")
        self._row_changes = 0
        self._advertisement_changes = 0
        self._rows: dict[str, LinkRows] = {}
        self._names = NameTables(announced)
        for neighbour in asked.neighbours:
            self.connect(neighbour)

    # Links and changes

    def connect(
        self,
        neighbour: str,
        told: Mapping[str, Pattern] | None = None,
        heard: Mapping[str, Pattern] | None = None,
        plan: AnnotationPlan | None = None,
    ) -> None:
        """Add a neighbour, given what was forwarded to it, what it forwarded, and the plan that it sent."""
        self._annotators[neighbour] = Annotator(self._pool, ToldSet(heard))
        self._annotators[neighbour].use(plan)
        self.readers[neighbour] = ClaimReader(ToldSet(told))
        self._planned[neighbour] = _Planned()

    def disconnect(self, neighbour: str) -> None:
        """Remove a neighbour."""
        self._annotators.pop(neighbour).use(None)
        del self.readers[neighbour], self._planned[neighbour]
        self._rows.pop(neighbour, None)

    def exchanged(
        self, messages: Iterable[Message], link: str, outgoing: Outgoing, work: Work | None
    ) -> None:
        """Take note of a batch from a link and of what is sent in reply, to which a plan may be added."""
        annotator = self._annotators.get(link)
        published = False
        is_plain = True
        for message in messages:
            if isinstance(message, Publish):
                published = True
                continue
            is_plain = False
            if isinstance(message, RequestAnnotations):
                assert annotator is not None  # clients cannot ask
                before = set(annotator.questions)
                annotator.use(message.plan)
                if not before.issuperset(annotator.questions):
                    self._questions_added(link)
            elif annotator is not None:
                annotator.heard.apply((message,))
        if not is_plain:
            self.sent(outgoing)
        if published and annotator is not None and self._has_plan and self._is_outdated(link):
            outgoing.setdefault(link, []).append(RequestAnnotations(self._plan(link, work)))

    def _questions_added(self, link: str) -> None:
        """Plan anew for all other neighbours: a router that does not parse answers only what it asked for."""
        for other, planned in self._planned.items():
            planned.has_new_questions |= other != link

    def sent(self, outgoing: Mapping[str, Iterable[Message]]) -> None:
        """Take note of the subscriptions that are sent to neighbours."""
        for link, messages in outgoing.items():
            if link in self.readers:
                self.readers[link].told.apply(messages)

    def rows_changed(self, count: int) -> None:
        """Take note that rows of the router's table have changed."""
        self._row_changes += count

    def advertisements_changed(self) -> None:
        """Take note that advertisements have changed."""
        self._advertisement_changes += 1
        self._names.forget()

    def learn(self, bodies: Iterable[bytes]) -> None:
        """Choose questions by these documents, as if they had passed this router."""
        for body in bodies:
            found = self._pool.read_with_structure(body).structure
            if found is not None:
                self._sample.add(found)

    @property
    def plans(self) -> dict[str, AnnotationPlan]:
        """The plans of neighbours that this router follows."""
        return {link: each.plan for link, each in self._annotators.items() if each.plan is not None}

    # Documents

    def read(self, envelope: Envelope, link: str, work: Work | None) -> DocumentFinding:
        """Find out what a router needs to know about a document; raises ``DocumentError``."""
        record = DocumentWork(envelope.doc_id, read_bytes=len(envelope.annotations))
        if work is not None:
            record.rows = len(self._rows_for(link).numbers)
        planned = self._planned.get(link)
        if planned is not None:  # the link leads to a neighbour
            annotations = self._accepted(envelope)
            if self._has_plan:
                self._take_note(annotations, planned, self.readers[link])
            if annotations is not None:
                derived = self._derived(envelope, annotations, link, record)
                if derived is not None:
                    planned.parsed = 0
                    return derived
            planned.parsed += 1
        sampled = self._samples and self._sample.takes_next()
        uses_table = self._wants_structure and self._strategy.advertising
        names = self._names.of_link(link) if uses_table else None
        if self._wants_structure or sampled:
            reading = self._pool.read_with_structure(envelope.body, names)
            if sampled and reading.structure is not None:
                self._sample.add(reading.structure, names)
        else:
            reading = self._pool.read(envelope.body)
        return ParsedFinding(envelope.body, reading, self._pool.capacity, names, record)

    def onward(
        self, work: Work | None, envelope: Envelope, finding: DocumentFinding, neighbour: str
    ) -> Envelope:
        """Return the document as it is sent to a neighbour, with annotations."""
        if self._says_structure_only:
            onward = self._with_structure(envelope, finding)
            if work is not None:
                finding.record.written[neighbour] = len(onward.annotations)
            return onward
        protocol = self.protocol
        positive, negative = protocol.positive, protocol.negative
        if protocol.timing is not Timing.LAZY:
            part = self._eager_part(envelope, neighbour, work)
            if part is not None:
                finding.record.eager[neighbour] = part
                positive, negative = positive if protocol.timing is Timing.EAGER else "s", ""
        annotator, found = self._annotators[neighbour], b""
        if annotator.plan is not None or "s" in negative or "t" in positive:
            numbers = self._asked[neighbour].numbers
            annotations = annotator.annotate(finding, positive, negative, numbers)
            found = self._encoded(annotations, envelope)
            if work is not None:
                finding.record.paper_bits += annotator.paper_bits(annotations)
        if work is not None:
            finding.record.written[neighbour] = len(found)
        if finding.sent is None or finding.sent.annotations != found:
            finding.sent = envelope.with_annotations(found)
        return finding.sent

    def _with_structure(self, envelope: Envelope, finding: DocumentFinding) -> Envelope:
        """Return the document with its structure, which is the same for all neighbours."""
        if finding.is_derived:
            return envelope
        if finding.sent is None:
            structure = finding.structure
            sections = {} if structure is None else {int(AnnotationKind.STRUCTURE): structure}
            annotations = Annotations(finding.figures, sections, whole=True)
            finding.sent = envelope.with_annotations(self._encoded(annotations, envelope))
        return finding.sent

    def _encoded(self, annotations: Annotations, envelope: Envelope) -> bytes:
        return annotations.encode(envelope, self._secret) if annotations.sections else b""

    def explain(
        self, envelope: Envelope, link: str, ids: Mapping[str, Mapping[str, int]]
    ) -> RoutingExplanation:
        """Explain what the annotations of a document decide; ``ids`` has the rows' numbers by link and id."""
        named: dict[int, list[str]] = {}
        for table in ids.values():
            for id, number in table.items():
                named.setdefault(number, []).append(id)
        known, problem, claims = Known(self._pool.capacity), None, []
        try:
            if not envelope.annotations:
                raise ValueError("the document has no annotations")
            annotations = Annotations.decode(envelope.annotations, envelope, self._secret)
            claims = list(self._claims(annotations, link))
        except (RoutingError, ValueError) as error:
            problem = str(error)
        statements = []
        for kind, text, *decided in claims:
            known.yes[decided[0]] = True
            known.no[decided[1]] = True
            proven, refuted = (
                tuple(id for number in numbers.tolist() for id in named.get(number, ()))
                for numbers in decided
            )
            statements.append(Statement(kind.name.lower().replace("_", " "), text, proven, refuted))
        accepted, derived = self._accepted(envelope), None
        if accepted is not None:
            derived = self._derived(envelope, accepted, link, DocumentWork(envelope.doc_id))
        elif problem is None:
            problem = "the document is beyond the limits of this router"
        rows_from_link = self._rows_for(link)
        if accepted is not None and rows_from_link.contradict(known, flooded=is_flooded(envelope)):
            problem = "the annotations contradict each other"
        if accepted is not None and len(rows_from_link.held_back) and not is_flooded(envelope):
            held_back = tuple(id for each in rows_from_link.held_back.tolist() for id in named[each])
            text = "the link advertises no document that matches"
            statements.append(Statement("advertisements", text, (), held_back))
        verdicts = np.select(
            [known.yes & known.no, known.yes, known.no], ["open", "proven", "refuted"], "open"
        )
        rows: dict[str, dict[str, RowVerdict]] = {
            other: {id: verdicts[number].item() for id, number in table.items()}
            for other, table in ids.items()
        }
        return RoutingExplanation(
            envelope.doc_id, len(envelope.annotations), problem, tuple(statements), rows, derived is None
        )

    def _claims(self, annotations: Annotations, link: str) -> Iterator[Claim]:
        """Yield all statements, also that of the structure as a whole; raises ``ValueError``."""
        yield from self.readers[link].claims(annotations)
        structure = annotations.sections.get(AnnotationKind.STRUCTURE)
        found = None if structure is None else self._match_structure(structure)
        if found is not None:
            known = Known.of_answer(*found, self._pool.capacity)
            text = "the element tree is known"
            yield Claim(AnnotationKind.STRUCTURE, text, _numbers(known.yes), _numbers(known.no))

    # Plans

    def replan(self, work: Work | None = None, neighbours: Iterable[str] | None = None) -> Outgoing:
        """Make new plans for these neighbours, or for all of them, and return them."""
        if not self._has_plan:
            return {}
        links = self.readers if neighbours is None else neighbours
        return {link: [RequestAnnotations(self._plan(link, work))] for link in links}

    def _is_outdated(self, link: str) -> bool:
        """Whether a neighbour from which a document has come should get a new plan."""
        planned = self._planned[link]
        if planned.row_changes < 0:
            return len(self._rows_for(link).numbers) > 0
        if planned.has_new_questions or planned.missed > PATIENCE:
            return True
        changed = self._row_changes - planned.row_changes
        if changed:
            few = max(FEW_CHANGES, len(self._rows_for(link).numbers) // 8)
            if changed > few or planned.parsed > PATIENCE:
                return True
        return self._samples and self._sample.is_full and planned.sampled < len(self._sample)

    def _plan(self, link: str, work: Work | None) -> AnnotationPlan:
        """Make the plan for a neighbour, and the table by which its annotations will be read."""
        pattern = self._pool.pattern
        numbers = self._asked.elsewhere(link)
        rows = {number: pattern(number) for number in numbers.values()}
        others = [each for other, each in self._annotators.items() if other != link]
        rows |= {number: pattern(number) for each in others for number in each.questions}
        told = self.readers[link].told.patterns
        interest = self._interests[link]
        behind = {id: [id] for id in told}
        if interest.stages:  # of a restored router, the neighbour may still know something else
            behind = {id: ids for id, ids in interest.behind().items() if told.get(id) == interest.told[id]}
        covered = {told[id]: [numbers[each] for each in ids if each in numbers] for id, ids in behind.items()}
        chooser = Chooser(
            rows,
            covered,
            self._sample.chains(),
            8 * self._strategy.annotation_bytes,
            self._strategy.selection,
        )
        plans = [each.plan for each in others if each.plan is not None]
        saving = (work.saving if work else 0.0) + max((each.saving for each in plans), default=0.0)
        plan = make_plan(self.protocol, chooser, plans, saving)
        table = ClaimTable(plan, rows, covered, self._pool.serials.copy(), self._pool.entered)
        self.readers[link].add(table)
        self._planned[link] = _Planned(self._row_changes, len(self._sample))
        return plan

    # Within

    def _derived(
        self, envelope: Envelope, annotations: Annotations, link: str, record: DocumentWork
    ) -> DerivedFinding | None:
        """Conclude from annotations; None if they are malformed, or leave a link open.

        Structure and answers decide all rows at once, so they are tried first.  Where they do not come alone,
        the other kinds are read all the same: they may be malformed, or contradict.
        """
        rows = self._rows_for(link)
        flooded = is_flooded(envelope)
        reader = self.readers[link]
        answer = left = answered = None
        structure = annotations.sections.get(AnnotationKind.STRUCTURE)
        found = None if structure is None else self._match_structure(structure)
        if found is not None:
            answer, left = found
            if len(left):
                left = left[(rows.present if flooded else rows.expected)[left]]
        elif AnnotationKind.ANSWERS in annotations.sections:
            table = reader.table(annotations)
            if table is not None and rows.are_answered_by(table):
                answer, left = reader.answered(annotations), NO_NUMBERS
                answered = table, self._pool.serials
        known = None
        is_alone = len(annotations.sections) == 1
        if (
            answer is None
            or left is None
            or not is_alone
            or rows.are_undecided(left, answer, flooded=flooded)
        ):
            known = self._known(found, annotations, reader)
            if known is None or rows.contradict(known, flooded=flooded):
                return None
            answer = _numbers(known.yes & rows.present)
            left = _numbers(rows.present & ~(known.yes | known.no))
            answered = None
        if record.rows:
            record.proven = int(np.count_nonzero(rows.present[answer]))
            record.refuted = record.rows - record.proven - len(left)
        if known is not None and rows.are_undecided(left, answer, flooded=flooded):
            table = reader.table(annotations)
            if "d" in self.protocol.positive and table is not None:
                ends = reader.positions(annotations)
                record.switched_off = table.switched_off(ends, annotations.figures.elements)
            return None
        record.parsed = False
        return DerivedFinding(
            answer,
            lambda: known or self._known(found, annotations, reader),
            annotations,
            reader,
            record,
            answered,
        )

    def _accepted(self, envelope: Envelope) -> Annotations | None:
        return accepted(envelope, self._pool.limits, self._secret)

    def _take_note(self, annotations: Annotations | None, planned: _Planned, reader: ClaimReader) -> None:
        """Count the documents that were not annotated by the last plan, although it is always answered."""
        newest = reader.newest
        if newest is None:
            return
        epoch = 0 if annotations is None else annotations.epoch
        if epoch == newest.plan.epoch:
            planned.missed = 0
            reader.drop_older()
        elif epoch or newest.plan.absences or newest.plan.ranges:
            planned.missed += 1

    def _known(
        self, found: tuple[Numbers, Numbers] | None, annotations: Annotations, reader: ClaimReader
    ) -> Known | None:
        """All that follows from annotations, given what the structure says; None if they are malformed."""
        size = self._pool.capacity
        known = Known(size) if found is None else Known.of_answer(*found, size)
        try:
            reader.conclude(annotations, self._pool.serials, self._pool.entered, known)
        except ValueError:
            return None
        return known

    def _match_structure(self, structure: bytes) -> tuple[Numbers, Numbers] | None:
        return self._pool.match_structure(structure, self._names.used_in(structure))

    def _rows_for(self, link: str) -> LinkRows:
        """The rows that a document from a link is matched with; they are computed after a change."""
        table = self._asked.forwarding(self._pool.capacity)
        known = self._rows.get(link)
        if known is None or known.table is not table or known.version != self._advertisement_changes:
            announced = self._announced if self._strategy.advertising else None
            known = rows_for(link, self._asked, announced, self._pool, self._advertisement_changes)
            self._rows[link] = known
        return known

    def _eager_part(self, envelope: Envelope, neighbour: str, work: Work | None) -> float | None:
        """The share of a document after which it is sent to a neighbour; None if only after its end."""
        if work is None or work.first_match is None:
            return None
        part = work.first_match(envelope, neighbour)
        if self.protocol.timing is Timing.ADAPTIVE:
            plan = self._annotators[neighbour].plan
            saving = plan.saving if plan is not None else 0.0
            if (1.0 - work.lead(part)) * work.seconds <= saving:
                return None
        return part


@dataclass(slots=True)
class _Planned:
    """When the last plan for a neighbour was made: after how many changes, and with how large a sample."""

    row_changes: int = -1
    sampled: int = 0
    missed: int = 0
    """The documents in a row that were not annotated by the last plan."""
    parsed: int = 0
    """The documents in a row that annotations did not decide."""
    has_new_questions: bool = False
    """Whether another neighbour has asked something since then."""


def _numbers(flags: Bits) -> Numbers:
    """Return the numbers at which a flag is set."""
    return np.flatnonzero(flags).astype(np.int32)
