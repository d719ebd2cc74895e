"""Evaluates one pattern on one document; this evaluator defines which answers are correct.

It follows XPath 1.0 to the letter, one set of nodes after the other, and is written for readability.  Every
engine is property-tested against it, and it is tested against lxml.
Cost: a step visits every child or descendant of the nodes before it, and evaluates its predicates on each; a
predicate is evaluated at most once on a node.  So the cost is polynomial, but not linear: an ``Evaluation``
counts its steps and stops at a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from twigcast.document import Document, Element, Node, Text, descendants, elements, string_value
from twigcast.errors import EvaluationError
from twigcast.pattern.expression import Expression
from twigcast.pattern.expression_values import ExpressionValues, Focus, Value, in_order
from twigcast.pattern.numbers import compare, number
from twigcast.pattern.tree import (
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
    Position,
    Predicate,
    Step,
    StringTest,
    Tail,
    Test,
)

_CHARACTERS_PER_STEP = 16


def matches(pattern: Pattern, document: Document, steps: int | None = None) -> bool:
    """Whether ``pattern`` selects a node of ``document``.

    Raises ``EvaluationError`` if this takes more than ``steps`` steps; by default there is no limit.
    """
    evaluation = Evaluation(steps)
    return any(evaluation.follow(path, document) for path in pattern.alternatives)


def select(pattern: Pattern, document: Document, steps: int | None = None) -> list[Node]:
    """The nodes of ``document`` that ``pattern`` selects, each once, in document order.

    Raises ``EvaluationError`` if this takes more than ``steps`` steps; by default there is no limit.
    """
    return Evaluation(steps).follow_all(pattern.alternatives, document)


def evaluate(expression: Expression, document: Document, steps: int | None = None) -> Value:
    """The value of an expression at the document node.

    Raises ``EvaluationError`` if this takes more than ``steps`` steps; by default there is no limit.
    """
    return Evaluation(steps).expressions.value(expression, Focus(document))


class Evaluation:
    """Evaluates parts of one pattern on the nodes of one document, and counts the steps that this takes.

    A step is a visit to a node, or to 16 characters of a string-value.
    """

    def __init__(self, steps: int | None = None) -> None:
        self._limit = steps
        self._spent = 0
        self._known: dict[tuple[int, int], bool] = {}  # by predicate and node
        self._positions: dict[tuple[int, NameTest, int], dict[int, int]] = {}  # by conditions and parent
        self.expressions = ExpressionValues(self)

    def holds(self, predicate: Predicate, node: Document | Element) -> bool:
        """Whether ``predicate`` is true of ``node``."""
        key = id(predicate), node.order
        known = self._known.get(key)
        if known is None:
            self.spend(1)
            known = self._known[key] = self._decide(predicate, node)
        return known

    def _decide(self, predicate: Predicate, node: Document | Element) -> bool:
        match predicate:
            case Exists(paths):
                return any(self.follow(path, node) for path in paths)
            case Comparison(paths, operator, value):
                found = self.follow_all(paths, node)
                return any(stands(self.string_value(each), operator, value) for each in found)
            case StringTest("contains", paths, value):
                return value in self._first_value(paths, node)
            case StringTest(_, paths, value):
                return self._first_value(paths, node).startswith(value)
            case Length(paths, operator, value):
                return compare(len(self._first_value(paths, node)), operator, value)
            case Count(paths, operator, value):
                return compare(len(self.follow_all(paths, node)), operator, value)
            case Position(test, operator, value, among):
                assert isinstance(node, Element)
                position = self.sibling_positions(test, among, node.parent).get(node.order)
                return position is not None and compare(position, operator, value)
            case Test(expression):
                return self.expressions.is_true(expression, node)
            case And(operands):
                return all(self.holds(operand, node) for operand in operands)
            case Or(operands):
                return any(self.holds(operand, node) for operand in operands)
            case Not(operand):
                return not self.holds(operand, node)

    def follow(self, path: Path, node: Document | Element) -> list[Node]:
        """The nodes that ``path`` selects from ``node``, each once, in document order."""
        if not all(self.holds(condition, node) for condition in path.filters):
            return []
        reached: list[Document | Element] = [node]
        for step in path.steps:
            reached = [found for found in self.candidates(step, reached) if self.satisfies(step, found)]
        return list(reached) if path.tail is None else self.end(path.tail, reached)

    def follow_all(self, paths: Iterable[Path], node: Document | Element) -> list[Node]:
        """The nodes that any of ``paths`` selects from ``node``, each once, in document order."""
        return in_order(found for path in paths for found in self.follow(path, node))

    def candidates(self, step: Step, reached: Sequence[Document | Element]) -> list[Element]:
        """The elements that the axis and name test of ``step`` reach, each once, in document order."""
        along = elements if step.axis is Axis.CHILD else descendants
        found: list[Element] = []
        for node in reached:
            visited = list(along(node))
            self.spend(1 + len(visited))
            found += [element for element in visited if step.test.admits(element.namespace, element.local)]
        return list({each.order: each for each in sorted(found, key=lambda each: each.order)}.values())

    def satisfies(self, step: Step, element: Element) -> bool:
        """Whether all predicates of ``step`` are true of ``element``."""
        return all(self.holds(predicate, element) for predicate in step.predicates)

    def end(self, tail: Tail, reached: Sequence[Document | Element]) -> list[Node]:
        """The attributes, text nodes or other nodes that ``tail`` selects from the reached nodes."""
        if isinstance(tail, Onward):
            return in_order(
                found for node in reached for found in self.expressions.follow(tail.steps, tail.start, node)
            )
        owners = [node for node in reached if isinstance(node, Element)]
        if isinstance(tail, AttributeTail):
            attributes = [attribute for owner in owners for attribute in owner.attributes]
            self.spend(len(attributes))
            return in_order(a for a in attributes if tail.test.admits(a.namespace, a.local))
        children = [child for owner in owners for child in owner.children]
        self.spend(len(children))
        return in_order(child for child in children if isinstance(child, Text))

    def sibling_positions(
        self, test: NameTest, among: tuple[Predicate, ...], parent: Document | Element
    ) -> dict[int, int]:
        """The positions of the children of ``parent`` that a position counts, by the order of the child."""
        key = id(among), test, parent.order
        if key not in self._positions:
            step = Step(Axis.CHILD, test, among)
            counted = [each for each in self.candidates(step, [parent]) if self.satisfies(step, each)]
            self._positions[key] = {each.order: number for number, each in enumerate(counted, 1)}
        return self._positions[key]

    def _first_value(self, paths: Iterable[Path], node: Document | Element) -> str:
        """The string-value of the first selected node; empty if none is selected."""
        found = self.follow_all(paths, node)
        return self.string_value(found[0]) if found else ""

    def string_value(self, node: Node) -> str:
        """The string-value of a node, which is counted."""
        value = string_value(node)
        self.spend(1 + len(value) // _CHARACTERS_PER_STEP)
        return value

    def spend(self, steps: int) -> None:
        """Count steps; raises ``EvaluationError`` beyond the limit."""
        self._spent += steps
        if self._limit is not None and self._spent > self._limit:
            raise too_costly(self._limit)


def too_costly(steps: int) -> EvaluationError:
    """The error of a subscription that takes more than ``steps`` steps."""
    return EvaluationError(f"evaluating it on this document takes more than {steps:,} steps (limit work)")


def stands(text: str, operator: str, value: str | float) -> bool:
    """Whether the comparison holds; order comparisons and comparisons with a number are numeric."""
    if isinstance(value, str) and operator in ("=", "!="):
        return (text == value) is (operator == "=")
    return compare(number(text), operator, number(value) if isinstance(value, str) else value)
