"""The annotations of one router's links: what it says about documents, and what it concludes from others'.

    document with annotations ──► conclude ──► DocumentEvidence: rows that match, rows that are open
    document for a neighbour  ──► annotate by the neighbour's plan ──► document with annotations

A router sends a plan to a neighbour from which documents come, as soon as it has rows to decide, and again
when its rows have changed much, when other neighbours have sent plans with new questions, or when it has seen
enough documents to choose better questions.

Invariant: a link is decided only by conclusions that are proved, so deliveries are those of a router that
parses every document.  The router at which a document enters always parses it to its end: a malformed
document never travels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as ById

import numpy as np

from twigcast.errors import RoutingError
from twigcast.pattern import Pattern
from twigcast.rewriting import Mapping
from twigcast.routing.interests import Interests
from twigcast.routing.messages import (
    Carrier,
    Envelope,
    Message,
    Outgoing,
    Publish,
    PublishFragment,
    RequestAnnotations,
    is_flooded,
)
from twigcast.routing.piggyback.annotating import Annotator
from twigcast.routing.piggyback.annotations import AnnotationKind, Annotations, accepted
from twigcast.routing.piggyback.choice.document_sample import DocumentSample
from twigcast.routing.piggyback.choice.plan_making import Chooser, make_plan
from twigcast.routing.piggyback.explanation import (
    RoutingExplanation,
    Statement,
    ids_by_number,
    row_verdicts,
    statement,
)
from twigcast.routing.piggyback.name_tables import NameTables
from twigcast.routing.piggyback.payloads import Bits
from twigcast.routing.piggyback.plan import AnnotationPlan, PlanState
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
from twigcast.routing.transit import ClaimedFacts, DocumentEvidence, Facts, ReadFacts, Transit, TransitTables

FEW_CHANGES = 16
"""A plan stays in force until more than this many rows, and an eighth of them, have changed.

A single new row may leave all documents undecided, so fewer changes suffice after ``PATIENCE`` documents.
"""
PATIENCE = 64
"""After this many documents in a row that were not annotated by the last plan, a new one is sent."""


class AnnotationLinks:
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
        self._planned: dict[str, PlanState] = {}
        self._sample = DocumentSample()
        self._samples = "d" in self.protocol.negative
        self._says_structure_only = self.protocol == Protocol(Timing.LAZY, "t")
        self._row_changes = 0
        self._names = NameTables(announced)
        for neighbour in asked.neighbours:
            self.connect(neighbour)

    # Links and changes

    def connect(
        self,
        neighbour: str,
        told: ById[str, Pattern] | None = None,
        heard: ById[str, Pattern] | None = None,
        plan: AnnotationPlan | None = None,
    ) -> None:
        """Add a neighbour, given what was forwarded to it, what it forwarded, and the plan that it sent."""
        self._annotators[neighbour] = Annotator(self._pool, ToldSet(heard))
        self._annotators[neighbour].use(plan)
        self.readers[neighbour] = ClaimReader(ToldSet(told))
        self._planned[neighbour] = PlanState()

    def disconnect(self, neighbour: str) -> None:
        """Remove a neighbour."""
        self._annotators.pop(neighbour).use(None)
        del self.readers[neighbour], self._planned[neighbour]

    def exchanged(
        self,
        messages: Iterable[Message],
        link: str,
        outgoing: Outgoing,
        tables: TransitTables,
        work: Work | None,
    ) -> None:
        """Take note of a batch from a link and of what is sent in reply, to which a plan may be added."""
        annotator = self._annotators.get(link)
        published = False
        is_plain = True
        for message in messages:
            if isinstance(message, Publish | PublishFragment):
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
        if published and annotator is not None and self._has_plan and self._is_outdated(link, tables):
            outgoing.setdefault(link, []).append(RequestAnnotations(self._plan(link, work)))

    def _questions_added(self, link: str) -> None:
        """Plan anew for all other neighbours: a router that does not parse answers only what it asked for."""
        for other, planned in self._planned.items():
            planned.has_new_questions |= other != link

    def sent(self, outgoing: ById[str, Iterable[Message]]) -> None:
        """Take note of the subscriptions that are sent to neighbours."""
        for link, messages in outgoing.items():
            if link in self.readers:
                self.readers[link].told.apply(messages)

    def rows_changed(self, count: int) -> None:
        """Take note that rows of the router's table have changed."""
        self._row_changes += count

    def advertisements_changed(self) -> None:
        """Take note that advertisements have changed."""
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

    def conclude(
        self, carrier: Carrier, link: str, tables: TransitTables, record: DocumentWork
    ) -> DocumentEvidence | None:
        """Return what the annotations of a document prove; None if it has none that can be used."""
        planned = self._planned.get(link)
        if planned is None:
            return None  # what a client says about its documents is not taken for true
        record.read_bytes = len(carrier.annotations)
        annotations = accepted(carrier, self._pool.limits, self._secret)
        reader = self.readers[link]
        if self._has_plan:
            self._take_note(annotations, planned, reader)
        if annotations is None:
            return None
        return self._concluded(annotations, reader, tables, record, flooded=is_flooded(carrier))

    def passed(self, link: str, record: DocumentWork) -> None:
        """Take note that a document of a link has passed, and whether it was parsed."""
        planned = self._planned.get(link)
        if planned is not None:
            planned.parsed = planned.parsed + 1 if record.parsed else 0

    def read(self, body: bytes, mapping: Mapping | None, link: str, evidence: DocumentEvidence) -> None:
        """Read a document of a link, or its image, and what the next router is told about it.

        Raises ``DocumentError``.
        """
        sampled = self._samples and self._sample.takes_next()
        uses_table = self._wants_structure and self._strategy.advertising
        names = self._names.of_link(link) if uses_table else None
        if self._wants_structure or sampled:
            reading = self._pool.read_with_structure(body, names, mapping)
            if sampled and reading.structure is not None:
                self._sample.add(reading.structure, names)
        else:
            reading = self._pool.read(body, mapping)
        evidence.read(reading, self._pool.capacity, ReadFacts(body, mapping, reading, names))

    def annotations_for(
        self, neighbour: str, carrier: Carrier, evidence: DocumentEvidence, work: Work | None
    ) -> bytes:
        """Return the annotations with which a document is sent to a neighbour."""
        if self._says_structure_only:
            if evidence.annotations is None:
                evidence.annotations = self._structure_of(carrier, evidence)
            found = evidence.annotations
        else:
            found = self._encoded(self._annotated(neighbour, carrier, evidence, work), carrier)
        if work is not None:
            evidence.record.written[neighbour] = len(found)
        return found

    def _structure_of(self, carrier: Carrier, evidence: DocumentEvidence) -> bytes:
        """Return the structure of a document as annotations, which are the same for all neighbours."""
        if not evidence.is_read:
            return carrier.annotations
        structure = evidence.facts.structure
        sections = {} if structure is None else {int(AnnotationKind.STRUCTURE): structure}
        return self._encoded(Annotations(evidence.facts.figures, sections, whole=True), carrier)

    def _annotated(
        self, neighbour: str, carrier: Carrier, evidence: DocumentEvidence, work: Work | None
    ) -> Annotations:
        protocol = self.protocol
        positive, negative = protocol.positive, protocol.negative
        if protocol.timing is not Timing.LAZY and evidence.is_read and isinstance(carrier, Envelope):
            part = self._eager_part(carrier, neighbour, work)
            if part is not None:
                evidence.record.eager[neighbour] = part
                positive, negative = positive if protocol.timing is Timing.EAGER else "s", ""
        annotator = self._annotators[neighbour]
        if annotator.plan is None and "s" not in negative and "t" not in positive:
            return Annotations(evidence.facts.figures)
        numbers = self._asked[neighbour].numbers
        annotations = annotator.annotate(evidence, positive, negative, numbers)
        if work is not None:
            evidence.record.paper_bits += annotator.paper_bits(annotations)
        return annotations

    def _encoded(self, annotations: Annotations, carrier: Carrier) -> bytes:
        return annotations.encode(carrier, self._secret) if annotations.sections else b""

    def explain(
        self,
        envelope: Envelope,
        link: str,
        tables: TransitTables,
        ids: ById[str, ById[str, int]],
    ) -> RoutingExplanation:
        """Explain what the annotations of a document decide; ``ids`` has the rows' numbers by link and id."""
        known, problem, claims = Known(self._pool.capacity), None, []
        try:
            if not envelope.annotations:
                raise ValueError("the document has no annotations")
            annotations = Annotations.decode(envelope.annotations, envelope, self._secret)
            claims = list(self._claims(annotations, link))
        except (RoutingError, ValueError) as error:
            problem = str(error)
        for claim in claims:
            known.yes[claim.proven] = True
            known.no[claim.refuted] = True
        named = ids_by_number(ids)
        statements = [statement(claim, named) for claim in claims]
        usable, is_parsed = accepted(envelope, self._pool.limits, self._secret), True
        flooded = is_flooded(envelope)
        if usable is not None:
            record = DocumentWork(envelope.doc_id)
            evidence = self._concluded(usable, self.readers[link], tables, record, flooded=flooded)
            if evidence is not None:
                transit = Transit(tables, flooded=flooded)
                transit.learn(evidence.matched, evidence.open)
                is_parsed = not transit.is_decided
            if not flooded:
                known.no[tables.held_back] = True
            if (known.yes & known.no & tables.is_row).any():
                problem = "the annotations contradict each other"
            if len(tables.held_back) and not flooded:
                held_back = tuple(id for each in tables.held_back.tolist() for id in named[each])
                text = "the link advertises no document that matches"
                statements.append(Statement("advertisements", text, (), held_back))
        elif problem is None:
            problem = "the document is beyond the limits of this router"
        return RoutingExplanation(
            envelope.doc_id,
            len(envelope.annotations),
            problem,
            tuple(statements),
            row_verdicts(known, ids),
            is_parsed,
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

    def _is_outdated(self, link: str, tables: TransitTables) -> bool:
        """Whether a neighbour from which a document has come should get a new plan."""
        planned = self._planned[link]
        if planned.row_changes < 0:
            return len(tables.rows) > 0
        if planned.has_new_questions or planned.missed > PATIENCE:
            return True
        changed = self._row_changes - planned.row_changes
        if changed:
            few = max(FEW_CHANGES, len(tables.rows) // 8)
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
        self._planned[link] = PlanState(self._row_changes, len(self._sample))
        return plan

    # Within

    def _concluded(
        self,
        annotations: Annotations,
        reader: ClaimReader,
        tables: TransitTables,
        record: DocumentWork,
        *,
        flooded: bool,
    ) -> DocumentEvidence | None:
        """Conclude from annotations, the cheapest first; None if they are malformed or contradict each other.

        Answers to all rows, or a structure, decide alone where they come alone.  Other kinds are all read,
        since one of them may be malformed; then a structure decides what they leave open.
        """
        sections, facts = annotations.sections, ClaimedFacts(annotations, reader)
        structure = sections.get(AnnotationKind.STRUCTURE)
        if len(sections) == 1:
            table = reader.table(annotations)
            if structure is not None:
                return self._concluded_from_structure(structure, facts, tables, record, flooded=flooded)
            if AnnotationKind.ANSWERS in sections and table is not None and tables.are_answered_by(table):
                matched = reader.answered(annotations)
                if matched is None:
                    return None
                made = DocumentEvidence.of_claims(
                    record, facts, matched, NO_NUMBERS, lambda: self._known(annotations, reader)
                )
                made.complete_by(table, self._pool.serials)
                _count(record, tables, matched, NO_NUMBERS)
                return made
        try:
            known = self._known(annotations, reader)
        except ValueError:
            return None
        if not flooded:
            known.no[tables.held_back] = True
        if structure is not None and (tables.is_row & ~(known.yes | known.no)).any():
            found = self._match_structure(structure)
            if found is not None:
                known.join(Known.of_answer(*found, self._pool.capacity))
        if (known.yes & known.no & tables.is_row).any():
            return None
        matched = _numbers(known.yes & tables.is_row)
        open = _numbers(tables.is_row & ~(known.yes | known.no))
        _count(record, tables, matched, open)
        table = reader.table(annotations)
        if "d" in self.protocol.positive and table is not None:
            ends = reader.positions(annotations)
            record.switched_off = table.switched_off(ends, annotations.figures.elements)
        return DocumentEvidence.of_claims(record, facts, matched, open, lambda: known)

    def _concluded_from_structure(
        self,
        structure: bytes,
        facts: Facts,
        tables: TransitTables,
        record: DocumentWork,
        *,
        flooded: bool,
    ) -> DocumentEvidence | None:
        found = self._match_structure(structure)
        if found is None:
            return None
        matched, open = found
        if len(open):
            open = open[(tables.is_row if flooded else tables.may_match)[open]]
        _count(record, tables, matched, open)
        size = self._pool.capacity
        return DocumentEvidence.of_claims(record, facts, matched, open, lambda: Known.of_answer(*found, size))

    def _take_note(self, annotations: Annotations | None, planned: PlanState, reader: ClaimReader) -> None:
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

    def _known(self, annotations: Annotations, reader: ClaimReader) -> Known:
        """Return all that follows from annotations without the structure; raises ``ValueError``."""
        known = Known(self._pool.capacity)
        reader.conclude(annotations, self._pool.serials, self._pool.entered, known)
        return known

    def _match_structure(self, structure: bytes) -> tuple[Numbers, Numbers] | None:
        return self._pool.match_structure(structure, self._names.used_in(structure))

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


def _count(record: DocumentWork, tables: TransitTables, matched: Numbers, open: Numbers) -> None:
    """Note how many rows annotations decide, if anybody asks."""
    if record.rows:
        record.proven = int(np.count_nonzero(tables.is_row[matched]))
        record.refuted = record.rows - record.proven - len(open)


def _numbers(flags: Bits) -> Numbers:
    """Return the numbers at which a flag is set."""
    return np.flatnonzero(flags).astype(np.int32)
