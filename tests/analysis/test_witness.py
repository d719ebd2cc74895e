"""The witness of a pattern."""

from __future__ import annotations

from twigcast.analysis.witness import Witness, bit, key
from twigcast.pattern import ANY, NameTest, parse


def test_a_gap_is_filled_with_one_element() -> None:
    """The gap of ``//`` is one node without a name."""
    witness = Witness(parse("/a//b"))
    assert witness.names == [None, key(NameTest("", "a")), None, key(NameTest("", "b"))]
    assert [list(below) for below in witness.below] == [[1, 2, 3], [2, 3], [3], []]
    assert witness.height == [3, 2, 1, 0]


def test_branches_are_there_even_if_only_one_of_them_must_be() -> None:
    """The witness contains all that a pattern may require, but not what it denies."""
    witness = Witness(parse("/a[b or c][not(d)][not(e or not(f))]"))
    names = {name for name in witness.names if name}
    assert names == {key(NameTest("", local)) for local in "abcf"}
    assert sorted(witness.below[1]) == sorted(witness.children[1]) == [2, 3, 4]


def test_what_is_missing_below() -> None:
    """A node knows which names do not occur below it, except for names that share a bit."""
    bits = {local: bit(key(NameTest("", local))) for local in "abcdefgh"}  # others in each run
    other = next(local for local in bits if bits[local] != bits["a"])
    a, b = bits["a"], bits[other]
    witness = Witness(parse(f"/a/{other}"))
    assert not witness.missing[0] & (a | b)
    assert witness.missing[1] & a
    assert not witness.missing[1] & b


def test_keys_tell_tests_apart() -> None:
    """A name, a name in no namespace, a namespace and the test for any name have different keys."""
    tests = [NameTest(None, "a"), NameTest("", "a"), NameTest("a", None), NameTest("", None), ANY]
    assert len({key(test) for test in tests}) == 5
