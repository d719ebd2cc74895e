"""Names with their namespaces, and errors with their place."""

from __future__ import annotations

import pytest

from twigcast.errors import PatternError
from twigcast.pattern import (
    ANY,
    AttributeTail,
    Axis,
    NameTest,
    Path,
    Pattern,
    Step,
    parse,
)


def path(*steps: Step) -> Path:
    return Path(steps)


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("a", NameTest("urn:d", "a")),
        ("p:a", NameTest("urn:p", "a")),
        ("p:*", NameTest("urn:p", None)),
        ("*:a", NameTest(None, "a")),
        ("*", ANY),
        ("Q{urn:q}a", NameTest("urn:q", "a")),
        ("Q{urn:q}*", NameTest("urn:q", None)),
        ("Q{}a", NameTest("", "a")),
        ("xml:a", NameTest("http://www.w3.org/XML/1998/namespace", "a")),
    ],
)
def test_names_carry_namespaces(text: str, test: NameTest) -> None:
    """Prefixes are bound by the map; no prefix is its key ``""``."""
    assert parse(f"/{text}", {"": "urn:d", "p": "urn:p"}) == Pattern((path(Step(Axis.CHILD, test)),))


def test_attributes_without_prefix_have_no_namespace() -> None:
    """The default namespace is for elements."""
    assert parse("/*/@a", {"": "urn:d"}).alternatives[0].tail == AttributeTail(NameTest("", "a"))


@pytest.mark.parametrize(("text", "column"), [("/p:a", 2), ("/a/@p:b", 5), ("/a[b/p:*]", 6)])
def test_an_unbound_prefix_is_refused(text: str, column: int) -> None:
    """Prefixes mean nothing but what the map says."""
    with pytest.raises(PatternError) as caught:
        parse(text)
    assert (caught.value.code, caught.value.column) == ("unbound-prefix", column)


def test_a_namespace_that_cannot_be_written_is_refused() -> None:
    """Canonical text has no way to write braces in a URI."""
    with pytest.raises(PatternError) as caught:
        parse("/p:a", {"p": "urn:{x}"})
    assert caught.value.code == "unsupported"


def test_the_error_points_at_the_text() -> None:
    """It has the text, and the column (from 1) of what is wrong in it."""
    with pytest.raises(PatternError) as caught:
        parse("/a/b[id('x')]")
    assert (caught.value.text, caught.value.column) == ("/a/b[id('x')]", 6)
