"""Documents are read in the encodings of character sets, and in no other codec of Python."""

from __future__ import annotations

import encodings

import pytest

from twigcast.document import codec_name, read
from twigcast.errors import DocumentError
from twigcast.filtering import Index


@pytest.mark.parametrize(
    "encoding", ["ISO-8859-15", "windows-1252", "KOI8-R", "macintosh", "IBM850", "TIS-620", "latin1"]
)
def test_an_encoding_of_one_byte_per_character_is_read(encoding: str) -> None:
    """Python's codecs supply the table."""
    body = f"<?xml version='1.0' encoding='{encoding}'?><a>x</a>".encode()
    assert Index([("id", "//a[.='x']")]).match(body).ids == ["id"]
    assert read(body).root.local == "a"


@pytest.mark.parametrize(
    "encoding", ["unicode_escape", "raw_unicode_escape", "charmap", "utf-7", "rot13", "hex"]
)
def test_a_codec_that_is_no_character_set_is_unknown(encoding: str) -> None:
    """With unicode_escape, the bytes \\x3c would be markup."""
    body = f"<?xml version='1.0' encoding='{encoding}'?><a/>".encode()
    error = Index([("id", "//a")]).match(body).error
    assert error is not None
    assert error.code == "encoding"
    with pytest.raises(DocumentError, match="unknown encoding") as caught:
        read(body)
    assert caught.value == error


def test_unknown_names_are_not_kept() -> None:
    """Python's codec registry keeps every name that it was asked for, so it is not asked."""
    known = len(encodings._cache)  # type: ignore[attr-defined]
    index = Index([("id", "//a[1]")])
    for number in range(50):
        for name in (f"unknown-{number}", f"cp{number}9999", f"iso8859-{number}9"):
            assert codec_name(name) is None
            body = f"<?xml version='1.0' encoding='{name}'?><a/>".encode()
            assert index.match(body).error is not None
            with pytest.raises(DocumentError):
                read(body)
    assert len(encodings._cache) <= known + 5  # type: ignore[attr-defined]
