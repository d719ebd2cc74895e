"""Constructors that keep the invariants of the pattern tree."""

from __future__ import annotations

from twigcast.pattern import And, Exists, Not, Or, Predicate, parse
from twigcast.pattern.canonical import conjoined, conjuncts, disjoined, negated, path_union, union


def exists(name: str) -> Predicate:
    (predicate,) = parse(f"/*[{name}]").alternatives[0].steps[0].predicates
    return predicate


A, B, C = exists("a"), exists("b"), exists("c")


def test_conjunctions_are_flat_distinct_and_sorted() -> None:
    """However they were put together."""
    assert conjuncts([And((B, C)), A, B]) == (A, B, C)
    assert conjoined([B, A]) == And((A, B))
    assert conjoined([A, A]) == A


def test_disjunctions_are_flat_distinct_and_sorted() -> None:
    """However they were put together."""
    assert disjoined([Or((B, C)), A, B]) == Or((A, B, C))
    assert disjoined([A, A]) == A


def test_a_double_negation_is_none() -> None:
    """Negating twice gives back the same value."""
    assert negated(A) == Not(A)
    assert negated(negated(A)) == A


def test_unions_are_distinct_and_sorted() -> None:
    """At the top and in predicates."""
    a, b = parse("/a").alternatives[0], parse("/b").alternatives[0]
    assert union([b, a, b]).alternatives == (a, b)
    assert path_union([b, a, b]) == (a, b)
    assert Exists(path_union([b, a])) == Exists((a, b))
