"""The positions of a schema automaton, and the sets of positions that steps lead to."""

from __future__ import annotations

import pickle

import pytest

from twigcast.analysis.automaton import SchemaAutomaton, deterministic, members
from twigcast.pattern import ANY, Axis, NameTest

A, B = NameTest("", "a"), NameTest("", "b")


def test_meet_is_the_test_for_what_both_admit() -> None:
    """It is the narrower of two tests, or narrower than both, or None."""
    assert A.meet(ANY) == ANY.meet(A) == A
    assert NameTest(None, "a").meet(NameTest("u", None)) == NameTest("u", "a")
    assert A.meet(B) is None
    assert A.meet(NameTest("u", None)) is None


def test_members_are_the_bits() -> None:
    """A set of positions is an integer with a bit for each position."""
    assert list(members(0b10110)) == [1, 2, 4]


def test_steps_go_to_children_and_descendants() -> None:
    """``/`` leads to the positions that follow, ``//`` to those that follow at any distance."""
    chain = SchemaAutomaton((ANY, A, B, A), (0b10, 0b100, 0b1000, 0))
    assert chain.step(0b1, Axis.CHILD, A) == 0b10
    assert chain.step(0b1, Axis.DESCENDANT, A) == 0b1010
    assert chain.step_back(0b1000, Axis.CHILD) == 0b100
    assert chain.step_back(0b1000, Axis.DESCENDANT) == 0b111


def test_a_name_belongs_to_the_narrowest_test() -> None:
    """If both a name and ``*`` can follow, the name leads only to its own position."""
    both = deterministic((ANY, A, ANY), (0b110, 0, 0))
    assert both.admitted(A).bit_count() == 1
    assert both.admitted(B) == both.admitted(ANY) & ~both.admitted(A)


def test_positions_of_one_name_become_one() -> None:
    """Two positions that one name leads to become one, which has the followers of both."""
    split = deterministic((ANY, A, A, B, ANY), (0b110, 0b1000, 0b10000, 0, 0))
    [number] = members(split.step(0b1, Axis.CHILD, A))
    assert split.follow[number].bit_count() == 3  # a and b by name, and any other


@pytest.mark.parametrize("asked", [NameTest(None, "a"), NameTest("u", None), NameTest("u", "a"), ANY])
def test_vague_tests_meet_vague_positions(asked: NameTest) -> None:
    """``*:a``, ``u:*`` and their intersection are different positions."""
    vague = deterministic((ANY, NameTest(None, "a"), NameTest("u", None)), (0b110, 0, 0))
    assert vague.admitted(asked)
    assert not vague.admitted(B)


def test_a_pickled_automaton_is_the_same() -> None:
    """Cached values are not pickled."""
    chain = SchemaAutomaton((ANY, A, B), (0b10, 0b100, 0))
    chain.step(1, Axis.DESCENDANT, B)
    copy = pickle.loads(pickle.dumps(chain))
    assert copy == chain
    assert set(vars(copy)) == {"tests", "follow"}
    assert hash(copy) == hash(chain)
