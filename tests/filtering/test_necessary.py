"""What general expressions imply."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.pattern.strategies import NAMESPACES, document, general
from twigcast.document import descendants, read
from twigcast.errors import PatternError
from twigcast.filtering.necessary import necessary
from twigcast.pattern import Expression, Test, parse
from twigcast.pattern.evaluating import Evaluation
from twigcast.pattern.rendering import render_predicate


@pytest.mark.parametrize(
    ("text", "implied"),
    [
        ("a/b[c] = d", "a/b[c] and d"),
        ("a = following::b", "a"),
        ("a != b", "a and b"),
        ("a + 1 = 2", None),
        ("a = true()", None),
        ("normalize-space(a) = 'New York'", "contains(a, 'York')"),
        ("normalize-space(a) != ''", None),
        ("normalize-space(a)", "a"),
        ("starts-with(normalize-space(@x), 'New York')", "contains(@x, 'York')"),
        ("contains(substring(a, 2), 'x y')", "contains(a, 'x y')"),
        ("lower-case(a) = 'x'", "a"),
        ("ends-with(a, 'x')", "contains(a, 'x')"),
        ("(a | b)[1] = 'x'", "a | b"),
        ("a//b/text()[2] = c", "a//b/text() and c"),
        ("ancestor::a = b", "b"),
        ("/a = b", "b"),
        ("a < '2024-01-31'", "a"),
        ("not(a = b)", None),
        ("count(a) = count(b)", None),
    ],
)
def test_what_follows(text: str, implied: str | None) -> None:
    """Paths that must exist, and words that must occur."""
    general_expression = expression(f"/x[{text}]")
    found = None if general_expression is None else necessary(general_expression)
    assert (None if found is None else render_predicate(found)) == implied


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_it_does_follow(random: Random) -> None:
    """Whatever the expression and the node: if the one is true of the other, so is what it implies."""
    body = read(document(random))
    for _ in range(4):
        try:
            found = expression(f"//*[{general(random, 3).ours}]")
        except PatternError:
            continue
        implied = None if found is None else necessary(found)
        if found is None or implied is None:
            continue
        for element in descendants(body):
            assert Evaluation().holds(implied, element) or not Evaluation().holds(Test(found), element)


def expression(text: str) -> Expression | None:
    """The general expression of the first step of a path that has one."""
    for step in parse(text, NAMESPACES).alternatives[0].steps:
        for predicate in step.predicates:
            if isinstance(predicate, Test):
                return predicate.expression
    return None
