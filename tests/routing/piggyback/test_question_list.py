"""Which questions of a neighbour a document answers with yes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.routing.piggyback.link import Link, patterns
from twigcast.pattern import parse
from twigcast.routing.piggyback.question_list import NO_QUESTIONS, QuestionList
from twigcast.routing.piggyback.verdict import Numbers

numbers = st.lists(st.integers(0, 40), max_size=20)


def array(values: list[int]) -> Numbers:
    return np.array(values, dtype=np.int32)


@given(numbers, st.sets(st.integers(0, 60)))
def test_the_places_are_those_of_the_matched_numbers(asked: list[int], matched: set[int]) -> None:
    """This holds in any order of the questions, and if two of them have the same pattern."""
    found = QuestionList(array(asked)).places(array(list(matched)))
    assert found.tolist() == [place for place, number in enumerate(asked) if number in matched]


def test_no_questions_have_no_places() -> None:
    """A neighbour that has sent no plan asks nothing."""
    assert len(NO_QUESTIONS) == 0
    assert NO_QUESTIONS.places(array([0, 3])).tolist() == []


def test_answers_decide_only_what_was_asked() -> None:
    """A number that stands for another pattern since the plan was made is not decided."""
    link = Link("L+a", patterns(s="//a", t="//b"))
    asked = array([link.numbers["t"], link.numbers["s"]])
    assert QuestionList(asked).are_answered_by(link.table, link.below.serials)
    link.below.release(link.numbers["s"])
    assert link.below.hold(parse("//c")) == link.numbers["s"]
    assert not QuestionList(asked).are_answered_by(link.table, link.below.serials)
    assert not QuestionList(array([5])).are_answered_by(link.table, link.below.serials)
