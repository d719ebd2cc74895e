"""Parses predicates that take a position among the siblings of an element.

``[2]`` and ``[position() < 2]`` are a ``Position``; any other expression with ``position()`` or ``last()`` is
a ``Test`` of the siblings that the step and the conditions before it admit.
"""

from __future__ import annotations

from twigcast.pattern.canonical import conjuncts
from twigcast.pattern.expression import Number, Operation, SiblingPosition
from twigcast.pattern.functions import MIRRORED, to_boolean
from twigcast.pattern.syntax.cleaning import not_named
from twigcast.pattern.syntax.expressions import Positional
from twigcast.pattern.syntax.node_conditions import Condition, Mixed, both, branches, named
from twigcast.pattern.syntax.paths import PathReader
from twigcast.pattern.syntax.simplifying import constant, predicate
from twigcast.pattern.tree import NameTest, Position, Predicate, Test, counted_names


class PositionReader(PathReader):
    """Parses positions."""

    __slots__ = ()

    def positional(
        self, counted: NameTest | None, conditions: list[Condition]
    ) -> tuple[NameTest, list[Condition]]:
        """Parse a predicate that takes a position; returns what it counts, and all conditions so far.

        Raises ``Positional`` if the conditions before it look up, or the step does not lead to children.
        """
        if counted is None:
            raise Positional
        name, among = self._among(counted, conditions)
        self.frame = name, among
        expression = self.general(self.expression)
        self.frame = None
        expression = predicate(expression, SiblingPosition(name, among))
        found: list[Condition] = [] if all(map(is_plain, conditions)) else [named(name)]
        match expression:
            case Operation(operator, SiblingPosition(), Number(value)) if operator in MIRRORED:
                return name, [*found, self._checked(Position(name, operator, value, among))]
            case Operation(operator, Number(value), SiblingPosition()) if operator in MIRRORED:
                return name, [*found, self._checked(Position(name, MIRRORED[operator], value, among))]
            case _:
                known = constant(expression)
                condition = Test(expression) if known is None else to_boolean(known)
                return name, [*found, *among, condition]

    def _among(
        self, counted: NameTest, conditions: list[Condition]
    ) -> tuple[NameTest, tuple[Predicate, ...]]:
        """The name test and the predicates of the siblings that satisfy the conditions."""
        condition = both(conditions, self.limits.alternatives)
        options = branches(condition)
        if len(options) != 1:
            raise Positional
        (branch,) = options
        test: NameTest | None = counted
        for required in branch.required:
            test = test.meet(required) if test else None
        if test is None or branch.above is not None or branch.document:
            raise Positional
        if test != counted and any(counted_names(each) is not None for each in branch.here):
            raise Positional  # a position before it counts other siblings
        here = (*branch.here, *map(not_named, branch.excluded))
        return test, conjuncts(here) if here else ()

    def _checked(self, position: Position) -> Position:
        value = position.value
        if position.operator == "=" and (value < 1 or not value.is_integer()):
            message = "positions are whole numbers from 1"
            self.refuse("never-matches", message, self.at - 1, "a whole number from 1")
        return position

    def plain_position(self) -> tuple[str, float] | None:
        """Parse a positional predicate, such as ``2`` or ``position() < 2``; none if there is another one."""
        at = self.at
        tokens = self.tokens
        operator = "="
        if tokens[at : at + 3] == ["position", "(", ")"] and tokens[at + 3] in MIRRORED:
            operator = tokens[at + 3]
            at += 4
        if not tokens[at][:1].isdigit() or tokens[at + 1] != "]":
            return None
        value = float(tokens[at])
        if operator == "=" and (value < 1 or not value.is_integer()):
            self.refuse("never-matches", "positions are whole numbers from 1", at, "a whole number from 1")
        self.depth -= 1
        self.at = at + 2
        return operator, value


def is_plain(condition: Condition) -> bool:
    """Whether a condition is a predicate: not a constant, and not on the name or the parent."""
    return condition is not True and condition is not False and type(condition) is not Mixed
