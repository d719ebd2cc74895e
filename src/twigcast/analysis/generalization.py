"""Computes the least general pattern that covers two patterns (Chan, Fan and Felber's tree pattern union).

Two trees are merged from the document down.  Two elements that correspond become one element: it keeps the
name if both have the same one and is ``*`` otherwise, and it has the conditions that follow from both.  Each
branch below the one is paired with each branch below the other.  An element that occurs deeper in the other
tree is reached by ``//``:

    /a/b/c[@k=1]/d   and   /a/x/c[@k=2]      are covered by     /a/*/c[@k]
    /a/b             and   /a/x/b            are covered by     /a//b

Branches that other branches imply are dropped.
Invariant: the result covers both patterns.
Cost: the product of the numbers of elements of the two patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from twigcast.analysis.covering import follows, known
from twigcast.analysis.twig import Twig, pattern_of, predicate_steps, predicates_of, step_count, twig
from twigcast.pattern import ANY, Axis, Exists, NameTest, Pattern, Predicate, counted_names, demands_a_node


def common_pattern(p: Pattern, q: Pattern) -> Pattern:
    """Return a pattern without union that covers both, as special as pairing their elements can make it."""
    trees = [twig(path) for path in (*p.alternatives, *q.alternatives)]
    return pattern_of(reduce(_common_tree, trees))


def shorter_patterns(pattern: Pattern) -> Iterator[Pattern]:
    """Yield the pattern without one leaf or one condition with steps; for a union, its common pattern.

    Where none of these has fewer steps than the pattern, more is left out.
    """
    tree = reduce(_common_tree, map(twig, pattern.alternatives))
    steps = step_count(pattern)
    # The tree itself is shorter if the pattern is a union or repeats a branch.
    level = [tree] if len(pattern.alternatives) > 1 else [tree, *_pruned(tree)]
    while level:
        candidates = [pattern_of(each) for each in level if each.branches or not tree.branches]
        shorter = [each for each in candidates if step_count(each) < steps]
        yield from shorter
        # A common pattern can be longer than the union; a position can need a condition that was pruned.
        level = [] if shorter else list(_pruned(min(level, key=_size)))


def _size(tree: Twig) -> int:
    return 1 + sum(map(predicate_steps, tree.conditions)) + sum(map(_size, tree.branches))


def _pruned(tree: Twig) -> Iterator[Twig]:
    for i, condition in enumerate(tree.conditions):
        if predicate_steps(condition):
            conditions = tree.conditions[:i] + tree.conditions[i + 1 :]
            yield Twig(tree.axis, tree.test, conditions, tree.branches)
    for i, branch in enumerate(tree.branches):
        before, after = tree.branches[:i], tree.branches[i + 1 :]
        if not branch.branches:
            yield Twig(tree.axis, tree.test, tree.conditions, before + after)
        for pruned in _pruned(branch):
            yield Twig(tree.axis, tree.test, tree.conditions, (*before, pruned, *after))


def _common_tree(p: Twig, q: Twig) -> Twig:
    return _TreeMerge().common(p, q, Axis.CHILD)


class _TreeMerge:
    """Merges two trees; each pair of elements is merged once."""

    def __init__(self) -> None:
        self._found: dict[tuple[Twig, Twig, Axis], Twig] = {}

    def common(self, u: Twig, v: Twig, axis: Axis) -> Twig:
        key = (u, v, axis)
        found = self._found.get(key)
        if found is None:
            test = _common_test(u.test, v.test)
            branches = _needed(dict.fromkeys(self._branches(u, v)))
            found = self._found[key] = Twig(axis, test, _common_conditions(u, v, test), branches)
        return found

    def _branches(self, u: Twig, v: Twig) -> Iterator[Twig]:
        for one in u.branches:
            for other in v.branches:
                both = one.axis is Axis.CHILD and other.axis is Axis.CHILD
                yield self.common(one, other, Axis.CHILD if both else Axis.DESCENDANT)
                for deeper in other.below():
                    if deeper.test == one.test != ANY:
                        yield self.common(one, deeper, Axis.DESCENDANT)
                for deeper in one.below():
                    if deeper.test == other.test != ANY:
                        yield self.common(deeper, other, Axis.DESCENDANT)


def _common_test(one: NameTest, other: NameTest) -> NameTest:
    return NameTest(
        one.namespace if one.namespace == other.namespace and one.local == other.local else None,
        one.local if one.local == other.local else None,
    )


def _common_conditions(u: Twig, v: Twig, test: NameTest) -> tuple[Predicate, ...]:
    """Return the conditions of each element that the other one implies, and existence where values differ."""
    if not u.conditions and not v.conditions:
        return ()
    said_by_u, said_by_v = known(predicates_of(u)), known(predicates_of(v))
    kept = [condition for condition in u.conditions if follows(condition, said_by_v)]
    kept += [condition for condition in v.conditions if follows(condition, said_by_u)]
    for condition in u.conditions:
        if demands_a_node(condition) and condition not in kept:
            exists = Exists(condition.paths)
            if follows(exists, said_by_v):
                kept.append(exists)
    kept = [each for each in kept if counted_names(each) in (None, test)]
    needed: list[Predicate] = []
    for i, condition in enumerate(kept):
        others = (*needed, *kept[i + 1 :])
        if not follows(condition, known(others)):
            needed.append(condition)
    return tuple(needed)


def _needed(branches: dict[Twig, None]) -> tuple[Twig, ...]:
    """Return the branches that no other branch implies."""
    waiting: Sequence[Twig] = sorted(branches, key=len)
    needed: list[Twig] = []
    for i, branch in enumerate(waiting):
        if not any(_implies(other, branch) for other in (*needed, *waiting[i + 1 :])):
            needed.append(branch)
    return tuple(needed)


def _implies(fact: Twig, goal: Twig) -> bool:
    """Whether every element with the branch ``fact`` has the branch ``goal``, by a homomorphism."""
    if _is_depth(goal):
        return fact.height >= goal.height
    if _lies_on(fact, goal) and (goal.axis is Axis.DESCENDANT or fact.axis is Axis.CHILD):
        return True
    return goal.axis is Axis.DESCENDANT and any(_implies(branch, goal) for branch in fact.branches)


def _is_depth(goal: Twig) -> bool:
    """Whether a branch requires only that there are elements to some depth."""
    plain = goal.test == ANY and not goal.conditions and len(goal.branches) <= 1
    return plain and all(map(_is_depth, goal.branches))


def _lies_on(fact: Twig, goal: Twig) -> bool:
    if not goal.test.includes(fact.test):
        return False
    if goal.conditions and not all(
        follows(condition, known(predicates_of(fact))) for condition in goal.conditions
    ):
        return False
    return all(any(_implies(other, branch) for other in fact.branches) for branch in goal.branches)
