"""What a router attaches for a neighbour, by its plan and its subscriptions."""

from __future__ import annotations

import pytest

from tests.routing.piggyback.link import Link, patterns
from tests.routing.piggyback.running_example import chain
from twigcast.pattern import parse
from twigcast.routing.piggyback import AnnotationKind, AnnotationPlan, DocumentWork, ToldSet
from twigcast.routing.piggyback.annotating import Annotator
from twigcast.routing.pool import Pool
from twigcast.routing.transit import DocumentEvidence, ReadFacts

BODY = b"<r><a><y/></a></r>"


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("L", set()),
        ("L-s", {AnnotationKind.NEGATIVE_SUBSCRIPTIONS}),
        ("L-d", {AnnotationKind.NEGATIVE_DATA}),
        ("L+s", {AnnotationKind.POSITIVE_SUBSCRIPTIONS}),
        ("L+d", {AnnotationKind.POSITIVE_DATA}),
        ("L+a", {AnnotationKind.ANSWERS}),
    ],
)
def test_each_letter_is_a_kind(name: str, kinds: set[AnnotationKind]) -> None:
    """The epoch is there if the plan was used, and the fingerprint if the subscriptions were."""
    link = Link(name, patterns(s="//a/y", t="//a/z"))
    said = link.annotations(BODY)
    assert set(said.sections) == kinds
    assert (said.epoch != 0) == bool(kinds - {AnnotationKind.NEGATIVE_SUBSCRIPTIONS})
    assert (said.told != 0) == (AnnotationKind.NEGATIVE_SUBSCRIPTIONS in kinds)
    assert tuple(said.figures) == (3, 3, 0)


def test_a_new_plan_replaces_the_questions_of_the_last() -> None:
    """The pool holds no question that nobody asks."""
    pool = Pool()
    annotator = Annotator(pool, ToldSet())
    annotator.use(AnnotationPlan((chain("a"), chain("b")), answers=(parse("//a"),)))
    assert len(pool) == 2  # the chain a and the pattern //a are one question
    annotator.use(AnnotationPlan((chain("b"),)))
    assert len(pool) == 1
    annotator.use(None)
    assert len(pool) == 0
    assert annotator.questions == ()


def test_a_pattern_that_took_too_long_makes_a_document_half_read() -> None:
    """An unset bit then means unknown: ``whole`` is false."""
    link = Link("L-s", patterns(s="//a/y", t="//a/z"))
    reading = link.above.read_with_structure(BODY)
    unsure = reading._replace(undecided=reading.answer)
    evidence = DocumentEvidence(DocumentWork("d"))
    evidence.read(unsure, link.above.capacity, ReadFacts(BODY, None, unsure, None))
    said = link.annotator.annotate(evidence, "", "s", link.heard)
    assert not said.whole
    assert link.verdict(said) == (set(), {"t"})


def test_sizes_as_the_papers_count_them() -> None:
    """A bit for each negative, 8 for each position, and 8 for each character of a name that is bound."""
    link = Link("L-sd", patterns(s="//a/y", t="//a/z"))
    assert link.annotator.paper_bits(link.annotations(BODY)) == 2 + len(link.plan.absences)
    told, rows = patterns(x="//a/*"), patterns(s="//a/y")
    bound = Link("L+s", rows, told, {"x": ("s",)})
    assert bound.annotator.paper_bits(bound.annotations(BODY)) == 8
    placed = Link("L+d", patterns(s="//a/y"))
    assert placed.annotator.paper_bits(placed.annotations(BODY)) == 8 * len(placed.plan.positions)
