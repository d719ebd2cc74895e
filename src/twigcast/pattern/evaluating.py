"""Evaluates one pattern on one document; this evaluator defines which answers are correct.

It follows XPath 1.0 to the letter, one set of nodes after the other, and is written for readability.  Every
engine is property-tested against it, and it is tested against lxml.
Cost: a step visits every child or descendant of the nodes before it, and evaluates its predicates on each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from twigcast.document import Document, Element, Node, Text, descendants, elements, string_value
from twigcast.pattern.numbers import compare, number
from twigcast.pattern.tree import (
    And,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    Not,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Step,
    StringTest,
    Tail,
)

AnyNode = TypeVar("AnyNode", Node, Element)


def matches(pattern: Pattern, document: Document) -> bool:
    """Whether ``pattern`` selects a node of ``document``."""
    return any(follow(path, document) for path in pattern.alternatives)


def select(pattern: Pattern, document: Document) -> list[Node]:
    """The nodes of ``document`` that ``pattern`` selects, each once, in document order."""
    return follow_all(pattern.alternatives, document)


def holds(predicate: Predicate, node: Document | Element) -> bool:
    """Whether ``predicate`` is true of ``node``."""
    match predicate:
        case Exists(paths):
            return any(follow(path, node) for path in paths)
        case Comparison(paths, operator, value):
            return any(stands(string_value(found), operator, value) for found in follow_all(paths, node))
        case StringTest("contains", paths, value):
            return value in first_value(paths, node)
        case StringTest(_, paths, value):
            return first_value(paths, node).startswith(value)
        case Length(paths, operator, value):
            return compare(len(first_value(paths, node)), operator, value)
        case Count(paths, operator, value):
            return compare(len(follow_all(paths, node)), operator, value)
        case Position(test, operator, value, among):
            assert isinstance(node, Element)
            step = Step(Axis.CHILD, test, among)
            siblings = [each for each in candidates(step, [node.parent]) if satisfies(step, each)]
            return node in siblings and compare(siblings.index(node) + 1, operator, value)
        case And(operands):
            return all(holds(operand, node) for operand in operands)
        case Or(operands):
            return any(holds(operand, node) for operand in operands)
        case Not(operand):
            return not holds(operand, node)


def follow(path: Path, node: Document | Element) -> list[Node]:
    """The nodes that ``path`` selects from ``node``, each once, in document order."""
    if not all(holds(condition, node) for condition in path.filters):
        return []
    reached: list[Document | Element] = [node]
    for step in path.steps:
        reached = [found for found in candidates(step, reached) if satisfies(step, found)]
    return list(reached) if path.tail is None else end(path.tail, reached)


def candidates(step: Step, reached: Sequence[Document | Element]) -> list[Element]:
    """The elements that the axis and name test of ``step`` reach, each once, in document order."""
    along = elements if step.axis is Axis.CHILD else descendants
    found = (element for node in reached for element in along(node))
    return in_order(element for element in found if step.test.admits(element.namespace, element.local))


def satisfies(step: Step, element: Element) -> bool:
    """Whether all predicates of ``step`` are true of ``element``."""
    return all(holds(predicate, element) for predicate in step.predicates)


def end(tail: Tail, reached: Sequence[Document | Element]) -> list[Node]:
    """The attributes or text nodes of the reached elements that ``tail`` selects."""
    owners = [node for node in reached if isinstance(node, Element)]
    if isinstance(tail, AttributeTail):
        attributes = (attribute for owner in owners for attribute in owner.attributes)
        return in_order(a for a in attributes if tail.test.admits(a.namespace, a.local))
    return in_order(child for owner in owners for child in owner.children if isinstance(child, Text))


def follow_all(paths: Iterable[Path], node: Document | Element) -> list[Node]:
    """The nodes that any of ``paths`` selects from ``node``, each once, in document order."""
    return in_order(found for path in paths for found in follow(path, node))


def first_value(paths: Iterable[Path], node: Document | Element) -> str:
    """The string-value of the first selected node; empty if none is selected."""
    found = follow_all(paths, node)
    return string_value(found[0]) if found else ""


def stands(text: str, operator: str, value: str | float) -> bool:
    """Whether the comparison holds; order comparisons and comparisons with a number are numeric."""
    if isinstance(value, str) and operator in ("=", "!="):
        return (text == value) is (operator == "=")
    return compare(number(text), operator, number(value) if isinstance(value, str) else value)


def in_order(nodes: Iterable[AnyNode]) -> list[AnyNode]:
    """The nodes without duplicates, in document order."""
    return sorted({node.order: node for node in nodes}.values(), key=lambda node: node.order)
