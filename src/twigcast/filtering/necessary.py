"""What a general expression implies, as a plain predicate that an engine can decide in one pass.

    price * quantity != 100             nothing: it is true of missing nodes too
    a/b[c] = following::d               a/b[c] exists
    normalize-space(a) = 'New York'     some a contains York

Invariant: if the expression is true of an element, so is the predicate.
"""

from __future__ import annotations

from twigcast.pattern import (
    ANY_BELOW,
    TEXT,
    AttributeTail,
    Axis,
    AxisStep,
    Call,
    ContextNode,
    DocumentNode,
    Exists,
    Expression,
    Filtered,
    Operation,
    Path,
    Predicate,
    Selection,
    Step,
    String,
    StringTest,
    Tail,
    Test,
    Union,
    conjoined,
    disjoined,
)

_WITHIN = frozenset({"string", "normalize-space", "substring", "substring-before", "substring-after"})
_FILLED = _WITHIN | {"translate", "lower-case", "upper-case"}


def necessary(expression: Expression) -> Predicate | None:
    """The predicate that ``expression`` implies; ``None`` if none is known."""
    match expression:
        case Operation("and", left, right):
            found = [each for each in (necessary(left), necessary(right)) if each is not None]
            return conjoined(found) if found else None
        case Operation("or", left, right):
            one, other = necessary(left), necessary(right)
            return None if one is None or other is None else disjoined([one, other])
        case Operation("=" | "!=" | "<" | "<=" | ">" | ">=" as operator, left, right):
            return _compared(operator, left, right)
        case Call("boolean", (operand,)):
            return necessary(operand)
        case Call("contains" | "starts-with" | "ends-with", (text, String(part))) if part:
            return _holding(text, part)
        case Call(function) if function in _FILLED:
            return _filled(expression)
        case _:
            return _selecting(expression)


def _compared(operator: str, left: Expression, right: Expression) -> Predicate | None:
    if operator == "=":
        for text, constant in ((left, right), (right, left)):
            if isinstance(constant, String) and constant.text and not _is_nodes(text):
                words = constant.text.split()
                return _holding(text, max(words, key=len)) if words else _filled(text)
    if _is_boolean(left) or _is_boolean(right):
        return None
    found = [each for side in (left, right) if (each := _selecting(side)) is not None]
    return conjoined(found) if found else None


def _holding(expression: Expression, part: str) -> Predicate | None:
    """What follows from a string that contains ``part``, which has no white space in it or is taken as is."""
    match expression:
        case Call(function, (text, *_)) if function in _WITHIN:
            if " " in part and function == "normalize-space":
                part = max(part.split() or [""], key=len)
            return _holding(text, part) if part else _filled(text)
        case Call(function, (text, *_)) if function in _FILLED:
            return _filled(text)
        case _ if _is_nodes(expression):
            paths = _paths(expression)
            if paths is None or len(paths) > 1 or not paths[0][1]:
                return _selecting(expression)
            return StringTest("contains", (paths[0][0],), part)
        case _:
            return None


def _filled(expression: Expression) -> Predicate | None:
    """What follows from a string that is not empty."""
    match expression:
        case Call(function, (text, *_)) if function in _FILLED:
            return _filled(text)
        case _:
            return _selecting(expression)


def _selecting(expression: Expression) -> Predicate | None:
    """What follows if the expression selects a node; nothing if it is no path."""
    paths = _paths(expression)
    if paths is None or any(not path.steps and path.tail is None for path, _ in paths):
        return None
    return Exists(tuple(dict.fromkeys([path for path, _ in paths])))


def _paths(expression: Expression) -> list[tuple[Path, bool]] | None:
    """The beginnings of the paths to the nodes of an expression, and whether each is the whole path.

    ``None`` if the expression is no path from the context node.
    """
    match expression:
        case ContextNode():
            return [(Path(()), True)]
        case Union(operands):
            found = [_paths(operand) for operand in operands]
            return None if None in found else [path for each in found if each is not None for path in each]
        case Filtered(operand):
            inner = _paths(operand)
            return None if inner is None else [(path, False) for path, _ in inner]
        case Selection(ContextNode(), steps):
            return [_beginning(steps)]
        case Selection(start):
            inner = _paths(start)
            return None if inner is None else [(path, False) for path, _ in inner]
        case _:
            return None


def _beginning(steps: tuple[AxisStep, ...]) -> tuple[Path, bool]:
    found: list[Step] = []
    tail: Tail = None
    deep = whole = False
    for at, step in enumerate(steps):
        if step == ANY_BELOW:
            deep = True
            continue
        name = step.test.name
        predicates = tuple(Test(each) for each in step.predicates)
        if name is not None and step.axis in ("child", "descendant"):
            axis = Axis.DESCENDANT if deep or step.axis == "descendant" else Axis.CHILD
            found.append(Step(axis, name, predicates))
            deep = False
            whole = at == len(steps) - 1 and not predicates
            continue
        if not deep and step.axis == "attribute" and name is not None:
            tail = AttributeTail(name)
        elif not deep and step.axis == "child" and step.test.kind == "text":
            tail = TEXT
        whole = tail is not None and at == len(steps) - 1 and not predicates
        break
    return Path(tuple(found), tail), whole and not deep


def _is_nodes(expression: Expression) -> bool:
    nodes = ContextNode | DocumentNode | Filtered | Selection | Union
    return isinstance(expression, nodes)


def _is_boolean(expression: Expression) -> bool:
    match expression:
        case Call(function):
            return function in (
                "boolean",
                "not",
                "true",
                "false",
                "lang",
                "contains",
                "starts-with",
                "ends-with",
            )
        case Operation(operator):
            return operator not in ("+", "-", "*", "div", "mod")
        case _:
            return False
