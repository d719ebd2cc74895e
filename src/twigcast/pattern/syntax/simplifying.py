"""Makes general expressions from their parts, simplified where that changes no value.

Constants are folded, and forms that say the same as a path are written as one, so that many expressions
become plain predicates:

    string(@x) = 's'            @x = 's'                  concat('a', 'b')         'ab'
    local-name() = 'a'          self::*:a                 number(@x) > 3           @x > 3
    exists(a)                   boolean(a)                @date < '2024-01-01'     the order of dates
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from twigcast.pattern.dates import is_date_literal
from twigcast.pattern.expression import (
    CONTEXT,
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
    walk,
)
from twigcast.pattern.functions import (
    ARITHMETIC,
    COMPARISONS,
    MIRRORED,
    ORDERS,
    PURE,
    SIGNATURES,
    Atom,
    apply,
    calculate,
    compare_atoms,
)
from twigcast.pattern.numbers import number
from twigcast.pattern.syntax.tokens import NAME
from twigcast.pattern.tree import NameTest

TRUE = Call("true")
FALSE = Call("false")
_NCNAME = re.compile(NAME)


def kind(expression: Expression) -> str:
    """The static type of an expression: nodes, string, number or boolean."""
    match expression:
        case Number() | Negative() | SiblingCount() | SiblingPosition():
            return "number"
        case String() | Date():
            return "string"
        case Call(function):
            return SIGNATURES[function].result
        case Operation(operator):
            return "number" if operator in ARITHMETIC else "boolean"
        case _:
            return "nodes"


def constant(expression: Expression) -> Atom | None:
    """The value of an expression that is a constant."""
    match expression:
        case Number(value):
            return value
        case String(text):
            return text
        case Call("true"):
            return True
        case Call("false"):
            return False
        case _:
            return None


def looks_at_document(expression: Expression) -> bool:
    """Whether the value of an expression depends on the document."""
    looking = ContextNode | DocumentNode | SiblingCount | SiblingPosition
    return any(
        isinstance(each, looking)
        or (isinstance(each, Call) and each.function in ("lang", "position", "last"))
        for each in walk(expression)
    )


def call(function: str, arguments: Sequence[Expression]) -> Expression:
    """The call of a function; ``exists`` and ``empty`` become ``boolean`` and ``not``."""
    given = list(arguments)
    if function in ("exists", "empty"):
        function = "boolean" if function == "exists" else "not"
    if function in ("boolean", "not"):
        given = [truth(given[0])]
        if function == "boolean" and kind(given[0]) == "boolean":
            return given[0]
    elif function in SIGNATURES:
        kinds = SIGNATURES[function].parameters
        given = [_bare(each, kinds[min(at, len(kinds) - 1)]) for at, each in enumerate(given)]
        if function in ("string", "number") and kind(given[0]) == function:
            return given[0]
    values = [constant(each) for each in given]
    if function in PURE and None not in values:
        return _literal(apply(function, values), Call(function, tuple(given)))  # type: ignore[arg-type]
    return Call(function, tuple(given))


def negative(operand: Expression) -> Expression:
    """The number ``-operand``."""
    operand = _bare(operand, "number")
    value = constant(operand)
    made = Negative(operand)
    if value is None:
        return made
    return _literal(calculate("*", -1.0, value), made)


def truth(expression: Expression) -> Expression:
    """An expression that has the same ``boolean()``."""
    if isinstance(expression, Call) and expression.function == "boolean":
        return expression.arguments[0]
    return expression


def predicate(expression: Expression, position: Expression) -> Expression:
    """The condition that an expression in brackets means; a number is compared with ``position``."""
    if kind(expression) == "number":
        return operation("=", position, expression)
    bare = truth(expression)
    return expression if kind(bare) == "number" else bare


def junction(operator: str, operands: Sequence[Expression]) -> Expression:
    """The conjunction or disjunction of the operands, as a balanced tree."""
    flat = [each for operand in operands for each in _operands(operator, truth(operand))]
    values = [constant(each) for each in flat]
    if None not in values:
        found = [bool(each) and each == each for each in values]
        return _boolean(all(found) if operator == "and" else any(found))
    return _balanced(operator, flat)


def operation(operator: str, left: Expression, right: Expression, *, at_element: bool = False) -> Expression:
    """An arithmetic operation or a comparison.

    If ``at_element``, the context node is an element or the document, so that its name can be tested by
    ``self::name``.
    """
    if operator in ARITHMETIC:
        left, right = _bare(left, "number"), _bare(right, "number")
    x, y = constant(left), constant(right)
    made = Operation(operator, left, right)
    if x is not None and y is not None:
        if operator in ARITHMETIC:
            return _literal(calculate(operator, x, y), made)
        return _boolean(compare_atoms(x, operator, y))
    if operator not in COMPARISONS:
        return made
    if x is not None:
        return _compared(right, MIRRORED[operator], left, made, at_element=at_element)
    return made if y is None else _compared(left, operator, right, made, at_element=at_element)


def relative(expression: Expression) -> Expression:
    """The same expression for evaluation at the document, where absolute paths start at the context node."""
    match expression:
        case DocumentNode():
            return CONTEXT
        case Call(function, arguments):
            return Call(function, tuple(map(relative, arguments)))
        case Operation(operator, left, right):
            return Operation(operator, relative(left), relative(right))
        case Negative(operand):
            return Negative(relative(operand))
        case Union(operands):
            return Union(tuple(map(relative, operands)))
        case Filtered(operand, predicates):
            return Filtered(relative(operand), predicates)
        case Selection(start, steps):
            return Selection(relative(start), steps)
        case _:
            return expression


def narrowed(test: NodeTest, condition: Expression) -> NodeTest | None:
    """The name test for nodes that also satisfy ``local-name() = 'x'``; ``None`` for any other condition."""
    match condition:
        case Operation("=", Call("local-name", (ContextNode(),)), String(text)) | Operation(
            "=", String(text), Call("local-name", (ContextNode(),))
        ) if test.name is not None and _NCNAME.fullmatch(text):
            both = test.name.meet(NameTest(None, text))
            return None if both is None else NodeTest("name", both)
    return None


def _compared(
    left: Expression, operator: str, right: Expression, made: Operation, *, at_element: bool
) -> Expression:
    """``left operator right``, where only ``right`` is a constant; ``made`` is the same as it was written."""
    if operator in ORDERS and isinstance(right, String):
        if kind(left) in ("nodes", "string") and is_date_literal(right.text):
            date = Date(right.text)
            return Operation(made.operator, *((left, date) if made.right is right else (date, left)))
        if math.isnan(number(right.text)):
            return FALSE
    match left:
        case Call("string", (single,)) if _is_single(single) and isinstance(right, String):
            if operator not in ORDERS and (operator == "=") is (right.text == ""):
                opposite = "!=" if operator == "=" else "="
                return Call("not", (Operation(opposite, single, right),))
            return Operation(operator, single, right)
        case Call("number", (single,)) if _is_single(single) and isinstance(right, Number | String):
            value = right.value if isinstance(right, Number) else number(right.text)
            if math.isinf(value) or math.isnan(value) or (not value and math.copysign(1, value) < 0):
                return made
            if operator == "!=":
                return Call("not", (Operation("=", single, Number(value)),))
            return Operation(operator, single, Number(value))
        case Call("local-name" | "namespace-uri" as function, (node,)) if (
            at_element and operator in ("=", "!=") and isinstance(right, String)
        ):
            name = _name(function, right.text)
            axis = {CONTEXT: "self", _PARENT: "parent"}.get(node)
            if name is None or axis is None:
                return made
            found = Selection(CONTEXT, (AxisStep(axis, NodeTest("name", name)),))
            return found if operator == "=" else Call("not", (found,))
    return made


_PARENT = Selection(CONTEXT, (AxisStep("parent", NodeTest("node")),))


def _name(function: str, text: str) -> NameTest | None:
    if function == "local-name":
        return NameTest(None, text) if _NCNAME.fullmatch(text) else None
    return NameTest(text, None) if text and not {"{", "}"} & set(text) else None


def _is_single(expression: Expression) -> bool:
    """Whether the expression is the context node, or an attribute of it."""
    match expression:
        case ContextNode():
            return True
        case Selection(ContextNode(), (AxisStep("attribute", NodeTest("name", name), ()),)):
            return name is not None and None not in name
        case _:
            return False


def _bare(expression: Expression, wanted: str) -> Expression:
    """The expression without a conversion that its use as ``wanted`` implies."""
    match expression:
        case Call("string" | "number" as function, (inner,)) if function == wanted and (
            wanted == "string" or kind(inner) in ("nodes", "string", "boolean")
        ):
            return inner
        case _:
            return expression


def _operands(operator: str, expression: Expression) -> list[Expression]:
    if isinstance(expression, Operation) and expression.operator == operator:
        return [*_operands(operator, expression.left), *_operands(operator, expression.right)]
    return [expression]


def _balanced(operator: str, operands: Sequence[Expression]) -> Expression:
    if len(operands) == 1:
        return operands[0]
    middle = len(operands) // 2
    return Operation(operator, _balanced(operator, operands[:middle]), _balanced(operator, operands[middle:]))


def _boolean(value: bool) -> Expression:
    return TRUE if value else FALSE


def _literal(value: Atom, otherwise: Expression) -> Expression:
    """The constant, or ``otherwise`` for a value that no literal can say."""
    if isinstance(value, bool):
        return _boolean(value)
    if isinstance(value, str):
        return otherwise if "'" in value and '"' in value else String(value)
    if math.isnan(value) or math.isinf(value) or (value == 0 and math.copysign(1.0, value) < 0):
        return otherwise
    return Number(value)
