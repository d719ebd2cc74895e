"""The conditions of patterns, as goals whose answers an element can compute from those of its children.

    //course[instructor/name='Ailamaki']/code
    goal 0    //course[goal 1]/code                     asked of the document
    goal 1    instructor/name, value 'Ailamaki'         asked of each course

For each goal and each of its steps an element keeps how many nodes the rest of the path selects if this
element is taken for the step (``taken``), and if it or an element below it is (``at_or_below``).  The parent
adds up its children's numbers, and never looks into them again.

Some conditions need more: positions, general expressions, the first of several nodes, string-values of
elements whose content has moved.  ``Goals.undecidable`` has the patterns with such conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from experiments.engines.mapping.image_places import ImagePlace, ImagePlaces
from twigcast.analysis.implication import value_has
from twigcast.pattern import (
    And,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Not,
    Onward,
    Or,
    Path,
    Pattern,
    Predicate,
    StringTest,
    TextTail,
    compare,
)

Nodes: TypeAlias = Literal["itself", "attributes", "texts"]


@dataclass(frozen=True, slots=True)
class Goal:
    """A path with what must hold of each node that it selects, by its number."""

    number: int
    path: Path
    value: Comparison | None = None


class Goals:
    """The goals of many patterns over the image of one mapping."""

    def __init__(self, patterns: Sequence[Pattern], places: ImagePlaces) -> None:
        self._places = places
        self._numbers: dict[tuple[Path, Comparison | None], Goal] = {}
        self.undecidable: set[int] = set()
        """The patterns, by position, that cannot be decided from frames."""
        self.patterns: list[tuple[Goal, ...]] = []
        """For each pattern the goals of its alternatives."""
        for position, pattern in enumerate(patterns):
            before = dict(self._numbers)
            try:
                self.patterns.append(
                    tuple(self._goal(path, None, places.top) for path in pattern.alternatives)
                )
            except _UndecidableError:
                self._numbers = before
                self.patterns.append(())
                self.undecidable.add(position)

    @property
    def all(self) -> list[Goal]:
        """Each goal after those that its own conditions need."""
        return list(self._numbers.values())

    def goal(self, path: Path, value: Comparison | None = None) -> Goal:
        """The goal that was made for a path."""
        return self._numbers[path, value]

    def _goal(self, path: Path, value: Comparison | None, context: ImagePlace | NameTest) -> Goal:
        if isinstance(path.tail, Onward):
            raise _UndecidableError
        self._require(path.filters, context)
        for step in path.steps:
            self._require(step.predicates, step.test)
        if value is not None and not isinstance(path.tail, AttributeTail):
            self._require_values(path.steps[-1].test if path.steps else context)
        key = (path, value)
        if key not in self._numbers:
            self._numbers[key] = Goal(len(self._numbers), path, value)
        return self._numbers[key]

    def _require(self, predicates: Iterable[Predicate], context: ImagePlace | NameTest) -> None:
        """Make the goals that conditions need."""
        for predicate in predicates:
            match predicate:
                case And(operands) | Or(operands):
                    self._require(operands, context)
                case Not(operand):
                    self._require((operand,), context)
                case Exists(paths):
                    for path in paths:
                        self._goal(path, None, context)
                case Comparison(paths):
                    for path in paths:
                        self._goal(path, value_of(predicate), context)
                case Count((path,)) if _counts_once(path):
                    if isinstance(path.tail, TextTail):
                        self._require_values(path.steps[-1].test if path.steps else context)
                    self._goal(path, None, context)
                case StringTest(_, (path,), _) | Length((path,), _, _) if not path.steps and not path.filters:
                    if isinstance(path.tail, Onward):
                        raise _UndecidableError
                    if not isinstance(path.tail, AttributeTail):
                        self._require_values(context)
                case _:
                    raise _UndecidableError

    def _require_values(self, context: ImagePlace | NameTest) -> None:
        """Every element whose value is looked at must have that of the source."""
        if isinstance(context, ImagePlace):  # the document
            raise _UndecidableError
        for place in self._places.top.below():
            if context.admits(*place.label) and not self._places.has_source_value(place):
                raise _UndecidableError


def value_of(predicate: Comparison) -> Comparison:
    """A comparison without its paths, as a goal has it."""
    return Comparison((), predicate.operator, predicate.value)


def nodes_of(path: Path) -> Nodes:
    """What a path selects of its last element."""
    return {AttributeTail: "attributes", TextTail: "texts"}.get(type(path.tail), "itself")  # type: ignore[return-value]


def is_true(
    predicate: Predicate,
    selected: Callable[[Path, Comparison | None], int],
    first: Callable[[Path], str],
) -> bool:
    """Whether a condition holds, given how many nodes a path selects and the value of the first one."""
    match predicate:
        case And(operands):
            return all(is_true(each, selected, first) for each in operands)
        case Or(operands):
            return any(is_true(each, selected, first) for each in operands)
        case Not(operand):
            return not is_true(operand, selected, first)
        case Exists(paths):
            return any(selected(path, None) for path in paths)
        case Comparison(paths):
            return any(selected(path, value_of(predicate)) for path in paths)
        case Count((path,), operator, value):
            return compare(selected(path, None), operator, value)
        case StringTest(_, (path,), _) | Length((path,), _, _):
            return value_has(first(path), predicate)
        case _:
            raise AssertionError(predicate)


def _counts_once(path: Path) -> bool:
    """Whether each node is selected in one way, so that sums over children count it once."""
    return sum(step.axis is Axis.DESCENDANT for step in path.steps) <= 1


class _UndecidableError(Exception):
    pass
