"""Both ends of a link: the router that makes annotations and the one that reads them.

``Link`` joins the two sides without routers, so that a test says itself which rows a forwarded pattern stands
for.  ``Line`` has two real routers; the downstream one has further neighbours and clients.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.routing.piggyback.test_deliveries import decisions
from twigcast.pattern import Pattern, parse
from twigcast.routing import Router, Strategy
from twigcast.routing.messages import Envelope, Message, Publish, Subscribe
from twigcast.routing.piggyback import (
    AnnotationPlan,
    Annotations,
    ClaimReader,
    ClaimTable,
    DocumentFigures,
    DocumentWork,
    Known,
    ToldSet,
    Work,
    protocol,
)
from twigcast.routing.piggyback.annotating import Annotator
from twigcast.routing.piggyback.choice.plan_making import Chooser, make_plan
from twigcast.routing.pool import Pool
from twigcast.routing.transit import DocumentEvidence, ReadFacts

FIGURES = DocumentFigures(20, 9, 2)
"""DocumentFigures of no document in particular."""


class Link:
    """R_i ──► R_j: ``rows`` are those of R_j, and ``aggregated`` says for which each forwarded id stands."""

    def __init__(
        self,
        name: str,
        rows: Mapping[str, Pattern],
        told: Mapping[str, Pattern] | None = None,
        aggregated: Mapping[str, Sequence[str]] | None = None,
        plan: AnnotationPlan | None = None,
    ) -> None:
        self.protocol = protocol(name)
        told = rows if told is None else told
        aggregated = {id: (id,) for id in told} if aggregated is None else aggregated
        self.rows = dict(rows)
        self.below = Pool()  # the pool of R_j
        self.numbers = {id: self.below.hold(row) for id, row in rows.items()}
        by_number = {self.numbers[id]: row for id, row in rows.items()}
        covered = {told[id]: [self.numbers[each] for each in ids] for id, ids in aggregated.items()}
        self.chooser = Chooser(by_number, covered, (), 4096, "marginal")
        self.plan = make_plan(self.protocol, self.chooser, (), 0.0) if plan is None else plan
        self.reader = ClaimReader(ToldSet(told))
        self.table = ClaimTable(self.plan, by_number, covered, self.below.serials.copy(), self.below.entered)
        self.reader.add(self.table)
        self.above = Pool()  # the pool of R_i
        self.heard = {id: self.above.hold(each) for id, each in told.items()}
        self.annotator = Annotator(self.above, ToldSet(told))
        self.annotator.use(self.plan)

    def annotations(self, body: bytes) -> Annotations:
        """What R_i says about a document."""
        reading = self.above.read_with_structure(body)
        evidence = DocumentEvidence(DocumentWork("d"))
        evidence.read(reading, self.above.capacity, ReadFacts(body, None, reading, None))
        return self.annotator.annotate(evidence, self.protocol.positive, self.protocol.negative, self.heard)

    def known(self, annotations: Annotations) -> Known:
        """What R_j concludes, for all numbers of its pool."""
        known = Known(self.below.capacity)
        self.reader.conclude(annotations, self.below.serials, self.below.entered, known)
        return known

    def verdict(self, annotations: Annotations) -> tuple[set[str], set[str]]:
        """The ids of the rows that R_j concludes to match, and not to match."""
        known = self.known(annotations)
        return (
            {id for id, number in self.numbers.items() if known.yes[number]},
            {id for id, number in self.numbers.items() if known.no[number]},
        )


class Line:
    """source ─ i ─ j, which has further neighbours and clients; ``rows`` are patterns by link of j and id."""

    def __init__(
        self,
        name: str,
        rows: Mapping[str, Mapping[str, str]],
        clients: Iterable[str] = ("c",),
        sample: Sequence[bytes] = (),
        secret: bytes = b"",
        **techniques: Any,
    ) -> None:
        strategy = Strategy(advertising=False, piggyback=name, **techniques)
        neighbours = [link for link in rows if link not in tuple(clients)]
        self.i = Router("i", ["j"], ["source"], strategy=strategy, secret=secret)
        self.j = Router("j", ["i", *neighbours], clients, strategy=strategy, sample=sample, secret=secret)
        for link, patterns in rows.items():
            self.at_j(link, *[Subscribe(id, parse(text)) for id, text in patterns.items()])
        self.plan = self.replan()

    @property
    def told(self) -> ToldSet:
        """What j has forwarded to i."""
        return ToldSet(self.j.told("i"))

    def at_j(self, link: str, *messages: Message) -> dict[str, list[Message]]:
        """Let j handle messages, and i what j sends to it."""
        outgoing = self.j.exchange(messages, link)
        if to_i := outgoing.pop("i", None):
            self.i.exchange(to_i, "j")
        return outgoing

    def replan(self) -> AnnotationPlan:
        """Let j send a plan to i."""
        plans = [message for link, message in self.j.replan() if link == "i"]
        self.i.exchange(plans, "j")
        return plans[0].plan if plans else AnnotationPlan()  # type: ignore[union-attr]

    def annotated(self, body: bytes, doc_id: str = "d") -> Envelope:
        """A document as i sends it to j."""
        (message,) = self.i.exchange([Publish(Envelope(doc_id, body))], "source")["j"]
        assert isinstance(message, Publish)
        return message.envelope

    def arrive(self, envelope: Envelope) -> tuple[dict[str, tuple[str, ...]], DocumentWork]:
        """Where j sends a document from i, with the ids for clients, and what it did for that."""
        work = Work()
        outgoing = self.j.exchange([Publish(envelope)], "i", work)
        return decisions(outgoing), work.documents[0]


def patterns(**texts: str) -> dict[str, Pattern]:
    """Patterns by id."""
    return {id: parse(text) for id, text in texts.items()}


def annotated(envelope: Envelope, annotations: Annotations, secret: bytes = b"") -> Envelope:
    """A document with annotations whose digest is right, whatever they say."""
    return envelope.with_annotations(annotations.encode(envelope, secret))
