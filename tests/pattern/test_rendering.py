"""Canonical text: one text for one pattern, and back."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from tests.pattern.strategies import NAMESPACES, Expression, pattern, patterns
from twigcast.errors import PatternError
from twigcast.pattern import Comparison, Path, parse, render, render_path
from twigcast.pattern.rendering import render_predicate


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(patterns())
def test_text_reads_as_the_pattern_it_was_written_from(expression: Expression) -> None:
    """``parse(render(pattern)) == pattern``, whatever the pattern."""
    survives(expression)


def test_many_texts_read_as_the_patterns_they_were_written_from() -> None:
    """The same on many more cases."""
    random = Random(3)
    assert sum(survives(pattern(random)) for _ in range(1500)) > 750


@pytest.mark.parametrize(
    "text",
    [
        "/",
        "/a",
        "//a",
        "//*/@id",
        "/a/text()",
        "/self::node()[a]",
        "/self::node()[a]//b",
        "/a[.//b]",
        "/a[.='x']",
        "/a[@b!='x']",
        "/a[b | c<5]",
        "/a[contains(., 'x')][starts-with(b/@c, 'y')]",
        "/a[count(b)>1][string-length(.)<=3]",
        "/a[b and c or d]",
        "/a[(b or c) and d or e]",
        "/a[not(b and (c or d))]",
        "/Q{urn:p}a/*:b/Q{urn:p}*/Q{}*/@Q{urn:p}c",
        """/a[b="it's"]""",
        """/a[b='"']""",
        "/a[b=0.1]",
        "/a[b=-12.5]",
        "/a[b=100000000000000000000000]",
        "/a[b=0.000000001]",
    ],
)
def test_canonical_text_is_its_own(text: str) -> None:
    """Each form of the language, as it is written."""
    assert render(parse(text)) == text
    assert str(parse(text)) == text


def test_paths_and_predicates_have_text_too() -> None:
    """Parts of a pattern are written as they stand in it."""
    (predicate,) = parse("/a[.//b/@c=5]").alternatives[0].steps[0].predicates
    assert isinstance(predicate, Comparison)
    assert render_predicate(predicate) == ".//b/@c=5"
    assert render_path(predicate.paths[0]) == ".//b/@c"
    assert render_path(Path(())) == "."


def test_a_string_with_both_quotes_has_no_text() -> None:
    """XPath 1.0 cannot write it, so no pattern from text holds it."""
    with pytest.raises(ValueError, match="both kinds of quotes"):
        render_predicate(Comparison((Path(()),), "=", "'\""))


def survives(expression: Expression) -> bool:
    """Whether the expression is in the language, after checking that its pattern survives its text."""
    try:
        first = parse(expression.ours, NAMESPACES)
    except PatternError:
        return False
    assert parse(render(first)) == first, expression
    assert render(parse(render(first))) == render(first)
    return True
