"""Similarity of names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.rewriting.matching import NameComparison, Thesaurus, pooled_names, words_of

NAMES = st.text("abcABC_12", min_size=1, max_size=10)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("CourseTitle", ("course", "title")),
        ("MoreInfoURL", ("more", "info", "url")),
        ("XMLFile", ("xml", "file")),
        ("Fall2003", ("fall", "2003")),
        ("issue_date", ("issue", "date")),
        ("In_", ("in",)),
        ("größe", ("größe",)),
        ("Strasse-Nr", ("strasse", "nr")),
    ],
)
def test_words(name: str, words: tuple[str, ...]) -> None:
    """Names are cut at case, digits and signs."""
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("a", "b", "similarity"),
    [
        ("title", "Title", 1.0),
        ("CourseTitle", "title", 2 / 3),
        ("prereq", "prerequisite", 0.9),
        ("Lecturer", "instructor", 0.99),
        ("Lecturer", "instructor_name", 2 * 0.99 / 3),
        ("Code", "mode", 0.0),
        ("no", "notes", 0.0),
        ("line1", "line2", 0.5),
    ],
)
def test_similarity(a: str, b: str, similarity: float) -> None:
    """Equal words, synonyms and beginnings count; the rest does not."""
    assert NameComparison(Thesaurus.built_in()).similarity(a, b).value == pytest.approx(similarity)


def test_alike_words_count_as_they_are() -> None:
    """A misspelt word has the similarity of Jaro and Winkler."""
    value = NameComparison(Thesaurus()).similarity("instructor", "instuctor").value
    assert 0.85 < value < 1.0


def test_synonyms_are_evidence() -> None:
    """The synonyms that made two names similar are reported, the source's word first."""
    compared = NameComparison(Thesaurus.built_in()).similarity("Lecturer", "instructor_name")
    assert compared.synonyms == (("lecturer", "instructor"),)


def test_compounds_are_cut_into_known_words() -> None:
    """A word without a sign between its parts is cut if both parts are words of the schemas."""
    names = NameComparison(Thesaurus(), ["coursewebsite", "course", "website"])
    assert names.words("coursewebsite") == ("course", "website")
    assert NameComparison(Thesaurus(), ["coursewebsite"]).words("coursewebsite") == ("coursewebsite",)


@settings(max_examples=100, deadline=None)
@given(NAMES, NAMES)
def test_similarity_is_symmetric_and_bounded(a: str, b: str) -> None:
    """The order of the names does not matter, and a name is like itself."""
    names = NameComparison(Thesaurus.parse("a, b"))
    there, back = names.similarity(a, b).value, names.similarity(b, a).value
    assert there == pytest.approx(back)
    assert 0.0 <= there <= 1.0
    assert names.similarity(a, a).value == (1.0 if words_of(a) else 0.0)


def test_names_of_publishers() -> None:
    """The names that publishers have for a place are collected from their pairs."""
    found = pooled_names(
        [{"cmu/Course/Lecturer": "c/i"}, {"brown/Course/Instructor": "c/i", "brown/@x": "c/x"}]
    )
    assert found == {"c/i": {"Lecturer", "Instructor"}, "c/x": {"x"}}
