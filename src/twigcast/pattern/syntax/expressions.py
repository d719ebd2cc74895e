"""Parses general expressions: the whole grammar of XPath 1.0, by recursive descent.

``paths`` and ``conditions`` parse what fits into the tree of a pattern and come here for the rest.  This
parser never calls theirs, so no text is parsed more often than once for each bracket around it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isinf
from typing import NoReturn

from twigcast.errors import PatternError
from twigcast.pattern.expression import (
    ANY_BELOW,
    ANY_NODE,
    CONTEXT,
    DOCUMENT,
    AxisStep,
    Call,
    Expression,
    Filtered,
    NodeTest,
    Number,
    Selection,
    SiblingCount,
    SiblingPosition,
    String,
    Union,
    height,
)
from twigcast.pattern.functions import SIGNATURES
from twigcast.pattern.syntax.cursor import NODE_TYPES, Cursor
from twigcast.pattern.syntax.simplifying import (
    call,
    junction,
    kind,
    narrowed,
    negative,
    operation,
    predicate,
)
from twigcast.pattern.syntax.tokens import END, is_name

AXES = frozenset(
    {
        "ancestor",
        "ancestor-or-self",
        "attribute",
        "child",
        "descendant",
        "descendant-or-self",
        "following",
        "following-sibling",
        "parent",
        "preceding",
        "preceding-sibling",
        "self",
    }
)
FUNCTIONS_NAMESPACE = "http://www.w3.org/2005/xpath-functions"
HEIGHT = 4
"""The height of an expression is at most this many times the limit on nesting."""

_ACCEPTED = {
    "matches": "contains(), starts-with() or ends-with()",
    "tokenize": "contains(concat(' ', normalize-space(a), ' '), ' word ')",
    "replace": "translate(), substring-before() and substring-after()",
    "string-join": "concat(), or a condition on each node",
    "distinct-values": "a[not(. = preceding::a)]",
    "max": "not(a > b)",
    "min": "not(a < b)",
    "avg": "sum(a) div count(a)",
    "abs": "a condition with 'or'",
    "data": "string(), or the path alone",
    "id": "//*[@id = 'x'], with the name of the attribute",
    "key": "a path with a condition",
    "current": "a path from the node, such as ..",
    "if": "(a and b) or (not(a) and c)",
    "decimal": "number()",
    "double": "number()",
    "float": "number()",
    "integer": "number() or floor()",
    "date": "a comparison with a literal, such as @date < '2024-01-31'",
    "dateTime": "a comparison with a literal, such as @date < '2024-01-31T12:00:00'",
    "current-date": "a comparison with a literal, such as @date < '2024-01-31'",
    "current-dateTime": "a comparison with a literal, such as @date < '2024-01-31T12:00:00'",
    "document": "a path in the document itself",
    "doc": "a path in the document itself",
    "every": "not(a[not(b)])",
    "some": "a[b]",
    "for": "a path, or sum(), for all nodes together",
}
_FUNCTION = "a function of XPath 1.0, or exists, empty, ends-with, lower-case or upper-case"
_ORDER = ("<", "<=", ">", ">=")


class Positional(Exception):
    """Raised for ``position()`` or ``last()`` where the parser does not know what they count."""


class ExpressionReader(Cursor):
    """Parses general expressions."""

    __slots__ = ()

    def snapshot(self) -> tuple[object, ...]:
        """The position and the counters, for ``restore``."""
        counters = self.depth, self.steps, self.ups, self.inside
        return self.at, self.mark, self.dead, self.reason, self.at_document, counters

    def restore(self, snapshot: tuple[object, ...]) -> None:
        """Return to the position of a snapshot."""
        self.at, self.mark, self.dead, self.reason, self.at_document, counters = snapshot  # type: ignore[assignment]
        self.depth, self.steps, self.ups, self.inside = counters  # type: ignore[misc]
        self.frame = None

    def general(self, read: Callable[[], Expression]) -> Expression:
        """The expression that ``read`` parses, unless it is too complex."""
        self.cleaned = True
        expression = read()
        if height(expression) > HEIGHT * self.limits.nesting:
            self.refuse("too-complex", f"nested more than {HEIGHT * self.limits.nesting} deep", self.at - 1)
        return expression

    def expression(self) -> Expression:
        """Parse an expression with any operators."""
        return self._junction("or", lambda: self._junction("and", self.equality))

    def _junction(self, word: str, operand: Callable[[], Expression]) -> Expression:
        operands = [operand()]
        while self.tokens[self.at] == word:
            self.at += 1
            operands.append(operand())
        return operands[0] if len(operands) == 1 else junction(word, operands)

    def equality(self) -> Expression:
        """Parse an operand of ``and`` and ``or``."""
        return self._left(("=", "!="), lambda: self._left(_ORDER, self._sum))

    def _sum(self) -> Expression:
        return self._left(("+", "-"), lambda: self._left(("*", "div", "mod"), self._unary))

    def _left(self, operators: tuple[str, ...], operand: Callable[[], Expression]) -> Expression:
        left = operand()
        while (operator := self.tokens[self.at]) in operators:
            self.at += 1
            left = operation(operator, left, operand(), at_element=self.inside == 0)
        return left

    def _unary(self) -> Expression:
        minus = 0
        while self.tokens[self.at] == "-":
            self.at += 1
            minus += 1
        operand = self.union_expression()
        for _ in range(min(minus, 2 + minus % 2)):
            operand = negative(operand)
        return operand

    def union_expression(self) -> Expression:
        """Parse paths, a literal, a function call or parentheses."""
        start = self.at
        first = self.path_expression()
        if self.tokens[self.at] != "|":
            return first
        operands: list[Expression] = []
        while True:
            if kind(first) != "nodes":
                self.refuse("unsupported", "only paths can stand in a union", start, "a path")
            operands += first.operands if isinstance(first, Union) else (first,)
            if len(operands) > self.limits.alternatives:
                message = f"there are more than {self.limits.alternatives} alternatives"
                self.refuse("too-complex", message, start)
            if self.tokens[self.at] != "|":
                return Union(tuple(operands))
            self.at += 1
            start = self.at
            first = self.path_expression()

    def path_expression(self) -> Expression:
        """Parse a path, or what a path can begin with."""
        token = self.tokens[self.at]
        if token == "/":
            self.at += 1
            return self.steps_from(DOCUMENT) if self.at_step() else DOCUMENT
        if token == "//":
            self.at += 1
            return self.steps_from(DOCUMENT, below=True)
        primary = self._general_primary(token)
        if primary is None:
            if self.at_document and not self.inside:
                return self.steps_from(DOCUMENT, below=True)
            return self.steps_from(CONTEXT)
        at = self.at
        if self.tokens[at] in ("[", "/", "//") and kind(primary) != "nodes":
            message = "only nodes can be followed by a step or a predicate"
            self.refuse("unsupported", message, at, "an operator")
        if self.tokens[at] == "[":
            primary = _filtered(primary, self.general_predicates())
        if self.tokens[self.at] in ("/", "//"):
            below = self.tokens[self.at] == "//"
            self.at += 1
            return self.steps_from(primary, below=below)
        return primary

    def _general_primary(self, token: str) -> Expression | None:
        """A literal, a function call or an expression in parentheses; ``None`` before a step."""
        at = self.at
        sign = token[:1]
        if sign in ("'", '"') and sign:
            if len(token) == 1:
                self.refuse("syntax", "expected a closing quote", at, "a closing quote")
            self.at += 1
            return String(token[1:-1])
        if sign.isdecimal() or (sign == "." and token[1:2].isdecimal()):
            value = float(token)
            if isinf(value):
                self.refuse("unsupported", "this number is too large", at, "a number below 1.8e308")
            self.at += 1
            return Number(value)
        if sign == "(":
            self.open()
            found = self.expression()
            self.close()
            return found
        if sign == "$":
            self.refuse("unsupported", "a subscription has no variables", at, "a path, a string or a number")
        if token in ("for", "some", "every") and self.tokens[at + 1] == "$":
            self._later(token, f"'{token}' is an expression of XPath 2.0", at)
        return self._general_call() if self.at_function() else None

    def _general_call(self) -> Expression:
        at = self.at
        name = self._function_name()
        self.at += 1
        self.open()
        if name in ("position", "last") and self.tokens[self.at] == ")":
            self.close()
            return self._counted(name, at)
        arguments: list[Expression] = []
        places: list[int] = []
        while self.tokens[self.at] != ")":
            if arguments:
                self._comma(name, len(arguments))
            places.append(self.at)
            arguments.append(self.expression())
        if name in ("exists", "empty"):
            self._check_arguments(name, arguments, places, ("nodes",), 1, at)
        else:
            signature = SIGNATURES[name]
            most = len(signature.parameters)
            kinds = signature.parameters
            if signature.repeated and len(arguments) > most:
                kinds += (kinds[-1],) * (len(arguments) - most)
            if not arguments and most == 1 and not signature.required:
                arguments.append(CONTEXT)
                places.append(self.at)
            self._check_arguments(name, arguments, places, kinds, signature.required, at)
        self.close()
        return call(name, arguments)

    def _comma(self, name: str, given: int) -> None:
        signature = SIGNATURES.get(name)
        if self.tokens[self.at] != ",":
            self.expected_operator("','" if signature and given < signature.required else "')'")
        if signature is None or (not signature.repeated and given >= len(signature.parameters)):
            self.expected("')'")
        self.at += 1

    def _check_arguments(
        self,
        name: str,
        arguments: list[Expression],
        places: list[int],
        kinds: tuple[str, ...],
        required: int,
        at: int,
    ) -> None:
        if len(arguments) < required:
            self.expected("a name test" if not arguments else "','")
        if len(arguments) > len(kinds):
            self.refuse("syntax", f"{name}() has no arguments", places[0], "')'")
        for argument, place, wanted in zip(arguments, places, kinds, strict=False):
            if wanted == "nodes" and kind(argument) != "nodes":
                message = f"expected a path as the argument of {name}()"
                self.refuse("unsupported", message, place, "a path")

    def _function_name(self) -> str:
        at = self.at
        token = self.tokens[at]
        prefix, colon, local = token.partition(":")
        name = local if colon else token
        if token.startswith("Q{"):
            uri, _, name = token[2:].partition("}")
            known = uri == FUNCTIONS_NAMESPACE
        else:
            bound = self.namespaces.get(prefix) if colon and self.namespaces else None
            known = not colon or bound == FUNCTIONS_NAMESPACE
        if known and (name in SIGNATURES or name in ("exists", "empty")):
            return name
        return self._later(name, f"the function {token}() is outside the language", at)

    def _later(self, name: str, message: str, at: int) -> NoReturn:
        self.refuse("unsupported", message, at, _ACCEPTED.get(name, _FUNCTION))

    def _counted(self, name: str, at: int) -> Expression:
        """``position()`` or ``last()``: in a general step a call, in a step to children what it counts."""
        if self.inside:
            return Call(name)
        if self.frame is None:
            raise Positional
        return SiblingPosition(*self.frame) if name == "position" else SiblingCount(*self.frame)

    # Steps

    def steps_from(self, start: Expression, *, below: bool = False) -> Expression:
        """Parse steps; with ``below`` they begin at the nodes of ``start`` and at every node below them."""
        at = self.at
        routes = self.routes(below=below)
        starts = start.operands if isinstance(start, Union) else (start,)
        operands = tuple(dict.fromkeys([_selection(each, route) for each in starts for route in routes]))
        if len(operands) > self.limits.alternatives:
            self.refuse("too-complex", f"there are more than {self.limits.alternatives} alternatives", at)
        return operands[0] if len(operands) == 1 else Union(operands)

    def routes(self, *, below: bool = False) -> list[tuple[AxisStep, ...]]:
        """Parse steps; ``a/(b | c)`` gives several sequences of steps, other paths one."""
        routes: list[tuple[AxisStep, ...]] = [()]
        while True:
            if below:
                routes = [(*route, ANY_BELOW) for route in routes]
            if self.tokens[self.at] == "(":
                at = self.at
                choices = self._choices()
                routes = [(*route, *choice) for route in routes for choice in choices]
                if len(routes) > self.limits.alternatives:
                    message = f"there are more than {self.limits.alternatives} alternatives"
                    self.refuse("too-complex", message, at)
                if sum(map(len, routes)) > self.limits.steps:
                    self.refuse("too-complex", f"there are more than {self.limits.steps} steps", at)
            else:
                step = self._axis_step()
                if step != AxisStep("self", ANY_NODE):
                    routes = [(*route, step) for route in routes]
            if self.tokens[self.at] not in ("/", "//"):
                return routes
            below = self.tokens[self.at] == "//"
            self.at += 1

    def _choices(self) -> list[tuple[AxisStep, ...]]:
        self.open()
        choices = self.routes()
        while self.tokens[self.at] == "|":
            self.at += 1
            choices += self.routes()
        self.close()
        if self.tokens[self.at] == "[":
            message = "a predicate after parentheses inside a path is outside the language"
            self.refuse("unsupported", message, self.at, "a predicate on each path in the parentheses")
        return choices

    def _axis_step(self) -> AxisStep:
        self.steps += 1
        if self.steps > self.limits.steps:
            self.refuse("too-complex", f"there are more than {self.limits.steps} steps", self.at)
        at = self.at
        token = self.tokens[at]
        if token == "." or token == "..":
            self.at += 1
            axis, test = "self" if token == "." else "parent", ANY_NODE
        else:
            axis = "child"
            if token == "@":
                axis = "attribute"
                self.at += 1
            elif token and self.tokens[at + 1] == "::":
                axis = self.axis_name(at)
                self.at += 2
            test = self._general_test(axis)
        predicates = self.general_predicates()
        while predicates:
            narrow = narrowed(test, predicates[0])
            if narrow is None:
                break
            test = narrow
            predicates = predicates[1:]
        return AxisStep(axis, test, predicates)

    def axis_name(self, at: int) -> str:
        """The axis whose name is the token at ``at``."""
        axis = self.tokens[at]
        if axis == "namespace":
            message = "the namespace axis is outside the language"
            self.refuse("unsupported", message, at, "namespace-uri(), or a name with its namespace")
        if axis not in AXES:
            self.refuse("syntax", "expected the name of an axis", at, "the name of an axis")
        return axis

    def _general_test(self, axis: str) -> NodeTest:
        at = self.at
        token = self.tokens[at]
        if not token or self.tokens[at + 1] != "(":
            self.at += 1
            return NodeTest("name", self.name_test(at, "" if axis == "attribute" else self.default))
        if token not in NODE_TYPES:
            if is_name(token):
                message = f"the function {token}() cannot be a step"
                self.refuse("unsupported", message, at, f"{token}() around the path")
            self.expected("a name test")
        self.at += 2
        target = None
        literal = self.tokens[self.at]
        if token == "processing-instruction" and literal[:1] in ("'", '"') and len(literal) > 1:
            target = literal[1:-1]
            self.at += 1
        if self.tokens[self.at] != ")":
            self.expected("')'")
        self.at += 1
        return NodeTest(token, None, target)

    def general_predicates(self) -> tuple[Expression, ...]:
        """Parse the brackets at the cursor as predicates of a general step."""
        found: list[Expression] = []
        self.inside += 1
        while self.tokens[self.at] == "[":
            self.open()
            found.append(predicate(self.expression(), Call("position")))
            if self.tokens[self.at] != "]":
                self.expected_operator("']'")
            self.depth -= 1
            self.at += 1
        self.inside -= 1
        return tuple(found)

    def at_step(self) -> bool:
        """Whether a step can begin at the cursor."""
        token = self.tokens[self.at]
        return token != END and (token in ("@", ".", "..", "(") or is_name(token))

    def nearer(self, plain: Exception | None, error: PatternError) -> PatternError:
        """The one of two errors for the same text that is nearer to the fault."""
        if isinstance(plain, PatternError) and plain.code == "syntax" and plain.column >= error.column:
            return plain
        return error


def _selection(start: Expression, steps: tuple[AxisStep, ...]) -> Expression:
    if not steps:
        return start
    if isinstance(start, Selection):
        return Selection(start.start, (*start.steps, *steps))
    return Selection(start, steps)


def _filtered(operand: Expression, predicates: tuple[Expression, ...]) -> Expression:
    if isinstance(operand, Filtered):
        return Filtered(operand.operand, (*operand.predicates, *predicates))
    return Filtered(operand, predicates)


def can_be_general(error: Exception) -> bool:
    """Whether what was refused may be a general expression: a limit or an unbound prefix is final."""
    return getattr(error, "code", "unsupported") in ("unsupported", "syntax")
