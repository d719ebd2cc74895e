"""Evaluates general expressions by the letter of XPath 1.0, one node after the other.

A value is a string, a number, a boolean or a list of nodes in document order.  A ``Focus`` is what XPath
calls the context: a node, its position in the list that a predicate is applied to, and the size of that list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from twigcast.document import Attribute, Comment, Document, Element, Instruction, Node, Text
from twigcast.pattern.dates import is_ordered
from twigcast.pattern.expression import (
    AxisStep,
    Call,
    ContextNode,
    Date,
    DocumentNode,
    Expression,
    Filtered,
    Negative,
    NodeTest,
    Number,
    Operation,
    Selection,
    SiblingCount,
    SiblingPosition,
    String,
    Union,
    parts,
)
from twigcast.pattern.functions import (
    ARITHMETIC,
    MIRRORED,
    ORDERS,
    SIGNATURES,
    Atom,
    apply,
    calculate,
    compare_atoms,
    to_boolean,
    to_number,
    to_string,
)
from twigcast.pattern.numbers import compare

if TYPE_CHECKING:
    from twigcast.pattern.evaluating import Evaluation

Value: TypeAlias = Atom | list[Node]
_XML = "http://www.w3.org/XML/1998/namespace"
_CHARACTERS_PER_STEP = 16
_ANYWHERE = -1


class Focus(NamedTuple):
    """The node, position and size for which an expression is evaluated."""

    node: Node
    position: int = 1
    size: int = 1


class ExpressionValues:
    """The values of expressions on the nodes of one document, each computed once; ``evaluation`` counts."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._known: dict[tuple[int, int], Value] = {}  # by expression and node
        self._relative: dict[int, bool] = {}  # by expression: whether its value depends on the node
        self._local: dict[int, bool] = {}  # by expression: whether its value depends on position() or last()

    def is_true(self, expression: Expression, node: Node) -> bool:
        """The ``boolean()`` of an expression at a node."""
        return _truth(self.value(expression, Focus(node)))

    def follow(self, steps: Sequence[AxisStep], start: Expression, node: Node) -> list[Node]:
        """The nodes that steps reach from the nodes of ``start`` at ``node``, in document order."""
        reached = self.value(start, Focus(node))
        assert isinstance(reached, list)
        for step in steps:
            reached = in_order(found for each in reached for found in self.step(step, each))
        return reached

    def value(self, expression: Expression, focus: Focus) -> Value:
        """The value of an expression."""
        self._evaluation.spend(1)
        if self._is_local(expression):
            return self._value(expression, focus)
        key = id(expression), focus.node.order if self._is_relative(expression) else _ANYWHERE
        if key not in self._known:
            self._known[key] = self._value(expression, focus)
        return self._known[key]

    def _is_local(self, expression: Expression) -> bool:
        known = self._local.get(id(expression))
        if known is None:
            if isinstance(expression, Call) and expression.function in ("position", "last"):
                known = True
            elif isinstance(expression, Selection):
                known = self._is_local(expression.start)  # predicates have a focus of their own
            elif isinstance(expression, Filtered):
                known = self._is_local(expression.operand)
            else:
                known = any(self._is_local(part) for part in parts(expression))
            self._local[id(expression)] = known
        return known

    def _is_relative(self, expression: Expression) -> bool:
        """Whether the value depends on the node."""
        known = self._relative.get(id(expression))
        if known is None:
            if isinstance(expression, ContextNode | SiblingPosition | SiblingCount) or (
                isinstance(expression, Call) and expression.function == "lang"
            ):
                known = True
            elif isinstance(expression, Selection):
                known = self._is_relative(expression.start)
            elif isinstance(expression, Filtered):
                known = self._is_relative(expression.operand)
            else:
                known = any(self._is_relative(part) for part in parts(expression))
            self._relative[id(expression)] = known
        return known

    def _value(self, expression: Expression, focus: Focus) -> Value:
        match expression:
            case Number(value):
                return value
            case String(text) | Date(text):
                return text
            case ContextNode():
                return [focus.node]
            case DocumentNode():
                return [_document(focus.node)]
            case Operation(operator, left, right):
                return self._operation(operator, left, right, focus)
            case Negative(operand):
                return -self._number(self.value(operand, focus))
            case Call(function, arguments):
                return self._call(function, [self.value(each, focus) for each in arguments], focus)
            case Union(operands):
                return in_order(node for each in operands for node in self._nodes(each, focus))
            case Filtered(operand, predicates):
                return self._filtered(self._nodes(operand, focus), predicates)
            case Selection(start, steps):
                reached = self._nodes(start, focus)
                for step in steps:
                    reached = in_order(found for each in reached for found in self.step(step, each))
                return reached
            case SiblingPosition() | SiblingCount():
                return self._siblings(expression, focus.node)
        raise AssertionError(expression)

    def _siblings(self, expression: SiblingPosition | SiblingCount, node: Node) -> float:
        positions = (
            {}
            if isinstance(node, Document)
            else self._evaluation.sibling_positions(expression.test, expression.among, node.parent)
        )
        if isinstance(expression, SiblingCount):
            return float(len(positions))
        return float(positions.get(node.order, "nan"))

    def _nodes(self, expression: Expression, focus: Focus) -> list[Node]:
        found = self.value(expression, focus)
        assert isinstance(found, list)
        return found

    # Operators

    def _operation(self, operator: str, left: Expression, right: Expression, focus: Focus) -> Value:
        x = self.value(left, focus)
        if operator == "or" or operator == "and":
            first = _truth(x)
            return first if first is (operator == "or") else _truth(self.value(right, focus))
        y = self.value(right, focus)
        if operator in ARITHMETIC:
            return calculate(operator, self._number(x), self._number(y))
        if isinstance(left, Date):
            return self._dates(y, MIRRORED[operator], left)
        return self._dates(x, operator, right) if isinstance(right, Date) else self.compared(x, operator, y)

    def _dates(self, value: Value, operator: str, date: Date) -> bool:
        texts = (
            [self._string_value(node) for node in value] if isinstance(value, list) else [to_string(value)]
        )
        return any(is_ordered(text, operator, date.text) for text in texts)

    def compared(self, x: Value, operator: str, y: Value) -> bool:
        """Whether a comparison holds; of nodes, for some node."""
        if not isinstance(x, list):
            return (
                self.compared(y, MIRRORED[operator], x)
                if isinstance(y, list)
                else compare_atoms(x, operator, y)
            )
        if isinstance(y, bool):
            return compare_atoms(bool(x), operator, y)
        texts = [self._string_value(node) for node in x]
        if not isinstance(y, list):
            wanted: Atom = to_number(y) if operator in ORDERS else y
            return any(compare_atoms(text, operator, wanted) for text in texts)
        others = [self._string_value(node) for node in y]
        if operator == "=":
            return not set(texts).isdisjoint(others)
        if operator == "!=":
            return bool(texts and others) and len({*texts, *others}) > 1
        numbers, bounds = _numbers(texts), _numbers(others)
        if not numbers or not bounds:
            return False
        if operator[0] == "<":
            return compare(min(numbers), operator, max(bounds))
        return compare(max(numbers), operator, min(bounds))

    # Functions

    def _call(self, function: str, arguments: list[Value], focus: Focus) -> Value:
        match function, arguments:
            case "position", _:
                return float(focus.position)
            case "last", _:
                return float(focus.size)
            case "count", [list(nodes)]:
                return float(len(nodes))
            case "sum", [list(nodes)]:
                total = 0.0
                for node in nodes:  # ``sum`` would compensate for rounding
                    total += self._number([node])
                return total
            case "local-name" | "namespace-uri" | "name", [list(nodes)]:
                return _name(function, nodes[0]) if nodes else ""
            case "boolean", [value]:
                return _truth(value)
            case "not", [value]:
                return not _truth(value)
            case "lang", [value]:
                return _speaks(focus.node, self._string(value))
        kinds = SIGNATURES[function].parameters
        given: list[Atom] = []
        for at, value in enumerate(arguments):
            if isinstance(value, list):
                text = self._string(value)
                number = kinds[min(at, len(kinds) - 1)] == "number" or function == "number"
                given.append(to_number(text) if number else text)
            else:
                given.append(value)
        self._evaluation.spend(
            sum(len(each) // _CHARACTERS_PER_STEP for each in given if isinstance(each, str))
        )
        return apply(function, given)

    def _string(self, value: Value) -> str:
        if isinstance(value, list):
            return self._string_value(value[0]) if value else ""
        return to_string(value)

    def _number(self, value: Value) -> float:
        return to_number(self._string(value)) if isinstance(value, list) else to_number(value)

    def _string_value(self, node: Node) -> str:
        return self._evaluation.string_value(node)

    # Steps

    def step(self, step: AxisStep, node: Node) -> list[Node]:
        """The nodes that a step selects from one node, in the order of its axis."""
        found: list[Node] = []
        for each in _along(step.axis, node):
            self._evaluation.spend(1)
            if _admits(step.test, step.axis, each):
                found.append(each)
        return self._filtered(found, step.predicates)

    def _filtered(self, nodes: list[Node], predicates: Iterable[Expression]) -> list[Node]:
        for predicate in predicates:
            size = len(nodes)
            nodes = [
                node
                for position, node in enumerate(nodes, 1)
                if _truth(self.value(predicate, Focus(node, position, size)))
            ]
        return nodes


def in_order(nodes: Iterable[Node]) -> list[Node]:
    """The nodes without duplicates, in document order."""
    return sorted({node.order: node for node in nodes}.values(), key=lambda node: node.order)


def _truth(value: Value) -> bool:
    return bool(value) if isinstance(value, list) else to_boolean(value)


def _numbers(texts: Iterable[str]) -> list[float]:
    return [value for text in texts if (value := to_number(text)) == value]


def _document(node: Node) -> Document:
    while not isinstance(node, Document):
        node = node.parent
    return node


def _name(function: str, node: Node) -> str:
    match node:
        case Element() | Attribute():
            if function == "namespace-uri":
                return node.namespace
            return f"{node.prefix}:{node.local}" if function == "name" and node.prefix else node.local
        case Instruction() if function != "namespace-uri":
            return node.target
        case _:
            return ""


def language(node: Node) -> str | None:
    """The value of the nearest ``xml:lang``."""
    place: Node = node
    while not isinstance(place, Document):
        if isinstance(place, Element):
            for attribute in place.attributes:
                if (attribute.namespace, attribute.local) == (_XML, "lang"):
                    return attribute.value
        place = place.parent
    return None


def _speaks(node: Node, wanted: str) -> bool:
    """Whether the nearest ``xml:lang`` is the language, or a variety of it."""
    said = language(node)
    if said is None:
        return False
    said, wanted = _ascii_lower(said), _ascii_lower(wanted)
    return said == wanted or said.startswith(f"{wanted}-")


def _ascii_lower(text: str) -> str:
    return "".join([each.lower() if each.isascii() else each for each in text])


def _admits(test: NodeTest, axis: str, node: Node) -> bool:
    match test.kind:
        case "node":
            return True
        case "text":
            return isinstance(node, Text)
        case "comment":
            return isinstance(node, Comment)
        case "processing-instruction":
            return isinstance(node, Instruction) and test.target in (None, node.target)
    principal = Attribute if axis == "attribute" else Element
    assert test.name is not None
    return isinstance(node, principal) and test.name.admits(node.namespace, node.local)


def _along(axis: str, node: Node) -> Iterator[Node]:
    """The nodes on an axis, nearest first."""
    match axis:
        case "self":
            yield node
        case "child":
            yield from _children(node)
        case "attribute":
            if isinstance(node, Element):
                yield from node.attributes
        case "parent":
            if not isinstance(node, Document):
                yield node.parent
        case "descendant":
            yield from _below(node)
        case "descendant-or-self":
            yield node
            yield from _below(node)
        case "ancestor":
            yield from _above(node)
        case "ancestor-or-self":
            yield node
            yield from _above(node)
        case "following-sibling":
            yield from _siblings(node)[1]
        case "preceding-sibling":
            yield from reversed(_siblings(node)[0])
        case "following":
            if isinstance(node, Attribute):
                yield from _below(node.parent)
                node = node.parent
            for place in [node, *_above(node)]:
                for sibling in _siblings(place)[1]:
                    yield sibling
                    yield from _below(sibling)
        case "preceding":
            for place in [node, *_above(node)]:
                for sibling in reversed(_siblings(place)[0]):
                    yield from reversed([sibling, *_below(sibling)])


def _children(node: Node) -> Sequence[Node]:
    return node.children if isinstance(node, Document | Element) else ()


def _below(node: Node) -> Iterator[Node]:
    waiting = [*reversed(_children(node))]
    while waiting:
        child = waiting.pop()
        yield child
        waiting += reversed(_children(child))


def _above(node: Node) -> Iterator[Node]:
    while not isinstance(node, Document):
        node = node.parent
        yield node


def _siblings(node: Node) -> tuple[Sequence[Node], Sequence[Node]]:
    """The siblings before a node and those after it, in document order."""
    if isinstance(node, Document | Attribute):
        return (), ()
    among = node.parent.children
    at = next(number for number, child in enumerate(among) if child is node)
    return among[:at], among[at + 1 :]
