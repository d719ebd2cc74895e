"""Which predicates hold only where there is something."""

from __future__ import annotations

from typing import TypeAlias, TypeGuard

from twigcast.pattern.numbers import compare
from twigcast.pattern.tree import Comparison, Count, Exists, Length, Predicate, StringTest

Selecting: TypeAlias = Exists | Comparison | StringTest | Length | Count


def demands_a_node(predicate: Predicate) -> TypeGuard[Selecting]:
    """Whether a predicate holds only where its paths select something."""
    match predicate:
        case Exists() | Comparison():
            return True
        case StringTest():
            return predicate.value != ""
        case Length() | Count():
            return not compare(0, predicate.operator, predicate.value)
        case _:
            return False
