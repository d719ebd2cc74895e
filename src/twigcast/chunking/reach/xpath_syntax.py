"""Reads an XPath 1.0 expression, as it is, into terms: for queries that twigcast does not evaluate itself.

``pattern.parse`` rewrites what it reads, and refuses what is outside the language of subscriptions.  What
libxml2 looks at, and how long it may take, must be found in the expression that libxml2 gets.

    /site/person[@id = $x]//age  ─►  PathTerm(ROOT, (site, person[…], descendant-or-self::node(), age))

The grammar is that of XPath 1.0; whether functions exist, and have the right arguments, is not checked.
Limits are those of subscriptions (``PatternLimits``).  Cost: linear in the length of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from twigcast.pattern import PatternLimits

_DEFAULT_LIMITS = PatternLimits()


@dataclass(frozen=True, slots=True)
class LiteralTerm:
    """A string or a number."""

    value: str | float


@dataclass(frozen=True, slots=True)
class VariableTerm:
    """``$name``."""

    name: str
    column: int = 0


@dataclass(frozen=True, slots=True)
class CallTerm:
    """The call of a function; the name is as it is written, with its prefix."""

    function: str
    arguments: tuple[Term, ...]
    column: int = 0


@dataclass(frozen=True, slots=True)
class OperationTerm:
    """Operands with operators of one precedence between them; ``-`` also for a sign."""

    operators: frozenset[str]
    operands: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class RootTerm:
    """The document node."""


@dataclass(frozen=True, slots=True)
class ContextTerm:
    """The node where a relative path begins."""


@dataclass(frozen=True, slots=True)
class StepTerm:
    """A step: its axis, its test as it is written without spaces, and its predicates."""

    axis: str
    test: str
    predicates: tuple[Term, ...] = ()
    column: int = 0


@dataclass(frozen=True, slots=True)
class PathTerm:
    """Steps from the nodes of ``start``, which are filtered by ``predicates`` before."""

    start: Term
    steps: tuple[StepTerm, ...] = ()
    predicates: tuple[Term, ...] = ()


Term: TypeAlias = LiteralTerm | VariableTerm | CallTerm | OperationTerm | RootTerm | ContextTerm | PathTerm
"""A part of an expression."""


def walk_terms(term: Term) -> Iterator[Term | StepTerm]:
    """A term, and all terms and steps that it consists of."""
    waiting: list[Term | StepTerm] = [term]
    while waiting:
        each = waiting.pop()
        yield each
        match each:
            case CallTerm(_, terms) | OperationTerm(_, terms) | StepTerm(_, _, terms):
                waiting += terms
            case PathTerm(start, steps, predicates):
                waiting += (start, *predicates, *steps)


class XPathTextError(Exception):
    """An expression that is no XPath 1.0, or too complex: ``code``, and ``column`` from 1."""

    def __init__(self, message: str, code: str, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.column = column


def read_terms(text: str, limits: PatternLimits = _DEFAULT_LIMITS) -> Term:
    """The terms of an expression; raises ``XPathTextError``."""
    if len(text) > limits.length:
        message = f"it has more than {limits.length} characters (PatternLimits.length)"
        raise XPathTextError(message, "too-complex", limits.length + 1)
    reader = _Reader(text, limits)
    found = reader.expression()
    if reader.token:
        reader.expected("an operator or the end")
    return found


AXES = frozenset(
    (
        *("ancestor", "ancestor-or-self", "attribute", "child", "descendant", "descendant-or-self"),
        *("following", "following-sibling", "namespace", "parent", "preceding", "preceding-sibling", "self"),
    )
)
_NODE_TYPES = frozenset(("node", "text", "comment", "processing-instruction"))
_BELOW = StepTerm("descendant-or-self", "node()")
_LEVELS = (("or",), ("and",), ("=", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "div", "mod"))
_BEFORE_OPERAND = frozenset(
    (
        *("", "@", "::", "(", "[", ",", "/", "//", "|", "+", "-", "=", "!=", "<", "<=", ">", ">=", "*", "$"),
        *("and", "or", "div", "mod"),
    )
)
_NAME = r"[^\W\d][\w.\-\u00b7]*"
_TOKEN = re.compile(
    rf"""\s*(?:
    (?P<string>"[^"]*"|'[^']*')
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<name>{_NAME}(?::(?!:)(?:{_NAME}|\*))?)
    |(?P<sign>::|//|\.\.|!=|<=|>=|[][()/@,|+\-=<>.*$])
    )""",
    re.VERBOSE,
)


class _Reader:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str, limits: PatternLimits) -> None:
        self.limits = limits
        self.tokens: list[str] = []
        self.kinds: list[str] = []
        self.columns: list[int] = []
        self.at = 0
        self.depth = self.steps = self.predicates = 0
        self._split(text)

    def _split(self, text: str) -> None:
        at, end, before = 0, len(text.rstrip()), ""
        while at < end:
            found = _TOKEN.match(text, at)
            if found is None or found.lastgroup is None:
                at = end - len(text[at:end].lstrip())
                what = "a closing quote" if text[at] in "'\"" else "an expression of XPath 1.0"
                raise XPathTextError(f"expected {what}, not {text[at : at + 20]!r}", "syntax", at + 1)
            kind, token = found.lastgroup, found[found.lastgroup]
            is_operand = before in _BEFORE_OPERAND
            if kind == "name" and not is_operand:
                kind = "word"  # after an operand, a name is an operator
            elif token == "*" and is_operand:
                kind = "name"
            before = token if kind in ("sign", "word") else "an operand"
            self._add(kind, token, found.start(found.lastgroup) + 1)
            at = found.end()
        self._add("end", "", len(text) + 1)

    def _add(self, kind: str, token: str, column: int) -> None:
        self.kinds.append(kind)
        self.tokens.append(token)
        self.columns.append(column)

    @property
    def token(self) -> str:
        return self.tokens[self.at]

    @property
    def kind(self) -> str:
        return self.kinds[self.at]

    def expected(self, what: str) -> NoReturn:
        found = f", not {self.token[:40]!r}" if self.token else ", and it ends here"
        raise XPathTextError(f"expected {what}{found}", "syntax", self.columns[self.at])

    def refuse(self, what: str, limit: str) -> NoReturn:
        message = f"there are more than {getattr(self.limits, limit)} {what} (PatternLimits.{limit})"
        raise XPathTextError(message, "too-complex", self.columns[self.at])

    def is_sign(self, token: str) -> bool:
        return self.kind in ("sign", "word") and self.token == token

    def take(self, token: str) -> None:
        if not self.is_sign(token):
            self.expected(f"'{token}'")
        self.at += 1

    # Expressions

    def expression(self) -> Term:
        self.depth += 1
        if self.depth > self.limits.nesting:
            self.refuse("levels of brackets and parentheses", "nesting")
        found = self._level(0)
        self.depth -= 1
        return found

    def _level(self, level: int) -> Term:
        if level == len(_LEVELS):
            return self._unary()
        operands = [self._level(level + 1)]
        operators = set()
        while self.kind in ("sign", "word") and self.token in _LEVELS[level]:
            operators.add(self.token)
            self.at += 1
            operands.append(self._level(level + 1))
        return OperationTerm(frozenset(operators), tuple(operands)) if operators else operands[0]

    def _unary(self) -> Term:
        is_negative = False
        while self.is_sign("-"):
            is_negative = True
            self.at += 1
        operands = [self._path()]
        while self.is_sign("|"):
            self.at += 1
            operands.append(self._path())
            if len(operands) > self.limits.alternatives:
                self.refuse("alternatives", "alternatives")
        found = operands[0] if len(operands) == 1 else OperationTerm(frozenset("|"), tuple(operands))
        return OperationTerm(frozenset("-"), (found,)) if is_negative else found

    def _path(self) -> Term:
        if self.is_sign("/"):
            self.at += 1
            return PathTerm(RootTerm(), self._steps()) if self._at_step() else RootTerm()
        if self.is_sign("//"):
            self.at += 1
            return PathTerm(RootTerm(), (_BELOW, *self._steps()))
        primary = self._primary()
        if primary is None:
            return PathTerm(ContextTerm(), self._steps())
        predicates = self._predicates()
        steps: tuple[StepTerm, ...] = ()
        if self.is_sign("/") or self.is_sign("//"):
            below = (_BELOW,) if self.token == "//" else ()
            self.at += 1
            steps = (*below, *self._steps())
        return PathTerm(primary, steps, predicates) if steps or predicates else primary

    def _primary(self) -> Term | None:
        kind, token = self.kind, self.token
        following = self.tokens[self.at + 1] if kind != "end" else ""
        if kind == "string":
            self.at += 1
            return LiteralTerm(token[1:-1])
        if kind == "number":
            self.at += 1
            return LiteralTerm(float(token))
        if self.is_sign("$"):
            self.at += 1
            if self.kind != "name" or self.token.endswith("*"):
                self.expected("the name of a variable")
            self.at += 1
            return VariableTerm(following, self.columns[self.at - 2])
        if self.is_sign("("):
            self.at += 1
            found = self.expression()
            self.take(")")
            return found
        if kind == "name" and following == "(" and token not in _NODE_TYPES:
            column = self.columns[self.at]
            self.at += 2
            return CallTerm(token, self._arguments(), column)
        return None

    def _arguments(self) -> tuple[Term, ...]:
        arguments: list[Term] = []
        while not self.is_sign(")"):
            if arguments:
                self.take(",")
            arguments.append(self.expression())
        self.at += 1
        return tuple(arguments)

    # Steps

    def _at_step(self) -> bool:
        return self.kind == "name" or self.token in ("@", ".", "..")

    def _steps(self) -> tuple[StepTerm, ...]:
        found = [self._step()]
        while self.is_sign("/") or self.is_sign("//"):
            if self.token == "//":
                found.append(_BELOW)
            self.at += 1
            found.append(self._step())
        return tuple(found)

    def _step(self) -> StepTerm:
        self.steps += 1
        if self.steps > self.limits.steps:
            self.refuse("steps", "steps")
        if not self._at_step():
            self.expected("a name, a step or a value")
        token = self.token
        if token in (".", ".."):
            self.at += 1
            return StepTerm("self" if token == "." else "parent", "node()")
        axis = "child"
        if token == "@":
            axis = "attribute"
            self.at += 1
        elif self.tokens[self.at + 1] == "::":
            axis = token
            if axis not in AXES:
                self.expected("an axis")
            self.at += 2
        if self.kind != "name":
            self.expected("a name, * or a node type")
        test, column = self.token, self.columns[self.at]
        self.at += 1
        if self.is_sign("("):
            if test not in _NODE_TYPES:
                self.expected("a step, and a function can only begin a path")
            self.at += 1
            if test == "processing-instruction" and self.kind == "string":
                self.at += 1
            self.take(")")
            test += "()"
        return StepTerm(axis, test, self._predicates(), column)

    def _predicates(self) -> tuple[Term, ...]:
        found: list[Term] = []
        while self.is_sign("["):
            self.predicates += 1
            if self.predicates > self.limits.predicates:
                self.refuse("predicates", "predicates")
            self.at += 1
            found.append(self.expression())
            self.take("]")
        return tuple(found)
