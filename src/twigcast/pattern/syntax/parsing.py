"""Parses the text of a subscription into a pattern, by recursive descent over its tokens.

``paths`` and ``conditions`` parse the parts of an expression, this module the whole.  Most texts never get
here: ``part_cache`` assembles them from parts that were parsed before.
"""

from __future__ import annotations

from collections.abc import Mapping

from twigcast.errors import PatternError
from twigcast.pattern.canonical import union
from twigcast.pattern.limits import PatternLimits
from twigcast.pattern.rendering import render
from twigcast.pattern.syntax.cleaning import finished
from twigcast.pattern.syntax.conditions import MIRRORED, ConditionReader
from twigcast.pattern.syntax.cursor import ARITHMETIC, check_types
from twigcast.pattern.syntax.node_conditions import Refusal
from twigcast.pattern.syntax.part_cache import assembled
from twigcast.pattern.syntax.tokens import END
from twigcast.pattern.tree import Axis, Path, Pattern

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
        if error.text is text or error.code != "too-complex":
            raise
        parser.refuse("too-complex", f"its canonical text is too large: {error.message}", 0)
    return pattern


def _may_exceed(text: str, namespaces: Mapping[str, str], limits: PatternLimits) -> bool:
    """Whether the canonical text may be too large, since it repeats the URI of each name: an upper bound."""
    most_names = (len(text) + 1) // 2
    return len(text) + most_names * (3 + max(map(len, namespaces.values()))) > limits.size


class _Parser(ConditionReader):
    """Parses whole expressions: unions of absolute paths."""

    __slots__ = ()

    def pattern(self) -> Pattern:
        paths = self._absolute_union()
        token = self.tokens[self.at]
        if token != END:
            if token in MIRRORED or token in ARITHMETIC or token == "and" or token == "or":
                self.refuse(
                    "unsupported",
                    f"a subscription is a path; put the condition {token!r} into a predicate",
                    self.at,
                    "the end of the expression",
                )
            self.expected("the end of the expression")
        if not paths:
            self.refuse("never-matches", "no document can satisfy this expression", self.dead or 0)
        pattern = union(paths)
        if len(pattern.alternatives) > self.limits.alternatives:
            self.too_many_alternatives(0)
        if self.tokens.count("[") > self.limits.predicates:
            brackets = [index for index, token in enumerate(self.tokens) if token == "["]
            at = brackets[self.limits.predicates]
            message = f"there are more than {self.limits.predicates} predicates (PatternLimits.predicates)"
            self.refuse("too-complex", message, at)
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
            nodes = self.plain_path(Axis.CHILD, absolute=True)
        elif token == "//":
            self.at += 1
            nodes = self.plain_path(Axis.DESCENDANT, absolute=True)
        elif token == "(":
            return self._parenthesised_union()
        else:
            if token[:1] in _NOT_PATHS or self.at_function():
                self.refuse("unsupported", "a subscription is a path", self.at, "a path")
            nodes = self.plain_path(Axis.DESCENDANT, absolute=True)
        return [nodes] if isinstance(nodes, Path) else [finished(route) for route in nodes]

    def _parenthesised_union(self) -> list[Path]:
        self.open()
        paths = self._absolute_union()
        self.close()
        following = self.tokens[self.at]
        if following == "[" or following == "/" or following == "//":
            self.refuse(
                "unsupported", "a step or predicate after parentheses is outside the language", self.at, "'|'"
            )
        return paths
