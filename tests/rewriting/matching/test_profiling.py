"""Profiles of values."""

from __future__ import annotations

import pytest

from twigcast.document import read
from twigcast.rewriting import SchemaTree
from twigcast.rewriting.matching import ValueProfile, pooled_profiles, profile_documents
from twigcast.workload import infer


def profile(*values: str) -> ValueProfile:
    found = ValueProfile.of(values)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("dw@cdf.toronto.edu", "e-mail"),
        ("http://www.cs.toronto.edu/~matz/", "URL"),
        ("2016-04-04", "date"),
        ("MWF", "weekdays"),
        ("TuTh", "weekdays"),
        ("336.9", "number"),
        ("1:30 - 2:50", "time"),
        ("0305-0425pm", "time"),
        ("CSE 201A", "code"),
        ("15-721*", "code"),
        ("EUR", "letters"),
        ("Matthew Zaleski", "proper name"),
        ("E.C.R. Hehner", "proper name"),
        ("Concepts of problem solving using Java, algorithm design and more", "prose"),
        ("REG/P-F/AUD.", "other"),
    ],
)
def test_kinds(value: str, kind: str) -> None:
    """A value is of the first kind that fits all of it."""
    assert profile(value).kind == kind


def test_values_that_say_none_do_not_count() -> None:
    """Empty values, dashes and dots are no values."""
    assert ValueProfile.of(["", "-", " . "]) is None
    assert profile("-", "Bellare").count == 1


def test_similar_values() -> None:
    """Profiles of one kind are more similar than profiles of two, and each is most similar to itself."""
    names, more, rooms = profile("Ada", "Grace"), profile("Bellare", "Hu"), profile("BA 1180", "WeH 5409")
    assert names.similarity(names) == 1.0
    assert names.similarity(more) > 0.7 > 0.1 > names.similarity(rooms)


def test_mails_veto() -> None:
    """A place of e-mail addresses is never a place of names."""
    names, mails = profile("Ada", "Grace"), profile("ada@site.org", "grace@site.org")
    assert names.vetoes(mails)
    assert mails.vetoes(names)
    assert not mails.vetoes(mails)


def test_a_name_promises_a_kind() -> None:
    """A place that is called e-mail is expected to hold e-mail addresses."""
    expected = ValueProfile.expected(("contact", "email"))
    assert expected is not None
    assert expected.kind == "e-mail"
    assert ValueProfile.expected(("room",)) is None


def test_profiles_of_documents() -> None:
    """Each attribute and text has the profile of its values; elements without text have none."""
    body = b'<c><k nr="CS 1">Ada</k><k nr="CS 2">Grace</k></c>'
    tree = SchemaTree.of(infer([body]))
    found = profile_documents(tree, [read(body), read(b"<other/>")])
    assert {key: each.kind for key, each in found.items()} == {"c/k": "proper name", "c/k/@nr": "code"}
    assert found["c/k"].count == 2


def test_pooled_by_target() -> None:
    """The profile of a global place is the mean of those of its publishers, whatever their sizes."""
    names, mails = profile("Ada", "Grace", "Hu"), profile("ada@site.org")
    found = pooled_profiles(
        [({"a/x": "g/y"}, {"a/x": names}), ({"b/z": "g/y", "b/q": "g/q"}, {"b/z": mails})]
    )
    assert list(found) == ["g/y"]
    assert found["g/y"].shares["e-mail"] == found["g/y"].shares["proper name"] == 0.5
    assert found["g/y"].count == 4
