"""What a router knows about a document that it has parsed, and about one that it has not."""

from __future__ import annotations

from tests.routing.piggyback.link import Line, Link, patterns
from tests.routing.piggyback.running_example import binding, chain
from twigcast.document import Structure, read
from twigcast.pattern import parse
from twigcast.routing.messages import Publish, RequestAnnotations
from twigcast.routing.piggyback import (
    AnnotationKind,
    AnnotationPlan,
    Annotations,
    Wish,
)
from twigcast.routing.piggyback.questions import RangeQuestion
from twigcast.routing.transit import ClaimedFacts, ReadFacts

BODY = b'<r><a><y n="7"/></a></r>' + b" " * 2000
PRICE = RangeQuestion(("", "y"), ("", "n"))


def parsed(link: Link, body: bytes) -> ReadFacts:
    """What the upper router of a link finds by parsing."""
    return ReadFacts(body, None, link.above.read_with_structure(body), None)


def test_a_parsed_document_answers_every_question() -> None:
    """Structure, bindings, positions and ranges come from the document itself."""
    link = Link("L+s", patterns(s="//a/y"))
    facts = parsed(link, BODY)
    assert tuple(facts.figures) == (3, 3, 1)
    assert facts.structure is not None
    assert Structure.decode(facts.structure) == Structure.of(read(BODY))
    assert list(facts.bindings(Wish(parse("//a/*"), (2,), 1))) == [binding(_2="y")]
    assert facts.positions([chain("a"), chain("q")]) == {chain("a"): 2}
    found = facts.ranges([PRICE])
    assert found is not None
    assert found.of(PRICE) is not None


def test_a_structure_that_is_large_for_its_document_does_not_travel() -> None:
    """It is still there for bindings."""
    link = Link("L+s", patterns(s="//a/y"))
    facts = parsed(link, BODY.strip())
    assert facts.structure is None
    assert facts.bindings(Wish(parse("//a/*"), (2,), 1))


def test_an_unread_document_answers_what_was_asked_before_it() -> None:
    """Bindings, positions and ranges are passed on if the next plan asks for the same."""
    plan = AnnotationPlan(
        wishes=(Wish(parse("//a/*"), (2,), 1),), positions=(chain("a"),), ranges=(PRICE,), names=chain("y")
    )
    link = Link("L+sd-r", patterns(s="//a/*"), plan=plan)
    said = link.annotations(BODY)
    facts = ClaimedFacts(said, link.reader)
    assert facts.figures == said.figures
    assert list(facts.bindings(Wish(parse("//a/*"), (2,), 9))) == [binding(_2="y")]
    assert not facts.bindings(Wish(parse("//a/*"), (1, 2), 9))
    assert facts.positions([chain("a"), chain("y")]) == {chain("a"): 2}
    other = RangeQuestion(("", "q"))
    found = facts.ranges([other, PRICE])
    assert found is not None
    assert found.of(other) is None
    assert found.of(PRICE) is not None
    unknown = Annotations(said.figures, said.sections, said.epoch + 1)
    nothing = ClaimedFacts(unknown, link.reader)
    assert not nothing.bindings(plan.wishes[0])
    assert nothing.positions([chain("a")]) == {}
    assert nothing.ranges([PRICE]) is None


def test_an_absent_chain_is_derived_from_a_part_of_it() -> None:
    """k asks for a/b/c; that a/b is absent follows for j from no(a/b)."""
    line = Line("L-d", {"k": {"s": "//a/b", "t": "//r"}})
    asked = AnnotationPlan((chain("a/b/c"), chain("r"), chain("q")))
    line.j.handle([RequestAnnotations(asked)], "k")
    line.replan()
    sent = line.annotated(b"<r><a/></r>")
    (message,) = line.j.exchange([Publish(sent)], "i")["k"]
    assert isinstance(message, Publish)
    said = Annotations.decode(message.envelope.annotations, message.envelope)
    assert said.sections[AnnotationKind.NEGATIVE_DATA][1] & 0b110_00000 == 0b100_00000
