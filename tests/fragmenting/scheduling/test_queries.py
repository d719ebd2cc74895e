"""Patterns as trees of query nodes: heights, specificities, and which text they need."""

from __future__ import annotations

import pytest

from tests.fragmenting.thesis import QUERY
from twigcast.fragmenting.scheduling.queries import Query, TextUse
from twigcast.pattern import parse


def query(text: str) -> Query:
    return Query.of(parse(text))


def texts(each: Query) -> list[str]:
    return [each.text(node.number) for node in each.nodes]


def heights(each: Query) -> list[int]:
    return [node.least_height for node in each.nodes[1:]]


def test_example_5_2_heights_of_the_thesis() -> None:
    """The least height of c is 2, that of a is 3."""
    made = query(QUERY)
    named = dict(zip(texts(made)[1:], heights(made), strict=True))
    assert (named["/a"], named["//m"], named["/c"], named["/k"]) == (3, 3, 2, 1)


def test_steps_and_nested_paths_are_nodes() -> None:
    """Each node comes after its parent; the document is node 0."""
    made = query("/a[b//c]/d")
    assert sorted(texts(made)) == ["//c", "/a", "/b", "/d", "document"]
    assert all(node.parent < node.number for node in made.nodes[1:])
    assert made.structural


def test_trap_4_a_condition_counts_as_a_leaf() -> None:
    """The attribute of ``a`` shows in no element below, so its start tag must be read: height 0, not 3."""
    assert heights(query("/a[@x]/b/c/d")) == [0, 2, 1, 0]


def test_trap_12_nodes_of_one_prefix_have_heights_of_their_own() -> None:
    """In ``/a[b/c/d][b]`` both b have the prefix /a/b, with least heights 2 and 0."""
    made = query("/a[b/c/d][b]")
    assert sorted(node.least_height for node in made.nodes if made.text(node.number) == "/b") == [0, 2]


@pytest.mark.parametrize(
    ("text", "step", "use"),
    [
        ("/a[.='xy']", "/a", TextUse.BELOW),
        ("/a[b='x']", "/b", TextUse.BELOW),
        ("/a[contains(b, 'x')]", "/b", TextUse.BELOW),
        ("/a[text()='x']", "/a", TextUse.OWN),
        ("/a/text()", "/a", TextUse.OWN),
        ("/a[@x='1']", "/a", TextUse.NONE),
        ("/a[b]", "/b", TextUse.NONE),
    ],
)
def test_nodes_say_which_text_they_need(text: str, step: str, use: TextUse) -> None:
    """A string-value needs all text below, ``text()`` the text nodes of the element itself."""
    made = query(text)
    assert [node.text for node in made.nodes if made.text(node.number) == step] == [use]
    assert made.structural is (text == "/a[b]")


@pytest.mark.parametrize(
    "text", ["/a[not(b)]", "/a[b or c]", "/a[count(b) > 1]", "/a/b[2]", "/a | /b", "/a[@x]"]
)
def test_what_is_no_twig_is_not_structural(text: str) -> None:
    """The reference engine takes twigs of elements only."""
    assert not query(text).structural


def test_steps_inside_conditions_are_nodes() -> None:
    """A fragment with elements for any of them can change the answer."""
    assert set(texts(query("/a[not(b/c) or count(d) = 2]/e"))) >= {"/b", "/c", "/d", "/e"}


def test_positions_need_the_siblings_that_are_counted() -> None:
    """``/a/*[2][self::b]`` counts all children of a, so there is a node for them."""
    assert "/*" in texts(query("/a/*[2][self::b]"))


def test_general_expressions_are_opaque() -> None:
    """Nothing is known of what they look at."""
    assert query("/a[b/following-sibling::c]").opaque


def test_specificity_counts_named_steps() -> None:
    """``*`` is not specific."""
    made = query("/a/*//b")
    assert [node.specificity for node in made.nodes] == [0, 1, 1, 2]
