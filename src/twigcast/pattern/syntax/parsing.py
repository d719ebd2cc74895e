"""Parses the text of a subscription into a pattern, by recursive descent over its tokens.

``paths`` and ``conditions`` parse the parts of an expression, this module the whole.  Most texts never get
here: ``part_cache`` assembles them from parts that were parsed before.
"""

from __future__ import annotations

from collections.abc import Mapping

from twigcast.errors import PatternError
from twigcast.pattern.canonical import union
from twigcast.pattern.expression import DocumentNode, Expression, Selection, Union
from twigcast.pattern.limits import PatternLimits
from twigcast.pattern.rendering import render, render_expression
from twigcast.pattern.syntax.cleaning import Route, finished, restricted
from twigcast.pattern.syntax.conditions import ConditionReader
from twigcast.pattern.syntax.cursor import check_types
from twigcast.pattern.syntax.expressions import Positional, can_be_general
from twigcast.pattern.syntax.node_conditions import Refusal
from twigcast.pattern.syntax.part_cache import assembled
from twigcast.pattern.syntax.simplifying import kind, looks_at_document
from twigcast.pattern.syntax.tokens import END
from twigcast.pattern.tree import Axis, Onward, Path, Pattern

_DEFAULT_LIMITS = PatternLimits()
_NOT_PATHS = frozenset("0123456789'\"$-")


def parse(
    text: str, namespaces: Mapping[str, str] | None = None, limits: PatternLimits = _DEFAULT_LIMITS
) -> Pattern:
    """Parse a subscription; raises ``PatternError``.

    ``namespaces`` binds prefixes; its entry ``""`` is the namespace of element names without a prefix.
    """
    check_types(text, namespaces)
    usual = limits is _DEFAULT_LIMITS or limits == _DEFAULT_LIMITS
    if usual and not (namespaces and _may_exceed(text, namespaces, limits)):
        pattern = assembled(text, namespaces, parse_alone)
        if pattern is not None:
            return pattern
    return parse_alone(text, namespaces, limits)


def parse_alone(
    text: str, namespaces: Mapping[str, str] | None = None, limits: PatternLimits = _DEFAULT_LIMITS
) -> Pattern:
    """The same as ``parse``, without the cache of parts."""
    parser = _Parser(text, namespaces, limits)
    try:
        pattern = parser.pattern()
        if parser.cleaned or len(text) > limits.length // 4:
            # The canonical text must be within the limits too.
            _Parser(render(pattern), None, limits).pattern()
        elif namespaces and _may_exceed(text, namespaces, limits) and len(render(pattern)) > limits.size:
            parser.refuse(
                "too-complex",
                f"with its namespaces written out, it has more than {limits.size} characters"
                " (PatternLimits.size)",
                0,
            )
    except RecursionError:
        parser.refuse("too-complex", "the expression is nested too deeply", 0)
    except Refusal as refusal:
        parser.refuse(refusal.code, refusal.message, parser.mark, refusal.expected)
    except PatternError as error:
        if error.text is text:
            raise
        if error.code != "too-complex":
            parser.refuse(error.code, error.message, 0, error.expected)
        parser.refuse("too-complex", f"its canonical text is too large: {error.message}", 0)
    return pattern


def parse_value(
    text: str, namespaces: Mapping[str, str] | None = None, limits: PatternLimits = _DEFAULT_LIMITS
) -> Expression | None:
    """The expression of a text that is no path: its value is a number, a string or a truth value.

    As in a subscription, a relative path in it begins anywhere.  ``None`` if the text selects nodes; raises
    ``PatternError`` if it is outside the language.
    """
    check_types(text, namespaces)
    parser = _Parser(text, namespaces, limits)
    try:
        return parser.value()
    except RecursionError:
        parser.refuse("too-complex", "the expression is nested too deeply", 0)
    except Refusal as refusal:
        parser.refuse(refusal.code, refusal.message, parser.mark, refusal.expected)
    except Positional:
        parser.refuse("unsupported", "position() and last() need a predicate", 0, "a path")


def _may_exceed(text: str, namespaces: Mapping[str, str], limits: PatternLimits) -> bool:
    """Whether the canonical text may be too large, since it repeats the URI of each name: an upper bound."""
    most_names = (len(text) + 1) // 2
    return len(text) + most_names * (3 + max(map(len, namespaces.values()))) > limits.size


class _Parser(ConditionReader):
    """Parses whole expressions: unions of absolute paths."""

    __slots__ = ()

    def pattern(self) -> Pattern:
        before = self.snapshot()
        error: Exception | None = None
        paths: list[Path] = []
        try:
            paths = self._absolute_union()
        except (PatternError, Refusal, Positional) as caught:
            if not can_be_general(caught):
                raise
            error = caught
        if error is not None or self.tokens[self.at] != END:
            self.restore(before)
            paths = self._condition(error)
        if not paths:
            message = self.reason or "no document can satisfy this expression"
            self.refuse("never-matches", message, self.dead or 0)
        pattern = union(paths)
        if len(pattern.alternatives) > self.limits.alternatives:
            self.too_many_alternatives(0)
        if self.tokens.count("[") > self.limits.predicates:
            brackets = [index for index, token in enumerate(self.tokens) if token == "["]
            at = brackets[self.limits.predicates]
            message = f"there are more than {self.limits.predicates} predicates (PatternLimits.predicates)"
            self.refuse("too-complex", message, at)
        return pattern

    def value(self) -> Expression | None:
        self.at_document = True
        found = self.general(self.expression)
        if self.tokens[self.at] != END:
            self.expected_operator("the end of the expression")
        return None if kind(found) == "nodes" else found

    def _absolute_union(self) -> list[Path]:
        paths = self._absolute_path()
        while self.tokens[self.at] == "|":
            self.at += 1
            paths += self._absolute_path()
        return paths

    def _condition(self, error: Exception | None) -> list[Path]:
        """The alternatives of an expression that is no path: the document, where the expression is true."""
        start = self.at
        self.at_document = True
        try:
            operand = self._disjunction()
            if self.tokens[self.at] != END:
                self.expected_operator("the end of the expression")
        except Positional:
            self.refuse("unsupported", "position() and last() need a predicate", start, "a path")
        except PatternError as other:
            raise self.nearer(error, other) from None
        condition = self._truth(operand, start)
        if isinstance(condition, bool) and self.reason is None:
            self.at = start
            if not looks_at_document(self.general(self.expression)):
                message = "this expression does not look at the document"
                self.refuse("unsupported", message, start, "a path, or a condition with a path")
        self.at_document = False
        self.cleaned = True
        return [
            finished(route)
            for route in restricted(Route(), condition, self.limits.alternatives, absolute=True)
        ]

    def _absolute_path(self) -> list[Path]:
        """One alternative; a path that is not plain ends in general steps."""
        before = self.snapshot()
        try:
            return self._plain_alternative()
        except (PatternError, Refusal, Positional) as error:
            if not can_be_general(error):
                raise
            self.restore(before)
            return self._general_alternative(error)

    def _general_alternative(self, error: Exception) -> list[Path]:
        self.at_document = True
        try:
            found = self.general(self.path_expression)
        except PatternError as other:
            raise self.nearer(error, other) from None
        self.at_document = False
        if kind(found) != "nodes" or self.tokens[self.at] not in ("|", ")", END):
            raise error
        if self.settled:
            return [_alternative(found)]
        paths: list[Path] = []
        for each in found.operands if isinstance(found, Union) else (found,):
            reader = _Parser(render_expression(each), None, self.limits)
            reader.settled = True
            paths += reader._absolute_path()
        return paths

    def _plain_alternative(self) -> list[Path]:
        token = self.tokens[self.at]
        if token == "/":
            self.at += 1
            if not self.at_step():
                return [Path(())]
            nodes = self.plain_path(Axis.CHILD, absolute=True)
        elif token == "//":
            self.at += 1
            nodes = self.plain_path(Axis.DESCENDANT, absolute=True)
        elif token == "(":
            return self._parenthesised_union()
        else:
            if token[:1] in _NOT_PATHS or self.at_function():
                self.refuse("unsupported", "expected a path", self.at, "a path")
            nodes = self.plain_path(Axis.DESCENDANT, absolute=True)
        return [nodes] if isinstance(nodes, Path) else [finished(route) for route in nodes]

    def _parenthesised_union(self) -> list[Path]:
        self.open()
        paths = self._absolute_union()
        self.close()
        following = self.tokens[self.at]
        if following == "[" or following == "/" or following == "//":
            self.refuse("unsupported", "a step after parentheses is general", self.at, "'|'")
        return paths


def _alternative(expression: Expression) -> Path:
    """The path that selects the nodes of a general expression, starting at the document."""
    match expression:
        case DocumentNode():
            return Path(())
        case Selection(DocumentNode(), steps):
            return Path((), Onward(steps))
        case Selection(start, steps):
            return Path((), Onward(steps, start))
        case _:
            return Path((), Onward((), expression))
