"""Chains of steps: the automaton against all words, and pairs for which a homomorphism is wrong."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twigcast.analysis.linear_containment import Chain, ChainAutomaton, chain
from twigcast.pattern import ANY, NameTest, parse

A, B, FRESH = NameTest("", "a"), NameTest("", "b"), NameTest("urn:fresh", "z")
STEPS = st.tuples(st.sampled_from([False, False, True]), st.sampled_from([A, B, ANY, ANY]))
chains = st.lists(STEPS, min_size=1, max_size=4).map(tuple)


def steps(expression: str) -> Chain:
    return chain(parse(expression).alternatives[0])


def covers(*expressions: str) -> bool:
    *general, special = map(steps, expressions)
    return ChainAutomaton(general).covers(special)


@given(st.lists(chains, min_size=1, max_size=2), chains)
@settings(max_examples=400, deadline=None)
def test_chains_cover_exactly_what_they_match_in_all_words(general: list[Chain], special: Chain) -> None:
    """A chain is covered if all its words, with gaps of any length, are matched."""
    longest = sum(len(each) for each in general) + 1
    words = instances(special, longest)
    expected = all(any(matches(each, word) for each in general) for word in words)
    assert ChainAutomaton(general).covers(special) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [("/a//*/b", "/a/*//b"), ("/a//*", "/a/*"), ("//*//a", "/*//a"), ("//*/*/a", "/*/*//a"), ("//*", "/*")],
)
def test_wildcards_move_along_a_gap(one: str, other: str) -> None:
    """The position of ``//`` among wildcards makes no difference."""
    assert covers(one, other)
    assert covers(other, one)


def test_section_4_2_descendant_operators() -> None:
    """The routing paper's examples of DesCov; the paper takes the second one for not covered, but it is."""
    assert covers("/*/a//*//c", "/a/a/*//c/e/c/d")
    assert covers("/*/a//*/c", "/a/a/*//c/b/d")
    assert not covers("/*/c", "/*//c")
    assert covers("/a/*//*/d", "/a//b/c/d")


def test_a_union_covers_what_none_of_its_parts_does() -> None:
    """Different lengths of a gap may be matched by different alternatives."""
    assert covers("/a/b", "/a/*//b", "/a//b")
    assert not covers("/a/b", "/a/*/b", "/a//b")


@pytest.mark.parametrize(
    ("general", "special", "expected"),
    [
        ("//*:a", "//a", True),
        ("//*:a", "//Q{urn:p}a", True),
        ("//a", "//*:a", False),
        ("//Q{urn:p}*", "//Q{urn:p}a", True),
        ("//Q{urn:p}*", "//a", False),
        ("//Q{urn:p}*", "//*:a", False),
        ("//*:a", "//*:a", True),
        ("//*", "//*:a", True),
        ("//*:a", "//*", False),
    ],
)
def test_names_in_part(general: str, special: str, expected: bool) -> None:
    """A test of only a namespace or only a local name includes all full names with it."""
    assert covers(general, special) is expected


def test_many_gaps_are_not_many_masks() -> None:
    """Many gaps lead to few masks, so that a long chain is decided fast."""
    assert covers("//a/*/*/b//a/*/*/b", "//a/*/*/b" * 12)
    assert not covers("//a/*/*/b//c", "//a//*//*//b" * 12)


def test_tests_include_what_admits_less() -> None:
    """A name test includes another if its namespace and its local name do."""
    assert ANY.includes(A)
    assert A.includes(A)
    assert not A.includes(ANY)
    assert not A.includes(B)


def instances(special: Chain, longest: int) -> list[tuple[NameTest, ...]]:
    """Yield words that a chain matches, in which wildcards and gap elements have a fresh name."""
    pieces = []
    for deep, test in special:
        name = FRESH if test == ANY else test
        pieces.append([(*(FRESH,) * gap, name) for gap in range(longest + 1 if deep else 1)])
    return [tuple(name for piece in word for name in piece) for word in product(*pieces)]


def matches(steps: Chain, word: tuple[NameTest, ...]) -> bool:
    """Whether a chain matches some prefix of a word, by trying all ways."""
    if not steps:
        return True
    (deep, test), rest = steps[0], steps[1:]
    starts = range(len(word)) if deep else range(min(1, len(word)))
    return any(test.includes(word[at]) and matches(rest, word[at + 1 :]) for at in starts)
