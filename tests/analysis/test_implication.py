"""Conditions on values that imply other conditions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.analysis.implication import ValueTest, denied, implies, value_has, whole_number_implies
from twigcast.pattern import Comparison, Count, Length, Path, StringTest
from twigcast.pattern.numbers import compare

CONTEXT = (Path(()),)
OPERATORS = ["=", "!=", "<", "<=", ">", ">="]
NUMBERS = [-1.0, 0.0, 1.0, 1.5, 2.0, 5.0]
TEXTS = ["", "5", "5.0", " 5", "a", "ab", "b", "1", "-1", "1.5", "2", "0", "ba", "55", "a5"]

conditions = st.one_of(
    st.builds(Comparison, st.just(CONTEXT), st.sampled_from(OPERATORS), st.sampled_from(NUMBERS)),
    st.builds(Comparison, st.just(CONTEXT), st.sampled_from(["=", "!="]), st.sampled_from(TEXTS)),
    st.builds(
        StringTest,
        st.sampled_from(["contains", "starts-with"]),
        st.just(CONTEXT),
        st.sampled_from([text for text in TEXTS if text]),
    ),
    st.builds(Length, st.just(CONTEXT), st.sampled_from(OPERATORS), st.sampled_from(NUMBERS)),
)


@given(conditions, conditions)
@settings(max_examples=500, deadline=None)
def test_what_is_implied_holds(fact: ValueTest, goal: ValueTest) -> None:
    """Each value that satisfies the first condition satisfies the second."""
    if implies(fact, goal):
        assert [text for text in TEXTS if value_has(text, fact) and not value_has(text, goal)] == []


@given(conditions.filter(lambda each: isinstance(each, Comparison)), st.sampled_from(TEXTS))
def test_what_is_denied_does_not_hold(goal: Comparison, text: str) -> None:
    """No value satisfies a comparison and its opposite."""
    if value_has(text, denied(goal)):
        assert not value_has(text, goal)


@given(operators := st.sampled_from(OPERATORS), numbers := st.sampled_from(NUMBERS), operators, numbers)
@settings(max_examples=300, deadline=None)
def test_whole_numbers_are_implied_exactly(one: str, a: float, other: str, b: float) -> None:
    """For whole numbers the answer is exact, except if no number satisfies the fact."""
    counted = [n for n in range(-9, 15) if compare(n, one, a)]
    implied = whole_number_implies(Count(CONTEXT, one, a), Count(CONTEXT, other, b))
    expected = all(compare(n, other, b) for n in counted)
    if implied:
        assert expected
    elif counted and one != "!=" and b.is_integer():
        assert not expected


@pytest.mark.parametrize(
    ("fact", "goal"),
    [
        (Comparison(CONTEXT, "<", 5.0), Comparison(CONTEXT, "<", 10.0)),
        (Comparison(CONTEXT, "<", 5.0), Comparison(CONTEXT, "<=", 5.0)),
        (Comparison(CONTEXT, "=", 5.0), Comparison(CONTEXT, ">", 1.0)),
        (Comparison(CONTEXT, "=", "5"), Comparison(CONTEXT, ">", 1.0)),
        (Comparison(CONTEXT, "=", 5.0), Comparison(CONTEXT, "!=", "6")),
        (Comparison(CONTEXT, ">", 5.0), Comparison(CONTEXT, "!=", 5.0)),
        (Comparison(CONTEXT, ">", 5.0), Comparison(CONTEXT, "!=", "text")),
        (Comparison(CONTEXT, "=", "abc"), StringTest("contains", CONTEXT, "b")),
        (StringTest("contains", CONTEXT, "abc"), StringTest("contains", CONTEXT, "b")),
        (StringTest("starts-with", CONTEXT, "abc"), StringTest("starts-with", CONTEXT, "ab")),
        (StringTest("starts-with", CONTEXT, "abc"), StringTest("contains", CONTEXT, "bc")),
        (StringTest("contains", CONTEXT, "abc"), Length(CONTEXT, ">", 2.0)),
        (StringTest("starts-with", CONTEXT, "abc"), Comparison(CONTEXT, "!=", "xabc")),
        (Length(CONTEXT, ">", 2.0), Length(CONTEXT, ">=", 2.0)),
        (Length(CONTEXT, "<", 3.0), Comparison(CONTEXT, "!=", "abc")),
    ],
)
def test_implications(fact: ValueTest, goal: ValueTest) -> None:
    """These are examples of ranges, points, substrings and lengths."""
    assert implies(fact, goal)
    assert not implies(goal, fact)
