"""Generated documents: valid, as large and deep as asked for, the same for the same seed."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from twigcast.errors import SchemaError
from twigcast.schema import (
    AttributeDeclaration,
    AttributeKind,
    Child,
    Choice,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    Particle,
    Presence,
    Sequence,
    element_graph,
    read_dtd,
)
from twigcast.workload import DocumentOptions, generate_documents, news, news_dtd

NAMES = ("a", "b", "c", "d", "e")


def depth(node: etree._Element) -> int:
    return 1 + max((depth(child) for child in node), default=0)


def assert_valid(dtd: bytes, bodies: list[bytes]) -> None:
    rules = etree.DTD(BytesIO(dtd))
    for body in bodies:
        assert rules.validate(etree.fromstring(body)), (rules.error_log.last_error, body)


def test_news_documents_are_valid() -> None:
    """Documents of the news schema are valid against its DTD."""
    assert_valid(news_dtd(), list(generate_documents(news(), 100)))


@pytest.mark.parametrize(
    "dtd",
    [
        pytest.param("<!ELEMENT a EMPTY>", id="empty"),
        pytest.param("<!ELEMENT a (#PCDATA)>", id="text"),
        pytest.param("<!ELEMENT a ANY> <!ELEMENT b (a?)>", id="any"),
        pytest.param(
            "<!ELEMENT a (b, (c|d)+, (b,d)*)><!ELEMENT b EMPTY> <!ELEMENT c (#PCDATA|a)*> <!ELEMENT d EMPTY>",
            id="groups",
        ),
        pytest.param("<!ELEMENT a (a | b)> <!ELEMENT b EMPTY>", id="recursion with one way out"),
        pytest.param("<!ELEMENT a (a | x?)>", id="nothing but itself or an optional one undeclared"),
        pytest.param("<!ELEMENT a (x?, b)> <!ELEMENT b (x | c)*> <!ELEMENT c EMPTY>", id="undeclared"),
        pytest.param(
            "<!ELEMENT a (b*)> <!ELEMENT b EMPTY>"
            "<!ATTLIST b i ID #IMPLIED r IDREF #REQUIRED s IDREFS #IMPLIED>",
            id="references",
        ),
        pytest.param("<!ELEMENT a EMPTY> <!ATTLIST a i ID #IMPLIED r IDREF #REQUIRED>", id="own reference"),
        pytest.param(
            "<!ELEMENT a EMPTY>"
            "<!ATTLIST a xmlns CDATA #FIXED 'urn:x' n NMTOKENS #REQUIRED xml:lang CDATA 'en'>",
            id="namespace",
        ),
        pytest.param(
            "<!NOTATION g SYSTEM 'g'> <!ELEMENT a (#PCDATA)>"
            "<!ATTLIST a n NOTATION (g) #REQUIRED v CDATA #FIXED '1'>",
            id="notation",
        ),
    ],
)
def test_documents_are_valid(dtd: str) -> None:
    """Whatever a DTD can say is respected."""
    options = DocumentOptions(elements=20, attributes=0.5)
    assert_valid(dtd.encode(), list(generate_documents(read_dtd(dtd.encode(), "a"), 30, options)))


@st.composite
def models(draw: st.DrawFn) -> Particle:
    """A content model in which each name stands once, as a DTD demands models to be unambiguous."""
    occurs = st.sampled_from([(1, 1), (0, 1), (0, None), (1, None)])
    names = draw(st.permutations(NAMES))

    def particle(left: list[str]) -> Particle:
        if len(left) == 1:
            return Child(left[0], *draw(occurs))
        cut = draw(st.integers(1, len(left) - 1))
        group = draw(st.sampled_from([Sequence, Choice]))
        return group((particle(left[:cut]), particle(left[cut:])), *draw(occurs))

    return particle(names[: draw(st.integers(1, len(names)))])


def declared(particle: Particle) -> str:
    mark = {(1, 1): "", (0, 1): "?", (0, None): "*", (1, None): "+"}[particle.least, particle.most]
    if isinstance(particle, Child):
        return particle.name + mark
    return (
        f"({(', ' if isinstance(particle, Sequence) else ' | ').join(map(declared, particle.parts))}){mark}"
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(st.none() | models(), min_size=len(NAMES), max_size=len(NAMES)), st.integers(0, 1000))
def test_documents_of_any_content_model_are_valid(models: list[Particle | None], seed: int) -> None:
    """Random content models, recursive ones among them, give valid documents within the depth, or none."""
    pairs = list(zip(NAMES, models, strict=True))
    dtd = "".join(
        f"<!ELEMENT {name} {f'({declared(model)})' if model else '(#PCDATA)'}>" for name, model in pairs
    )
    graph = read_dtd(dtd.encode(), "a")
    options = DocumentOptions(seed=seed, elements=15, max_depth=6)
    if graph.heights.get("a", 99) > 6:
        with pytest.raises(SchemaError):
            next(generate_documents(graph, 1, options))
        return
    bodies = list(generate_documents(graph, 3, options))
    assert_valid(dtd.encode(), bodies)
    assert all(depth(etree.fromstring(body)) <= 6 for body in bodies)


def test_the_same_seed_gives_the_same_bytes() -> None:
    """Documents depend on schema, options and number alone."""
    options = DocumentOptions(seed=7)
    first = list(generate_documents(news(), 5, options))
    assert first == list(generate_documents(read_dtd(news_dtd(), "feed"), 5, options))
    assert first != list(generate_documents(news(), 5, replace(options, seed=8)))
    assert len(set(first)) == 5


def test_bytes_are_those_of_yesterday() -> None:
    """Generated documents never change, or benchmarks could not be compared."""
    graph = element_graph(
        [
            ElementDeclaration(
                "a", ContentKind.MIXED, Choice((Child("a"),), 0, None), (AttributeDeclaration("x"),)
            )
        ]
    )
    options = DocumentOptions(elements=4, max_depth=3, words=3, attributes=0.5)
    assert list(generate_documents(graph, 2, options)) == [
        b'<a><a x="0">market growth</a> <a>fish</a> </a>\n',
        b'<a x="13"><a x="0">city wine</a> gas city research <a x="agreement">strike 20 <a>wage</a>'
        b' <a x="13">morning guest</a> </a> mayor energy</a>\n',
    ]


def test_a_document_can_be_made_alone() -> None:
    """Document k by itself is document k of the stream."""
    stream = list(generate_documents(news(), 6))
    assert list(generate_documents(news(), 1, first=4)) == stream[4:5]


def test_generation_is_lazy() -> None:
    """Documents are made as they are asked for."""
    assert len(list(islice(generate_documents(news(), 10**9), 2))) == 2


@pytest.mark.parametrize("elements", [50, 200])
def test_documents_are_as_large_as_asked_for(elements: int) -> None:
    """The number of elements is on average the one asked for."""
    bodies = generate_documents(news(), 200, DocumentOptions(elements=elements))
    mean = sum(sum(1 for _ in etree.fromstring(body).iter()) for body in bodies) / 200
    assert 0.8 * elements < mean < 1.2 * elements


def test_flat_schemas_fill_the_budget_too() -> None:
    """Where there is nothing to go down to, repetitions make the size."""
    graph = read_dtd(b"<!ELEMENT a (b*)><!ELEMENT b EMPTY>")
    options = DocumentOptions(elements=300, spread=0.0)
    assert all(280 < body.count(b"<b/>") < 320 for body in generate_documents(graph, 10, options))


@pytest.mark.parametrize("levels", [5, 8, 40])
def test_depth_is_bounded(levels: int) -> None:
    """No document is deeper than the depth allowed."""
    options = DocumentOptions(max_depth=levels, elements=300)
    depths = [depth(etree.fromstring(body)) for body in generate_documents(news(), 30, options)]
    assert max(depths) <= levels
    assert levels > 10 or max(depths) == levels


def test_too_little_depth_is_refused() -> None:
    """A depth that no valid document can keep is an error that says how many levels are needed."""
    with pytest.raises(SchemaError, match="has 4 levels at least, max_depth allows 3"):
        next(generate_documents(news(), 1, DocumentOptions(max_depth=3)))


def test_a_schema_without_documents_is_refused() -> None:
    """A root that needs itself has no document."""
    with pytest.raises(SchemaError, match="no document is valid"):
        next(generate_documents(read_dtd(b"<!ELEMENT a (a)>"), 1))


@pytest.mark.parametrize(("probability", "names"), [(0.0, {"r"}), (1.0, {"r", "i"})])
def test_attribute_probability(probability: float, names: set[str]) -> None:
    """Required attributes are always there, implied ones with their probability."""
    graph = read_dtd(b"<!ELEMENT a EMPTY><!ATTLIST a r CDATA #REQUIRED i CDATA #IMPLIED>")
    for body in generate_documents(graph, 5, DocumentOptions(attributes=probability)):
        assert set(etree.fromstring(body).attrib) == names


def test_skew_prefers_what_is_declared_first() -> None:
    """With skew the first alternative is the most frequent; without, all are equal."""
    graph = read_dtd(b"<!ELEMENT a (b | c | d)*><!ELEMENT b EMPTY><!ELEMENT c EMPTY><!ELEMENT d EMPTY>")
    skewed, even = (
        b"".join(generate_documents(graph, 20, DocumentOptions(skew=skew))) for skew in (2.0, 0.0)
    )
    assert skewed.count(b"<b/>") > 3 * skewed.count(b"<c/>") > 3 * skewed.count(b"<d/>")
    assert even.count(b"<b/>") < 1.2 * even.count(b"<d/>")


def test_namespaces_are_declared_at_the_root() -> None:
    """The prefixes of a schema are bound in its documents, values escaped."""
    attribute = AttributeDeclaration("p:x", AttributeKind.ENUMERATION, Presence.REQUIRED, ('<&"',))
    graph = element_graph(
        [ElementDeclaration("p:a", attributes=(attribute,))], namespaces=[("p", "urn:p"), ("", "urn:d")]
    )
    node = etree.fromstring(next(generate_documents(graph, 1)))
    assert node.tag == "{urn:p}a"
    assert node.attrib == {"{urn:p}x": '<&"'}
    assert node.nsmap == {"p": "urn:p", None: "urn:d"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"attributes": 1.5},
        {"elements": 0},
        {"max_depth": 0},
        {"words": 1.5},
        {"skew": -1.0},
        {"fan_out": 0.0},
    ],
)
def test_impossible_options_are_refused(wrong: dict[str, float]) -> None:
    """Options out of range are refused where they are made."""
    with pytest.raises(ValueError, match=next(iter(wrong))):
        DocumentOptions(**wrong)  # type: ignore[arg-type]


@pytest.mark.data
def test_nitf_documents_are_those_of_the_benchmarks(nitf: ElementGraph) -> None:
    """By default NITF documents have about 7.5 KB and 117 elements."""
    bodies = list(generate_documents(nitf, 300))
    assert 7_000 < sum(map(len, bodies)) / 300 < 8_000
    assert 110 < sum(sum(1 for _ in etree.fromstring(body).iter()) for body in bodies) / 300 < 124


@pytest.mark.data
@pytest.mark.parametrize(
    "path",
    [
        "nitf/nitf-2-5.dtd",
        "dblp/dblp.dtd",
        "xmark/auction.dtd",
        "treebank/treebank.dtd",
        "ejb/ejb-jar_2_0.dtd",
        "psd/psd7003-reconstructed.dtd",
    ],
)
def test_documents_of_real_schemas_are_valid(data: Path, path: str) -> None:
    """Documents of the real DTDs are valid."""
    dtd = (data / path).read_bytes()
    assert_valid(dtd, list(generate_documents(read_dtd(dtd), 30)))


@pytest.mark.parametrize("part", [0.25, 0.5, 0.75, 1.0])
def test_a_test_element_stands_at_its_part_of_the_document(part: float) -> None:
    """Without the element the documents are those that are generated without the option."""
    plain = list(generate_documents(news(), 20))
    marked = list(generate_documents(news(), 20, DocumentOptions(test_element=part)))
    assert [body.replace(b"<test/>", b"") for body in marked] == plain
    for body, before in zip(marked, plain, strict=True):
        etree.fromstring(body)
        place = body.index(b"<test/>")
        assert place >= part * len(before) or before[place:].startswith(b"</feed>")
        assert part == 1.0 or place <= part * len(before) + 400


def test_a_test_element_is_inside_of_an_empty_root_and_in_no_namespace() -> None:
    """The condition on it has no prefix, so it must not be in the default namespace of the document."""
    empty = read_dtd(b"<!ELEMENT a EMPTY>")
    assert list(generate_documents(empty, 1, DocumentOptions(test_element=0.5))) == [b"<a><test/></a>\n"]
    bound = read_dtd(b"<!ELEMENT a EMPTY> <!ATTLIST a xmlns CDATA #FIXED 'urn:x'>")
    (body,) = generate_documents(bound, 1, DocumentOptions(test_element=0.5))
    assert etree.fromstring(body)[0].tag == "test"


def test_a_test_element_before_the_document_is_refused() -> None:
    """The part is above 0 and at most 1."""
    for part in (0.0, 1.5):
        with pytest.raises(ValueError, match="test_element"):
            DocumentOptions(test_element=part)
