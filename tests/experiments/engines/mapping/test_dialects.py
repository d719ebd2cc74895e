"""Dialects: the true mapping leads from the publisher's documents back to the global schema."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.engines.mapping.dialects import PROPORTIONS, make_dialects, normal_document
from tests.rewriting.random_graphs import random_graph
from twigcast.document import Document, Element, Text, read
from twigcast.errors import SchemaError
from twigcast.filtering import Index
from twigcast.pattern import matches, parse
from twigcast.rewriting import Hide, Mapping, Mappings, SchemaTree, derive
from twigcast.rewriting.operators import InsertAll
from twigcast.schema import (
    Child,
    ContentKind,
    ElementDeclaration,
    ElementGraph,
    element_graph,
    read_dtd,
)
from twigcast.workload import (
    DocumentOptions,
    SubscriptionOptions,
    generate_documents,
    generate_subscriptions,
    news,
)

CATALOGUE = read_dtd(Path(__file__).parents[4] / "examples" / "catalogues" / "catalogue.dtd")


def canonical(node: Document | Element) -> object:
    """The tree of a document without the order of siblings."""
    below = [child.value if isinstance(child, Text) else canonical(child) for child in _content(node)]
    if isinstance(node, Document):
        return sorted(below, key=repr)
    attributes = sorted((each.namespace, each.local, each.value) for each in node.attributes)
    return node.namespace, node.local, attributes, sorted(below, key=repr)


def _content(node: Document | Element) -> list[Element | Text]:
    return [child for child in node.children if isinstance(child, Element | Text)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_the_true_mapping_restores_the_document(seed: int) -> None:
    """The image of a dialect's document is the document in the global schema, up to the order of siblings."""
    graph = random_graph(seed)
    dialects = make_dialects(graph, 6, seed, operators=25)  # enough for two of the rarest, Exchange
    for body in generate_documents(graph, 2, DocumentOptions(seed=seed, elements=25)):
        expected = canonical(read(normal_document(graph, body)))
        for dialect in dialects:
            image = dialect.mapping.apply(read(dialect.document(body)))
            assert image.strangers == 0
            assert canonical(image) == expected


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_the_image_schema_is_the_global_schema(seed: int) -> None:
    """The operators, applied to the schema of the dialect, give the places of the global schema, no other."""
    graph = random_graph(seed)
    places = {node.path_text for node in SchemaTree.of(graph).nodes()}
    for dialect in make_dialects(graph, 6, seed, operators=25):
        assert {node.path_text for node in dialect.mapping.image.nodes()} == places


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_operators_derived_from_the_true_pairs_lead_to_the_same_places(seed: int) -> None:
    """The true matching is one that operators can be derived from."""
    graph = random_graph(seed)
    target = SchemaTree.of(graph)
    for dialect in make_dialects(graph, 6, seed, operators=25):
        derived = Mapping("derived", dialect.tree, derive(dialect.tree, target, dialect.pairs))
        assert {key: derived.image[key].path_text for key in dialect.pairs} == dialect.pairs


@pytest.mark.parametrize("graph", [CATALOGUE, news()], ids=["catalogue", "news"])
def test_documents_drawn_from_a_dialect_have_valid_images(graph: ElementGraph) -> None:
    """The image of a document of the dialect's schema has only places of the global schema."""
    target = SchemaTree.of(graph)
    for dialect in make_dialects(graph, 5, seed=2, operators=10):
        for body in generate_documents(dialect.graph, 2, DocumentOptions(elements=40)):
            image = dialect.mapping.apply(read(body))
            waiting = [(image.root, target.root)]
            assert image.strangers == 0
            while waiting:
                element, node = waiting.pop()
                for child in (each for each in element.children if isinstance(each, Element)):
                    below = target.child(node, type(node.label)(child.namespace, child.local))
                    assert below is not None
                    waiting.append((child, below))


def test_subscriptions_match_dialects_as_the_global_document() -> None:
    """Every subscription gives the answer that it gives on the same document in the global schema."""
    options = SubscriptionOptions(seed=3, nested=0.3, value=0.2, wildcard=0.2)
    patterns = [parse(text) for text in generate_subscriptions(CATALOGUE, 60, options)]
    dialects = make_dialects(CATALOGUE, 6, seed=4, operators=10)
    for body in generate_documents(CATALOGUE, 3, DocumentOptions(seed=5, elements=60)):
        document = read(normal_document(CATALOGUE, body))
        expected = [matches(pattern, document) for pattern in patterns]
        for dialect in dialects:
            image = dialect.mapping.apply(read(dialect.document(body)))
            assert [matches(pattern, image) for pattern in patterns] == expected


def test_one_index_serves_all_dialects() -> None:
    """The index finds for each dialect what it finds in the global document; the root chooses the mapping."""
    options = SubscriptionOptions(seed=6, min_steps=2, nested=0.3, value=0.2, wildcard=0.2)
    index = Index(list(enumerate(generate_subscriptions(CATALOGUE, 300, options))))
    dialects = make_dialects(CATALOGUE, 40, seed=7, operators=12)
    mappings = Mappings(dialect.mapping for dialect in dialects)
    found = 0
    for body in generate_documents(CATALOGUE, 3, DocumentOptions(seed=8, elements=60)):
        expected = set(index.match(normal_document(CATALOGUE, body)).ids)
        found += len(expected)
        for dialect in dialects:
            match = index.match(dialect.document(body), rewriting=mappings)
            assert match.error is None
            assert set(match.ids) == expected
    assert found > 100


def test_the_papers_proportions() -> None:
    """Forty dialects have the 148 operators of the paper, beside those that hide what only a dialect has."""
    counts: Counter[str] = Counter()
    for dialect in make_dialects(CATALOGUE, 40, seed=1):
        for operator in dialect.mapping.operators:
            kind = "Insert" if isinstance(operator, InsertAll) else type(operator).__name__
            counts[kind] += not isinstance(operator, Hide)
    assert +counts == PROPORTIONS
    assert sum(PROPORTIONS.values()) == 148


def test_dialects_are_told_apart_by_their_roots() -> None:
    """A mapping can be chosen by the name of the root element."""
    roots = [dialect.graph.root for dialect in make_dialects(CATALOGUE, 40, seed=9)]
    assert len({*roots, CATALOGUE.root}) == 41


def test_the_same_seed_gives_the_same_dialects() -> None:
    """Dialects depend on the schema, the number and the seed only."""
    once, again, other = (make_dialects(CATALOGUE, 5, seed) for seed in (1, 1, 2))
    assert [each.mapping for each in once] == [each.mapping for each in again]
    assert [each.mapping for each in once] != [each.mapping for each in other]


def test_normal_documents() -> None:
    """White space between elements, comments and empty inner elements are left out; texts stay."""
    body = b"""<catalogue>
    <course><code> 1 </code><!-- c --><place/><schedule><days/></schedule></course></catalogue>"""
    expected = b"<catalogue><course><code> 1 </code><schedule><days/></schedule></course></catalogue>\n"
    assert normal_document(CATALOGUE, body) == expected


def test_a_document_of_another_schema_is_refused() -> None:
    """The error names the element that the global schema lacks."""
    with pytest.raises(SchemaError, match="'syllabus', which the schema does not have"):
        make_dialects(CATALOGUE, 1)[0].document(b"<syllabus/>")


def test_a_schema_whose_root_can_contain_itself_is_left_as_it_is() -> None:
    """Without a type that occurs at one place only, nothing can be changed."""
    graph = element_graph([ElementDeclaration("a", ContentKind.MIXED, Child("a", 0, None))])
    (dialect,) = make_dialects(graph, 1)
    assert dialect.mapping.operators == ()
