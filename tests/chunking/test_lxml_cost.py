"""Queries are bounded in steps, by the evaluator or before libxml2 is asked; a bad query is refused alone."""

from __future__ import annotations

from typing import Any

import pytest
from lxml import etree

from twigcast.chunking import ChunkQuery, plan, profile, run_queries
from twigcast.chunking.evaluation.lxml_cost import pattern_steps, text_steps
from twigcast.chunking.evaluation.part_trees import PartTrees
from twigcast.chunking.reach.xpath_syntax import read_terms
from twigcast.document import DocumentLimits, descendants, read
from twigcast.pattern import parse

FLAT = b"<r>" + b"<a><b>1</b></a>" * 3000 + b"</r>"
GOOD = ChunkQuery("good", "/r/a[1]/b")


def failures(query: ChunkQuery, body: bytes = FLAT) -> dict[object, str]:
    """The codes of the queries that fail; the good one beside them is answered."""
    scheme = plan([query, GOOD], profile=profile([body]))
    cut = run_queries(body, scheme)
    assert "good" in {answer.query for answer in cut}
    errors = dict(scheme.refused) | cut.failures
    assert all(str(id) in error.message for id, error in errors.items() if error.code != "too-complex")
    return {id: error.code for id, error in errors.items()}


@pytest.mark.parametrize("engine", ["auto", "select", "lxml"])
@pytest.mark.parametrize(
    "text",
    [
        "//a[not(b = preceding::b)]",
        "//a[count(preceding::a[count(preceding::a) > 3]) > 9]",
        "count(//a[not(b = preceding::b)])",
        "//a[count(preceding::a[. = current]) > 9]".replace("current", "preceding::b"),
    ],
)
def test_a_query_that_takes_too_long_fails_alone(text: str, engine: Any) -> None:
    """The error names the query."""
    assert failures(ChunkQuery("bad", text, engine=engine)) == {"bad": "too-costly"}


def test_variables_do_not_lead_around_the_limit() -> None:
    """They are written into the expression, or bounded with it."""
    for engine in ("auto", "lxml"):
        query = ChunkQuery("bad", "//a[not(b = preceding::b[. = $x])]", engine=engine, variables={"x": "y"})
        assert failures(query) == {"bad": "too-costly"}


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("http://exslt.org/regular-expressions", "//a[e:test(b, '(x+x+)+y')]"),
        ("http://exslt.org/strings", "//a[e:padding(1000000000)]"),
        ("http://exslt.org/sets", "e:distinct(//a)"),
        ("http://exslt.org/math", "e:max(//a)"),
        ("http://exslt.org/dates-and-times", "e:date()"),
        ("http://exslt.org/common", "e:node-set(//a)"),
        ("http://exslt.org/dynamic", "e:evaluate('//a')"),
        ("http://icl.com/saxon", "e:evaluate('//a')"),
        ("urn:twigcast", "e:compares('1', '<', '2')"),
    ],
)
@pytest.mark.parametrize("engine", ["auto", "lxml"])
def test_no_functions_but_those_of_xpath(uri: str, text: str, engine: Any) -> None:
    """What they take cannot be bounded."""
    query = ChunkQuery("bad", text, {"e": uri}, engine=engine)
    assert failures(query) == {"bad": "query"}


def test_names_in_the_namespaces_of_exslt_are_names() -> None:
    """Only its functions are not there."""
    body = b"<r xmlns='http://exslt.org/strings'><a/><a/></r>"
    for engine in ("auto", "lxml"):
        query = ChunkQuery("q", "/s:r/s:a[2]", {"s": "http://exslt.org/strings"}, engine=engine)
        assert len(list(run_queries(body, plan([query], profile=profile([body]))))) == 1


BAD = {
    "minus signs": ("-" * 50_000 + "1", "too-complex"),
    "fewer minus signs": ("-" * 8000, "query"),
    "parentheses": ("(" * 4000 + "a" + ")" * 4000, "too-complex"),
    "open parentheses": ("(" * 1000, "too-complex"),
    "predicates": ("//a" + "[b" * 1000 + "]" * 1000, "too-complex"),
    "many predicates": ("//a" + "[b]" * 2000, "too-complex"),
    "unions": ("|".join(["/a"] * 100_000), "too-complex"),
    "short unions": ("|".join(["/a"] * 2000), "too-complex"),
    "steps": ("/a" * 4000, "too-complex"),
    "ancestors": ("/r" + "/.." * 2000, "too-complex"),
    "calls": ("not(" * 1000 + "a" + ")" * 1000, "too-complex"),
    "a long name": ("/" + "n" * 100_000, "too-complex"),
    "a long number": ("/r/a[" + "9" * 100_000 + "]", "too-complex"),
    "an open quote": ("/r/a['x]", "query"),
    "another open quote": ("/r/a[\"x']", "query"),
    "a bare dollar": ("/r/a[$]", "query"),
    "an unknown variable": ("/r/a[$nobody]", "query"),
    "an unknown function": ("frobnicate(/r/a)", "query"),
    "an unknown axis": ("/r/sideways::a", "query"),
    "an unbound prefix": ("/r/p:a", "query"),
    "an unbound function": ("p:f(/r)", "query"),
    "nothing": (" ", "query"),
    "a null": ("/r/a\0", "query"),
    "a surrogate": ("/r/a[. = '\ud800']", "query"),
    "brackets": ("]" * 100, "query"),
    "too few arguments": ("/r/a[contains(b)]", "query"),
}


@pytest.mark.parametrize("engine", ["auto", "select", "lxml"])
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_query_is_refused_alone(bad: str, engine: Any) -> None:
    """With a code and, if it is a fault of the text, its column; never by an error that ends the plan."""
    text, code = BAD[bad]
    scheme = plan([ChunkQuery("bad", text, engine=engine), GOOD], profile=profile([FLAT]))
    ((id, error),) = scheme.refused
    assert id == "bad"
    if engine == "lxml":
        assert error.code == code
    assert error.code in ("query", "syntax", "unsupported", "too-complex", "unbound-prefix", "character")
    assert len(error.message) < 1000
    assert [answer.query for answer in run_queries(FLAT, scheme)] == ["good"]


@pytest.mark.parametrize(
    ("text", "column"),
    [("/r/a[", 6), ("/r/a]", 5), ("/r/a['x]", 6), ("//", 3), ("/r/x::a", 4), ("(/r | )", 7), ("/r/a b", 6)],
)
def test_a_query_for_lxml_has_the_column_of_its_fault(text: str, column: int) -> None:
    """libxml2 does not tell it."""
    scheme = plan([ChunkQuery("bad", text, engine="lxml")], profile=profile([FLAT]))
    ((_, error),) = scheme.refused
    assert error.column == column  # type: ignore[attr-defined]
    assert f"column {column}" in error.message


# The bound is one: libxml2 visits no more


class Visits:
    """Counts how often libxml2 evaluates a predicate, by a function that is called in it."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, context: object) -> bool:
        self.count += 1
        return True


def counted(text: str, body: bytes) -> int:
    """The calls of ``v:v()`` in an expression."""
    visits = Visits()
    namespaces = {"v": "urn:v"}
    expression = etree.XPath(text, namespaces=namespaces, extensions={("urn:v", "v"): visits}, regexp=False)
    expression(etree.ElementTree(etree.fromstring(body)))
    return visits.count


NESTED = b"<a>" * 20 + b"<b/><c/>" * 20 + b"</a>" * 20
TEXTS = [
    "//*[V]",
    "//a[.//a[.//b[V]]]",
    "//a[count(.//a[count(.//b[V]) < 0]) >= 0]",
    "//*[count(ancestor::*[V]) < 0]",
    "//*[count(ancestor::*/b[V]) < 0]",
    "//*[count(../*[V]) < 0]",
    "//*[count(../../*/*[V]) < 0]",
    "//*[count(following-sibling::*[V]) < 0]",
    "//b[count(preceding::*[V]) < 0]",
    "//*[count(/a/a//b[V]) < 0]",
    "//*[count(//*/parent::*[V]) < 0]",
    "//*[count((//a | //b)[V]) < 0]",
    "//a//*/following-sibling::*[V]/preceding-sibling::*[V]",
    "//*[count(descendant-or-self::*/following::*[V]) < 0]",
]


WIDE = b"<a><a><a>" + b"<a><a><b/></a><c/><b/></a>" * 30 + b"</a></a></a>"


@pytest.mark.parametrize("body", [NESTED, WIDE, b"<a>" + NESTED * 3 + b"</a>"])
@pytest.mark.parametrize("text", TEXTS)
def test_libxml2_stays_within_the_bound(text: str, body: bytes) -> None:
    """Predicates are evaluated no more often than the bound says."""
    figures = PartTrees(body, DocumentLimits()).figures
    bound = 16 * text_steps(read_terms(text.replace("V", "true()")), figures, {})
    assert 0 < counted(text.replace("V", "v:v()"), body) <= bound


def test_figures_are_those_of_the_tree() -> None:
    """Nodes, depth, and bounds on characters and children."""
    body = b"<!DOCTYPE a [<!ENTITY e '<b><c/><c/><c/></b>'>]><a x='1'>t<!--c-->&e;<?p?></a>"
    for each in (body, b"<a x='1'>t<!--c--><b><c/><c/><c/></b><?p?></a>", body.decode().encode("utf-16")):
        trees = PartTrees(each, DocumentLimits())
        figures = trees.figures
        assert (figures.nodes, figures.depth) == (10, 3)
        assert figures.children >= 4
        assert figures.characters >= len("t")
    assert len(list(descendants(read(body)))) == 5


@pytest.mark.parametrize(
    "text", ["//a[b > 1]", "/r/a/b", "//b[. = '1'][2]", "//a[not(c)]/b[contains(., '1')]"]
)
def test_the_bound_of_plain_queries_is_linear(text: str) -> None:
    """At n, 2n and 4n records: so they are always left to libxml2, however large a part is."""
    sizes = [1000, 2000, 4000]
    bodies = [b"<r>" + b"<a><b>1</b></a>" * size + b"</r>" for size in sizes]
    for bound in (
        lambda figures: pattern_steps(parse(text), figures),
        lambda figures: text_steps(read_terms(text), figures, {}),
    ):
        steps = [bound(PartTrees(body, DocumentLimits()).figures) for body in bodies]
        assert steps[2] <= 4.2 * steps[0]
        assert steps[2] < 4 * len(bodies[2])


@pytest.mark.parametrize("depth", [100, 200, 400])
def test_nested_conditions_are_left_to_the_evaluator(depth: int) -> None:
    """libxml2 evaluates the inner one for each pair of ancestors; the evaluator once for each node."""
    body = b"<a>" * depth + b"<b/>" * 3000 + b"</a>" * depth
    pattern = parse("//a[.//a[.//a[.//b[. = 'x']]]]")
    trees = PartTrees(body, DocumentLimits())
    assert trees.selection_by_lxml(pattern) is None
    query = ChunkQuery("q", "//a[.//a[.//a[.//b[. = 'x']]]]")
    cut = run_queries(body, plan([query], profile=profile([body])))
    assert list(cut) == []
    assert set(cut.failures) <= {"q"}
