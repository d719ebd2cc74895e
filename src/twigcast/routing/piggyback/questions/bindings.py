"""Bindings: which names of a document the wildcards of a pattern stand for (positive subscription, PS).

    told        /*/d[.//g]//h            wildcards in the order of the text: 1 is *, 2 the // before g,
                 1    2   3              3 the // before h
    document    <b><d><g/><e><h/></e></d></b>
    binding     (1, b) (2, –) (3, e)     a gap may be empty; all names are from one embedding
    bound       /b/d[g]/e/h              the document matches this pattern

A neighbour that told its patterns in an aggregated form learns from a binding which of its own rows match:
those that cover the bound pattern.

Only wildcards for which each embedding has names are numbered.
Those under ``not``, in ``or``, in a union and in names of attributes are not.
Nor are those of a pattern with several alternatives, or with a test on values, positions or counts, because
the structure of a document does not say whether such a pattern matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, permutations
from typing import TypeAlias

from twigcast.pattern import (
    ANY,
    And,
    AttributeTail,
    Axis,
    Exists,
    NameTest,
    Not,
    Or,
    Path,
    Pattern,
    Predicate,
    Step,
    Tail,
    conjuncts,
    render_name,
)
from twigcast.routing.piggyback.questions.data_patterns import Chain

Binding: TypeAlias = tuple[tuple[int, Chain], ...]
"""Numbers of wildcards, ascending, each with the names it stands for: one for a name test, any for ``//``."""

MOST_BRANCHES = 5
"""How many branches of one element ``pieces`` compares in every order; with more it gives up."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The paths that a row has in place of wildcards of the told pattern, by the numbers of the wildcards.

    The row has the other wildcards too.  A path may have wildcards of its own: ``/a/b//d`` has ``b//`` in
    place of the ``//`` of ``/a//d``.  ``names`` is the number of names in all paths.
    """

    paths: tuple[tuple[int, str], ...]
    names: int

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple([number for number, _ in self.paths])


def wildcards(pattern: Pattern) -> tuple[str, ...]:
    """The numbered wildcards of a pattern in their order: ``//``, ``*``, ``*:a`` or ``Q{uri}*``."""
    root = numbered_twig(pattern)
    return () if root is None else tuple([text for node in root.below() for text in node.wildcards()])


def bound(pattern: Pattern, binding: Binding) -> Pattern:
    """The pattern with the names of ``binding`` in place of its wildcards.

    ``pattern`` covers it.  Raises ``ValueError`` if the binding does not fit the pattern.
    """
    if not binding:
        return pattern
    names = dict(binding)
    if len(names) < len(binding) or not names.keys() <= set(range(1, len(wildcards(pattern)) + 1)):
        raise ValueError(f"{pattern} has no wildcards with these numbers, each once: {binding}")
    return Pattern((_bound_path(pattern.alternatives[0], count(1), names),))


def pieces(told: Pattern, row: Pattern) -> Pieces | None:
    """How ``row`` is made of ``told``, if ``told`` is a simple aggregated subscription of it; else ``None``.

    It is one if the row is the told pattern with paths in place of some of its numbered wildcards; all other
    parts must be equal, whichever branch is the trunk.  Then ``told`` covers ``row``.
    If there are several ways, the result is one that replaces the fewest wildcards.
    Cost: at each element of ``told``, its branches are compared with those of the row in every order.
    """
    if told == row:
        return Pieces((), 0)
    general, special = numbered_twig(told), numbered_twig(row)
    if general is None or special is None:
        return None
    found = _replaced_below(general, special)
    if found is None:
        return None
    paths = tuple(sorted([(number, text) for number, text, _ in found]))
    return Pieces(paths, sum([names for *_, names in found]))


@dataclass(frozen=True, slots=True, eq=False)
class NumberedTwig:
    """An element of a pattern, or the document, with the numbers of its wildcards and with its branches.

    ``gap`` is the number of the ``//`` before it, ``name`` the number of its test if that is a wildcard; 0 is
    none.  ``branches`` are in the order of the text; ``form`` is equal for trees that differ only in order
    and numbers.
    """

    axis: Axis
    test: NameTest
    gap: int
    name: int
    conditions: tuple[Predicate, ...]
    branches: tuple[NumberedTwig, ...]
    form: Hashable

    def below(self) -> Iterator[NumberedTwig]:
        """All nodes below this one, in the order of the text."""
        for branch in self.branches:
            yield branch
            yield from branch.below()

    def wildcards(self) -> Iterator[str]:
        """The numbered wildcards of this node itself."""
        if self.gap:
            yield "//"
        if self.name:
            yield render_name(self.test)


@lru_cache(maxsize=1 << 14)
def numbered_twig(pattern: Pattern) -> NumberedTwig | None:
    """The tree of a pattern whose wildcards are numbered; its root is the document."""
    if len(pattern.alternatives) > 1 or not _is_structural(pattern.alternatives[0]):
        return None
    return path_twig(pattern.alternatives[0])


def path_twig(path: Path) -> NumberedTwig:
    """The tree of any path; its root is the context node."""
    return _twig(Axis.CHILD, ANY, 0, 0, *_inside(path.filters, path.steps, path.tail, count(1)))


# Patterns as trees


def _is_structural(path: Path) -> bool:
    """Whether a structure with names of attributes says which nodes the path selects."""
    predicates = [*path.filters, *[each for step in path.steps for each in step.predicates]]
    return (path.tail is None or isinstance(path.tail, AttributeTail)) and all(map(_is_on_names, predicates))


def _is_on_names(predicate: Predicate) -> bool:
    match predicate:
        case Exists(paths):
            return all(map(_is_structural, paths))
        case And(operands) | Or(operands):
            return all(map(_is_on_names, operands))
        case Not(operand):
            return _is_on_names(operand)
        case _:
            return False


def _twig(
    axis: Axis,
    test: NameTest,
    gap: int,
    name: int,
    conditions: tuple[Predicate, ...],
    branches: tuple[NumberedTwig, ...],
) -> NumberedTwig:
    forms = frozenset(Counter([branch.form for branch in branches]).items())
    form = axis, test, frozenset(conditions), forms
    return NumberedTwig(axis, test, gap, name, conditions, branches, form)


def _inside(
    predicates: Sequence[Predicate], steps: Sequence[Step], tail: Tail, numbers: Iterator[int]
) -> tuple[tuple[Predicate, ...], tuple[NumberedTwig, ...]]:
    """The conditions and the branches of a node with these predicates, from which these steps go on."""
    conditions: list[Predicate] = []
    branches: list[NumberedTwig] = []
    for predicate in predicates:
        path = _branch(predicate)
        if path is None:
            conditions.append(predicate)
        else:
            more_conditions, more_branches = _inside(path.filters, path.steps, path.tail, numbers)
            conditions += more_conditions
            branches += more_branches
    if steps:
        first = steps[0]
        gap = next(numbers) if first.axis is Axis.DESCENDANT else 0
        name = next(numbers) if None in first.test else 0
        inside = _inside(first.predicates, steps[1:], tail, numbers)
        branches.append(_twig(first.axis, first.test, gap, name, *inside))
    elif tail is not None:
        conditions.append(Exists((Path((), tail),)))
    return tuple(conditions), tuple(branches)


def _branch(predicate: Predicate) -> Path | None:
    """The path of a predicate that is a branch of the tree; ``None`` for a condition."""
    match predicate:
        case Exists((path,)) if path.steps or path.filters:
            return path
        case _:
            return None


def _bound_path(path: Path, numbers: Iterator[int], names: dict[int, Chain]) -> Path:
    """The path with names in place of wildcards; it takes numbers in the same order as ``_inside``."""
    filters = _bound_predicates(path.filters, numbers, names)
    steps: list[Step] = []
    for step in path.steps:
        axis, test = step.axis, step.test
        if axis is Axis.DESCENDANT:
            between = names.get(next(numbers))
            if between is not None:
                steps += [Step(Axis.CHILD, NameTest(*name)) for name in between]
                axis = Axis.CHILD
        if None in test:
            chain = names.get(next(numbers))
            if chain is not None:
                if len(chain) != 1 or not test.admits(*chain[0]):
                    raise ValueError(f"{render_name(test)} cannot stand for {chain}")
                test = NameTest(*chain[0])
        steps.append(Step(axis, test, _bound_predicates(step.predicates, numbers, names)))
    return Path(tuple(steps), path.tail, filters)


def _bound_predicates(
    predicates: tuple[Predicate, ...], numbers: Iterator[int], names: dict[int, Chain]
) -> tuple[Predicate, ...]:
    replaced: list[Predicate] = []
    for predicate in predicates:
        path = _branch(predicate)
        replaced.append(predicate if path is None else Exists((_bound_path(path, numbers, names),)))
    return conjuncts(replaced) if replaced else ()


# Simple aggregation


_Replaced: TypeAlias = list[tuple[int, str, int]]
"""Numbers of wildcards, the path in place of each, and the number of names in that path."""


def _replaced_below(told: NumberedTwig, row: NumberedTwig) -> _Replaced | None:
    """What makes ``row`` of ``told`` below these two nodes; ``None`` if nothing does."""
    if told.form == row.form:
        return []
    if len(told.branches) != len(row.branches) or set(told.conditions) != set(row.conditions):
        return None
    equal = Counter([branch.form for branch in told.branches])
    equal &= Counter([branch.form for branch in row.branches])
    # Equal branches are paired first: what can become one of the pair can become the other.
    general, special = _without(told.branches, equal), _without(row.branches, equal)
    if len(general) > MOST_BRANCHES:
        return None
    pairs = [[_replaced(branch, other) for other in special] for branch in general]
    best: _Replaced | None = None
    for order in permutations(range(len(special))):
        parts = [pairs[i][j] for i, j in enumerate(order)]
        whole = [each for part in parts if part is not None for each in part]
        if None not in parts and (best is None or len(whole) < len(best)):
            best = whole
    return best


def _without(branches: Sequence[NumberedTwig], forms: Counter[Hashable]) -> list[NumberedTwig]:
    left = Counter(forms)
    others = []
    for branch in branches:
        if left[branch.form]:
            left[branch.form] -= 1
        else:
            others.append(branch)
    return others


def _replaced(told: NumberedTwig, row: NumberedTwig) -> _Replaced | None:
    """What makes the branch ``row`` of the branch ``told``; ``None`` if nothing does."""
    if told.axis is Axis.CHILD:
        return _replaced_at(told, row) if row.axis is Axis.CHILD else None
    between: list[NumberedTwig] = []
    best: _Replaced | None = None
    while True:
        found = _replaced_at(told, row)
        if found is not None:
            if between or row.axis is Axis.CHILD:
                found = [(told.gap, _gap_text(between, row), _name_count(between)), *found]
            if best is None or len(found) < len(best):
                best = found
        if row.conditions or len(row.branches) != 1:
            return best
        between.append(row)
        (row,) = row.branches


def _replaced_at(told: NumberedTwig, row: NumberedTwig) -> _Replaced | None:
    """What makes the element ``row`` of the element ``told``, without the axes before them."""
    if not told.test.includes(row.test):
        return None
    below = _replaced_below(told, row)
    if below is None or told.test == row.test:
        return below
    return [(told.name, render_name(row.test), _name_count([row])), *below]


def _gap_text(between: Sequence[NumberedTwig], last: NumberedTwig) -> str:
    """The steps in a gap as text, without the slash before the first and after the last one."""
    text = "".join([*[node.axis.value + render_name(node.test) for node in between], last.axis.value])
    start, end = not text.startswith("//"), len(text) - (last.axis is Axis.CHILD)
    return text[start:end]


def _name_count(nodes: Sequence[NumberedTwig]) -> int:
    return sum([node.test.local is not None for node in nodes])
