"""The characters of XML 1.0."""

from __future__ import annotations

import pytest

from twigcast.characters import describe_character, illegal_character


@pytest.mark.parametrize(
    "text", ["", "a b", "\t\r\n", "é\u00a0\u0085", "\ud7ff\ue000\ufffd", "\U0001f600\U0010ffff"]
)
def test_legal_text_has_no_illegal_character(text: str) -> None:
    """White space, and everything that XML 1.0 calls a Char."""
    assert illegal_character(text) is None


@pytest.mark.parametrize("character", ["\0", "\x0b", "\x0c", "\x1b", "\x1f", "\udfff", "\ufffe", "\uffff"])
def test_the_first_illegal_character_is_found(character: str) -> None:
    """Its position is counted from 0."""
    assert illegal_character(f"ab{character}c{character}") == 2
    assert describe_character(character) == f"U+{ord(character):04X}"
