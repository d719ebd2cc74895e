"""Each subscriber has a folder of its own, on every file system."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twigcast.spark.outputs.subscriber_folders import NAME_BYTES, subscriber_folder


@pytest.mark.parametrize(
    ("subscriber", "folder"),
    [
        ("ada", "ada"),
        ("desk-1@news.example, a+b=~c", "desk-1@news.example, a+b=~c"),
        ("a/b", "a%2Fb"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        (".unfinished", "%2Eunfinished"),
        ("_x", "%5Fx"),
        ("x. ", "x.%20"),
        ("Ada", "%41da"),
        ("con", "%63on"),
        ("lpt1.xml", "%6Cpt1.xml"),
        ("console", "console"),
        ("100%", "100%25"),
        ("", "%"),
    ],
)
def test_a_subscriber_cannot_leave_the_folder(subscriber: str, folder: str) -> None:
    """Names that would be another folder, a hidden or a reserved one are escaped; plain names are not."""
    assert subscriber_folder(subscriber) == folder


def test_a_long_name_is_shortened_and_stays_its_own() -> None:
    """File systems allow 255 bytes in a name; a short name cannot be that of a long one."""
    first, second = subscriber_folder("é" * 300 + "1"), subscriber_folder("é" * 300 + "2")
    assert first != second
    assert len(first.encode()) == NAME_BYTES
    assert subscriber_folder(first) != first


@pytest.mark.parametrize(
    ("one", "other"),
    [("ada", "Ada"), ("é", "e\u0301"), ("ſ", "s"), ("a", "a."), ("k", "\u212a"), ("\ud800", "?")],
)
def test_names_that_a_file_system_takes_for_one(one: str, other: str) -> None:
    """Case, Unicode normalisation and a dot at the end tell subscribers apart."""
    assert seen(one) != seen(other)


@given(st.text(max_size=5), st.text(max_size=5))
def test_different_subscribers_have_different_folders(one: str, other: str) -> None:
    """Also on a file system that ignores case, normalises Unicode and drops dots and spaces at the end."""
    assert (seen(one) == seen(other)) == (one == other)


def seen(subscriber: str) -> str:
    """The name of the folder, as the most tolerant file system compares it."""
    return normalize("NFKC", subscriber_folder(subscriber)).casefold().rstrip(". ")
