"""The schema of images as an automaton."""

from __future__ import annotations

import pytest

from tests.rewriting.test_deriving import tree
from twigcast.analysis import overlaps
from twigcast.pattern import parse
from twigcast.rewriting import derive, image_automaton
from twigcast.rewriting.operators import apply_all

SOURCE = tree(
    "<!ELEMENT cmu (Course*)><!ELEMENT Course (Name?, Lecturer*, Tutor?, Part*)><!ELEMENT Part (Part*)>"
)
TARGET = tree(
    "<!ELEMENT catalogue (course*)><!ELEMENT course (instructor*, part*)>"
    "<!ELEMENT instructor (name*, email?)><!ELEMENT part (part*)>"
)
PAIRS = {
    "cmu": "catalogue",
    "cmu/Course": "catalogue/course",
    "cmu/Course/Lecturer": "catalogue/course/instructor/name",
    "cmu/Course/Tutor": "catalogue/course/instructor/name",
    "cmu/Course/Part": "catalogue/course/part",
}


@pytest.mark.parametrize(
    ("xpath", "answer"),
    [
        ("//course[instructor/name]", True),
        ("/catalogue/course/Name", True),
        ("//instructor[email]", False),
        ("//course[Lecturer]", False),
        ("/cmu", False),
        ("//part/part/part", True),
        ("//Part", False),
        ("//instructor/instructor", False),
    ],
)
def test_subscriptions_overlap_with_images(xpath: str, answer: bool) -> None:
    """Places that share a label path are one position, and a renamed element contains itself still."""
    image = apply_all(SOURCE, derive(SOURCE, TARGET, PAIRS))
    assert overlaps(image_automaton(image), parse(xpath)) == answer
