"""General expressions of XPath 1.0, as frozen values: what the tree of a pattern cannot say by itself.

A pattern has a small tree of its own (``tree.py``), which the index, covering and merging understand.  What
does not fit into it stands in two places as a general expression, which only the evaluators understand:

    //line[price * quantity > 100]/id         a predicate:   Step(line, (Test(price * quantity > 100),))
    //line/following-sibling::total/@sum      a path's end:  Path((Step(line),), Onward((…, …)))

``last()`` and ``position()`` are relative to a list of nodes.  In a predicate of a child step the list is
that of the siblings that the step admits, so they become ``SiblingCount`` and ``SiblingPosition``, which
depend on the node alone; in the steps of a ``Selection`` they are calls, with the meaning that XPath gives
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twigcast.pattern.tree import NameTest, Predicate


@dataclass(frozen=True, slots=True)
class Number:
    """A number; never infinite or not-a-number."""

    value: float


@dataclass(frozen=True, slots=True)
class String:
    """A string."""

    text: str


@dataclass(frozen=True, slots=True)
class Date:
    """A date or dateTime of ISO 8601 that values are ordered against: an extension of XPath 1.0.

    ``[@date > '2024-01-01']`` compares each value as a date; a value that is none satisfies no comparison.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function of the core library; names of arguments are resolved, defaults are written out."""

    function: str
    arguments: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """Two operands and an operator: ``or and = != < <= > >= + - * div mod``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negative:
    """The number ``-operand``."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Union:
    """The nodes of all operands, each of which selects nodes."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class NodeTest:
    """A test of nodes: ``kind`` is ``name``, ``node``, ``text``, ``comment`` or ``processing-instruction``.

    ``name`` is set for ``name`` only; ``target`` for a processing instruction with a target.
    """

    kind: str
    name: NameTest | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class AxisStep:
    """A step along any of XPath's axes but ``namespace``, with predicates in the order in which they apply.

    A predicate that is a number, by its static type, has been rewritten to ``position() = number``.
    """

    axis: str
    test: NodeTest
    predicates: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextNode:
    """The node for which the expression is evaluated."""


@dataclass(frozen=True, slots=True)
class DocumentNode:
    """The document node, where absolute paths start."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """The nodes of ``operand``, in document order, for which the predicates hold: ``(//a)[1]``."""

    operand: Expression
    predicates: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The nodes that the steps reach from the nodes of ``start``."""

    start: Expression
    steps: tuple[AxisStep, ...]


@dataclass(frozen=True, slots=True)
class SiblingPosition:
    """The position of the node among its siblings that ``test`` admits and for which ``among`` hold.

    It counts from 1, and is not-a-number for a node that is not counted itself.
    """

    test: NameTest
    among: tuple[Predicate, ...] = ()


@dataclass(frozen=True, slots=True)
class SiblingCount:
    """The number of children of the node's parent that ``test`` admits and for which ``among`` hold."""

    test: NameTest
    among: tuple[Predicate, ...] = ()


Expression: TypeAlias = (
    Number
    | String
    | Date
    | Call
    | Operation
    | Negative
    | Union
    | ContextNode
    | DocumentNode
    | Filtered
    | Selection
    | SiblingPosition
    | SiblingCount
)
"""A part of a general expression, which only the evaluators understand."""


CONTEXT = ContextNode()
"""The expression ``.``: the context node."""

DOCUMENT = DocumentNode()
"""The expression ``/``: the document node."""


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The expressions of which ``expression`` consists directly, with the predicates of its steps."""
    match expression:
        case Call(_, arguments):
            return arguments
        case Operation(_, left, right):
            return left, right
        case Negative(operand):
            return (operand,)
        case Union(operands):
            return operands
        case Filtered(operand, predicates):
            return operand, *predicates
        case Selection(start, steps):
            return start, *(predicate for step in steps for predicate in step.predicates)
        case _:
            return ()


def walk(*expressions: Expression) -> Iterator[Expression]:
    """The expressions and everything they consist of."""
    waiting = list(expressions)
    while waiting:
        expression = waiting.pop()
        yield expression
        waiting += parts(expression)


def height(expression: Expression) -> int:
    """The number of expressions on the longest way from ``expression`` to a part without parts."""
    level = [expression]
    found = 0
    while level:
        found += 1
        level = [part for each in level for part in parts(each)]
    return found


def step_total(expression: Expression) -> int:
    """The number of steps in ``expression``, without those that ``//`` abbreviates."""
    total = 0
    for each in walk(expression):
        if isinstance(each, Selection):
            total += sum(step != ANY_BELOW for step in each.steps)
    return total


def counted_siblings(expression: Expression) -> SiblingPosition | SiblingCount | None:
    """The position or the number of siblings that ``expression`` uses; all that it uses count the same."""
    return next((each for each in walk(expression) if isinstance(each, SiblingPosition | SiblingCount)), None)


ANY_NODE = NodeTest("node")
ANY_BELOW = AxisStep("descendant-or-self", ANY_NODE)
"""The step that ``//`` abbreviates."""
