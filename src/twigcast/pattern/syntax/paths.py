"""Parses paths.

A path is plain as long as its steps are names and its predicates look down; plain paths are built directly.
From the first ``..``, ``self::`` or upward predicate on, the path is kept as routes, which ``cleaning``
finishes.  From the first step that no route can take on, the path ends in general steps, an ``Onward``.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from typing import NoReturn, TypeAlias, cast

from twigcast.errors import PatternError
from twigcast.pattern.canonical import conjuncts
from twigcast.pattern.expression import (
    CONTEXT,
    AxisStep,
    Call,
    NodeTest,
    Operation,
    Selection,
    String,
    Union,
)
from twigcast.pattern.rendering import render_tail
from twigcast.pattern.syntax.cleaning import Route, has_more_steps, parents, restricted, self_and_below
from twigcast.pattern.syntax.cursor import NODE_TYPES
from twigcast.pattern.syntax.expressions import ExpressionReader, Positional, can_be_general
from twigcast.pattern.syntax.node_conditions import Condition, Refusal, both, named
from twigcast.pattern.syntax.simplifying import narrowed
from twigcast.pattern.syntax.tokens import END, is_name
from twigcast.pattern.tree import (
    ANY,
    TEXT,
    AttributeTail,
    Axis,
    NameTest,
    Onward,
    Path,
    Predicate,
    Step,
    Tail,
)

AFTER_STEP = frozenset({"[", "/", "//"})
Nodes: TypeAlias = Path | list[Route]


class _End(Enum):
    """Whether a path may end after the step that was parsed last."""

    SETTLED = "elements, attributes or text"
    LOOSE = "any nodes that satisfy a predicate: a step must follow"
    ANYWHERE = "any nodes: a step must follow, from the node itself or from any below it"


@dataclass(frozen=True, slots=True)
class _Move:
    """An axis, a node test (of ``kind`` ``name``, ``node`` or ``text``), and the index of its first token."""

    at: int
    axis: str
    kind: str
    test: NameTest


_AXES = frozenset({"child", "descendant", "descendant-or-self", "self", "parent", "attribute"})
FALLBACK = (PatternError, Refusal, Positional)
"""What is raised by a part of an expression that may be a general expression."""


class PathReader(ExpressionReader):
    """Parses paths; a subclass parses the conditions in their brackets."""

    __slots__ = ()

    @abstractmethod
    def predicates(self, counted: NameTest | None) -> tuple[list[Condition], bool]:
        """Parse the brackets at the cursor; returns the conditions, and whether all are plain predicates.

        A position counts the children that ``counted`` admits; without ``counted`` it is refused.
        """

    def plain_path(self, axis: Axis, *, absolute: bool) -> Nodes:
        """Parse a path; the result is a ``Path`` if it is plain, otherwise a list of routes."""
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
                if tokens[at + 2] != ")" or tokens[at + 3] in AFTER_STEP:
                    break
                self.at = at + 3
                return self._plain(steps, TEXT)
            if token == "@":
                tail = AttributeTail(self.name_test(at + 1, ""))
                following = tokens[at + 2]
                if axis is not Axis.CHILD or following in AFTER_STEP or following == "(":
                    break
                if absolute and not steps:
                    break
                self.at = at + 2
                return self._plain(steps, tail)
            if token == "." or token == "..":
                break
            test = self.name_test(at, self.default)
            at += 1
            if following == "[":
                self.at = at
                before = self.snapshot()
                try:
                    conditions, plain = self.predicates(test)
                    routes = None
                    if not plain:
                        reached = [Route((*steps, Step(axis, test)))]
                        routes = self._restricted(reached, conditions, absolute=absolute)
                except FALLBACK as error:
                    self.restore(before)
                    self.at = at - 1
                    self.steps += len(steps)
                    return self._onward(
                        [Route(tuple(steps))], error, below=axis is Axis.DESCENDANT, absolute=absolute
                    )
                at = self.at
                if routes is not None:
                    self.steps += len(steps) + 1
                    return self._rest(routes, None, absolute=absolute)
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
        return self._rest([Route(tuple(steps))], start, absolute=absolute)

    def _plain(self, steps: list[Step], tail: Tail) -> Path:
        self.steps += len(steps)
        if self.steps > self.limits.steps:
            self._too_many_steps()
        return Path(tuple(steps), tail)

    def _rest(self, routes: list[Route], start: _End | None, *, absolute: bool) -> list[Route]:
        """Parse the remaining steps as routes; without ``start``, the cursor is before a slash or at the end.

        If a step is refused, the path goes on by general steps from the last nodes that the routes describe.
        """
        self.cleaned = True
        tokens = self.tokens
        end = _End.SETTLED
        settled = self.snapshot(), routes, start
        try:
            while True:
                if start is None:
                    if end is _End.SETTLED:
                        settled = self.snapshot(), routes, start
                    token = tokens[self.at]
                    if token == "//":
                        start = _End.ANYWHERE
                    elif token == "/":
                        start = end
                    elif end is _End.SETTLED:
                        return routes
                    else:
                        message = "'.' alone would select text, comments and instructions too"
                        self.refuse("unsupported", message, self.mark, "a name test")
                    self.at += 1
                routes, end = self._step(routes, start, absolute=absolute)
                start = None
        except FALLBACK as error:
            before, routes, start = settled
            self.restore(before)
            if start is None:
                start = _End.ANYWHERE if tokens[self.at] == "//" else _End.SETTLED
                self.at += 1
            return self._onward(routes, error, below=start is _End.ANYWHERE, absolute=absolute)

    def _onward(self, routes: list[Route], error: Exception, *, below: bool, absolute: bool) -> list[Route]:
        """The routes that go on by general steps, which begin at the cursor; ``error`` is why they must."""
        if not can_be_general(error):
            raise error
        at = self.at
        try:
            found = self.general(lambda: self.steps_from(CONTEXT, below=below))
        except PatternError as other:
            raise self.nearer(error, other) from None
        choices = [
            each.steps if isinstance(each, Selection) else ()
            for each in (found.operands if isinstance(found, Union) else (found,))
        ]
        if len(choices) > 1 and not self.settled:
            return [end for choice in choices for end in self._reread(routes, choice, absolute=absolute)]
        found_routes = [
            replace(route, tail=Onward((*_tail_steps(route.tail), *steps)) if steps else route.tail)
            for route in routes
            for steps in choices
            if route.steps or not absolute or not steps or not _is_empty_at_document(steps[0])
        ]
        if routes and not found_routes and absolute and self.dead is None:
            self.dead = at
        return found_routes

    def _reread(self, routes: list[Route], steps: tuple[AxisStep, ...], *, absolute: bool) -> list[Route]:
        """The routes that go on by ``steps``, plain as far as they can be."""
        reader = type(self)(render_tail(Onward(steps)), None, self.limits)
        reader.settled = True
        found = reader._rest(routes, None, absolute=absolute)
        self.steps += reader.steps
        return found

    def _step(self, routes: list[Route], start: _End, *, absolute: bool) -> tuple[list[Route], _End]:
        """The routes after one more step of any kind, and whether the path may end after it."""
        at = self.mark = self.at
        if any(isinstance(route.tail, Onward) for route in routes):
            self.refuse("unsupported", "general steps cannot be rewritten as routes", at)
        self.steps += 1
        if self.steps > self.limits.steps:
            self._too_many_steps()
        move = self._move()
        end = _End.SETTLED
        if move.kind == "text" or move.axis == "attribute":
            found = self._ends(routes, start, move, absolute=absolute)
        elif move.axis == "parent":
            found = self._parents(routes, start, move, absolute=absolute)
        elif move.kind == "node":
            found, end = self._anything(routes, start, move)
        else:
            found = self._elements(routes, start, move, absolute=absolute)
        if move.axis == "attribute" and self.tokens[self.at] == "[":
            found = self._named_attributes(found)
        if self.tokens[self.at] == "[":
            if move.kind == "text" or any(route.tail is not None for route in found):
                self.refuse(
                    "unsupported",
                    "predicates on attributes and text are outside the language",
                    self.at,
                    "a comparison in a predicate of the element",
                )
            counted = move.test if move.axis == "child" and move.kind == "name" else None
            conditions, _ = self.predicates(counted)
            found = self._restricted(found, conditions, absolute=absolute)
        self._bound(found, at)
        if routes and not found and absolute and self.dead is None:
            self.dead = at
        self.mark = at
        return found, end

    def _named_attributes(self, routes: list[Route]) -> list[Route]:
        """The routes to attributes, narrowed by ``[local-name() = 'x']`` at the cursor."""
        at = self.at
        pieces = self.tokens[at : at + 7]
        if len(pieces) < 7 or pieces[:5] != ["[", "local-name", "(", ")", "="] or pieces[6] != "]":
            return routes
        if pieces[5][:1] not in ("'", '"') or len(pieces[5]) == 1:
            return routes
        named = Operation("=", Call("local-name", (CONTEXT,)), String(pieces[5][1:-1]))
        found: list[Route] = []
        for route in routes:
            assert isinstance(route.tail, AttributeTail)
            narrow = narrowed(NodeTest("name", route.tail.test), named)
            if narrow is None or narrow.name is None:
                return routes
            found.append(replace(route, tail=AttributeTail(narrow.name)))
        self.at += 7
        return found

    def _move(self) -> _Move:
        """Parse the axis and the node test at the cursor, abbreviated or in full."""
        at = self.at
        token = self.tokens[at]
        if token == "." or token == "..":
            self.at += 1
            return _Move(at, "self" if token == "." else "parent", "node", ANY)
        axis = "child"
        if token == "@":
            axis = "attribute"
            self.at += 1
        elif self.tokens[at + 1 : at + 2] == ["::"]:
            axis = self.axis_name(at)
            if axis not in _AXES:
                self.refuse("unsupported", f"the {axis} axis is no axis of routes", at)
            self.at += 2
        test_at = self.at
        kind, test = self._node_test(axis)
        if kind == "node" and axis in ("child", "descendant"):
            message = f"node() on the {axis} axis is outside the language"
            self.refuse("unsupported", message, test_at, "a name test")
        if kind == "text" and axis in ("self", "parent"):
            self.refuse("unsupported", f"{axis}::text() is outside the language", at, "a name test")
        return _Move(at, axis, kind, test)

    def _ends(self, routes: list[Route], start: _End, move: _Move, *, absolute: bool) -> list[Route]:
        """The routes to attributes or text nodes; the document node has neither."""
        tail: Tail = TEXT if move.kind == "text" else AttributeTail(move.test)
        owners = [route for route in routes if route.tail is None]
        if start is _End.ANYWHERE or move.axis.startswith("descendant"):
            owners = [owner for route in owners for owner in self_and_below(route)]
        return [replace(owner, tail=tail) for owner in owners if owner.steps or not absolute]

    def _parents(self, routes: list[Route], start: _End, move: _Move, *, absolute: bool) -> list[Route]:
        """The routes to the parents."""
        limit = self.limits.alternatives
        if start is not _End.SETTLED:
            self.refuse("unsupported", "'..' needs a named step before it", move.at, "a name test")
        self.ups += 1
        if self.ups > self.limits.nesting:
            message = f"there are more than {self.limits.nesting} steps up (PatternLimits.nesting)"
            self.refuse("too-complex", message, move.at)
        found = [parent for route in routes for parent in parents(route, limit, absolute=absolute)]
        return (
            found if move.kind == "node" else self._restricted(found, [named(move.test)], absolute=absolute)
        )

    def _anything(self, routes: list[Route], start: _End, move: _Move) -> tuple[list[Route], _End]:
        """The routes to the same nodes, or also to all nodes below them, for a step with ``node()``."""
        if start is not _End.ANYWHERE and move.axis == "self":
            return routes, start
        if self.tokens[self.at] != "[":
            return routes, _End.ANYWHERE
        return [
            below for route in routes if route.tail is None for below in self_and_below(route)
        ], _End.LOOSE

    def _elements(self, routes: list[Route], start: _End, move: _Move, *, absolute: bool) -> list[Route]:
        """The routes to the elements that a name test admits, along any of the downward axes or ``self``."""
        origins = [route for route in routes if route.tail is None]
        deep = start is _End.ANYWHERE
        if move.axis == "self" and not deep:
            return self._restricted(origins, [named(move.test)], absolute=absolute)
        step = Step(Axis.DESCENDANT if deep or move.axis != "child" else Axis.CHILD, move.test)
        found = [replace(route, steps=(*route.steps, step)) for route in origins]
        if move.axis in ("self", "descendant-or-self"):
            limit = self.limits.alternatives
            for route in origins:
                found += restricted(route, named(move.test), limit, absolute=absolute)
        return found

    def _node_test(self, axis: str) -> tuple[str, NameTest]:
        """Parse the node test at the cursor: its kind (``name``, ``node``, ``text``) and the name test."""
        at = self.at
        token = self.tokens[at]
        if self.tokens[at + 1 : at + 2] != ["("]:
            self.at += 1
            return "name", self.name_test(at, "" if axis == "attribute" else self.default)
        if token not in NODE_TYPES:
            if is_name(token):
                self.refuse("unsupported", f"the function {token}() cannot be a step", at, "a name test")
            self.expected("a name test")
        if token not in ("node", "text"):
            self.refuse("unsupported", f"{token}() is outside the language", at, "a name test or text()")
        if axis == "attribute":
            self.refuse("unsupported", f"{token}() is not the name of an attribute", at, "a name test")
        self.at += 2
        if self.tokens[self.at] != ")":
            self.expected("')'")
        self.at += 1
        return token, ANY

    def _restricted(self, routes: list[Route], conditions: list[Condition], *, absolute: bool) -> list[Route]:
        limit = self.limits.alternatives
        condition = both(conditions, limit)
        found = [r for route in routes for r in restricted(route, condition, limit, absolute=absolute)]
        if routes and not found and absolute and self.dead is None:
            self.dead = self.mark
        self._bound(found, self.mark)
        return found

    def _bound(self, routes: list[Route], at: int) -> None:
        if len(routes) > self.limits.alternatives:
            self.too_many_alternatives(at)
        if has_more_steps(routes, self.limits.steps):
            message = (
                f"written without '..', it has more than {self.limits.steps} steps (PatternLimits.steps)"
            )
            self.refuse("too-complex", message, at)

    def _too_many_steps(self) -> NoReturn:
        message = f"there are more than {self.limits.steps} steps (PatternLimits.steps)"
        self.refuse("too-complex", message, self.at)


def _tail_steps(tail: Tail) -> tuple[AxisStep, ...]:
    """A tail as general steps."""
    if isinstance(tail, AttributeTail):
        return (AxisStep("attribute", NodeTest("name", tail.test)),)
    return () if tail is None else (AxisStep("child", NodeTest("text")),)


def _is_empty_at_document(step: AxisStep) -> bool:
    """Whether a step leads nowhere from the document, which has no attributes and nothing around it."""
    return step.axis not in _DOWNWARD or (step.axis == "child" and step.test.kind == "text")


_DOWNWARD = frozenset({"child", "descendant", "descendant-or-self", "self", "ancestor-or-self"})
