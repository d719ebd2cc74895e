"""The structure of a pattern: which elements must stand where, and nothing else.

    /a[@k]/b[c='x' or d]//e[f/text()='y']        pattern
    /a/b//e[f]                                   skeleton: holds wherever the pattern holds

Engines that know structure only find the skeleton and confirm with the evaluator what it left out.
As a ``Twig`` it is a tree of elements, in which a step and a predicate are branches alike.

Invariant: ``skeleton(pattern) == pattern`` exactly where the pattern is structure only: its elements are
named in full or ``*``, and its predicates are existences of single paths of such elements.
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
    """Return the structural pattern that ``pattern`` implies."""
    return union(_path(path) for path in pattern.alternatives)


def twigs(structure: Pattern) -> tuple[tuple[Twig, ...], ...]:
    """Return for each alternative of a skeleton the twigs below the document node that must all be there.

    There is one, except for ``/``, which asks for none, and for conditions on the document node itself.
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
