"""Regular path expressions: the label paths of documents in the notation of the routing paper.

    /a/b/c            non-recursive          one path
    /a/b(/c/d)+/e     simple-recursive       /a/b/c/d/e, /a/b/c/d/c/d/e, ...
    /a(/b)+/c(/d)+    series-recursive       several repeated parts, one after another
    /a(/b(/c)+/d)+    embedded-recursive     a repeated part within another
    /a(/b|/c/d)/e     an alternative         not in the paper; without it mutual recursion cannot be written

Labels are name tests as in subscriptions: ``*``, ``Q{uri}name``, ``*:name``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from twigcast.errors import SchemaError
from twigcast.pattern import NameTest, render_name


@dataclass(frozen=True, slots=True)
class Label:
    """One element, given by its name test."""

    test: NameTest

    def __str__(self) -> str:
        return render_expression(self)


@dataclass(frozen=True, slots=True)
class Series:
    """A sequence of parts, each below the one before; without parts it is the empty path."""

    parts: tuple[PathExpression, ...]

    def __str__(self) -> str:
        return render_expression(self)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part that occurs once or more, each time below the last: the paper's ``( )+``."""

    body: PathExpression

    def __str__(self) -> str:
        return render_expression(self)


@dataclass(frozen=True, slots=True)
class Either:
    """An alternative: one of the options."""

    options: tuple[PathExpression, ...]

    def __str__(self) -> str:
        return render_expression(self)


PathExpression: TypeAlias = Label | Series | Repeat | Either
"""A regular expression over labels, which describes label paths."""


class Kind(Enum):
    """The paper's classes of advertisements."""

    NON_RECURSIVE = "non-recursive"
    SIMPLE = "simple-recursive"
    SERIES = "series-recursive"
    EMBEDDED = "embedded-recursive"


def kind(expression: PathExpression) -> Kind:
    """Classify an expression by its repeated parts: none, one, several in sequence, or one within another."""
    times = 0
    for repeat in _repeats(expression):
        times += 1
        if next(_repeats(repeat.body), None) is not None:
            return Kind.EMBEDDED
    return (Kind.NON_RECURSIVE, Kind.SIMPLE, Kind.SERIES)[min(times, 2)]


def series(*parts: PathExpression) -> PathExpression:
    """Make a series of these parts; nested series are flattened, and a single part is returned as it is."""
    flat: list[PathExpression] = []
    for part in parts:
        flat += part.parts if isinstance(part, Series) else (part,)
    return flat[0] if len(flat) == 1 else Series(tuple(flat))


def either(*options: PathExpression) -> PathExpression:
    """Make an alternative of these options; nested ones are flattened, and duplicates are dropped."""
    flat: dict[PathExpression, None] = {}
    for option in options:
        flat.update(dict.fromkeys(option.options if isinstance(option, Either) else (option,)))
    return next(iter(flat)) if len(flat) == 1 else Either(tuple(flat))


def size(expression: PathExpression) -> int:
    """Return the number of labels in an expression."""
    match expression:
        case Label():
            return 1
        case Series(parts) | Either(parts):
            return sum(size(part) for part in parts)
        case Repeat(body):
            return size(body)


def render_expression(expression: PathExpression) -> str:
    """Return the text of an expression, from which ``parse_path_expression`` makes an equal one."""
    match expression:
        case Label(test):
            return f"/{render_name(test)}"
        case Series(parts):
            return "".join([render_expression(part) for part in parts])
        case Repeat(Either() as body):
            return f"{render_expression(body)}+"
        case Repeat(body):
            return f"({render_expression(body)})+"
        case Either(options):
            return f"({'|'.join([render_expression(option) for option in options])})"


def parse_path_expression(text: str) -> PathExpression:
    """Parse a path expression; raises ``SchemaError`` with the column of a syntax error."""
    reader = _Reader(text)
    expression = reader.series()
    if reader.at < len(text):
        raise reader.refusal("the end, '/' or '('")
    return expression


def _repeats(expression: PathExpression) -> Iterator[Repeat]:
    """Yield the repeated parts that are not inside another repeated part."""
    match expression:
        case Repeat():
            yield expression
        case Series(parts) | Either(parts):
            for part in parts:
                yield from _repeats(part)
        case Label():
            pass


class _Reader:
    """A recursive-descent parser: the text and the offset of the next character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def series(self) -> PathExpression:
        parts: list[PathExpression] = []
        while self.at < len(self.text) and self.text[self.at] in "/(":
            parts.append(self.label() if self.text[self.at] == "/" else self.group())
        return series(*parts)

    def group(self) -> PathExpression:
        options: list[PathExpression] = []
        while not options or self.text[self.at] == "|":
            self.at += 1  # skip the parenthesis or the bar
            options.append(self.series())
            if self.at == len(self.text) or self.text[self.at] not in "|)":
                raise self.refusal("'/', '(', '|' or ')'")
        self.at += 1
        found = either(*options)
        if self.text.startswith("+", self.at):
            self.at += 1
            return Repeat(found)
        return found

    def label(self) -> Label:
        self.at += 1
        start = self.at
        namespace: str | None = ""
        if self.text.startswith("Q{", start):
            end = self.text.find("}", start)
            if end < 0:
                raise self.refusal("'}'")
            namespace = self.text[start + 2 : end]
            self.at = end + 1
        elif self.text.startswith("*:", start):
            namespace = None
            self.at += 2
        name = self.name()
        if name == "*":
            return Label(NameTest(None if self.at == start + 1 else namespace, None))
        return Label(NameTest(namespace, name))

    def name(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in "/()|+{} ":
            self.at += 1
        if self.at == start:
            raise self.refusal("a name or '*'")
        return self.text[start : self.at]

    def refusal(self, expected: str) -> SchemaError:
        return SchemaError(
            f"{self.text!r} is not a path expression: expected {expected} at column {self.at + 1}"
        )
