"""The thesaurus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from twigcast.errors import SourceError
from twigcast.rewriting.matching import Thesaurus


def test_built_in_groups() -> None:
    """The thesaurus of the package knows the words of catalogues."""
    thesaurus = Thesaurus.built_in()
    assert thesaurus.are_synonyms("lecturer", "instructor")
    assert not thesaurus.are_synonyms("lecturer", "room")


def test_groups_do_not_become_one() -> None:
    """A word of two groups does not make their other words synonyms."""
    thesaurus = Thesaurus.parse("place, location\nroom, location\n")
    assert thesaurus.are_synonyms("room", "location")
    assert not thesaurus.are_synonyms("room", "place")


def test_comments_and_single_words_are_passed_over() -> None:
    """A line needs two words to say anything."""
    assert Thesaurus.parse("# a, b\nalone\nX, y # z, w\n").groups == ({"x", "y"},)


def test_a_users_file_adds_to_the_built_in_groups(write: Callable[[str, str], Path]) -> None:
    """The words of the package stay known."""
    thesaurus = Thesaurus.read(write("words.txt", "crn, registration\n"))
    assert thesaurus.are_synonyms("crn", "registration")
    assert thesaurus.are_synonyms("lecturer", "instructor")


def test_a_file_that_is_no_text(write: Callable[[str, bytes], Path]) -> None:
    """The error says what the file should be."""
    with pytest.raises(SourceError, match="must be UTF-8 text: a group of words on each line"):
        Thesaurus.read(write("words.txt", b"\xff\xfe"))
