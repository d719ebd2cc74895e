"""The core library of XPath 1.0 on strings, numbers and booleans, with a few functions of later versions.

Functions of nodes are evaluated in ``expression_values``; here are the others, and the signatures of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from twigcast.pattern.numbers import compare, number, number_text

Atom: TypeAlias = str | float | bool
"""A value that is not a set of nodes; numbers are ``float``, never ``int``."""

ORDERS = frozenset({"<", "<=", ">", ">="})
COMPARISONS = frozenset({"=", "!=", *ORDERS})
MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
ARITHMETIC = frozenset({"+", "-", "*", "div", "mod"})


class Signature(NamedTuple):
    """The kinds of a function's parameters and of its result: nodes, string, number, boolean or any.

    Parameters from ``required`` on may be left out; the last may be repeated if ``repeated`` is true.
    """

    parameters: tuple[str, ...]
    result: str
    required: int
    repeated: bool = False


SIGNATURES = {
    "last": Signature((), "number", 0),
    "position": Signature((), "number", 0),
    "count": Signature(("nodes",), "number", 1),
    "local-name": Signature(("nodes",), "string", 0),
    "namespace-uri": Signature(("nodes",), "string", 0),
    "name": Signature(("nodes",), "string", 0),
    "string": Signature(("any",), "string", 0),
    "concat": Signature(("string", "string"), "string", 2, repeated=True),
    "starts-with": Signature(("string", "string"), "boolean", 2),
    "ends-with": Signature(("string", "string"), "boolean", 2),
    "contains": Signature(("string", "string"), "boolean", 2),
    "substring-before": Signature(("string", "string"), "string", 2),
    "substring-after": Signature(("string", "string"), "string", 2),
    "substring": Signature(("string", "number", "number"), "string", 2),
    "string-length": Signature(("string",), "number", 0),
    "normalize-space": Signature(("string",), "string", 0),
    "translate": Signature(("string", "string", "string"), "string", 3),
    "lower-case": Signature(("string",), "string", 1),
    "upper-case": Signature(("string",), "string", 1),
    "boolean": Signature(("any",), "boolean", 1),
    "not": Signature(("any",), "boolean", 1),
    "true": Signature((), "boolean", 0),
    "false": Signature((), "boolean", 0),
    "lang": Signature(("string",), "boolean", 1),
    "number": Signature(("any",), "number", 0),
    "sum": Signature(("nodes",), "number", 1),
    "floor": Signature(("number",), "number", 1),
    "ceiling": Signature(("number",), "number", 1),
    "round": Signature(("number",), "number", 1),
}


def to_string(value: Atom) -> str:
    """XPath's ``string()``."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return number_text(value or 0.0)


def to_number(value: Atom) -> float:
    """XPath's ``number()``."""
    return number(value) if isinstance(value, str) else float(value)


def to_boolean(value: Atom) -> bool:
    """XPath's ``boolean()``."""
    return value == value and bool(value)


def converted(value: Atom, kind: str) -> Atom:
    """The value as an argument for a parameter of this kind."""
    if kind == "string":
        return to_string(value)
    if kind == "number":
        return to_number(value)
    return to_boolean(value) if kind == "boolean" else value


def apply(function: str, arguments: list[Atom]) -> Atom:
    """The result of a function of strings, numbers and booleans; the arguments are converted."""
    kinds = SIGNATURES[function].parameters
    given = [converted(each, kinds[min(at, len(kinds) - 1)]) for at, each in enumerate(arguments)]
    return _APPLIED[function](*given)


def calculate(operator: str, left: Atom, right: Atom) -> float:
    """The result of an arithmetic operator, by the rules of IEEE 754."""
    x, y = to_number(left), to_number(right)
    if operator == "+":
        return x + y
    if operator == "-":
        return x - y
    if operator == "*":
        return x * y
    if operator == "div":
        if y:
            return x / y
        return math.nan if not x or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1.0, y)
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or not y:
        return math.nan
    return math.fmod(x, y)


def compare_atoms(left: Atom, operator: str, right: Atom) -> bool:
    """Whether a comparison of two values, none of them nodes, holds."""
    if operator in ORDERS:
        return compare(to_number(left), operator, to_number(right))
    if isinstance(left, bool) or isinstance(right, bool):
        return (to_boolean(left) is to_boolean(right)) is (operator == "=")
    if isinstance(left, float) or isinstance(right, float):
        return compare(to_number(left), operator, to_number(right))
    return (left == right) is (operator == "=")


def rounded(value: float) -> float:
    """The nearest whole number, of two that are as near the greater one; the sign of zero is kept."""
    if math.isnan(value) or math.isinf(value):
        return value
    below = float(math.floor(value))
    return math.copysign(below + 1.0 if value - below >= 0.5 else below, value)


def normalized_space(text: str) -> str:
    """The words of ``text``, separated by single spaces; white space is that of XML."""
    return " ".join([word for word in text.translate(_SPACES).split(" ") if word])


def lower_case(text: str) -> str:
    """``text`` with each character in lower case if that is a single character, otherwise unchanged."""
    return "".join([lower if len(lower := each.lower()) == 1 else each for each in text])


def upper_case(text: str) -> str:
    """``text`` with each character in upper case if that is a single character, otherwise unchanged."""
    return "".join([upper if len(upper := each.upper()) == 1 else each for each in text])


def _substring(text: str, start: float, length: float = math.inf) -> str:
    first = rounded(start)
    end = first + rounded(length)
    return "".join([each for at, each in enumerate(text, 1) if at >= first and at < end])


def _translate(text: str, source: str, target: str) -> str:
    table: dict[int, str | None] = {}
    for at, character in enumerate(source):
        table.setdefault(ord(character), target[at] if at < len(target) else None)
    return text.translate(table)


def _whole(value: float, make: Callable[[float], int]) -> float:
    if math.isnan(value) or math.isinf(value):
        return value
    return math.copysign(float(make(value)), value) if not make(value) else float(make(value))


_SPACES = {ord(each): " " for each in "\t\r\n"}

_APPLIED: dict[str, Callable[..., Atom]] = {
    "string": to_string,
    "concat": lambda *texts: "".join(texts),
    "starts-with": str.startswith,
    "ends-with": str.endswith,
    "contains": lambda text, part: part in text,
    "substring-before": lambda text, part: text.partition(part)[0] if part and part in text else "",
    "substring-after": lambda text, part: text[text.index(part) + len(part) :] if part in text else "",
    "substring": _substring,
    "string-length": lambda text: float(len(text)),
    "normalize-space": normalized_space,
    "translate": _translate,
    "lower-case": lower_case,
    "upper-case": upper_case,
    "boolean": to_boolean,
    "not": lambda value: not to_boolean(value),
    "true": lambda: True,
    "false": lambda: False,
    "number": to_number,
    "floor": lambda value: _whole(value, math.floor),
    "ceiling": lambda value: _whole(value, math.ceil),
    "round": rounded,
}
PURE = frozenset(_APPLIED)
"""The functions that depend on their arguments alone, if none of these is a set of nodes."""
