"""A pattern as one tree of elements, in which steps and predicates are both branches.

    /a[@k=1][b/c]/d        document ── a (@k=1) ┬─ b ── c
                                                └─ d

Which branch is the trunk makes no difference to whether a document matches.  A predicate that requires a
single path becomes a branch; every other predicate becomes a condition on its element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from twigcast.pattern import (
    ANY,
    CONTEXT,
    And,
    AttributeTail,
    Axis,
    Exists,
    NameTest,
    Not,
    Onward,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Selection,
    Step,
    Test,
    TextTail,
    conjuncts,
    counted_among,
    render_path,
    step_total,
    union,
)


@dataclass(frozen=True, slots=True)
class Twig:
    """A required element: its axis and name test, the conditions on it, and the twigs required below it."""

    axis: Axis
    test: NameTest
    conditions: tuple[Predicate, ...] = ()
    branches: tuple[Twig, ...] = ()

    def __len__(self) -> int:
        """The number of elements."""
        return 1 + sum(map(len, self.branches))

    @property
    def height(self) -> int:
        """The number of nodes on the longest path down."""
        return 1 + max((branch.height for branch in self.branches), default=0)

    def below(self) -> Iterator[Twig]:
        """Yield all twigs below this one."""
        for branch in self.branches:
            yield branch
            yield from branch.below()


def twig(path: Path) -> Twig:
    """Return the tree of an absolute path; its root stands for the document."""
    return _grown(Axis.CHILD, ANY, path.filters, replace(path, filters=()))


def pattern_of(tree: Twig) -> Pattern:
    """Return the pattern of a tree whose root is the document; the highest branch becomes the trunk."""
    return union([_path(tree)])


def predicates_of(tree: Twig) -> tuple[Predicate, ...]:
    """Return a tree as predicates on its root: its conditions, and the existence of its branches."""
    return (*tree.conditions, *(Exists((_below(branch),)) for branch in tree.branches))


def step_count(pattern: Pattern) -> int:
    """Return the number of steps of a pattern, including the steps in predicates."""
    return sum(map(_path_steps, pattern.alternatives))


def predicate_steps(predicate: Predicate) -> int:
    """Return the number of steps in a predicate."""
    match predicate:
        case And(operands) | Or(operands):
            return sum(map(predicate_steps, operands))
        case Not(operand):
            return predicate_steps(operand)
        case Position():
            return sum(map(predicate_steps, predicate.among))
        case Test(expression):
            return step_total(expression) + sum(map(predicate_steps, counted_among(predicate)))
        case _:
            return sum(map(_path_steps, predicate.paths))


def _grown(axis: Axis, test: NameTest, predicates: Iterable[Predicate], rest: Path) -> Twig:
    conditions: list[Predicate] = []
    branches: list[Twig] = []
    for predicate in predicates:
        if isinstance(predicate, Exists) and len(predicate.paths) == 1:
            (path,) = predicate.paths
            grown = _grown(axis, test, path.filters, replace(path, filters=()))
            conditions += grown.conditions
            branches += grown.branches
        else:
            conditions.append(predicate)
    if rest.steps:
        step = rest.steps[0]
        branches.append(_grown(step.axis, step.test, step.predicates, replace(rest, steps=rest.steps[1:])))
    elif rest.tail is not None:
        conditions.append(_tail_condition(rest.tail))
    return Twig(axis, test, tuple(dict.fromkeys(conditions)), tuple(dict.fromkeys(branches)))


def _tail_condition(tail: AttributeTail | TextTail | Onward) -> Predicate:
    """Return the condition on an element that a tail selects something from it."""
    if isinstance(tail, Onward) and tail.start != CONTEXT:
        return Test(Selection(tail.start, tail.steps) if tail.steps else tail.start)
    return Exists((Path((), tail),))


def _below(branch: Twig) -> Path:
    """Return the path of a branch, relative to the element above it, along its highest branches."""
    inner = _path(branch)
    return Path((Step(branch.axis, branch.test, inner.filters), *inner.steps))


def _path(tree: Twig) -> Path:
    """Return the path below an element of a tree: one branch is the trunk, the others are filters."""
    if not tree.branches:
        return Path((), None, conjuncts(tree.conditions) if tree.conditions else ())
    trunk = tree.branches[0]
    if len(tree.branches) > 1:
        trunk = max(tree.branches, key=lambda branch: (branch.height, render_path(_below(branch))))
    others = [Exists((_below(branch),)) for branch in tree.branches if branch is not trunk]
    filters = [*tree.conditions, *others]
    return Path(_below(trunk).steps, None, conjuncts(filters) if filters else ())


def _path_steps(path: Path) -> int:
    steps = len(path.steps) + sum(map(predicate_steps, path.filters))
    if isinstance(path.tail, Onward):
        steps += step_total(Selection(path.tail.start, path.tail.steps))
    return steps + sum(predicate_steps(predicate) for step in path.steps for predicate in step.predicates)
