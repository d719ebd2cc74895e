"""The words of the language, and where they stand."""

from __future__ import annotations

import pytest

from twigcast.pattern.syntax.tokens import END, column, is_name, length, tokenise


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("/a//b", ["/", "a", "//", "b"]),
        ("a-b.c", ["a-b.c"]),
        ("a - b", ["a", "-", "b"]),
        ("p:a p:* *:a *", ["p:a", "p:*", "*:a", "*"]),
        ("child::a", ["child", "::", "a"]),
        ("child::p:a", ["child", "::", "p:a"]),
        ("Q{urn:x/y}a Q{}*", ["Q{urn:x/y}a", "Q{}*"]),
        ("Q/a", ["Q", "/", "a"]),
        (". .. .5 5. 5.5", [".", "..", ".5", "5.", "5.5"]),
        ("'a\"b' \"a'b\"", ["'a\"b'", '"a\'b"']),
        ("<=>=!=<>=", ["<=", ">=", "!=", "<", ">="]),
        ("名/é", ["名", "/", "é"]),
        ("'x", ["'", "x"]),
    ],
)
def test_text_falls_into_tokens(text: str, tokens: list[str]) -> None:
    """Names with their prefixes, literals and numbers are one token each."""
    assert tokenise(text) == [*tokens, END]


def test_a_token_has_a_column() -> None:
    """Columns count from 1, and the end is one past the text."""
    assert [column("/a [ b", index) for index in range(5)] == [1, 2, 4, 6, 7]


def test_names_are_told_from_signs() -> None:
    """A name test begins with a letter, an underscore or a star."""
    assert [
        token for token in ["a", "_", "*", "*:a", "Q{u}a", "é", "5", ".", "@", "'a'", END] if is_name(token)
    ] == [
        "a",
        "_",
        "*",
        "*:a",
        "Q{u}a",
        "é",
    ]


def test_length_leaves_out_uris() -> None:
    """What canonical text spells out does not count."""
    assert length("/Q{urn:very:long}a") == 2
