"""Parses paths.

A path is plain as long as its steps are names and its predicates look down; plain paths are built directly.
From the first ``..``, ``self::`` or upward predicate on, the path is kept as routes, which ``cleaning``
finishes.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from typing import NoReturn, TypeAlias, cast

from twigcast.pattern.canonical import conjuncts
from twigcast.pattern.syntax.cleaning import Route, has_more_steps, parents, restricted, self_and_below
from twigcast.pattern.syntax.cursor import NODE_TYPES, Cursor
from twigcast.pattern.syntax.node_conditions import Condition, both, named
from twigcast.pattern.syntax.tokens import END, is_name
from twigcast.pattern.tree import (
    ANY,
    TEXT,
    AttributeTail,
    Axis,
    NameTest,
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


class PathReader(Cursor):
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
                conditions, plain = self.predicates(test)
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
        """Parse the remaining steps as routes."""
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
        """The routes after one more step of any kind, and whether the path may end after it."""
        at = self.mark = self.at
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
            axis = self._axis(at)
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
