"""The text of a name is printable and leads back to the name."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.system import name_text, path_of
from twigcast.system.name_text import name_bytes


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("news/é 1%.xml".encode(), "news/é 1%.xml"),
        (b"caf\xe9.xml", "caf\\xe9.xml"),
        (b"a\nb\tc\x1bd\x00e\x7f", "a\\x0ab\\x09c\\x1bd\\x00e\\x7f"),
        ("\x85\u2028".encode(), "\\xc2\\x85\\xe2\\x80\\xa8"),
        (b"back\\xe9", "back\\\\xe9"),
        (b"\xed\xa0\x80", "\\xed\\xa0\\x80"),
    ],
)
def test_what_is_no_printable_text_is_escaped(name: bytes, text: str) -> None:
    """Bytes that are not UTF-8, control characters and backslashes are escaped, and nothing else is."""
    assert name_text(name) == text
    assert name_text(os.fsdecode(name)) == text
    assert name_bytes(text) == name


@given(st.binary(), st.sampled_from(["", "!", "!#"]))
def test_every_name_has_a_text_of_its_own(name: bytes, also: str) -> None:
    """The text leads back to the name, is valid UTF-8, and has none of the separators."""
    text = name_text(name, also=also)
    assert name_bytes(text.encode("utf-8").decode("utf-8")) == name
    assert not set(text) & set(also)
    assert os.fsencode(path_of(text)) == name


def test_a_surrogate_that_stands_for_no_byte_is_escaped() -> None:
    """Any string of Python has a text that UTF-8 can encode."""
    assert name_text("\ud800!").encode("utf-8") == b"\\xed\\xa0\\x80!"
