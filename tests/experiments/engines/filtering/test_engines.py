"""The battery that every engine passes: its answers are those of evaluating each pattern by itself.

An engine is tested by adding its name and how it is made to ``ENGINES``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from experiments.engines.filtering.engine import Engine
from experiments.engines.filtering.one_by_one import OneByOne
from experiments.engines.filtering.xtrie import XTrie
from experiments.engines.filtering.yfilter import YFilter
from tests.pattern.strategies import NAMESPACES, Expression, documents, general_patterns, patterns
from twigcast import Index
from twigcast.errors import DocumentError, PatternError, SubscriptionError
from twigcast.pattern import parse

ENGINES: dict[str, Callable[[], Engine]] = {
    "one-by-one": OneByOne,
    "xtrie": XTrie,
    "yfilter": YFilter,
    "index": Index,
}

# expression, a document that matches, one that nearly does
CASES = [
    ("/a", "<a/>", "<b><a/></b>"),
    ("/a/b", "<a><b/></a>", "<a><c><b/></c></a>"),
    ("/a/b/c", "<a><b><c/></b></a>", "<a><b/><c/></a>"),
    ("//b", "<a><c><b/></c></a>", "<a><c/></a>"),
    ("//a", "<a/>", "<b/>"),
    ("b/c", "<a><b><c/></b></a>", "<a><b/><c/></a>"),
    ("/a//c", "<a><b><c/></b></a>", "<b><a/><c/></b>"),
    ("/a//b//c", "<a><x><b><x><c/></x></b></x></a>", "<a><c><b/></c></a>"),
    ("/descendant::b/child::c", "<a><b><c/></b></a>", "<a><c><b/></c></a>"),
    ("/*", "<a/>", None),
    ("//*", "<a/>", None),
    ("/", "<a/>", None),
    ("/a/*", "<a><b/></a>", "<a>text</a>"),
    ("/*/*/c", "<a><b><c/></b></a>", "<a><c/></a>"),
    ("/a/*//c", "<a><b><c/></b></a>", "<a><c/></a>"),
    ("//*/*/*", "<a><b><c/></b></a>", "<a><b/><b/></a>"),
    ("/a[b]", "<a><b/></a>", "<a/>"),
    ("/a[b]/c", "<a><b/><c/></a>", "<a><b/></a>"),
    ("/a[b][c]", "<a><c/><b/></a>", "<a><c/></a>"),
    ("//a[b]/c", "<r><a><b/><c/></a></r>", "<r><a><b/></a><a><c/></a></r>"),
    ("//a[b]/c", "<a><a><c/><b/></a></a>", "<a><b/><a><c/></a></a>"),
    ("//a[b]//c", "<a><b/><a><c/></a></a>", "<a><a><b/></a><a><c/></a></a>"),
    ("//a[.//b][.//c]", "<a><x><b/></x><c/></a>", "<r><a><b/></a><a><c/></a></r>"),
    ("//*[b]/c", "<r><x><b/><c/></x></r>", "<r><x><b/></x><x><c/></x></r>"),
    ("//a[*/b]/*/c", "<a><x><b/></x><y><c/></y></a>", "<r><a><x><b/></x></a><a><x><c/></x></a></r>"),
    ("//a[b[c]/d]/e", "<a><b><c/><d/></b><e/></a>", "<a><b><c/></b><b><d/></b><e/></a>"),
    ("//a/a/a", "<a><a><a/></a></a>", "<a><a/><a/></a>"),
    ("//a//a//a", "<a><x><a><a/></a></x></a>", "<a><a/><a/></a>"),
    ("//a[a]/a[b]", "<a><a/><a><b/></a></a>", "<a><a><a/></a><b/></a>"),
    ("/a/./b", "<a><b/></a>", "<b/>"),
    ("/a/b/../c", "<a><b/><c/></a>", "<a><c/></a>"),
    ("//b/parent::a", "<a><b/></a>", "<c><b/></c>"),
    ("/a/@k", "<a k=''/>", "<a l=''/>"),
    ("//@k", "<a><b k='1'/></a>", "<a><b l='1'/></a>"),
    ("//b/@*", "<a><b k='1'/></a>", "<a k='1'><b/></a>"),
    ("/a[@k='x']", "<a k='x'/>", "<a k='y'/>"),
    ("/a[@k!='x']", "<a k='y'/>", "<a/>"),
    ("/a[@k<2]", "<a k='1.5'/>", "<a k='2'/>"),
    ("/a[2<=@k]", "<a k='2'/>", "<a k='-2'/>"),
    ("/a[@k>2]", "<a k='3'/>", "<a k='many'/>"),
    ("/a[@k>=2]", "<a k=' 2 '/>", "<a k='1'/>"),
    ("//b/text()", "<a><b>x</b></a>", "<a>x<b/></a>"),
    ("//b[text()='x']", "<a><b>x</b></a>", "<a><b><c>x</c></b></a>"),
    ("//b[.='xy']", "<a><b>x<c>y</c></b></a>", "<a><b>x</b></a>"),
    ("/a[b='x']/c", "<a><b>y</b><b>x</b><c/></a>", "<a><b>y</b><c/></a>"),
    ("/a[b!='x']", "<a><b>x</b><b>y</b></a>", "<a><b>x</b></a>"),
    ("//a[b='x']/c", "<r><a><b>x</b><c/></a></r>", "<r><a><b>x</b></a><a><b>y</b><c/></a></r>"),
    ("/a[contains(b,'x')]", "<a><b>axe</b></a>", "<a><b>ae</b><b>x</b></a>"),
    ("/a[contains(b,'')]", "<a/>", "<b/>"),
    ("/a[starts-with(@k,'x')]", "<a k='xy'/>", "<a k='yx'/>"),
    ("/a[string-length(b)>2]", "<a><b>xyz</b></a>", "<a><b>xy</b></a>"),
    ("/a[string-length(b)=0]", "<a/>", "<a><b>x</b></a>"),
    ("/a[count(b)=2]", "<a><b/><b/></a>", "<a><b/></a>"),
    ("/a[count(b)<1]", "<a/>", "<a><b/></a>"),
    ("/a[b or c]", "<a><c/></a>", "<a><d/></a>"),
    ("/a[b and c]", "<a><b/><c/></a>", "<a><b/></a>"),
    ("/a[not(b)]", "<a><c/></a>", "<a><b/></a>"),
    ("/a[not(b or c)]/d", "<a><d/></a>", "<a><d/><c/></a>"),
    ("/a[(b or c) and d]", "<a><c/><d/></a>", "<a><b/></a>"),
    ("/a[b|c]", "<a><c/></a>", "<a/>"),
    ("/a/b|/c", "<c/>", "<a><c/></a>"),
    ("/c|/a[b]/d|//e", "<a><b/><d/></a>", "<a><d/></a>"),
    ("//*:b", "<a xmlns:p='u'><p:b/></a>", "<a/>"),
    ("//b", "<a><b/></a>", "<a xmlns='u'><b/></a>"),
    ("//Q{u}b", "<a xmlns='u'><b/></a>", "<a><b/></a>"),
    ("//Q{u}*/c", "<a><p:b xmlns:p='u'><c/></p:b></a>", "<a><b><c/></b></a>"),
    ("//été", "<a><été/></a>", "<a><ete/></a>"),
    ("//b[.='x<y']", "<a><b>x<![CDATA[<]]>y</b></a>", "<a><b>x&gt;y</b></a>"),
    ("//b[text()='xy']", "<a><b>x<!-- c --><?p i?>y</b><b>xy</b></a>", "<a><b>x<c/>y</b></a>"),
    ("//b[.='xy']", "<a><b>x<!-- c --><?p i?>y</b></a>", "<a><b>x y</b></a>"),
    ("/a[@k='é&']", "<!DOCTYPE a [<!ENTITY e 'é']><a k='&e;&amp;'/>".replace("']", "'>]"), "<a k='e&amp;'/>"),
]

# There are only two names, so that documents are recursive and nearly match a twig.
TAGS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), min_size=6, max_size=25)
STEPS = st.tuples(st.sampled_from(["/", "/", "//"]), st.sampled_from("aabb*")).map("".join)
BRANCHES = st.lists(STEPS, min_size=1, max_size=2).map("".join)


def relative(path: str) -> str:
    return f".{path}" if path.startswith("//") else path[1:]


def nested(tags: list[tuple[str, int]]) -> str:
    """The document with these start tags, each after the given number of end tags; the root ends last."""
    open, text = ["a"], "<a>"
    for name, ends in tags:
        for _ in range(min(ends, len(open) - 1)):
            text += f"</{open.pop()}>"
        open.append(name)
        text += f"<{name}>"
    return text + "".join(f"</{name}>" for name in reversed(open))


DOCUMENTS = TAGS.map(nested)
FORKS = st.tuples(STEPS, BRANCHES.map(relative).map("[{}]".format), st.just("") | BRANCHES).map("".join)
TWIGS = st.tuples(STEPS, FORKS.map(relative).map("[{}]".format), FORKS).map("".join) | FORKS


def added(engine: Engine, id: int, expression: Expression) -> bool:
    """Whether the pattern could be added: ``parse`` refuses what no document satisfies, and some axes."""
    try:
        engine.add(id, parse(expression.ours, NAMESPACES))
    except PatternError:
        return False
    return True


def true_for_lxml(expressions: Mapping[int, str], body: bytes) -> list[int]:
    tree = etree.fromstring(body, etree.XMLParser(resolve_entities=True, no_network=True)).getroottree()
    return [id for id, text in expressions.items() if tree.xpath(f"boolean({text})", namespaces=NAMESPACES)]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return ENGINES[request.param]()


@pytest.mark.parametrize(("expression", "matching", "other"), CASES)
def test_a_pattern_matches_what_it_says(
    engine: Engine, expression: str, matching: str, other: str | None
) -> None:
    """Each construct of the language matches one document and not the other."""
    engine.add("q", parse(expression))
    assert engine.match(matching.encode()).ids == ["q"]
    if other is not None:
        assert engine.match(other.encode()).ids == []


def test_all_cases_together(engine: Engine) -> None:
    """Patterns in one engine do not affect each other."""
    for number, (expression, _, _) in enumerate(CASES):
        engine.add(number, parse(expression))
    for number, (_, matching, other) in enumerate(CASES):
        assert number in engine.match(matching.encode()).ids
        assert other is None or number not in engine.match(other.encode()).ids


def test_an_empty_engine_matches_nothing(engine: Engine) -> None:
    """Without patterns there are no matches, but the document is still parsed."""
    assert engine.match(b"<a/>").ids == []
    with pytest.raises(DocumentError):
        _ = engine.match(b"<a>").ids


def test_ids_come_in_the_order_of_adding(engine: Engine) -> None:
    """Answers have the order in which patterns were added, whatever the patterns and ids are."""
    for id in (3, "one", (2, "x"), None):
        engine.add(id, parse("//b" if id == "one" else "/a"))
    assert engine.match(b"<a><b/></a>").ids == [3, "one", (2, "x"), None]


def test_a_pattern_matches_once(engine: Engine) -> None:
    """An id is listed once, however often its pattern matches."""
    engine.add("q", parse("//b|//c|/a"))
    assert engine.match(b"<a><b/><b/><c/></a>").ids == ["q"]


def test_two_ids_may_have_the_same_pattern(engine: Engine) -> None:
    """Two ids may have the same pattern, and one can be removed without the other."""
    engine.add("p", parse("/a[b]/c"))
    engine.add("q", parse("/a[b]/c"))
    assert engine.match(b"<a><b/><c/></a>").ids == ["p", "q"]
    engine.remove("p")
    assert engine.match(b"<a><b/><c/></a>").ids == ["q"]


def test_remove_leaves_the_others(engine: Engine) -> None:
    """A pattern that shares structure with a removed one still matches."""
    for expression in ("/a", "/a/b", "/a/b/c", "/a//c", "/a[b]//c"):
        engine.add(expression, parse(expression))
    engine.remove("/a/b")
    assert engine.match(b"<a><b><c/></b></a>").ids == ["/a", "/a/b/c", "/a//c", "/a[b]//c"]


def test_a_removed_id_can_come_back(engine: Engine) -> None:
    """The id of a removed pattern can be used again, and is then the last in the order."""
    engine.add("p", parse("/a"))
    engine.add("q", parse("/a"))
    engine.remove("p")
    engine.add("p", parse("/a/b"))
    assert engine.match(b"<a/>").ids == ["q"]
    assert engine.match(b"<a><b/></a>").ids == ["q", "p"]


def test_an_id_is_added_once(engine: Engine) -> None:
    """A second pattern with the same id is refused, and the first stays."""
    engine.add("q", parse("/a"))
    with pytest.raises(SubscriptionError) as refused:
        engine.add("q", parse("/b"))
    assert (refused.value.code, refused.value.id) == ("duplicate-id", "q")
    assert engine.match(b"<a/>").ids == ["q"]


def test_an_unknown_id_cannot_be_removed(engine: Engine) -> None:
    """Removing an unknown id is an error."""
    with pytest.raises(SubscriptionError) as refused:
        engine.remove("q")
    assert (refused.value.code, refused.value.id) == ("unknown-id", "q")


def test_len_counts_patterns(engine: Engine) -> None:
    """The length of an engine is the number of its subscriptions."""
    engine.add("p", parse("/a|/b"))
    engine.add("q", parse("/a"))
    assert len(engine) == 2
    engine.remove("p")
    assert len(engine) == 1


def test_a_bad_document_leaves_the_engine_unharmed(engine: Engine) -> None:
    """A bad document does not affect the next one."""
    engine.add("q", parse("//a[b]/c"))
    for bad in (b"", b"<r><a><b/>", b"<r><a></r>", b"<r>&no;</r>", b"\xff\xfe"):
        with pytest.raises(DocumentError):
            _ = engine.match(bad).ids
    assert engine.match(b"<r><a><c/></a></r>").ids == []
    assert engine.match(b"<r><a><b/><c/></a></r>").ids == ["q"]


def test_matching_leaves_nothing_behind(engine: Engine) -> None:
    """An earlier document does not affect the matches of the next one."""
    engine.add("q", parse("/a[b]/c"))
    assert [engine.match(b"<a><b/></a>").ids, engine.match(b"<a><c/></a>").ids] == [[], []]


def test_deep_documents(engine: Engine) -> None:
    """A deeply nested document does not exhaust the stack."""
    engine.add("bottom", parse("//a/a/b"))
    engine.add("twig", parse("//a[c]//b"))
    deep = b"<a>" * 500 + b"<b/>" + b"</a>" * 499
    assert engine.match(deep + b"</a>").ids == ["bottom"]
    assert engine.match(deep + b"<c/></a>").ids == ["bottom", "twig"]


# Generating an example costs more than matching it, so each example is used for all engines.


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(patterns(), min_size=4, max_size=8), documents())
def test_answers_are_those_of_lxml(expressions: list[Expression], body: bytes) -> None:
    """For any patterns and document, the ids are those whose expressions lxml finds true."""
    for name, make in ENGINES.items():
        engine = make()
        there = {id: each.xpath for id, each in enumerate(expressions) if added(engine, id, each)}
        assert engine.match(body).ids == true_for_lxml(there, body), name


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(general_patterns(), min_size=4, max_size=8), documents())
def test_general_expressions_are_decided_as_the_evaluator_does(
    expressions: list[Expression], body: bytes
) -> None:
    """Whatever an engine finds by itself, the candidates it confirms are those of ``OneByOne``."""
    plain = OneByOne()
    for id, expression in enumerate(expressions):
        added(plain, id, expression)
    expected = plain.match(body).ids
    for name, make in ENGINES.items():
        engine = make()
        for id, expression in enumerate(expressions):
            added(engine, id, expression)
        assert engine.match(body).ids == expected, name


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(TWIGS, min_size=8, max_size=12), st.lists(DOCUMENTS, min_size=2, max_size=4))
def test_twigs_are_those_of_lxml(twigs: list[str], documents: list[str]) -> None:
    """The branches of a twig must be below one element, also if elements of its name are nested."""
    truths = {body: true_for_lxml(dict(enumerate(twigs)), body) for body in map(str.encode, documents)}
    for name, make in ENGINES.items():
        engine = make()
        for id, twig in enumerate(twigs):
            engine.add(id, parse(twig))
        assert {body: engine.match(body).ids for body in truths} == truths, name


@pytest.mark.slow
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.integers(0, 4), patterns()), min_size=6, max_size=12), documents())
def test_changes_leave_what_is_there(changes: list[tuple[int, Expression]], body: bytes) -> None:
    """After any changes an engine answers like a new one with the same patterns, and like ``OneByOne``."""
    for name, make in ENGINES.items():
        engine = make()
        left: dict[int, Expression] = {}
        for id, expression in changes:
            if id in left:
                engine.remove(id)
                del left[id]
            elif added(engine, id, expression):
                left[id] = expression
            engine.match(b"<a/>")
        fresh, plain = make(), OneByOne()
        for id, expression in left.items():
            added(fresh, id, expression)
            added(plain, id, expression)
        assert len(engine) == len(left), name
        assert engine.match(body).ids == fresh.match(body).ids == plain.match(body).ids, name
