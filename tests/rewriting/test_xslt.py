"""The stylesheet of a mapping, run by lxml: another definition of the image, to compare with."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from lxml import etree

from experiments.engines.mapping.streaming import Event, StartEvent, events
from tests.pattern.strategies import NAMESPACES
from tests.rewriting.images import name, tree_of
from tests.rewriting.strategies import Case, cases, random_case, random_pattern
from twigcast.document import Document, read
from twigcast.errors import MappingError, PatternError
from twigcast.pattern import matches, parse
from twigcast.rewriting import Exchange, Mapping, Operator, Rename, ToElement, Upgrade, to_xslt
from twigcast.rewriting.labels import QName


def run(mapping: Mapping, body: bytes, wrapper: str = "forest") -> bytes:
    """What the stylesheet writes, in an element of this name, if it is one."""
    transform = etree.XSLT(etree.fromstring(to_xslt(mapping).encode()))
    source = etree.fromstring(body, etree.XMLParser(huge_tree=True)).getroottree()
    result = transform(source, wrapper=etree.XSLT.strparam(wrapper))
    return bytes(result)


def unwrapped(body: bytes) -> Document:
    """The document whose children are those of the root of a text."""
    document = read(body)
    document.children = document.root.children
    for child in document.children:
        child.parent = document
    return document


def comparable(found: list[Event]) -> list[object]:
    """Events without the order of attributes, which XSLT does not keep."""
    return [
        (event.label, set(event.attributes)) if isinstance(event, StartEvent) else event for event in found
    ]


def same(mapping: Mapping, body: bytes) -> bool:
    """Whether the stylesheet writes the image."""
    written = unwrapped(run(mapping, body))
    return comparable(list(events(written))) == comparable(list(events(mapping.apply(read(body)))))


@settings(max_examples=60, deadline=None)
@given(cases(6))
def test_the_stylesheet_writes_the_image(case: Case) -> None:
    """Element by element, text by text."""
    assert same(case.mapping, case.body)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_stylesheet_writes_the_image_on_many(seed: int) -> None:
    """Thousands of cases more."""
    random = Random(seed)
    for _ in range(500):
        case = random_case(random, 8)
        assert same(case.mapping, case.body)


@pytest.mark.parametrize("seed", range(40))
def test_patterns_match_what_the_stylesheet_writes(seed: int) -> None:
    """The evaluator on the image says what lxml's XPath says on the result of lxml's XSLT."""
    random = Random(seed)
    case = random_case(random, 6, recursive=seed % 4 == 0)
    image = case.mapping.apply(read(case.body))
    if sum(isinstance(child, type(image.root)) for child in image.children) != 1:
        return  # lxml has no document with several roots
    result = etree.fromstring(run(case.mapping, case.body, wrapper="")).getroottree()
    for _ in range(25):
        expression = random_pattern(random)
        if "name(" in expression.ours.replace("local-name(", ""):
            continue  # a prefix is the writer's choice
        try:
            pattern = parse(expression.ours, NAMESPACES)
        except PatternError:
            continue
        expected = result.xpath(f"boolean({expression.xpath})", namespaces=NAMESPACES)
        assert matches(pattern, image) == expected, expression.ours


def written(schema: str, body: str, *operators: Operator) -> str:
    """What the stylesheet writes, without a wrapper."""
    text = run(Mapping("m", tree_of(schema), operators), body.encode(), wrapper="").decode()
    return text.split("?>", 1)[1].strip()


def test_a_forest_is_written_without_a_wrapper() -> None:
    """Several roots, one behind the other."""
    body = "<article><title/><author>1</author><author>2</author></article>"
    exchange = Exchange("article", "article/author")
    assert written("article(title, author*)", body, exchange) == (
        "<author><article><title/></article>1</author><author><article><title/></article>2</author>"
    )


def test_prefixes_stay_where_the_namespace_does() -> None:
    """As in the image."""
    operators = Rename("Q{urn:p}r", QName("urn:p", "z")), ToElement("Q{urn:p}r/@a", name("n"))
    assert written("p:r(@a)", "<i:r xmlns:i='urn:p' a='1' i:b='2'/>", *operators) == (
        '<i:z xmlns:i="urn:p" i:b="2"><n>1</n></i:z>'
    )


@pytest.mark.parametrize("uri", ["it's", 'a"b', 'it\'s "b"', "a&b<c"])
def test_namespaces_are_quoted(uri: str) -> None:
    """Whatever characters they have."""
    rename = Rename("r/a", QName(uri, "z")), Upgrade("r/a", ("r/a/b",))
    mapping = Mapping("m", tree_of("r(a(b))"), rename)
    again = Mapping("n", tree_of("r(a(b))"), (*rename, Rename("r/a", name("y"))))
    for each in (mapping, again):
        assert same(each, b"<r><a>x<b/></a></r>")


def test_a_document_with_another_root_is_written_as_it_is() -> None:
    """The stylesheet knows none of its places."""
    assert written("r(a)", "<x><a>1</a></x>", Rename("r/a", name("z"))) == "<x><a>1</a></x>"


def test_an_operator_that_cannot_be_applied_is_refused() -> None:
    """No stylesheet is written."""
    with pytest.raises(MappingError):
        to_xslt(Mapping("m", tree_of("r(a)"), (Upgrade("r", ("r/a",)),)))


def test_deep_documents_are_written() -> None:
    """The templates of the stylesheet do not nest deeper than the document."""
    body = "<r>" + "<a>" * 900 + "</a>" * 900 + "</r>"
    assert written("r(b)", body, Rename("r", name("z"))).count("<a") == 900
