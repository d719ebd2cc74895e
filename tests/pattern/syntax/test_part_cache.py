"""Patterns put together from remembered parts are those the parser would have read."""

from __future__ import annotations

from random import Random

import pytest

from tests.pattern.strategies import NAMESPACES, pattern
from twigcast.errors import PatternError
from twigcast.pattern import parse
from twigcast.pattern.syntax.parsing import parse_alone
from twigcast.pattern.syntax.part_cache import PARTS, assembled


def test_equals_the_parser() -> None:
    """Whatever the text, assembling gives the parser's pattern or leaves it to the parser."""
    random = Random(5)
    for _ in range(1000):
        text = pattern(random).ours
        found = assembled(text, NAMESPACES, parse_alone)
        if found is not None:
            assert found == parse_alone(text, NAMESPACES)


@pytest.mark.parametrize(
    "text",
    [
        "/nitf/*/body.content[p/em][block]//hl2[@id=5]/person",
        "//a",
        "/a[b='x']",
        "/a[c][b][c]",
        "/a[b and c][b]",
        "/a[.//b[@id='n1']/c]",
        '/a[b[@id<7]//*][@lang!="en"]',
    ],
)
def test_usual_texts_are_assembled(text: str) -> None:
    """Steps with flat predicates are put together, the second time without the parser."""
    first = assembled(text, None, parse_alone)
    assert first == parse_alone(text)
    assert assembled(text, None, _no_parser) == first


@pytest.mark.parametrize(
    "text",
    [
        "/a[b[c[d]]]",
        "/a | /b",
        "/a/@b",
        "/a/..",
        "a/b",
        "/a[../b]",
        "/a[parent::b]",
        "/a [b]",
        "/a[b='x][c']",
        "/a[b=']']",
        "/a/text()",
        "/child::a",
        "[a]",
        "/a[]",
        "",
    ],
)
def test_others_are_left_to_the_parser(text: str) -> None:
    """Whatever is not a row of names and flat predicates."""
    assert assembled(text, None, parse_alone) is None


@pytest.mark.parametrize(
    "text",
    [
        "/a[@b<'5']",
        "/a[@b=05]",
        "/a[@b='x\"y']",
        "/a[or]",
        "/a[b/*[@c>=3]]",
        "/a[*]",
        "/a[.//*]",
    ],
)
def test_new_predicates_equal_the_parsers(text: str) -> None:
    """A predicate is read alike whether the parser or its shape decides, the first time and the second."""
    for _ in range(2):
        try:
            found = parse(text)
        except PatternError as error:
            with pytest.raises(PatternError, match=error.code):
                parse_alone(text)
        else:
            assert found == parse_alone(text)


@pytest.mark.parametrize("text", ["/a[b='x][c']", "/a[b=']']"])
def test_brackets_in_strings_are_strings(text: str) -> None:
    """A predicate that seems to end inside a string does not."""
    assert parse(text) == parse_alone(text)


def test_what_depends_on_the_step_before_is_not_remembered() -> None:
    """A predicate that looks up means something else on every step."""
    assert [str(parse(f"/{name}/b[../c]")) for name in "xyz"] == ["/x[c]/b", "/y[c]/b", "/z[c]/b"]


def test_errors_are_the_parsers() -> None:
    """A bad part among good ones is refused with its column in the whole text."""
    parse("/a/b[c]")
    with pytest.raises(PatternError) as caught:
        parse("/a/b[c]/d[$x]")
    assert caught.value.column == 11


@pytest.mark.parametrize("part", ["[local-name()='b']", "[name()='b']", "[last()]", "[position() mod 2 = 1]"])
def test_what_depends_on_the_step_itself_is_not_remembered(part: str) -> None:
    """A predicate on the name or the position of the element means something else on every step."""
    for text in (f"/a/b{part}", f"/a/*{part}/c", f"/a/b{part}"):
        assert parse(text) == parse_alone(text)


def test_memory_is_bounded() -> None:
    """More distinct parts than the tables hold are read all the same."""
    for number in range(0, PARTS + 10, 1):
        step = assembled(f"/memory{number}", {"": "urn:memory"}, _small_parser)
        assert step is not None


def _no_parser(text: str, namespaces: object) -> object:
    raise AssertionError(f"{text} was read again")


_STEP = parse_alone("/memory")


def _small_parser(text: str, namespaces: object) -> object:
    return _STEP
