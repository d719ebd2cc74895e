"""Element graphs written as DTDs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.schemas import graphs
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
    write_dtd,
)
from twigcast.workload import infer, news

NAMES = ("a", "b", "p:b", "q:b")
TIMES = st.sampled_from([(1, 1), (0, 1), (0, None), (1, None)])


def particles() -> st.SearchStrategy[Particle]:
    """Content models as a DTD has them: nested sequences and choices of two or more parts."""
    leaf = st.builds(lambda name, times: Child(name, *times), st.sampled_from(NAMES), TIMES)
    return st.recursive(
        leaf,
        lambda below: st.builds(
            lambda kind, parts, times: kind(tuple(parts), *times),
            st.sampled_from([Sequence, Choice]),
            st.lists(below, min_size=2, max_size=3),
            TIMES,
        ),
        max_leaves=6,
    )


@st.composite
def declared_graphs(draw: st.DrawFn) -> ElementGraph:
    """Graphs of four elements with all kinds of content and attributes."""
    elements = []
    for name in NAMES:
        content = draw(st.sampled_from(ContentKind))
        model: Particle | None = None
        if content is ContentKind.ELEMENTS:
            model = draw(particles())
        elif content is ContentKind.MIXED:
            names = draw(st.lists(st.sampled_from(NAMES), unique=True))
            model = Choice(tuple(map(Child, names)), 0, None) if names else None
        attributes = []
        for attribute in draw(st.lists(st.sampled_from(["k", "m", "xmlns:p"]), unique=True)):
            presence = draw(st.sampled_from(Presence))
            given_value = presence in (Presence.FIXED, Presence.DEFAULT)
            value = draw(st.text("ab<&\"'% é", max_size=5)) if given_value else None
            attributes.append(AttributeDeclaration(attribute, AttributeKind.CDATA, presence, (), value))
        attributes.sort(key=lambda each: each.name)
        elements.append(ElementDeclaration(name, content, model, tuple(attributes)))
    return element_graph(elements, "a")


@settings(deadline=None, max_examples=200)
@given(declared_graphs())
def test_what_was_read_is_written_and_read_again(graph: ElementGraph) -> None:
    """A graph that a DTD can express is the same after it was written and read."""
    assert read_dtd(write_dtd(graph).encode(), "a") == graph


@settings(deadline=None, max_examples=50)
@given(graphs(("a", "b", "p:c")))
def test_prefixes_keep_their_namespaces(graph: ElementGraph) -> None:
    """Bindings of the graph become xmlns attributes of the root."""
    again = read_dtd(write_dtd(graph).encode(), graph.root)
    assert [again.expanded(element.name) for element in again] == [graph.expanded(e.name) for e in graph]


def test_a_real_dtd_is_read_back() -> None:
    """The built-in news schema, with its order of elements."""
    assert read_dtd(write_dtd(news()).encode(), news().root) == news()


def test_an_enumeration_keeps_its_values() -> None:
    """If all are name tokens; otherwise the attribute is CDATA."""
    dtd = b"<!ELEMENT a EMPTY><!ATTLIST a k (x | y) 'x'>"
    assert read_dtd(write_dtd(read_dtd(dtd)).encode()) == read_dtd(dtd)
    loose = AttributeDeclaration("k", AttributeKind.ENUMERATION, Presence.IMPLIED, ("x y", "z"))
    graph = element_graph([ElementDeclaration("a", attributes=(loose,))])
    assert read_dtd(write_dtd(graph).encode())["a"].attributes[0].kind is AttributeKind.CDATA


def test_numbers_that_a_dtd_does_not_have_become_wider() -> None:
    """Two to five times becomes once or more."""
    graph = element_graph(
        [ElementDeclaration("a", ContentKind.ELEMENTS, Child("b", 2, 5)), ElementDeclaration("b")]
    )
    (child,) = read_dtd(write_dtd(graph).encode()).children("a")
    assert (child.least, child.most) == (1, None)


def test_an_inferred_schema_is_a_dtd() -> None:
    """The schema of documents without one, with their namespaces."""
    graph = infer([b'<r xmlns:p="urn:p"><p:x k="1">t</p:x><p:x/></r>'])
    again = read_dtd(write_dtd(graph).encode())
    assert again.expanded("p:x") == ("urn:p", "x")
    assert [(each.name, each.most) for each in again.children("r")] == [("p:x", None)]
