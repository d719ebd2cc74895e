"""Skeletons: the structure of a pattern without its other conditions."""

from __future__ import annotations

import pytest

from experiments.engines.filtering.skeleton import skeleton, twigs
from twigcast.analysis import Twig
from twigcast.pattern import ANY, Axis, NameTest, parse


@pytest.mark.parametrize(
    "expression",
    ["/", "/a", "//a/*//b", "/a[b]/c", "//a[b/c[d]][.//e]", "/a|//b/c"],
)
def test_structure_is_its_own_skeleton(expression: str) -> None:
    """The skeleton of a purely structural pattern is the pattern itself."""
    assert skeleton(parse(expression)) == parse(expression)


@pytest.mark.parametrize(
    ("expression", "left"),
    [
        ("/a/@k", "/a"),
        ("//a/text()", "//a"),
        ("//a[@k='x']", "//a"),
        ("//a[b/@k='x']", "//a[b]"),
        ("//a[b/text()]", "//a[b]"),
        ("//a[b='x']", "//a[b]"),
        ("//a[b!=1]", "//a[b]"),
        ("//a[.='x']", "//a"),
        ("//a[b or c]", "//a"),
        ("//a[b|c]", "//a"),
        ("//a[not(b)]", "//a"),
        ("//a[not(b)]/c[d='x']", "//a/c[d]"),
        ("//a[contains(b,'x')]", "//a[b]"),
        ("//a[contains(b,'')]", "//a"),
        ("//a[starts-with(b/c,'x')]", "//a[b/c]"),
        ("//a[string-length(b)>2]", "//a[b]"),
        ("//a[string-length(b)<2]", "//a"),
        ("//a[count(b)>=2]", "//a[b]"),
        ("//a[count(b)=0]", "//a"),
        ("//a[count(b)<5]", "//a"),
        ("//*:a[b]", "//*[b]"),
    ],
)
def test_skeletons(expression: str, left: str) -> None:
    """A skeleton keeps the elements that a predicate requires, and drops those that may be absent."""
    assert skeleton(parse(expression)) == parse(left)


def test_twigs_do_not_distinguish_steps_from_predicates() -> None:
    """In a twig, the next step and the predicates of a step are branches of the same kind."""
    child, a, b, c = Axis.CHILD, NameTest("", "a"), NameTest("", "b"), NameTest("", "c")
    twig = Twig(child, a, (), (Twig(child, b), Twig(Axis.DESCENDANT, ANY, (), (Twig(child, c),))))
    assert twigs(parse("/a[b]//*/c")) == ((twig,),)
    assert twigs(parse("/a[.//*/c]/b")) == ((Twig(child, a, (), twig.branches[::-1]),),)


def test_twigs_that_are_alike_are_one() -> None:
    """A predicate that the rest of the path implies adds no branch."""
    assert twigs(parse("/a[b]/b")) == twigs(parse("/a/b"))


def test_the_document_asks_for_no_twig() -> None:
    """The alternative ``/``, which every document matches, has no twig."""
    assert twigs(parse("/")) == ((),)


def test_each_alternative_has_its_twigs() -> None:
    """Each alternative of a union has twigs of its own."""
    assert twigs(parse("/a|/b")) == (*twigs(parse("/a")), *twigs(parse("/b")))
