"""Paths: long forms, free starts, ends."""

from __future__ import annotations

import pytest

from twigcast.pattern import (
    TEXT,
    Axis,
    NameTest,
    Path,
    Pattern,
    Step,
    parse,
    render,
)


def child(name: str, *predicates: object) -> Step:
    return Step(Axis.CHILD, NameTest("", name), predicates)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a/b", "//a/b"),
        ("@id", "//*/@id"),
        (".//a", "//a"),
        ("./a", "//a"),
        ("text()", "//*/text()"),
        ("//@id", "//*/@id"),
        ("/a//@id", "/a//*/@id | /a/@id"),
        ("/a//text()", "/a//*/text() | /a/text()"),
        ("/child::a/descendant::b", "/a//b"),
        ("/descendant-or-self::node()/a", "//a"),
        ("/a/attribute::b", "/a/@b"),
        ("/a/descendant::text()", "/a//*/text() | /a/text()"),
        (" / a [ b ] // c ", "/a[b]//c"),
        ("(/b | /a)", "/a | /b"),
        ("/a | /a", "/a"),
    ],
)
def test_paths_have_one_canonical_text(text: str, same: str) -> None:
    """Long forms, free starts and unions come down to a few short forms."""
    assert render(parse(text)) == same


def test_ends_of_paths() -> None:
    """Attributes and text are the end of a path, not steps of it."""
    assert parse("/a/text()") == Pattern((Path((child("a"),), TEXT),))
    assert parse("/") == Pattern((Path(()),))
