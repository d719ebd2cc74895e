"""Tests of what XPath outside the language looks at, and of queries that lxml runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from lxml import etree

from tests.chunking.strategies import any_document, any_scheme, outline_of, plain_document, query_text
from tests.pattern.strategies import NAMESPACES
from twigcast.chunking import ChunkQuery, plan, profile, run_queries
from twigcast.chunking.reach.full_xpath import reach_of
from twigcast.document import PartCutter, descendants, read
from twigcast.errors import ChunkingError

PEOPLE = b"<site><people>" + b"".join(b"<person id='p%d'><age>%d</age></person>" % (n, n) for n in range(9))
PEOPLE += b"</people></site>"


@pytest.mark.parametrize(
    ("text", "within"),
    [
        ("/site/people/person[@id = $wanted]//age", "/site/people/person"),
        ("/a/b[c = $x]/d[2]/e", "/a/b"),
        ("/a/b/c", "/a/b/c"),
        ("/a/b//c[@x]", "/a/b"),
        ("/p:a/p:b[$x = 1]", "/p:a/p:b"),
        ("/a/b[count(c) = 1]/d", "/a/b"),
    ],
)
def test_an_expression_stays_within_its_leading_steps(text: str, within: str) -> None:
    """Up to and with the first step that has a predicate, if all the rest is downward."""
    assert reach_of(ChunkQuery("q", text, {"p": "u"}, variables={"x": 1, "wanted": "y"})) == (within, "")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("/a/b[2]/c", "a number as a predicate"),
        ("/a/b[count(c)]/d", "a number as a predicate"),
        ("/a/b[last() = 2]", "last()"),
        ("/a/b[$n]", "$, whose type is not known"),
        ("/a/b/c[ancestor::x]", "ancestor::"),
        ("/a/b[id(@x)]", "id()"),
        ("/a/b/c/../d", "parent::"),
        ("/a/b[/a/@x = 1]", "an absolute path in a condition"),
        ("//b[$n = 1]", "no name after the first /"),
    ],
)
def test_what_leads_outside_is_named(text: str, word: str) -> None:
    """Traps 16 and 24: such queries take the whole document."""
    assert reach_of(ChunkQuery("q", text, variables={"n": 1})) == ("", word)


def test_what_is_no_xpath_is_refused_alone() -> None:
    """The other queries go on."""
    scheme = plan(
        [ChunkQuery("bad", "/a/b[", engine="lxml"), ChunkQuery("good", "/site/people/person")],
        profile=profile([PEOPLE]),
    )
    assert [(id, error.code) for id, error in scheme.refused] == [("bad", "query")]
    assert len(list(run_queries(PEOPLE, scheme))) == 9


@pytest.mark.parametrize("text", ["/a/Q{u}b", "/a/*:b", "/a/b[. = 'x' or]"])
def test_trap_25_an_expression_that_lxml_does_not_have_is_refused(text: str) -> None:
    """Names of our language are no XPath 1.0; they are refused when the plan is made, and only for lxml."""
    namesake = ChunkQuery("select", "/a/Q{u}b")
    scheme = plan([ChunkQuery("lxml", text, engine="lxml"), namesake], profile=profile([b"<a xmlns='u'/>"]))
    assert [(id, error.code) for id, error in scheme.refused] == [("lxml", "query")]


def test_trap_25_a_relative_path_begins_at_the_document() -> None:
    """To lxml ``a/b`` is no ``//a/b``, so it is not analysed as one."""
    body = b"<r><x><a><b/></a></x></r>"
    queries = [ChunkQuery("lxml", "a/b", engine="lxml"), ChunkQuery("select", "a/b")]
    assert [each.query for each in run_queries(body, plan(queries, profile=profile([body])))] == ["select"]


def test_trap_24_identifiers_cross_every_chunk() -> None:
    """``id()`` takes the whole document, whose DOCTYPE says which attributes are identifiers."""
    body = b"<!DOCTYPE a [<!ATTLIST b i ID #IMPLIED>]><a><b i='x' m='y'/><b i='y' m='x'/></a>"
    scheme = plan([ChunkQuery("q", "id(/a/b[2]/@m)", engine="lxml")], profile=profile([body]))
    assert scheme.whole == [("q", "id, which is no absolute path")]
    (answer,) = run_queries(body, scheme, part_bytes=1)
    assert answer.content == b"<!DOCTYPE b [<!ATTLIST b i ID #IMPLIED>]><b i='x' m='y'/>"


def test_variables_and_functions_run_on_parts() -> None:
    """A function gets the tree of each part; its rows are those of the document."""

    def ages(tree: Any) -> Iterator[int]:
        yield from (int(each.text) for each in tree.iter("age"))

    queries = [
        ChunkQuery("ages", function=ages, within="/site/people/person"),
        ChunkQuery("seven", "/site/people/person[@id = $id]/age", variables={"id": "p7"}),
    ]
    scheme = plan(queries, profile=profile([PEOPLE]))
    assert [chunk.kind for chunk in scheme.chunks] == ["divided"]
    answers = list(run_queries(PEOPLE, scheme, part_bytes=100))
    assert sorted(answer.content for answer in answers if answer.query == "ages") == list(range(9))
    [seven] = [answer for answer in answers if answer.query == "seven"]
    assert PEOPLE[seven.start : seven.end] == seven.content == b"<age>7</age>"


def test_trap_22_values_are_not_joined() -> None:
    """``count`` over the document is an answer; of parts it is refused."""
    over_all = ChunkQuery("all", "count(//person)", engine="lxml")
    in_parts = ChunkQuery("parts", "count(/site/people/person)", engine="lxml", within="/site/people/person")
    cut = run_queries(PEOPLE, plan([over_all, in_parts], profile=profile([PEOPLE])), part_bytes=100)
    assert [(answer.query, answer.content) for answer in cut] == [("all", 9.0)]
    assert cut.failures["parts"].code == "not-nodes"


def test_a_function_that_fails_does_not_stop_the_others() -> None:
    """Its error is kept."""

    def fails(tree: Any) -> list[int]:
        raise KeyError("oh")

    queries = [
        ChunkQuery("bad", function=fails, within="/site/people/person"),
        ChunkQuery("good", "/site/people/person/age"),
    ]
    cut = run_queries(PEOPLE, plan(queries, profile=profile([PEOPLE])))
    assert len(list(cut)) == 9
    assert cut.failures["bad"].code == "query-failed"


VARIABLES = {"five": "5", "one": 1, "word": "x", "true": True}


def lxml_queries(random: Random, body: bytes, count: int) -> list[ChunkQuery]:
    """Queries that are built from a document, as XPath 1.0; some have variables."""
    queries: list[ChunkQuery] = []
    while len(queries) < count:
        text = query_text(random, read(body)).replace("Q{urn:p}", "p:").replace("Q{urn:q}", "q:")
        if not text.endswith("..") and random.random() < 0.3:
            text += random.choice(["[@x = $five]", "[$one]", "[contains(., $word)]", "[$true]"])
        used = {name: value for name, value in VARIABLES.items() if f"${name}" in text}
        query = ChunkQuery(len(queries), text, NAMESPACES, engine="lxml", variables=used)
        if "Q{" not in text:
            queries.append(query)
    return queries


def by_lxml(query: ChunkQuery, body: bytes) -> Counter[tuple[Any, ...]]:
    """What lxml finds in the whole document, with the ranges of elements in document order."""
    tree = etree.ElementTree(etree.fromstring(body, etree.XMLParser(resolve_entities="internal")))
    document = read(body)
    nodes = list(descendants(document))
    places = dict(zip(tree.getroot().iter(etree.Element), nodes, strict=True))
    found: Counter[tuple[Any, ...]] = Counter()
    for node in tree.xpath(query.text, namespaces=NAMESPACES, **query.variables):
        is_node = isinstance(node, etree._Element)
        kind = "attribute" if getattr(node, "is_attribute", False) else "comment" if is_node else "text"
        holder = node
        if not (is_node and isinstance(node.tag, str)):
            holder = node.getparent()
        elif is_node:
            kind = "element"
        if getattr(node, "is_tail", False):
            holder = holder.getparent()
        place = places[holder]
        (part,) = PartCutter(document).cut([place])
        content = part if kind == "element" else node.text if is_node else str(node)
        found[query.id, kind, place.start, place.end, content] += 1
    return found


@pytest.mark.parametrize("seed", range(2))
def test_lxml_finds_the_same_nodes_as_on_the_whole_document(seed: int) -> None:
    """By byte range, also of elements that an entity brings in, and in documents that are not of the plan."""
    random = Random(seed)
    compared = 0
    for number in range(30):
        body = any_document(random)
        queries = lxml_queries(random, body, 5)
        outline = outline_of(plain_document(random, 3) if number % 3 == 0 else body)
        scheme = any_scheme(random, queries, outline)
        cut = run_queries(body, scheme, part_bytes=random.choice([1, 60, 1 << 20]))
        found = Counter((each.query, each.kind, each.start, each.end, each.content) for each in cut)
        assert not cut.failures
        expected = sum((by_lxml(query, body) for query in queries), Counter())
        assert found == expected
        compared += expected.total()
    assert compared > 100


def test_elements_of_entities_are_not_counted_where_they_are_declared() -> None:
    """The axis ``preceding`` of libxml2 leads from the root into the declarations of entities."""
    body = b"<!DOCTYPE a [<!ENTITY e '<x/>'>]><a><b/>&e;<c/></a>"
    query = ChunkQuery("q", "/a/c", engine="lxml")
    (answer,) = run_queries(body, plan([query], profile=profile([body])))
    assert answer.content == b"<c/>"


def test_a_query_may_turn_out_to_need_the_whole_document() -> None:
    """What it stays within is the root of this document, and not that of the plan."""
    query = ChunkQuery("q", "/b[@x = $one]/c", variables={"one": "1"})
    scheme = plan([query], profile=profile([b"<a><b><c/></b></a>"]))
    body = b"<b x='1'><c/></b>"
    (answer,) = run_queries(body, scheme)
    assert answer.content == b"<c/>"
    stream = run_queries(iter([body]), scheme)
    assert list(stream) == []
    assert stream.unsettled == ["q"]


def test_a_query_has_an_expression_or_a_function() -> None:
    """Not both, and not neither."""
    with pytest.raises(ChunkingError):
        ChunkQuery("q")
    with pytest.raises(ChunkingError):
        ChunkQuery("q", "/a", function=list)
    with pytest.raises(ChunkingError):
        plan([ChunkQuery("q", "/a")])


def test_a_query_that_names_its_needs_runs_on_one_document() -> None:
    """A function sees the subtrees at ``within`` and at each of ``needs``, with their ancestors."""
    body = b"<a><rate>3</rate><b>1</b><x>9</x><b>2</b></a>"

    def priced(tree: Any) -> Iterator[int]:
        rate = int(tree.findtext("rate"))
        assert tree.find("x") is None
        yield from (rate * int(each.text) for each in tree.iter("b"))

    query = ChunkQuery("priced", function=priced, within="/a/b", needs=("/a/rate",))
    found = list(run_queries(body, plan([query], profile=profile([body])), part_bytes=1))
    assert [answer.content for answer in found] == [3, 6]


def test_needs_are_paths_of_names() -> None:
    """A predicate in them is refused."""
    query = ChunkQuery("q", function=list, within="/a/b", needs=("/a/c[1]",))
    scheme = plan([query], profile=profile([b"<a><b/></a>"]))
    assert [(id, error.code) for id, error in scheme.refused] == [("q", "looks-outside")]


@pytest.mark.parametrize("engine", ["auto", "select", "lxml"])
def test_the_author_of_an_expression_may_know_better_than_the_analysis(engine: Any) -> None:
    """Siblings below the record are in the part, although the axis alone could lead out of it."""
    body = b"<a><b><c/><d>1</d><c/></b><b><c/><d>2</d></b></a>"
    text = "/a/b/d[following-sibling::c]"
    careful = plan([ChunkQuery("q", text, engine=engine)], profile=profile([body]))
    assert [chunk.kind for chunk in careful.chunks] == ["whole"]
    scheme = plan([ChunkQuery("q", text, engine=engine, within="/a/b")], profile=profile([body]))
    assert [chunk.kind for chunk in scheme.chunks] == ["divided"]
    assert [each.content for each in run_queries(body, scheme, part_bytes=1)] == [b"<d>1</d>"]
