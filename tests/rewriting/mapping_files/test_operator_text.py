"""Operators as lines of text."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rewriting.random_matchings import random_matching
from twigcast.errors import MappingError
from twigcast.rewriting import Downgrade, Hide, Insert, Operator, Rename, derive, shown_operator
from twigcast.rewriting.labels import QName
from twigcast.rewriting.mapping_files.operator_text import parse_operator
from twigcast.rewriting.operators import InsertAll, UpgradeAll


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**9))
def test_a_line_is_read_as_the_operator_that_it_shows(seed: int) -> None:
    """For all operators that matchings need."""
    source, target, pairs = random_matching(random.Random(seed))
    operators = derive(source, target, pairs)
    assert tuple(parse_operator(shown_operator(operator)) for operator in operators) == operators


@pytest.mark.parametrize(
    ("line", "operator"),
    [
        ("Rename cmu/Course course", Rename("cmu/Course", QName("", "course"))),
        (
            "Insert cmu/Course schedule {Day_, Time_}",
            Insert("cmu/Course", (QName("", "schedule"),), ("cmu/Course/Day_", "cmu/Course/Time_")),
        ),
        ("Insert+ r a/b", InsertAll("r", (QName("", "a"), QName("", "b")))),
        ("InsertAll r a", InsertAll("r", (QName("", "a"),))),
        ("Upgrade+ uni/faculty", UpgradeAll("uni/faculty")),
        ("Downgrade r {a, r/x/b} c", Downgrade("r", ("r/a", "r/x/b"), "r/c")),
        ("Hide r/a/@k", Hide("r/a/@k")),
        ("Rename p:r/p:a x", Rename("Q{urn:p/1}r/Q{urn:p/1}a", QName("", "x"))),
        ("Rename r/+w/a x", Rename("r/+w/a", QName("", "x"))),
    ],
)
def test_lines_that_people_write(line: str, operator: Operator) -> None:
    """Children without their path, all content by a plus sign, prefixes, and made nodes."""
    assert parse_operator(line, {"p": "urn:p/1"}) == operator


def test_namespaces_are_shown_as_prefixes() -> None:
    """Where a prefix is known, in places and in members."""
    operator = Insert("Q{urn:p/1}r", (QName("", "w"),), ("Q{urn:p/1}r/Q{urn:p/1}a",))
    assert shown_operator(operator, {"urn:p/1": "p"}) == "Insert p:r w {p:a}"
    assert parse_operator(shown_operator(operator)) == operator


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Renam r a", "expected one of Rename, "),
        ("", "expected one of Rename, "),
        ("Rename r", "expected Rename PLACE NAME"),
        ("Insert r {a} w", "expected Insert PLACE PATH {CHILD, …}"),
        ("Hide r a", "expected Hide PLACE"),
    ],
)
def test_what_is_no_operator_is_refused(line: str, expected: str) -> None:
    """With what was expected."""
    with pytest.raises(MappingError) as caught:
        parse_operator(line)
    assert caught.value.code == "mapping-file"
    assert expected in caught.value.message
