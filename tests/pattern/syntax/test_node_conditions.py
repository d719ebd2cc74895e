"""Conditions that speak of names and parents, and how they combine."""

from __future__ import annotations

import pytest

from twigcast.pattern import ANY, NameTest, Not, Or, Predicate, parse
from twigcast.pattern.syntax.node_conditions import (
    Branch,
    Mixed,
    Refusal,
    above,
    both,
    branches,
    either,
    named,
    opposite,
)

LIMIT = 8


def exists(name: str) -> Predicate:
    (predicate,) = parse(f"/*[{name}]").alternatives[0].steps[0].predicates
    return predicate


A, B = exists("a"), exists("b")
NAME = NameTest("", "n")


def test_constants_decide() -> None:
    """A constant disappears from a conjunction or disjunction, or decides it."""
    assert both([A, True], LIMIT) == A
    assert both([A, False], LIMIT) is False
    assert either([A, False], LIMIT) == A
    assert either([A, True], LIMIT) is True
    assert both([], LIMIT) is True
    assert either([], LIMIT) is False
    assert opposite(True, LIMIT) is False


def test_plain_predicates_stay_plain() -> None:
    """Only what looks up or at its own name needs branches."""
    assert either([A, B], LIMIT) == Or((A, B))
    assert opposite(A, LIMIT) == Not(A)
    assert branches(A) == (Branch(here=(A,)),)


def test_a_conjunction_of_branches_is_one_branch() -> None:
    """Below, name and parent side by side."""
    assert both([A, named(NAME), above(B, 1)], LIMIT) == Mixed((Branch((A,), (NAME,), (), B),))


def test_a_disjunction_keeps_plain_predicates_together() -> None:
    """One branch for all that looks down, one for each that does not."""
    assert either([A, above(B, 1), B], LIMIT) == Mixed((Branch(above=B), Branch(here=(Or((A, B)),))))


def test_the_opposite_of_a_parents_condition_is_the_parents_or_no_parent() -> None:
    """Only the document has no parent."""
    assert opposite(above(A, 1), LIMIT) == Mixed((Branch(document=True), Branch(above=Not(A))))
    assert opposite(opposite(above(A, 1), LIMIT), LIMIT) == Mixed((Branch(required=(ANY,), above=A),))


def test_the_document_has_neither_name_nor_parent() -> None:
    """A branch that asks for both is none."""
    document = Mixed((Branch(document=True),))
    assert both([document, named(NAME)], LIMIT) is False
    assert both([document, above(A, 1)], LIMIT) is False


def test_branches_are_bounded() -> None:
    """A product beyond the limit is refused."""
    factors = [either([above(exists(f"a{i}"), 1), exists(f"b{i}")], LIMIT) for i in range(4)]
    with pytest.raises(Refusal) as caught:
        both(factors, LIMIT)
    assert caught.value.code == "too-complex"
    assert isinstance(both(factors, 16), Mixed)
