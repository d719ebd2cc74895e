"""Tests of patterns that are written as XPath 1.0 for libxml2: it selects what ``select`` selects."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from lxml import etree

from tests.pattern.strategies import NAMESPACES, document, pattern
from twigcast.document import Element, descendants, read
from twigcast.errors import PatternError
from twigcast.pattern import FUNCTION_NAMESPACE, Pattern, compares, parse, select, to_xpath

FUNCTIONS = {(FUNCTION_NAMESPACE, "compares"): lambda _, *values: compares(*values)}


def by_lxml(body: bytes, text: str, namespaces: dict[str, str]) -> list[int]:
    """The numbers of the elements that lxml selects, in document order."""
    tree: Any = etree.ElementTree(etree.fromstring(body, etree.XMLParser(resolve_entities="internal")))
    numbers = {each: number for number, each in enumerate(tree.getroot().iter(etree.Element))}
    return [numbers[each] for each in tree.xpath(text, namespaces=namespaces, extensions=FUNCTIONS)]


def by_select(body: bytes, asked: Pattern) -> list[int]:
    """The numbers of the elements that ``select`` selects, or of those with the selected attributes."""
    whole = read(body)
    numbers = {each.order: number for number, each in enumerate(descendants(whole))}
    found = [each if isinstance(each, Element) else each.parent for each in select(asked, whole)]
    return [numbers[each.order] for each in found if isinstance(each, Element)]


def test_libxml2_selects_what_select_selects() -> None:
    """For random documents and patterns, half of which are written."""
    random = Random(5)
    written = 0
    for _ in range(120):
        body = document(random)
        for _ in range(6):
            try:
                asked = parse(pattern(random).ours, NAMESPACES)
            except PatternError:
                continue
            made = to_xpath(asked)
            if made is not None:
                written += 1
                assert by_lxml(body, made.text, made.namespaces) == by_select(body, asked), str(asked)
    assert written > 150


NUMBERS = b"<a><b>5</b><b>5e0</b><b>+5</b><b> 5.0 </b><b>x</b><b>0.50000000000000000001</b><b/></a>"


@pytest.mark.parametrize(
    "text", ["//b[. = 5]", "//b[. != 5]", "//b[. > 0.5]", "/a[b <= 0.5]", "//a[b = 5]/b"]
)
def test_numbers_are_those_of_xpath(text: str) -> None:
    """libxml2 alone reads exponents and plus signs, and rounds long numbers."""
    made = to_xpath(parse(text))
    assert made is not None
    assert by_lxml(NUMBERS, made.text, made.namespaces) == by_select(NUMBERS, parse(text))


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("//b/@id", "id"),
        ("/a//b[c]/@id", "id"),
        ("//b", None),
    ],
)
def test_elements_of_attributes_are_selected(text: str, attribute: str | None) -> None:
    """The name of the attribute is beside the expression."""
    body = b"<a id='1'><b/><b id='2'/><b id='3'><c/></b></a>"
    made = to_xpath(parse(text))
    assert made is not None
    assert made.attribute == attribute
    assert by_lxml(body, made.text, made.namespaces) == by_select(body, parse(text))


@pytest.mark.parametrize(
    "text",
    [
        *("//a/text()", "//a[text() = 'x']", "//a/@*", "//a/@id | //b", "//a/@id | //b/@x", "/", "//*:a"),
        *("//a | //b", "//a//b", "/a/b//c", "//a[.//b//c]", "//a[count(b | c) > 1]"),
        *("//a[following::b]", "//a[lower-case(b) = 'x']", "count(//a) > 1", "(//a)[1]", "//a/comment()"),
    ],
)
def test_what_processors_may_read_otherwise_is_not_written(text: str) -> None:
    """Text nodes, any attribute or namespace, general expressions; and what is quadratic in libxml2."""
    assert to_xpath(parse(text)) is None
