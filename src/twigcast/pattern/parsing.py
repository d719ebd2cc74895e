"""From the text of a subscription to its pattern.

Recursive descent over the tokens.  A plain path (child and descendant steps, predicates that look down) is
built straight away; at the first ``..``, ``self::`` or upward predicate the reading goes on over routes,
which ``cleaning`` turns into plain paths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from math import isinf, isnan
from typing import NoReturn, TypeAlias, cast

from twigcast.errors import PatternError
from twigcast.pattern.assembling import assembled
from twigcast.pattern.canonical import conjuncts, union
from twigcast.pattern.cleaning import (
    Condition,
    Mixed,
    Refusal,
    Route,
    both,
    either,
    finished,
    first,
    named,
    opposite,
    parents,
    restricted,
    self_and_below,
    some,
)
from twigcast.pattern.limits import PatternLimits
from twigcast.pattern.numbers import compare, number
from twigcast.pattern.rendering import render
from twigcast.pattern.tokens import END, column, is_name, length, tokenise
from twigcast.pattern.tree import (
    ANY,
    TEXT,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Path,
    Pattern,
    Predicate,
    Step,
    StringTest,
    Tail,
)

XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
_DEFAULT_LIMITS = PatternLimits()


def parse(
    text: str, namespaces: Mapping[str, str] | None = None, limits: PatternLimits = _DEFAULT_LIMITS
) -> Pattern:
    """The pattern that ``text`` expresses; ``namespaces`` binds prefixes, ``""`` the unprefixed elements."""
    if limits == _DEFAULT_LIMITS:
        pattern = assembled(text, namespaces, _parsed)
        if pattern is not None:
            return pattern
    return _parsed(text, namespaces, limits)


def _parsed(
    text: str, namespaces: Mapping[str, str] | None, limits: PatternLimits = _DEFAULT_LIMITS
) -> Pattern:
    parser = _Parser(text, namespaces, limits)
    try:
        pattern = parser.pattern()
        if parser.cleaned or len(text) > limits.length // 4:
            _Parser(
                render(pattern), None, limits
            ).pattern()  # its canonical text must be within the limits too
    except RecursionError:
        parser.refuse("too-complex", "the expression is nested too deeply", 0)
    except Refusal as refusal:
        parser.refuse(refusal.code, refusal.message, parser.mark, refusal.expected)
    except PatternError as error:
        if error.text is text or error.code != "too-complex":
            raise
        parser.refuse("too-complex", f"written without '..', it is too large: {error.message}", 0)
    return pattern


@dataclass(frozen=True, slots=True)
class _Measured:
    """``count(nodes)`` or ``string-length(nodes)``, before it is compared with a number."""

    function: str
    nodes: _Nodes


class _End(Enum):
    """What the nodes reached so far are: done with, or too many kinds to end the path here."""

    SETTLED = "elements, attributes or text"
    LOOSE = "any nodes that satisfy a predicate: a step must follow"
    ANYWHERE = "any nodes: a step must follow, from the node itself or from any below it"


_Nodes: TypeAlias = Path | list[Route]
_Operand: TypeAlias = _Nodes | _Measured | Condition | str | float

_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_ARITHMETIC = frozenset({"+", "-", "*", "div", "mod"})
_NODE_TYPES = frozenset({"text", "node", "comment", "processing-instruction"})
_AXES = frozenset({"child", "descendant", "descendant-or-self", "self", "parent", "attribute"})
_OTHER_AXES = frozenset(
    {
        "ancestor",
        "ancestor-or-self",
        "following",
        "following-sibling",
        "namespace",
        "preceding",
        "preceding-sibling",
    }
)
_CONDITION = "a path, a comparison, or one of contains, starts-with, string-length, count, boolean and not"
_LITERAL = "a comparison with a string or a number"
_FUNCTIONS = frozenset({"not", "boolean", "contains", "starts-with", "string-length", "count"})
_AFTER_STEP = frozenset({"[", "/", "//"})
_DIGITS = frozenset("0123456789")
_NOT_NAMES = frozenset("0123456789'\"$-./(")
_NOT_PATHS = frozenset("0123456789'\"$-")
_SOME_OR_NONE = {
    (">", 0.0): True,
    (">=", 1.0): True,
    ("!=", 0.0): True,
    ("=", 0.0): False,
    ("<", 1.0): False,
    ("<=", 0.0): False,
}


class _Parser:
    """One reading of one text: its tokens, the place in them, and how much of the limits is used.

    ``mark`` is the token to blame where cleaning fails, ``dead`` the first where nothing was left to match.
    """

    __slots__ = (
        "at",
        "cleaned",
        "dead",
        "default",
        "depth",
        "limits",
        "mark",
        "namespaces",
        "steps",
        "text",
        "tokens",
        "ups",
    )

    def __init__(self, text: str, namespaces: Mapping[str, str] | None, limits: PatternLimits) -> None:
        self.text = text
        self.limits = limits
        self.namespaces = namespaces
        self.default = namespaces.get("", "") if namespaces else ""
        self.at = self.depth = self.steps = self.mark = self.ups = 0
        self.cleaned = False
        self.dead: int | None = None
        if len(text) > limits.length and length(text) > limits.length:
            raise PatternError(
                f"the expression is longer than {limits.length} characters",
                code="too-complex",
                text=text,
                column=limits.length + 1,
            )
        self.tokens = tokenise(text)

    # The whole expression

    def pattern(self) -> Pattern:
        paths = self._absolute_union()
        token = self.tokens[self.at]
        if token != END:
            if token in _MIRRORED or token in _ARITHMETIC or token == "and" or token == "or":
                self.refuse(
                    "unsupported",
                    f"a subscription is a path; put the condition {token!r} into a predicate",
                    self.at,
                    "the end of the expression",
                )
            self._expected("the end of the expression")
        if not paths:
            self.refuse("never-matches", "no document can satisfy this expression", self.dead or 0)
        pattern = union(paths)
        if len(pattern.alternatives) > self.limits.alternatives:
            self.refuse("too-complex", f"there are more than {self.limits.alternatives} alternatives", 0)
        if self.tokens.count("[") > self.limits.predicates:
            brackets = [index for index, token in enumerate(self.tokens) if token == "["]
            at = brackets[self.limits.predicates]
            self.refuse("too-complex", f"there are more than {self.limits.predicates} predicates", at)
        return pattern

    def _absolute_union(self) -> list[Path]:
        paths = self._absolute_path()
        while self.tokens[self.at] == "|":
            self.at += 1
            paths += self._absolute_path()
        return paths

    def _absolute_path(self) -> list[Path]:
        token = self.tokens[self.at]
        if token == "/":
            self.at += 1
            following = self.tokens[self.at]
            if following == END or following == "|" or following == ")":
                return [Path(())]
            nodes = self._plain_path(Axis.CHILD, absolute=True)
        elif token == "//":
            self.at += 1
            nodes = self._plain_path(Axis.DESCENDANT, absolute=True)
        elif token == "(":
            return self._parenthesised_union()
        else:
            if token[:1] in _NOT_PATHS or self._at_function():
                self.refuse("unsupported", "a subscription is a path", self.at, "a path")
            nodes = self._plain_path(Axis.DESCENDANT, absolute=True)
        return [nodes] if isinstance(nodes, Path) else [finished(route) for route in nodes]

    def _parenthesised_union(self) -> list[Path]:
        self._open()
        paths = self._absolute_union()
        self._close()
        following = self.tokens[self.at]
        if following == "[" or following == "/" or following == "//":
            self.refuse(
                "unsupported", "a step or predicate after parentheses is outside the language", self.at, "'|'"
            )
        return paths

    # Paths

    def _plain_path(self, axis: Axis, *, absolute: bool) -> _Nodes:
        """A path while each step is a name and looks down; handed on as routes where one does not."""
        tokens = self.tokens
        at = self.at
        steps: list[Step] = []
        if tokens[at] == "." and axis is Axis.CHILD and not absolute:
            if tokens[at + 1] == "/":
                at += 2
            elif tokens[at + 1] == "//":
                at += 2
                axis = Axis.DESCENDANT
        while True:
            token = tokens[at]
            following = tokens[at + 1] if token else END
            if following == "::":
                break
            if following == "(":
                if token != "text" or axis is not Axis.CHILD or (absolute and not steps):
                    break
                if tokens[at + 2] != ")" or tokens[at + 3] in _AFTER_STEP:
                    break
                self.at = at + 3
                return self._plain(steps, TEXT)
            if token == "@":
                tail = AttributeTail(self._name_test(at + 1, ""))
                if axis is not Axis.CHILD or tokens[at + 2] in _AFTER_STEP or (absolute and not steps):
                    break
                self.at = at + 2
                return self._plain(steps, tail)
            if token == "." or token == "..":
                break
            test = self._name_test(at, self.default)
            at += 1
            if following == "[":
                self.at = at
                conditions, plain = self._predicates()
                at = self.at
                if not plain:
                    routes = self._restricted(
                        [Route((*steps, Step(axis, test)))], conditions, absolute=absolute
                    )
                    self.steps += len(steps) + 1
                    return self._rest(routes, _End.SETTLED, absolute=absolute)
                steps.append(Step(axis, test, conjuncts(cast(list[Predicate], conditions))))
                following = tokens[at]
            else:
                steps.append(Step(axis, test))
            if following == "/":
                at += 1
                axis = Axis.CHILD
            elif following == "//":
                at += 1
                axis = Axis.DESCENDANT
            else:
                self.at = at
                return self._plain(steps, None)
        self.at = at
        self.steps += len(steps)
        start = _End.SETTLED if axis is Axis.CHILD else _End.ANYWHERE
        return self._rest(*self._step([Route(tuple(steps))], start, absolute=absolute), absolute=absolute)

    def _plain(self, steps: list[Step], tail: Tail) -> Path:
        self.steps += len(steps)
        if self.steps > self.limits.steps:
            self._too_many_steps()
        return Path(tuple(steps), tail)

    def _rest(self, routes: list[Route], end: _End, *, absolute: bool) -> list[Route]:
        """The steps after this one, over routes."""
        self.cleaned = True
        tokens = self.tokens
        while True:
            token = tokens[self.at]
            if token == "//":
                start = _End.ANYWHERE
            elif token == "/":
                start = end
            else:
                if end is not _End.SETTLED:
                    self.refuse(
                        "unsupported",
                        "'.' alone would select text, comments and instructions too",
                        self.mark,
                        "a name test",
                    )
                return routes
            self.at += 1
            routes, end = self._step(routes, start, absolute=absolute)

    def _step(self, routes: list[Route], start: _End, *, absolute: bool) -> tuple[list[Route], _End]:
        """One step of any kind from where ``routes`` lead, and whether the path may end after it."""
        tokens = self.tokens
        at = self.mark = self.at
        limit = self.limits.alternatives
        token = tokens[at]
        anywhere = start is _End.ANYWHERE
        self.steps += 1
        if self.steps > self.limits.steps:
            self._too_many_steps()
        axis = "child"
        node_test = True
        if token == ".":
            axis, node_test = "self", False
        elif token == "..":
            axis, node_test = "parent", False
        elif token == "@":
            axis = "attribute"
        elif tokens[at + 1 : at + 2] == ["::"]:
            axis = self._axis(at)
            self.at += 1
        else:
            self.at -= 1
        self.at += 1
        kind, test = self._node_test(axis) if node_test else ("node", ANY)

        end = _End.SETTLED
        found: list[Route] = []
        alive = bool(routes)
        if axis == "attribute" or kind == "text":
            tail: Tail = TEXT if kind == "text" else AttributeTail(test)
            if axis in ("self", "parent"):
                self.refuse("unsupported", f"{axis}::text() is outside the language", at, "a name test")
            deep = anywhere or axis.startswith("descendant")
            for route in routes:
                if route.tail is None:
                    places = self_and_below(route) if deep else [route]
                    found += [replace(place, tail=tail) for place in places if place.steps or not absolute]
        elif axis == "parent":
            if start is not _End.SETTLED:
                self.refuse("unsupported", "'..' needs a named step before it", at, "a name test")
            self.ups += 1
            if self.ups > self.limits.nesting:
                self.refuse("too-complex", f"there are more than {self.limits.nesting} steps up", at)
            for route in routes:
                found += parents(route, limit, absolute=absolute)
            if kind == "name":
                found = [
                    r for route in found for r in restricted(route, named(test), limit, absolute=absolute)
                ]
        elif kind == "node" and axis in ("self", "descendant-or-self"):
            found = routes
            end = start
            if anywhere or axis == "descendant-or-self":
                end = _End.ANYWHERE
                if tokens[self.at] == "[":
                    found = [
                        place for route in routes if route.tail is None for place in self_and_below(route)
                    ]
                    end = _End.LOOSE
        elif kind == "node":
            self.refuse(
                "unsupported",
                f"node() on the {axis} axis is outside the language",
                self.at - 3,
                "a name test",
            )
        elif axis == "self" and not anywhere:
            for route in routes:
                if route.tail is None:
                    found += restricted(route, named(test), limit, absolute=absolute)
        elif axis in ("self", "descendant-or-self"):
            for route in routes:
                if route.tail is None:
                    found += restricted(route, named(test), limit, absolute=absolute)
                    found.append(replace(route, steps=(*route.steps, Step(Axis.DESCENDANT, test))))
        else:
            step = Step(Axis.DESCENDANT if anywhere or axis == "descendant" else Axis.CHILD, test)
            found = [replace(route, steps=(*route.steps, step)) for route in routes if route.tail is None]
        if tokens[self.at] == "[":
            if axis == "attribute" or kind == "text" or any(route.tail is not None for route in found):
                self.refuse(
                    "unsupported",
                    "predicates on attributes and text are outside the language",
                    self.at,
                    "a comparison in a predicate of the element",
                )
            conditions, _ = self._predicates()
            found = self._restricted(found, conditions, absolute=absolute)
        if len(found) > limit:
            self.refuse("too-complex", f"there are more than {limit} alternatives", at)
        if alive and not found and absolute and self.dead is None:
            self.dead = at
        return found, end

    def _axis(self, at: int) -> str:
        axis = self.tokens[at]
        if axis in _OTHER_AXES:
            self.refuse(
                "unsupported",
                f"the {axis} axis is outside the language",
                at,
                "child, descendant, descendant-or-self, self, parent or attribute",
            )
        if axis not in _AXES:
            self.refuse("syntax", "expected the name of an axis", at, "the name of an axis")
        return axis

    def _node_test(self, axis: str) -> tuple[str, NameTest]:
        """The node test at this place: its kind (``name``, ``node``, ``text``) and what names it admits."""
        at = self.at
        token = self.tokens[at]
        if self.tokens[at + 1 : at + 2] != ["("]:
            self.at += 1
            return "name", self._name_test(at, "" if axis == "attribute" else self.default)
        if token not in _NODE_TYPES:
            if is_name(token):
                self.refuse("unsupported", f"the function {token}() cannot be a step", at, "a name test")
            self._expected("a name test")
        if token not in ("node", "text"):
            self.refuse("unsupported", f"{token}() is outside the language", at, "a name test or text()")
        if axis == "attribute":
            self.refuse("unsupported", f"{token}() is not the name of an attribute", at, "a name test")
        self.at += 2
        if self.tokens[self.at] != ")":
            self._expected("')'")
        self.at += 1
        return token, ANY

    def _restricted(self, routes: list[Route], conditions: list[Condition], *, absolute: bool) -> list[Route]:
        limit = self.limits.alternatives
        condition = both(conditions, limit)
        found = [r for route in routes for r in restricted(route, condition, limit, absolute=absolute)]
        if routes and not found and absolute and self.dead is None:
            self.dead = self.mark
        return found

    def _too_many_steps(self) -> NoReturn:
        self.refuse("too-complex", f"there are more than {self.limits.steps} steps", self.at)

    # Names

    def _name_test(self, at: int, default: str) -> NameTest:
        token = self.tokens[at]
        if not is_name(token):
            self.at = at
            self._expected("a name test")
        if token == "*":
            return ANY
        if token[0] == "*":
            return _interned(None, token[2:])
        if token.startswith("Q{"):
            uri, _, local = token[2:].partition("}")
            return _interned(uri, None if local == "*" else local)
        prefix, colon, local = token.partition(":")
        if not colon:
            return _interned(default, token)
        uri = self._namespace(prefix, at)
        return _interned(uri, None if local == "*" else local)

    def _namespace(self, prefix: str, at: int) -> str:
        if prefix == "xml":
            return XML_NAMESPACE
        uri = self.namespaces.get(prefix) if self.namespaces else None
        if uri is None:
            self.refuse("unbound-prefix", f"the prefix {prefix!r} is not bound to a namespace", at)
        if "{" in uri or "}" in uri:
            self.refuse("unsupported", f"the namespace {uri!r} contains braces", at, "a URI without braces")
        return uri

    # Predicates

    def _predicates(self) -> tuple[list[Condition], bool]:
        """The conditions in the brackets at this place, and whether all of them are plain predicates."""
        tokens = self.tokens
        mark = self.at + 1
        conditions: list[Condition] = []
        plain = True
        while tokens[self.at] == "[":
            self._open()
            start = self.at
            operand = self._disjunction()
            if tokens[self.at] != "]":
                self._expected_operator("']'")
            self.depth -= 1
            self.at += 1
            condition = self._truth(operand, start)
            if condition is True or condition is False or type(condition) is Mixed:
                plain = False
            conditions.append(condition)
        self.mark = mark
        return conditions, plain

    def _disjunction(self) -> _Operand:
        start = self.at
        operand = self._conjunction()
        if self.tokens[self.at] != "or":
            return operand
        conditions = [self._truth(operand, start)]
        while self.tokens[self.at] == "or":
            self.at += 1
            start = self.at
            conditions.append(self._truth(self._conjunction(), start))
        self.mark = start
        return either(conditions, self.limits.alternatives)

    def _conjunction(self) -> _Operand:
        start = self.at
        operand = self._comparison()
        if self.tokens[self.at] != "and":
            return operand
        conditions = [self._truth(operand, start)]
        while self.tokens[self.at] == "and":
            self.at += 1
            start = self.at
            conditions.append(self._truth(self._comparison(), start))
        self.mark = start
        return both(conditions, self.limits.alternatives)

    def _comparison(self) -> _Operand:
        start = self.at
        left = self._union()
        operator = self.tokens[self.at]
        if operator not in _MIRRORED:
            return left
        self.at += 1
        middle = self.at
        right = self._union()
        if self.tokens[self.at] in _MIRRORED:
            self.refuse("unsupported", "comparisons cannot be chained", self.at, "'and', 'or' or ']'")
        if type(left) is str or type(left) is float:
            if type(right) is str or type(right) is float:
                self.refuse("unsupported", "this comparison does not look at the document", start, "a path")
            left, right, operator = right, left, _MIRRORED[operator]
            start, middle = middle, start
        if type(right) is not str and type(right) is not float:
            self.refuse("unsupported", f"expected {_LITERAL}", middle, _LITERAL)
        if isinstance(left, _Measured):
            if type(right) is not float:
                self.refuse(
                    "unsupported", f"expected a number to compare {left.function}() with", middle, "a number"
                )
            return self._measured(left, operator, right)
        if type(left) is not Path and type(left) is not list:
            self.refuse("unsupported", "the outcome of a condition cannot be compared", start, "a path")
        self.mark = start
        return self._compared(left, operator, right, middle)

    def _compared(self, nodes: _Nodes, operator: str, value: str | float, at: int) -> Condition:
        if operator not in ("=", "!="):
            value = number(value) if isinstance(value, str) else value
            if isnan(value):
                return False
        if isinstance(value, float) and isinf(value):
            self.refuse("unsupported", "this number is too large", at, "a number below 1.8e308")
        if isinstance(nodes, Path):
            return Comparison((nodes,), operator, value)
        return some(nodes, lambda paths: Comparison(paths, operator, value), self.limits.alternatives)

    def _measured(self, measured: _Measured, operator: str, value: float) -> Condition:
        """``count`` or ``string-length`` compared: whole numbers from 0, which decides some cases."""
        decided = _decided(operator, value)
        if decided is not None:
            return decided
        nodes = measured.nodes
        if measured.function == "count" and (operator, value) in _SOME_OR_NONE:
            exists = self._truth(nodes, self.at)
            return exists if _SOME_OR_NONE[operator, value] else opposite(exists, self.limits.alternatives)
        make: Callable[[tuple[Path, ...]], Predicate]
        if measured.function == "count":
            make = lambda paths: Count(paths, operator, value)  # noqa: E731
        else:
            make = lambda paths: Length(paths, operator, value)  # noqa: E731
        if isinstance(nodes, Path):
            return make((nodes,))
        return first(nodes, make, compare(0.0, operator, value), self.limits.alternatives)

    def _union(self) -> _Operand:
        start = self.at
        operand = self._primary()
        if self.tokens[self.at] != "|":
            return operand
        routes: list[Route] = []
        while True:
            if isinstance(operand, Path):
                routes.append(Route(operand.steps, operand.tail))
            elif isinstance(operand, list):
                routes += operand
            else:
                self.refuse("unsupported", "only paths can stand in a union", start, "a path")
            if self.tokens[self.at] != "|":
                break
            self.at += 1
            start = self.at
            operand = self._primary()
        if len(routes) > self.limits.alternatives:
            self.refuse("too-complex", f"there are more than {self.limits.alternatives} alternatives", start)
        return routes

    def _primary(self) -> _Operand:
        """A literal, a function call, parentheses, or a path from the context node."""
        at = self.at
        token = self.tokens[at]
        kind = token[:1]
        if kind not in _NOT_NAMES:
            if self._at_function():
                return self._function()
            return self._plain_path(Axis.CHILD, absolute=False)
        if kind == "'" or kind == '"':
            if len(token) == 1:
                self.refuse("syntax", "expected a closing quote", at, "a closing quote")
            self.at += 1
            return token[1:-1]
        if kind == "-" or kind in _DIGITS or (kind == "." and token[1:2] in _DIGITS):
            return self._number()
        if kind == "(":
            self._open()
            start = self.at
            operand = self._disjunction()
            self._close()
            if isinstance(operand, str | float) and not isinstance(operand, bool):
                return operand
            if self.tokens[self.at] in _AFTER_STEP:
                self.refuse(
                    "unsupported",
                    "a step or predicate after parentheses is outside the language",
                    self.at,
                    "an operator",
                )
            return operand if isinstance(operand, Path | list | _Measured) else self._truth(operand, start)
        if kind == "/":
            self.refuse(
                "unsupported", "absolute paths in predicates are outside the language", at, "a relative path"
            )
        if kind == "$":
            self.refuse("unsupported", "variables are outside the language", at, _CONDITION)
        return self._plain_path(Axis.CHILD, absolute=False)

    def _number(self) -> float:
        sign = 1.0
        while self.tokens[self.at] == "-":
            sign = -sign
            self.at += 1
        token = self.tokens[self.at]
        if not token or not (token[0] in _DIGITS or (token[0] == "." and token[1:2] in _DIGITS)):
            if sign < 0 or self.tokens[self.at - 1] == "-":
                self.refuse("unsupported", "arithmetic is outside the language", self.at - 1, "a number")
            self._expected("a number")
        value = float(token)
        if isinf(value):
            self.refuse("unsupported", "this number is too large", self.at, "a number below 1.8e308")
        self.at += 1
        return sign * value or 0.0

    def _at_function(self) -> bool:
        token = self.tokens[self.at]
        return (
            token != END and self.tokens[self.at + 1] == "(" and is_name(token) and token not in _NODE_TYPES
        )

    def _function(self) -> _Operand:
        at = self.at
        name = self.tokens[at]
        limit = self.limits.alternatives
        if name not in _FUNCTIONS:
            if name in ("position", "last"):
                self.refuse("unsupported", "positional predicates are outside the language", at, _CONDITION)
            self.refuse("unsupported", f"the function {name}() is outside the language", at, _CONDITION)
        self.at += 1
        self._open()
        start = self.at
        if name == "string-length" and self.tokens[start] == ")":
            self._close()
            return _Measured(name, Path(()))
        operand = self._disjunction()
        result: _Operand
        if name == "not" or name == "boolean":
            condition = self._truth(operand, start)
            self.mark = at
            result = opposite(condition, limit) if name == "not" else condition
        elif not isinstance(operand, Path | list):
            self.refuse("unsupported", f"expected a path as the argument of {name}()", start, "a path")
        elif name == "string-length" or name == "count":
            result = _Measured(name, operand)
        else:
            if self.tokens[self.at] != ",":
                self._expected_operator("','")
            self.at += 1
            middle = self.at
            value = self._union()
            if not isinstance(value, str):
                self.refuse(
                    "unsupported", f"expected a string as the argument of {name}()", middle, "a string"
                )
            self.mark = at
            result = self._string_test(name, operand, value)
        self._close()
        if self.tokens[self.at] in _AFTER_STEP:
            self.refuse("unsupported", "a function cannot be followed by a step", self.at, "an operator")
        return result

    def _string_test(self, name: str, nodes: _Nodes, value: str) -> Condition:
        if not value:
            return True
        if isinstance(nodes, Path):
            return StringTest(name, (nodes,), value)
        limit = self.limits.alternatives
        return first(nodes, lambda paths: StringTest(name, paths, value), empty=False, limit=limit)

    def _truth(self, operand: _Operand, at: int) -> Condition:
        """The condition that an operand states where a truth value is wanted."""
        if type(operand) is Path:
            return True if not operand.steps and operand.tail is None else Exists((operand,))
        if type(operand) is list:
            return some(operand, Exists, self.limits.alternatives)
        if isinstance(operand, _Measured):
            self.refuse(
                "unsupported", f"expected {operand.function}() to be compared with a number", at, _LITERAL
            )
        if type(operand) is float:
            self.refuse("unsupported", "positional predicates are outside the language", at, _CONDITION)
        if type(operand) is str:
            self.refuse("unsupported", "a string is not a condition", at, _CONDITION)
        return operand  # type: ignore[return-value]

    # Signs and errors

    def _open(self) -> None:
        self.at += 1
        self.depth += 1
        if self.depth > self.limits.nesting:
            self.refuse("too-complex", f"nested more than {self.limits.nesting} deep", self.at - 1)

    def _close(self) -> None:
        if self.tokens[self.at] != ")":
            self._expected_operator("')'")
        self.depth -= 1
        self.at += 1

    def _expected_operator(self, sign: str) -> NoReturn:
        """Refuses what stands where an operator or ``sign`` could: arithmetic by name, the rest as syntax."""
        token = self.tokens[self.at]
        if token in _ARITHMETIC:
            self.refuse(
                "unsupported",
                f"arithmetic ({token}) is outside the language",
                self.at,
                f"{_LITERAL}, or {sign}",
            )
        self._expected(sign)

    def _expected(self, what: str) -> NoReturn:
        self.refuse("syntax", f"expected {what}", self.at, what)

    def refuse(self, code: str, message: str, at: int, expected: str | None = None) -> NoReturn:
        """Raises the error at the token with index ``at``."""
        raise PatternError(
            message, code=code, text=self.text, column=column(self.text, at), expected=expected
        ) from None


@lru_cache(maxsize=1 << 16)
def _interned(namespace: str | None, local: str | None) -> NameTest:
    return NameTest(namespace, local)


def _decided(operator: str, value: float) -> bool | None:
    """Whether all whole numbers from 0 stand in ``operator`` to ``value``, or none; ``None`` if some do."""
    if value < 0 or (not value.is_integer() and operator in ("=", "!=")):
        return operator in ("!=", ">", ">=")
    if value == 0 and operator in ("<", ">="):
        return operator == ">="
    return None
