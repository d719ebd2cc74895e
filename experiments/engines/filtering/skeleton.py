"""The skeleton of a pattern: the elements that must exist and how they are nested, and no other condition.

    /a[@k]/b[c='x' or d]//e[f/text()='y']        pattern
    /a/b//e[f]                                   skeleton: holds wherever the pattern holds

Engines that match structure only search for the skeleton, and confirm its candidates with the evaluator.
As a ``Twig`` the skeleton is a tree of elements, in which steps and predicates are both branches.

Invariant: ``skeleton(pattern) == pattern`` if and only if the pattern is pure structure: its elements are
named in full or ``*``, and each of its predicates says that a single path of such elements exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from twigcast.analysis import Twig, twig
from twigcast.pattern import (
    ANY,
    And,
    Exists,
    NameTest,
    Path,
    Pattern,
    Predicate,
    Step,
    conjuncts,
    demands_a_node,
    union,
)


def skeleton(pattern: Pattern) -> Pattern:
    """The structural pattern that ``pattern`` implies."""
    return union(_path(path) for path in pattern.alternatives)


def twigs(structure: Pattern) -> tuple[tuple[Twig, ...], ...]:
    """For each alternative of a skeleton, the twigs below the document node; a match needs all of them.

    An alternative has one twig, except ``/``, which has none, and paths with a condition on the document
    node, which have several.
    """
    return tuple(twig(path).branches for path in structure.alternatives)


def _path(path: Path) -> Path:
    steps = tuple(Step(step.axis, _test(step.test), _conditions(step.predicates)) for step in path.steps)
    return Path(steps, None, _conditions(path.filters))


def _test(test: NameTest) -> NameTest:
    return ANY if test.namespace is None or test.local is None else test


def _conditions(predicates: Iterable[Predicate]) -> tuple[Predicate, ...]:
    return conjuncts([implied for predicate in predicates for implied in _implied(predicate)])


def _implied(predicate: Predicate) -> Iterator[Predicate]:
    if isinstance(predicate, And):
        for operand in predicate.operands:
            yield from _implied(operand)
    elif demands_a_node(predicate) and len(predicate.paths) == 1:
        path = _path(predicate.paths[0])
        yield from path.filters
        if path.steps:
            yield Exists((replace(path, filters=()),))
