"""Relevance by headers: the tables of the thesis, the traps, and that dropped fragments do not matter."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fragmenting.strategies import any_document, any_fragments
from tests.fragmenting.thesis import QUERY, fragments
from tests.oracles.relevant_nodes import relevant_nodes
from tests.pattern import strategies
from twigcast.document import read
from twigcast.errors import PatternError
from twigcast.fragmenting import Cuts, Fragment, HeaderKind, Spans, fragment
from twigcast.fragmenting.headers import PathDictionary
from twigcast.fragmenting.scheduling import PrefixTree, Query, Relevance
from twigcast.pattern import Pattern, matches, parse

EXAMPLES = 150


def dictionary(parts: list[Fragment]) -> PathDictionary:
    made = PathDictionary()
    for part in parts:
        if part.paths is not None:
            made.add(part.paths)
    return made


def relevant(text: str, parts: list[Fragment]) -> list[set[str]]:
    """For each fragment, the last steps of the query nodes that it is relevant for."""
    query = Query.of(parse(text))
    paths = dictionary(parts)
    return [{query.text(node) for node in relevant_nodes(query, part.header, paths)} for part in parts]


def pieces(body: bytes, *nodes: int, kind: HeaderKind = "prefix+level") -> list[Fragment]:
    return list(fragment(body, cut=Cuts(nodes), header=kind))


def test_example_5_5_edges_leave_almost_every_pair() -> None:
    """64 pairs: f7 with /a, and all seven fragments with the nine other nodes."""
    query = Query.of(parse(QUERY))
    pairs = [relevant_nodes(query, part.header) for part in fragments("edge")]
    assert sum(map(len, pairs)) == 64
    assert [1 in nodes for nodes in pairs] == [False] * 6 + [True]


def test_figure_5_4_prefix() -> None:
    """//m may lie deep in any subtree below a."""
    expected = [
        {"/f", "//m"},
        {"/b", "//m"},
        {"/k", "//m"},
        {"/c", "//m"},
        {"/k", "//m"},
        {"/c", "//m"},
        {"/a"},
    ]
    assert relevant(QUERY, fragments("prefix")) == expected


def test_figure_5_4_and_example_5_6_prefix_and_level() -> None:
    """No subtree is high enough for //m, and f7 not for /a."""
    assert relevant(QUERY, fragments()) == [{"/f"}, {"/b"}, {"/k"}, {"/c"}, {"/k"}, {"/c"}, set()]


def test_label_paths_show_what_is_not_there() -> None:
    """f2 has no f and f6 neither k nor s, so nothing of the query is in them."""
    expected = [{"/f", "//i"}, set(), {"/k", "/y"}, {"/c", "/s", "/y"}, {"/k", "/y"}, set(), set()]
    assert relevant(QUERY, fragments("prefix+paths")) == expected


def test_trap_4_a_start_tag_with_a_condition_is_read() -> None:
    """By the printed rule the least height of a is 3, and the fragment with its attribute is dropped."""
    parts = pieces(b"<a x='1'><b><c><d/></c></b><z/></a>", 5)
    assert relevant("/a[@x]/b/c/d", parts) == [{"/b"}, {"/a"}]
    assert relevant("/a/b/c/d", parts) == [{"/b"}, set()]


def test_trap_12_each_node_has_its_own_height() -> None:
    """A lone b is relevant for the second b of ``/a[b/c/d][b]``, though its prefix is that of the first."""
    parts = pieces(b"<a><b/><z/></a>", 3)
    query = Query.of(parse("/a[b/c/d][b]"))
    (node,) = relevant_nodes(query, parts[0].header)
    assert query.nodes[node].least_height == 0


@pytest.mark.parametrize("kind", ["prefix", "prefix+level", "prefix+paths"])
def test_trap_16_text_below_an_element_is_needed(kind: HeaderKind) -> None:
    """``/a[.='xy']`` has no step for b, but the text in b is a part of the string-value of a."""
    parts = pieces(b"<a>x<b>y</b><z/></a>", 3, kind=kind)
    assert relevant("/a[.='xy']", parts)[0] == {"/a"}
    assert relevant("/a[c]", parts)[0] == set()


def test_trap_16_without_a_path_any_text_may_be_needed() -> None:
    """An edge does not say that b lies below a, but it does not say the contrary either."""
    parts = pieces(b"<a>x<b>y</b><z/></a>", 3, kind="edge")
    assert relevant("/a[.='xy']", parts) == [{"/a"}, {"/a"}]
    assert relevant("/a", parts) == [set(), {"/a"}]


def test_a_general_expression_on_the_document_may_look_anywhere() -> None:
    """It has no step of its own, and every fragment is relevant for the document node."""
    parts = pieces(b"<a><b/><z/></a>", 3)
    assert relevant("/self::node()[a/b/following-sibling::z]", parts)[0] >= {"document"}


def test_text_nodes_between_the_subtrees_of_a_run_are_needed() -> None:
    """A run of two children of a brings the text between them with it; a run of one child brings none."""
    assert relevant("/a[text()='x']", pieces(b"<a><b/>x<b/><z/></a>", 4))[0] == {"/a"}
    assert relevant("/a[text()='x']", pieces(b"<a><b/><z/>x</a>", 3))[0] == set()


def test_text_nodes_of_the_elements_that_a_span_closes_are_needed() -> None:
    """The second span has text of b and of a."""
    parts = list(fragment(b"<a><b><c/>x</b>y</a>", cut=Spans(nodes=(3,))))
    assert relevant("/a[text()='y']", parts)[1] == {"/a"}
    assert relevant("/a/b[text()='x']", parts)[1] == {"/b"}


def test_a_root_may_declare_its_namespace_itself() -> None:
    """The header has the name u:b or b as written, and not what its own start tag declares."""
    parts = pieces(b"<a><b xmlns='u'/><z/></a>", 3)
    assert relevant("/a/Q{u}b", parts)[0] == {"/b"}


def test_elements_from_entities_are_in_no_header() -> None:
    """Where entities are declared, every fragment may have any element."""
    parts = pieces(b"<!DOCTYPE a [<!ENTITY e '<b/>'>]><a><c>&e;</c><z/></a>", 3)
    assert relevant("/a/c/b", parts)[0] == {"/c", "/b"}


def test_unknown_label_paths_do_not_drop_a_fragment() -> None:
    """The dictionary comes with fragments that may arrive later."""
    parts = fragments("prefix+paths")
    query = Query.of(parse(QUERY))
    assert relevant_nodes(query, parts[1].header, PathDictionary()) == relevant_nodes(
        query, fragments()[1].header
    )


def random_patterns(random: Random, count: int) -> list[Pattern]:
    found: list[Pattern] = []
    while len(found) < count:
        try:
            found.append(parse(strategies.pattern(random).ours, strategies.NAMESPACES))
        except PatternError:
            continue
    return found


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.randoms(use_true_random=False))
def test_many_queries_at_once_give_the_pairs_of_each(random: Random) -> None:
    """The shared tree is the definition, shared."""
    body = any_document(random)
    parts = any_fragments(random, body)
    queries = [Query.of(pattern) for pattern in random_patterns(random, 4)]
    tree = PrefixTree(queries)
    relevance = Relevance(tree)
    for part in parts:
        relevance.learn(part.header)
    for part in parts:
        found = set(tree.members(relevance.nodes(part.header)))
        for number, query in enumerate(queries):
            expected = relevant_nodes(query, part.header, dictionary(parts))
            assert {node for each, node in found if each == number} == expected


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.randoms(use_true_random=False))
def test_emptying_a_fragment_that_is_dropped_changes_no_answer(random: Random) -> None:
    """For the whole language: what relevance drops can be taken out of the document."""
    body = any_document(random)
    parts = any_fragments(random, body)
    patterns = random_patterns(random, 6)
    for part in parts:
        if part.holes or part.is_span or part.starts_document:
            continue
        rest = body
        for run in sorted(part.runs, key=lambda run: -run.place):
            rest = rest[: run.place] + rest[run.place + run.end - run.start :]
        whole, emptied = read(body), read(rest)
        for pattern in patterns:
            if not relevant_nodes(Query.of(pattern), part.header, dictionary(parts)):
                assert matches(pattern, whole) == matches(pattern, emptied), (str(pattern), part)
