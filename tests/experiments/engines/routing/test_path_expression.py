"""Regular path expressions: their text and their kinds."""

from __future__ import annotations

import pytest

from experiments.engines.routing.path_expression import (
    Either,
    Kind,
    Label,
    Repeat,
    Series,
    kind,
    parse_path_expression,
    render_expression,
    size,
)
from twigcast.errors import SchemaError
from twigcast.pattern import ANY, NameTest

A, B = Label(NameTest("", "a")), Label(NameTest("", "b"))


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("/a", A),
        ("/a/b", Series((A, B))),
        ("/a(/b/a)+/b", Series((A, Repeat(Series((B, A))), B))),
        ("(/a|/b)", Either((A, B))),
        ("(/a|/b)+", Repeat(Either((A, B)))),
        ("/a(|/b)", Series((A, Either((Series(()), B))))),
        ("/*", Label(ANY)),
        ("/Q{urn:u}a", Label(NameTest("urn:u", "a"))),
        ("/Q{urn:u}*", Label(NameTest("urn:u", None))),
        ("/*:a", Label(NameTest(None, "a"))),
        ("/body.head", Label(NameTest("", "body.head"))),
    ],
)
def test_text(text: str, expression: object) -> None:
    """An expression is parsed from its text and rendered as the same text."""
    found = parse_path_expression(text)
    assert found == expression
    assert render_expression(found) == str(found) == text


@pytest.mark.parametrize("text", ["a", "/a/", "/a(/b", "/a)", "/a b", "/Q{u", "/a+", "(/a|"])
def test_refusals(text: str) -> None:
    """The error for an invalid expression names the column."""
    with pytest.raises(SchemaError, match="at column"):
        parse_path_expression(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/t1/t2/t3", Kind.NON_RECURSIVE),
        ("/t1(/t2/t3)+/t4", Kind.SIMPLE),
        ("/t1(/t2)+/t3(/t4/t5)+/t6", Kind.SERIES),
        ("/t1(/t2(/t3)+/t4)+/t5", Kind.EMBEDDED),
    ],
)
def test_kinds_of_section_3_1(text: str, expected: Kind) -> None:
    """The four kinds of advertisements of the routing paper are distinguished."""
    assert kind(parse_path_expression(text)) is expected


def test_size_is_the_number_of_labels() -> None:
    """A label counts as often as it is written."""
    assert size(parse_path_expression("/a(/b|/c/a)+/b")) == 5
