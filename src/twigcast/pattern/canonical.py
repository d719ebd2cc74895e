"""Constructors that keep patterns canonical, so that equal expressions become equal values.

Conjunctions and disjunctions are flat, distinct and sorted by canonical text; a double negation cancels out.
Cost: text is rendered for sorting only where there are at least two operands.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from twigcast.pattern.rendering import render_absolute, render_path, render_predicate
from twigcast.pattern.tree import And, Not, Or, Path, Pattern, Predicate, Test, counted_among

Value = TypeVar("Value")


def union(alternatives: Iterable[Path]) -> Pattern:
    """The pattern with these absolute paths as its alternatives."""
    paths = tuple(alternatives)
    return Pattern(paths if len(paths) == 1 else _arranged({render_absolute(path): path for path in paths}))


def path_union(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The paths of a predicate, which start at one context node, distinct and sorted."""
    return tuple(paths) if len(paths) == 1 else _arranged({render_path(path): path for path in paths})


def conjuncts(predicates: Sequence[Predicate]) -> tuple[Predicate, ...]:
    """The conjunction of ``predicates`` as a list of predicates for a step: flat, distinct and sorted.

    With a ``Test`` of a position there are the conditions on the siblings that it counts: the node is one.
    """
    if len(predicates) == 1 and not isinstance(predicates[0], And | Test):
        return (predicates[0],)
    flat: dict[str, Predicate] = {}
    for predicate in predicates:
        for operand in predicate.operands if isinstance(predicate, And) else (predicate,):
            flat[render_predicate(operand)] = operand
            if isinstance(operand, Test):
                flat.update({render_predicate(each): each for each in counted_among(operand)})
    return _arranged(flat)


def conjoined(predicates: Sequence[Predicate]) -> Predicate:
    """The conjunction of at least one predicate as one predicate."""
    operands = conjuncts(predicates)
    return operands[0] if len(operands) == 1 else And(operands)


def disjoined(predicates: Sequence[Predicate]) -> Predicate:
    """The disjunction of at least one predicate as one predicate."""
    if len(predicates) == 1:
        return predicates[0]
    flat: dict[str, Predicate] = {}
    for predicate in predicates:
        for operand in predicate.operands if isinstance(predicate, Or) else (predicate,):
            flat[render_predicate(operand)] = operand
    operands = _arranged(flat)
    return operands[0] if len(operands) == 1 else Or(operands)


def negated(predicate: Predicate) -> Predicate:
    """The negation of ``predicate``."""
    return predicate.operand if isinstance(predicate, Not) else Not(predicate)


def _arranged(by_text: dict[str, Value]) -> tuple[Value, ...]:
    return tuple([by_text[text] for text in sorted(by_text)])
