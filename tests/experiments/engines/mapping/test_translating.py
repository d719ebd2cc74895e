"""Query rewriting: subscriptions in the schema of a publisher."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.mapping.translating import QueryTranslator, translate
from tests.experiments.engines.mapping.known_documents import known_document
from tests.pattern.strategies import NAMESPACES
from tests.rewriting.sources import mapping_of, names
from tests.rewriting.strategies import random_mapping, random_pattern, random_schema
from twigcast.document import read
from twigcast.errors import DocumentError, PatternError
from twigcast.pattern import matches, parse, render
from twigcast.rewriting import Downgrade, Exchange, Insert, InsertEach, Mapping, Rename, ToElement, Upgrade
from twigcast.rewriting.labels import QName

CMU = """<!ELEMENT cmu (Course*)> <!ELEMENT Course (Lecturer*, Day_?, Time_?)>
<!ATTLIST Course nr CDATA #IMPLIED>
<!ELEMENT Lecturer (#PCDATA)> <!ELEMENT Day_ (#PCDATA)> <!ELEMENT Time_ (#PCDATA)>"""
COURSES = mapping_of(
    CMU,
    Rename("cmu", QName("", "catalogue")),
    Rename("cmu/Course", QName("", "course")),
    ToElement("cmu/Course/@nr", QName("", "code")),
    InsertEach("cmu/Course", names("instructor"), ("cmu/Course/Lecturer",)),
    Rename("cmu/Course/Lecturer", QName("", "name")),
    Insert("cmu/Course", names("schedule"), ("cmu/Course/Day_", "cmu/Course/Time_")),
    Rename("cmu/Course/Time_", QName("", "time")),
)
ARTICLES = """<!ELEMENT article (title, author*)> <!ELEMENT author (name)>
<!ELEMENT title (#PCDATA)> <!ELEMENT name (#PCDATA)>"""
TWO_ROOTS = mapping_of(ARTICLES, Exchange("article", "article/author"), Rename("article", QName("", "paper")))


@pytest.mark.parametrize(
    ("mapping", "pattern", "translated"),
    [
        (COURSES, "//course[instructor/name='Ailamaki']", "/cmu/Course[Lecturer='Ailamaki']"),
        (COURSES, "//course[code=15]", "/cmu/Course[@nr=15]"),
        (COURSES, "/catalogue/course/schedule[time]", "/cmu/Course[Day_ | Time_][Time_]"),
        (COURSES, "//course[not(schedule)]", "/cmu/Course[not(Day_ | Time_)]"),
        (COURSES, "//course[count(instructor)>1]", "/cmu/Course[count(Lecturer)>1]"),
        (COURSES, "//instructor/*", "/cmu/Course/Lecturer"),
        (TWO_ROOTS, "/author[name='John']/paper/title", "/article[author[name='John']]/title"),
    ],
)
def test_steps_are_replaced_by_the_way_between_source_places(
    mapping: Mapping, pattern: str, translated: str
) -> None:
    """A made element is its members, a copied one the way up and down again."""
    found = translate(parse(pattern), mapping)
    assert found.pattern is not None
    assert (render(found.pattern), found.exact) == (translated, True)


def test_a_pattern_outside_of_the_image_matches_nothing() -> None:
    """No translation is needed if no document of the publisher can match (trap 23)."""
    assert translate(parse("//course[textbook]"), COURSES) == (None, True)
    assert translate(parse("//Course"), COURSES) == (None, True)


@pytest.mark.parametrize(
    "pattern",
    [
        "//*[contains(., 'x')]",
        "//course='x'",
        "//course/*[2]",
        "//author='John'",
        "//paper[string-length(..)>3]",
    ],
)
def test_conditions_on_moved_content_are_inexact(pattern: str) -> None:
    """String-values and positions of what has moved are not those of the source: traps 17, 18 and 29."""
    for mapping in (COURSES, TWO_ROOTS):
        found = translate(parse(pattern), mapping)
        assert found.pattern is None or not found.exact


def test_copies_are_not_counted_in_the_source() -> None:
    """There are as many copies as authors, but one article: trap 19."""
    found = translate(parse("/self::node()[count(author/paper)=2]"), TWO_ROOTS)
    assert not found.exact
    assert found.pattern is not None
    body = b"<article><title/><author/><author/></article>"
    assert matches(found.pattern, read(body))


def test_a_missing_holder_is_made() -> None:
    """Where there is no holder, the condition is on the members: trap 4."""
    dtd = "<!ELEMENT course (TA*, instructor*)> <!ELEMENT TA EMPTY> <!ELEMENT instructor EMPTY>"
    mapping = mapping_of(dtd, Downgrade("course", ("course/TA",), "course/instructor"), root="course")
    found = translate(parse("//instructor[TA]"), mapping)
    assert found.pattern is not None
    assert found.exact
    assert matches(found.pattern, read(b"<course><TA/></course>"))
    assert matches(found.pattern, read(b"<course><instructor/><TA/></course>"))
    assert not matches(found.pattern, read(b"<course><instructor/></course>"))


def test_an_element_that_comes_back_is_in_all() -> None:
    """Upgrade and Downgrade join what was apart; the way back up and down is not shortened: trap 38."""
    dtd = "<!ELEMENT r (e*)> <!ELEMENT e (s*)> <!ELEMENT s (#PCDATA)>"
    mapping = mapping_of(dtd, Upgrade("r/e", ("r/e/s",)), Downgrade("r", ("r/e/s",), "r/e"))
    found = translate(parse("//e[not(s)]"), mapping)
    assert found.exact
    assert found.pattern is not None
    assert not matches(found.pattern, read(b"<r><e/><e><s/></e></r>"))


def test_a_recursive_schema_is_matched_on_images_only() -> None:
    """Every document is a candidate where the places have no end."""
    mapping = mapping_of("<!ELEMENT a (a*, b?)> <!ELEMENT b EMPTY>", Rename("a/b", QName("", "c")))
    found = translate(parse("//c"), mapping)
    assert found.pattern is not None
    assert (render(found.pattern), found.exact) == ("/", False)


@given(st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=150)
def test_exact_translations_are_equal_and_others_find_all(random: Random) -> None:
    """An exact translation answers as the image does; an inexact one finds at least what it should."""
    tree = random_schema(random, recursive=False)
    tree.nodes()
    mapping = random_mapping(random, tree, random.randint(1, 5))
    document = read(known_document(random, tree))
    try:
        image = mapping.apply(document)
    except DocumentError:
        return
    translator = QueryTranslator(mapping)
    for _ in range(8):
        try:
            pattern = parse(random_pattern(random).ours, NAMESPACES)
        except PatternError:
            continue
        wanted = matches(pattern, image)
        found = translator.translate(pattern)
        answer = found.pattern is not None and matches(found.pattern, document)
        assert answer >= wanted
        if found.exact:
            assert answer == wanted
