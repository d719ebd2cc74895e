"""Images: their nodes, the nodes of the source behind them, and their limits."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest

from tests.rewriting.images import image_of, name, shown, tree_of
from tests.rewriting.strategies import random_case
from twigcast.document import (
    Attribute,
    Document,
    DocumentLimits,
    Element,
    Node,
    Text,
    descendants,
    elements,
    read,
)
from twigcast.errors import DocumentError, MappingError
from twigcast.pattern import parse, select
from twigcast.rewriting import (
    Downgrade,
    Exchange,
    Hide,
    Insert,
    Mapping,
    Operator,
    Rename,
    ToElement,
    Upgrade,
)
from twigcast.rewriting.labels import QName
from twigcast.rewriting.operators import InsertAll


def nodes(document: Document) -> list[Node]:
    """All nodes in document order, attributes too."""
    found: list[Node] = []
    waiting: list[Node] = [*reversed(document.children)]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if isinstance(node, Element):
            waiting += reversed(node.children)
            waiting += reversed(node.attributes)
    return found


def sources(schema: str, body: str, pattern: str, *operators: Operator) -> list[str]:
    """The source texts behind the one node that a pattern selects in the image."""
    image = image_of(schema, body, *operators)
    (node,) = select(parse(pattern), image)
    return [body[each.start : each.end] for each in image.sources(node)]


def test_a_plain_document_is_its_own_source() -> None:
    """Delivery asks every document in the same way."""
    document = read(b"<a>x</a>")
    assert document.sources(document.root) == [document.root]


def test_an_element_has_its_own_range() -> None:
    """As the publisher wrote it, with what it contained there."""
    body = "<r><a><b/>x</a></r>"
    assert sources("r(a(b))", body, "//a", Upgrade("r/a", ("r/a/b",))) == ["<a><b/>x</a>"]


def test_an_element_that_was_an_attribute_has_the_range_of_the_attribute() -> None:
    """So does its text."""
    operator = ToElement("r/@nr", name("code"))
    assert sources("r(@nr)", "<r nr='7'/>", "//code", operator) == ["nr='7'"]
    assert sources("r(@nr)", "<r nr='7'/>", "//code/text()", operator) == ["nr='7'"]


def test_joined_text_has_all_its_pieces() -> None:
    """In document order."""
    assert sources("r(a(b))", "<r><a>x<b/>y</a></r>", "//a/text()", Upgrade("r/a", ("r/a/b",))) == ["x", "y"]


def test_a_made_element_has_the_nearest_nodes_with_bytes() -> None:
    """Through other made elements, but not further down."""
    insert = Insert("r", (name("p"), name("q")), ("r/a", "r/b"))
    assert sources("r(a, b(a))", "<r><b><a/></b>x<a/></r>", "/r/p", insert) == ["<b><a/></b>", "<a/>"]


def test_a_made_holder_has_what_moved_into_it() -> None:
    """The holder itself has no bytes."""
    operator = Downgrade("r", ("r/a",), "r/f")
    assert sources("r(a*, f)", "<r><a>1</a><a>2</a></r>", "//f", operator) == ["<a>1</a>", "<a>2</a>"]


def test_the_image_itself_is_the_whole_source() -> None:
    """A pattern may select the document node."""
    assert sources("r(a)", "<r><a/></r>", "/", Rename("r", name("z"))) == ["<r><a/></r>"]


@pytest.mark.parametrize("seed", range(80))
def test_sources_are_nodes_of_the_body(seed: int) -> None:
    """Every range starts and ends at a node of the source, none is there twice, and they are in order."""
    case = random_case(Random(seed), 6)
    document = read(case.body)
    known = {(node.start, node.end) for node in nodes(document)}
    own = set(nodes(document))
    image = case.mapping.apply(document)
    for node in nodes(image):
        found = image.sources(node)
        assert own.issuperset(found)
        assert known.issuperset((each.start, each.end) for each in found)
        assert [each.order for each in found] == sorted({each.order for each in found})


@pytest.mark.parametrize("seed", range(80))
def test_nothing_is_lost(seed: int) -> None:
    """Every node of the source is in the image, once, unless an operator hides or copies elements."""
    case = random_case(Random(seed), 6)
    if any(isinstance(each, Hide) for each in case.mapping.operators):
        return
    renamed = {each.node for each in case.mapping.operators if isinstance(each, Rename) and "/@" in each.node}
    document = read(case.body)
    image = case.mapping.apply(document)
    used = [origin for origins in image.origins.values() for origin in origins]
    lost = set(nodes(document)) - set(used)
    # A renamed attribute takes its new name from an unknown attribute.
    assert all(isinstance(each, Attribute) and renamed for each in lost)
    if not any(isinstance(each, Exchange | Downgrade | ToElement) for each in case.mapping.operators):
        assert len(used) == len(set(used))


@pytest.mark.parametrize("seed", range(40))
def test_an_image_is_a_document(seed: int) -> None:
    """Orders grow in document order, parents are right, and no two texts are neighbours."""
    image = random_case(Random(seed), 6)
    document = image.mapping.apply(read(image.body))
    orders = [node.order for node in nodes(document)]
    assert orders == sorted(set(orders))
    for parent in (document, *descendants(document)):
        for before, child in zip([None, *parent.children], parent.children, strict=False):
            assert child.parent is parent
            assert not (isinstance(before, Text) and isinstance(child, Text))
            assert not (isinstance(child, Text) and not child.value)


def test_the_source_stays_as_it_is() -> None:
    """The image has nodes of its own."""
    document = read(b"<r a='1'>x<b/>y</r>")
    before = shown(document)
    operators = Rename("r", name("z")), ToElement("r/@a", name("n")), InsertAll("r", (name("p"),))
    Mapping("test", tree_of("r(@a, b)"), operators).apply(document)
    assert shown(document) == before


def test_only_the_topmost_strangers_count() -> None:
    """What is inside of an unknown element is not counted again."""
    assert image_of("r(a)", "<r><x><y/><a/></x><a><x/></a></r>").strangers == 2


def test_names_keep_their_prefix_while_their_namespace_is_the_same() -> None:
    """``name()`` of an element that only got another local name has the publisher's prefix."""
    image = image_of(
        "p:r(@p:x, p:a)",
        "<i:r xmlns:i='urn:p' i:x='1'><i:a/></i:r>",
        Rename("Q{urn:p}r", QName("urn:p", "z")),
        Rename("Q{urn:p}r/@Q{urn:p}x", name("y")),
        Rename("Q{urn:p}r/Q{urn:p}a", QName("urn:q", "a")),
    )
    assert image.root.prefix == "i"
    assert image.root.attributes[0].prefix == ""
    assert next(elements(image.root)).prefix == ""


def test_attributes_keep_their_order() -> None:
    """Also when they are renamed."""
    image = image_of("r(@b, @a)", "<r c='1' b='2' a='3'/>", Rename("r/@b", name("z")))
    assert [(each.local, each.value) for each in image.root.attributes] == [
        ("c", "1"),
        ("z", "2"),
        ("a", "3"),
    ]


def test_another_root_is_refused() -> None:
    """The error names both roots."""
    with pytest.raises(MappingError, match="the root element is 'syllabus', not 'r'") as caught:
        image_of("r(a)", "<syllabus/>")
    assert caught.value.code == "no-mapping"


def test_deep_documents_are_rewritten() -> None:
    """As deep as the limits allow, with copies of all of it."""
    depth = DocumentLimits().depth - 2
    body = "<r><e>" + "<x>" * depth + "</x>" * depth + "<f/><f/></e></r>"
    image = image_of("r(e(x, f*))", body, Exchange("r/e", "r/e/f"))
    assert sum(1 for _ in descendants(image)) == 1 + 2 * (2 + depth)


LIMITS = DocumentLimits(amplification=2.0, amplification_threshold=1000)


def copied(holders: int, limits: DocumentLimits = LIMITS) -> int:
    """How many elements an image has in which one element was copied so many times."""
    body = f"<r><a>{'x' * 500}</a>{'<f/>' * holders}</r>".encode()
    mapping = Mapping("test", tree_of("r(a, f*)"), (Downgrade("r", ("r/a",), "r/f"),))
    return sum(1 for _ in descendants(mapping.apply(read(body), limits)))


def test_copies_within_the_limit_are_made() -> None:
    """A limit is reached by copies, not by the document itself."""
    assert copied(1) == 3
    assert copied(1, DocumentLimits(amplification=0, amplification_threshold=0)) == 3
    assert copied(2, DocumentLimits(amplification=0, amplification_threshold=2000)) == 5


@pytest.mark.parametrize("holders", [2, 1000])
def test_copies_beyond_the_limit_are_refused(holders: int) -> None:
    """The error says by which limit, and what to do."""
    limits = DocumentLimits(amplification=0, amplification_threshold=600)
    with pytest.raises(DocumentError, match="more than 600 bytes: raise the limit") as caught:
        copied(holders, limits)
    assert caught.value.code == "rewriting-expansion"


def test_copies_of_copies_stop_early() -> None:
    """Each operator alone is harmless; together they would make more elements than there is memory."""
    levels = 12
    schema = "r(" + ", ".join(f"f{each}*" for each in range(levels)) + ", a)"
    body = "<r><a/>" + "".join(f"<f{each}/>" * 20 for each in range(levels)) + "</r>"
    keys = ["r/a", *(f"r/f{each}" for each in range(levels))]
    chain = [Downgrade("r", (below,), above) for below, above in pairwise(keys)]
    mapping = Mapping("test", tree_of(schema), tuple(chain))
    with pytest.raises(DocumentError, match="more than 100,000 bytes"):
        mapping.apply(read(body.encode()), DocumentLimits(amplification_threshold=100_000, amplification=1))
