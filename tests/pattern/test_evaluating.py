"""The evaluator against XPath 1.0: by hand, and against lxml on random documents and patterns."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.pattern.strategies import NAMESPACES, Expression, document, documents, pattern, patterns
from twigcast.document import Attribute, Document, Element, Node, Text, descendants, read, string_value
from twigcast.errors import PatternError
from twigcast.pattern import Pattern, matches, parse, select


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents(), st.lists(patterns(), min_size=1, max_size=4))
def test_agrees_with_lxml(body: bytes, expressions: list[Expression]) -> None:
    """Whether a pattern matches, and which nodes it selects, is what lxml says."""
    for outcome in compare_with_lxml(body, expressions):
        event(outcome)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_lxml_on_many(seed: int) -> None:
    """The same on many more cases, and enough of them match."""
    random = Random(seed)
    outcomes: list[str] = []
    for _ in range(250):
        outcomes += compare_with_lxml(document(random), [pattern(random) for _ in range(5)])
    assert outcomes.count("matches") > 200
    assert outcomes.count("refused") < 200


@pytest.mark.parametrize(
    ("pattern", "selected"),
    [
        ("/", ["5x5 12"]),
        ("//b", ["5", " 12"]),
        ("/a/b[.=12]", [" 12"]),
        ("//@*", ["1", "2"]),
        ("//@y", []),
        ("//a/text()", ["x"]),
        ("//text()", ["5", "x", "5", " 12"]),
        ("//c | //b", ["5", "5", " 12"]),
        ("//b | //b", ["5", " 12"]),
        ("//c/..", ["5x5 12"]),
        ("/a//*", ["5", "5", " 12"]),
    ],
)
def test_selects_each_node_once_in_document_order(pattern: str, selected: list[str]) -> None:
    """Nodes come in document order, each once, however many alternatives select it."""
    body = b"<a><b i='1'>5</b>x<!-- --><c j='2'>5</c><b> 12</b></a>"
    assert [string_value(node) for node in select(parse(pattern), read(body))] == selected


@pytest.mark.parametrize(
    ("predicate", "holds"),
    [
        ("b = 5", True),
        ("b != 5", True),
        ("b = '5'", True),
        ("b = '5.0'", False),
        ("b = 5.0", True),
        ("b < 5", False),
        ("b <= '5'", True),
        ("b > 5", True),
        ("b = 12", True),
        ("b = 1e1", None),
        ("z = ''", False),
        ("z != ''", False),
        ("not(z)", True),
        ("n != 5", True),
        ("n = 5", False),
        ("n < 5 or n >= 5", False),
        ("e = 100000", False),
        ("plus = 5", False),
        ("minus = -5", True),
        ("contains(b, '12')", False),
        ("contains(b, '5')", True),
        ("contains(z, 'x')", False),
        ("starts-with(., '5')", True),
        ("starts-with(z, '')", True),
        ("string-length(b) = 1", True),
        ("string-length(z) = 0", True),
        ("string-length(é) = 1", True),
        ("count(b) = 2", True),
        ("count(b | b) = 2", True),
        ("count(z) = 0", True),
        ("@k", True),
        ("@k = ' 5 '", True),
        ("@k = 5", True),
        ("text()", False),
    ],
)
def test_compares_as_xpath_does(predicate: str, holds: bool | None) -> None:
    """Comparisons are true of some node; functions look at the first; numbers have no exponent or plus."""
    body = (
        "<a k=' 5 '><b>5</b><b>12</b><n>x</n><e>1e5</e><plus>+5</plus><minus> -5</minus><é>é</é></a>".encode()
    )
    if holds is None:
        with pytest.raises(PatternError):
            parse(f"/a[{predicate}]")
    else:
        assert matches(parse(f"/a[{predicate}]"), read(body)) is holds


def test_deep_documents_need_no_deep_stack() -> None:
    """A document as deep as the limit is evaluated like any other."""
    body = b"<a>" * 1000 + b"x" + b"</a>" * 1000
    assert len(select(parse("//a[.='x']//a[text()]"), read(body))) == 1


def compare_with_lxml(body: bytes, expressions: list[Expression]) -> list[str]:
    """What became of each expression, after comparing its outcome with lxml's."""
    ours_of = read(body)
    parser = etree.XMLParser(resolve_entities=True, no_network=True)
    tree = etree.ElementTree(etree.fromstring(body, parser))
    ours, theirs = _ours(ours_of), _theirs(tree)
    outcomes = []
    for expression in expressions:
        expected = tree.xpath(f"boolean({expression.xpath})", namespaces=NAMESPACES)
        pattern = parsed(expression)
        if isinstance(pattern, PatternError):
            assert pattern.code in ("never-matches", "unsupported", "too-complex"), expression
            assert pattern.code != "never-matches" or not expected, expression
            outcomes.append("never matches" if pattern.code == "never-matches" else "refused")
            continue
        assert matches(pattern, ours_of) == expected, (expression, str(pattern))
        selected = [ours(node) for node in select(pattern, ours_of) if not isinstance(node, Document)]
        found = tree.xpath(expression.xpath, namespaces=NAMESPACES)
        assert selected == [theirs(node) for node in found], (expression, str(pattern))
        outcomes.append("matches" if expected else "does not match")
    return outcomes


def parsed(expression: Expression) -> Pattern | PatternError:
    """The pattern, or why there is none."""
    try:
        return parse(expression.ours, NAMESPACES)
    except PatternError as error:
        return error


def _ours(document: Document) -> Callable[[Node], tuple[object, ...]]:
    """How to name a node of ours: an element by its number, others by their element's number and value."""
    numbers = {id(element): number for number, element in enumerate(descendants(document))}

    def name(node: Node) -> tuple[object, ...]:
        match node:
            case Element():
                return ("element", numbers[id(node)])
            case Attribute():
                name = f"{{{node.namespace}}}{node.local}" if node.namespace else node.local
                return ("attribute", numbers[id(node.parent)], name, node.value)
            case Text():
                return ("text", numbers[id(node.parent)], node.value)
        raise AssertionError(node)

    return name


def _theirs(tree: etree._ElementTree) -> Callable[[object], tuple[object, ...]]:
    """How to name a node of lxml's in the same way."""
    numbers = {element: number for number, element in enumerate(tree.iter(etree.Element))}

    def name(node: object) -> tuple[object, ...]:
        if isinstance(node, etree._Element):
            return ("element", numbers[node])
        owner = node.getparent()  # type: ignore[attr-defined]
        if node.is_attribute:  # type: ignore[attr-defined]
            return ("attribute", numbers[owner], node.attrname, str(node))  # type: ignore[attr-defined]
        return ("text", numbers[owner.getparent() if node.is_tail else owner], str(node))  # type: ignore[attr-defined]

    return name
