"""Encodes a pattern as the words from which the kernel decides it on the tree of a document.

The kernel's automaton and joins decide most patterns while a document is parsed.  They decide the others only
up to a weaker condition; then the kernel evaluates the whole pattern, encoded here as one general expression
in prefix order:

    //line[price > 3]/@id    step(attribute, id) keep step(descendant, line) root  compare(>) …

Predicates that do not depend on positions are separate (``keep``), so that the kernel shares the sets of
nodes before them among patterns.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

from twigcast.pattern import (
    And,
    AttributeTail,
    Axis,
    AxisStep,
    Call,
    Comparison,
    ContextNode,
    Count,
    Date,
    DocumentNode,
    Exists,
    Expression,
    Filtered,
    Length,
    NameTest,
    Negative,
    NodeTest,
    Not,
    Number,
    Onward,
    Operation,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Selection,
    SiblingCount,
    SiblingPosition,
    String,
    StringTest,
    Test,
    TextTail,
    Union,
)

# Constants of the kernel (expressions.hpp).
_NONE = 0xFFFFFFFF
(
    _NUMBER,
    _DATE,
    _STRING,
    _CONTEXT,
    _ROOT,
    _STEP,
    _KEEP,
    _FILTER,
    _UNION,
    _COMPARE,
    _ARITHMETIC,
    _NEGATIVE,
    _AND,
    _OR,
    _CALL,
    _SIBLING_POSITION,
    _SIBLING_COUNT,
) = range(17)
_AXES = (
    "child",
    "descendant",
    "descendant-or-self",
    "self",
    "attribute",
    "parent",
    "ancestor",
    "ancestor-or-self",
    "following-sibling",
    "preceding-sibling",
    "following",
    "preceding",
)
_KINDS = ("name", "node", "text", "comment", "processing-instruction")
_FUNCTIONS = (
    "last",
    "position",
    "count",
    "local-name",
    "namespace-uri",
    "name",
    "string",
    "concat",
    "starts-with",
    "contains",
    "substring-before",
    "substring-after",
    "substring",
    "string-length",
    "normalize-space",
    "translate",
    "boolean",
    "not",
    "true",
    "false",
    "lang",
    "number",
    "sum",
    "floor",
    "ceiling",
    "round",
    "ends-with",
    "lower-case",
    "upper-case",
)
_COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
_ARITHMETICS = ("+", "-", "*", "div", "mod")
_AXIS_NUMBER = {name: number for number, name in enumerate(_AXES)}
_KIND_NUMBER = {name: number for number, name in enumerate(_KINDS)}
_FUNCTION_NUMBER = {name: number for number, name in enumerate(_FUNCTIONS)}


@dataclass(frozen=True, slots=True)
class ExpressionProgram:
    """An encoded pattern: its words, and the strings and name tests that they refer to by number."""

    words: bytes
    strings: tuple[str, ...]
    tests: tuple[NameTest, ...]


def expression_program(pattern: Pattern) -> ExpressionProgram:
    """Encode a pattern; as a condition it holds for the documents that the pattern matches."""
    encoder = _Encoder()
    words = encoder.paths(pattern.alternatives, [_ROOT])
    return ExpressionProgram(
        struct.pack(f"<{len(words)}I", *words), tuple(encoder.strings), tuple(encoder.tests)
    )


@dataclass(slots=True)
class _Encoder:
    """Encodes parts of one pattern; strings and tests are numbered in the order in which they first occur."""

    strings: dict[str, int] = field(default_factory=dict)
    tests: dict[NameTest, int] = field(default_factory=dict)

    # The tree of a pattern

    def paths(self, paths: Sequence[Path], start: list[int]) -> list[int]:
        if len(paths) == 1:
            return self._path(paths[0], start)
        words = [_UNION, len(paths)]
        for path in paths:
            words += self._path(path, start)
        return words

    def _path(self, path: Path, start: list[int]) -> list[int]:
        words = self._kept(start, path.filters)
        for step in path.steps:
            axis = "child" if step.axis is Axis.CHILD else "descendant"
            words = self._kept(self._step(words, axis, self._named(step.test), ()), step.predicates)
        match path.tail:
            case AttributeTail(test):
                words = self._step(words, "attribute", self._named(test), ())
            case TextTail():
                words = self._step(words, "child", (_KIND_NUMBER["text"], _NONE), ())
            case Onward(steps, ContextNode()):
                words = self._steps(words, steps)
            case Onward(steps, origin):  # only at the top of a pattern, in the context of the document
                words = self._steps(self.expression(origin), steps)
        return words

    def _kept(self, words: list[int], predicates: Sequence[Predicate]) -> list[int]:
        for predicate in predicates:
            words = [_KEEP, *words, *self._predicate(predicate)]
        return words

    def _predicate(self, predicate: Predicate) -> list[int]:
        match predicate:
            case Exists(paths):
                return self._call("boolean", self._from_context(paths))
            case Comparison(paths, operator, value):
                return self._compare(operator, self._from_context(paths), self._constant(value))
            case StringTest(function, paths, value):
                return self._call(function, self._from_context(paths), self._constant(value))
            case Length(paths, operator, value):
                length = self._call("string-length", self._from_context(paths))
                return self._compare(operator, length, self._constant(value))
            case Count(paths, operator, value):
                count = self._call("count", self._from_context(paths))
                return self._compare(operator, count, self._constant(value))
            case Position(test, operator, value, among):
                position = self._siblings(_SIBLING_POSITION, test, among)
                if operator != "!=":
                    return self._compare(operator, position, self._constant(value))
                # A node that is not counted has no position, so that this must not hold for not-a-number.
                others = [self._compare(each, position, self._constant(value)) for each in ("<", ">")]
                return self._joined(_OR, others)
            case And(operands):
                return self._joined(_AND, [self._predicate(operand) for operand in operands])
            case Or(operands):
                return self._joined(_OR, [self._predicate(operand) for operand in operands])
            case Not(operand):
                return self._call("not", self._predicate(operand))
            case Test(expression):
                return self._call("boolean", self.expression(expression))

    def _from_context(self, paths: Sequence[Path]) -> list[int]:
        return self.paths(paths, [_CONTEXT])

    def _siblings(self, operator: int, test: NameTest, among: Sequence[Predicate]) -> list[int]:
        words = [operator, self._test(test), len(among)]
        for predicate in among:
            words += self._predicate(predicate)
        return words

    # General expressions

    def expression(self, expression: Expression) -> list[int]:
        match expression:
            case Number(value):
                return self._constant(value)
            case String(text):
                return self._constant(text)
            case Date(text):
                return [_DATE, self._string(text)]
            case Call(function, arguments):
                return self._call(function, *[self.expression(argument) for argument in arguments])
            case Operation("and" | "or" as operator, left, right):
                operands = [self.expression(left), self.expression(right)]
                return self._joined(_AND if operator == "and" else _OR, operands)
            case Operation(operator, left, right) if operator in _COMPARISONS:
                return self._compare(operator, self.expression(left), self.expression(right))
            case Operation(operator, left, right):
                number = _ARITHMETICS.index(operator)
                return [_ARITHMETIC, number, *self.expression(left), *self.expression(right)]
            case Negative(operand):
                return [_NEGATIVE, *self.expression(operand)]
            case Union(operands):
                return self._joined(_UNION, [self.expression(operand) for operand in operands])
            case ContextNode():
                return [_CONTEXT]
            case DocumentNode():
                return [_ROOT]
            case Filtered(operand, predicates):
                words = [_FILTER, len(predicates), *self.expression(operand)]
                for predicate in predicates:
                    words += self.expression(predicate)
                return words
            case Selection(start, steps):
                return self._steps(self.expression(start), steps)
            case SiblingPosition(test, among):
                return self._siblings(_SIBLING_POSITION, test, among)
            case SiblingCount(test, among):
                return self._siblings(_SIBLING_COUNT, test, among)

    def _steps(self, words: list[int], steps: Sequence[AxisStep]) -> list[int]:
        for step in steps:
            predicates = [self.expression(predicate) for predicate in step.predicates]
            words = self._step(words, step.axis, self._node_test(step.test), predicates)
        return words

    def _step(
        self, words: list[int], axis: str, test: tuple[int, int], predicates: Sequence[list[int]]
    ) -> list[int]:
        step = [_STEP, _AXIS_NUMBER[axis], *test, len(predicates), *words]
        for predicate in predicates:
            step += predicate
        return step

    def _node_test(self, test: NodeTest) -> tuple[int, int]:
        if test.name is not None:
            return self._named(test.name)
        return _KIND_NUMBER[test.kind], _NONE if test.target is None else self._string(test.target)

    # Words

    def _named(self, test: NameTest) -> tuple[int, int]:
        return _KIND_NUMBER["name"], self._test(test)

    def _constant(self, value: str | float) -> list[int]:
        if isinstance(value, str):
            return [_STRING, self._string(value)]
        return [_NUMBER, *struct.unpack("<2I", struct.pack("<d", value))]

    def _call(self, function: str, *arguments: list[int]) -> list[int]:
        words = [_CALL, _FUNCTION_NUMBER[function], len(arguments)]
        for argument in arguments:
            words += argument
        return words

    def _compare(self, operator: str, left: list[int], right: list[int]) -> list[int]:
        return [_COMPARE, _COMPARISONS.index(operator), *left, *right]

    def _joined(self, operator: int, operands: Sequence[list[int]]) -> list[int]:
        words = [operator, len(operands)]
        for operand in operands:
            words += operand
        return words

    def _string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def _test(self, test: NameTest) -> int:
        return self.tests.setdefault(test, len(self.tests))
