"""Conditions on one node, while an expression is parsed: on what is below it, on its name and on its parent.

The predicates of a finished pattern look only down.  XPath also allows conditions such as ``[../x]`` and
``[self::b]``; until ``cleaning`` has rewritten them, they are kept in disjunctive normal form:

    [../x or y and not(self::b)]    Mixed( Branch(above x)  or  Branch(here y, excluded b) )

A ``Condition`` is therefore one of three: a ``Predicate``, which looks only down; ``True`` or ``False``, if
it always or never holds; or ``Mixed``, a disjunction of branches, each a conjunction.

Invariant: ``both``, ``either`` and ``opposite`` (and, or, not) take conditions and return conditions, with at
most ``limit`` branches; more are refused as too complex.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias, TypeVar

from twigcast.pattern.canonical import conjoined, conjuncts, disjoined, negated
from twigcast.pattern.tree import ANY, NameTest, Predicate

Value = TypeVar("Value", bound=Sized)


class Refusal(Exception):
    """Raised for an expression that cannot be cleaned; the parser turns it into a ``PatternError``."""

    def __init__(self, code: str, message: str, expected: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.expected = expected


@dataclass(frozen=True, slots=True)
class Branch:
    """A conjunction of conditions on one node; without any of them it holds for every node."""

    here: tuple[Predicate, ...] = ()
    """Predicates on the node itself and on what is below it."""
    required: tuple[NameTest, ...] = ()
    """Name tests that the node must satisfy."""
    excluded: tuple[NameTest, ...] = ()
    """Name tests that the node must not satisfy."""
    above: Condition | None = None
    """The condition on the parent, which must exist."""
    document: bool = False
    """Whether the node must be the document node, which has no name and no parent."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A disjunction of branches, at least one of which looks at the name or the parent."""

    branches: tuple[Branch, ...]


Condition: TypeAlias = Predicate | Mixed | bool


def named(test: NameTest) -> Condition:
    """The condition that the node is an element whose name the test admits."""
    return Mixed((Branch(required=(test,)),))


def above(condition: Condition, levels: int) -> Condition:
    """The condition that the ancestor ``levels`` up exists and satisfies ``condition``."""
    for _ in range(levels):
        if condition is False:
            return False
        condition = Mixed((Branch(above=condition),))
    return condition


def both(conditions: Iterable[Condition], limit: int) -> Condition:
    """The conjunction of ``conditions``."""
    plain: list[Predicate] = []
    mixed: list[Mixed] = []
    for condition in conditions:
        if isinstance(condition, Mixed):
            mixed.append(condition)
        elif condition is False:
            return False
        elif condition is not True:
            plain.append(condition)
    if not mixed:
        return conjoined(plain) if plain else True
    branches = [Branch(here=conjuncts(plain) if plain else ())]
    for factor in mixed:
        joined: dict[Branch, None] = {}
        for left, right in product(branches, factor.branches):
            branch = _joined(left, right, limit)
            if branch is not None:
                joined[branch] = None
                bounded(joined, limit)
        branches = list(joined)
    return _simplified(branches)


def either(conditions: Iterable[Condition], limit: int) -> Condition:
    """The disjunction of ``conditions``."""
    plain: list[Predicate] = []
    branches: list[Branch] = []
    for condition in conditions:
        if isinstance(condition, Mixed):
            branches += condition.branches
        elif condition is True:
            return True
        elif condition is not False:
            plain.append(condition)
    if not branches:
        return disjoined(plain) if plain else False
    if plain:
        branches.append(Branch(here=conjuncts([disjoined(plain)])))
    branches = list(dict.fromkeys(branches))
    return _simplified(bounded(branches, limit))


def opposite(condition: Condition, limit: int) -> Condition:
    """The negation of ``condition``."""
    if isinstance(condition, bool):
        return not condition
    if isinstance(condition, Mixed):
        return both([_opposite_branch(branch, limit) for branch in condition.branches], limit)
    return negated(condition)


def _opposite_branch(branch: Branch, limit: int) -> Condition:
    options: list[Condition] = []
    if branch.here:
        options.append(negated(conjoined(branch.here)))
    for test in branch.required:
        options.append(Mixed((Branch(document=True) if test == ANY else Branch(excluded=(test,)),)))
    for test in branch.excluded:
        options.append(named(test))
    if branch.above is not None:
        options.append(Mixed((Branch(document=True),)))
        options.append(above(opposite(branch.above, limit), 1))
    if branch.document:
        options.append(named(ANY))
    return either(options, limit)


def _joined(left: Branch, right: Branch, limit: int) -> Branch | None:
    document = left.document or right.document
    required = left.required + right.required
    parent: Condition | None = left.above
    if right.above is not None:
        parent = right.above if parent is None else both([parent, right.above], limit)
    if parent is False or (document and (required or parent is not None)):
        return None
    here = conjuncts(left.here + right.here) if left.here and right.here else left.here or right.here
    return Branch(here, required, left.excluded + right.excluded, parent, document)


def _simplified(branches: Sequence[Branch]) -> Condition:
    if not branches:
        return False
    if Branch() in branches:
        return True
    if all(branch == Branch(here=branch.here) for branch in branches):
        return disjoined([conjoined(branch.here) for branch in branches])
    return Mixed(tuple(branches))


def branches(condition: Condition) -> tuple[Branch, ...]:
    """The branches of a condition; ``False`` has none, ``True`` and a predicate have one."""
    if isinstance(condition, Mixed):
        return condition.branches
    if isinstance(condition, bool):
        return (Branch(),) if condition else ()
    return (Branch(here=conjuncts([condition])),)


def bounded(alternatives: Value, limit: int) -> Value:
    """Return ``alternatives``; raises ``Refusal`` if there are more than ``limit``."""
    if len(alternatives) > limit:
        message = f"written without '..', it has more than {limit} alternatives (PatternLimits.alternatives)"
        raise Refusal("too-complex", message)
    return alternatives
