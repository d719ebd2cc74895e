"""Cleaning: rewrites ``..``, ``parent::`` and ``self::name`` into filters on child and descendant steps.

While an expression is read, a path is a list of routes: a ``Route`` starts at a context node, climbs some
parents, and goes down from there.  A step takes the downward part of each branch of its condition as its
predicates, and hands the rest to the step before it:

    a/b[../x or y]     a[x]/b | a/b[y]              the parent of a child step is the step before
    a//b[../x]         a[x]/b | a//*[x]/b           the parent of a descendant may be any step between
    a//b/..            a[b] | a//*[b]               going up turns the last step into a filter
    //b/parent::a      //a[b]                       names are intersected; an impossible branch is dropped

Invariant: a finished path contains no ``Mixed`` and no constant; alternatives that cannot match were dropped.
Cost: as many alternatives as the disjunctive normal form of the predicates that look up, at most ``limit``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from twigcast.pattern.canonical import conjuncts, path_union
from twigcast.pattern.expression import (
    CONTEXT,
    AxisStep,
    Call,
    ContextNode,
    NodeTest,
    Selection,
    step_total,
)
from twigcast.pattern.numbers import compare
from twigcast.pattern.syntax.node_conditions import (
    Branch,
    Condition,
    Mixed,
    Refusal,
    above,
    both,
    bounded,
    branches,
    either,
    opposite,
)
from twigcast.pattern.tree import (
    ANY,
    And,
    AttributeTail,
    Axis,
    Count,
    Exists,
    Length,
    NameTest,
    Not,
    Onward,
    Or,
    Path,
    Position,
    Predicate,
    Step,
    Tail,
    Test,
    TextTail,
)


@dataclass(frozen=True, slots=True)
class Route:
    """A path while it is parsed: up ``len(guards)`` parents, then down by ``steps`` to an optional ``tail``.

    ``guards`` are conditions on the nodes on the way up, ``filters`` on the node where the path turns down.
    """

    steps: tuple[Step, ...] = ()
    tail: Tail = None
    filters: Condition = True
    guards: tuple[Condition, ...] = ()


def restricted(route: Route, condition: Condition, limit: int, *, absolute: bool) -> list[Route]:
    """The routes whose last element also satisfies ``condition``; ``absolute`` ones start at the document."""
    if condition is True:
        return [route]
    if condition is False:
        return []
    if not route.steps:
        filters = both([route.filters, condition], limit)
        if absolute:
            filters = either([_branch_at_document(branch, limit) for branch in branches(filters)], limit)
        return [] if filters is False else [replace(route, filters=filters)]
    found: list[Route] = []
    for branch in branches(condition):
        found += _restricted_step(route, branch, limit, absolute=absolute)
    return bounded(found, limit)


def parents(route: Route, limit: int, *, absolute: bool) -> list[Route]:
    """The routes to the parents of the nodes that ``route`` selects."""
    if route.tail is not None:
        tail = Exists((Path((), route.tail),))
        return restricted(replace(route, tail=None), tail, limit, absolute=absolute)
    if not route.steps:
        return [] if absolute else [Route(guards=(*route.guards, route.filters))]
    last = route.steps[-1]
    child = Exists((Path((Step(Axis.CHILD, last.test, last.predicates),)),))
    found: list[Route] = []
    for parent in _parent_routes(route):
        found += restricted(parent, child, limit, absolute=absolute)
    return bounded(found, limit)


def self_and_below(route: Route) -> list[Route]:
    """The routes to the nodes that ``route`` selects and to every element below them."""
    return [route, replace(route, steps=(*route.steps, Step(Axis.DESCENDANT, ANY)))]


def finished(route: Route) -> Path:
    """The absolute path that ``route`` has become."""
    return _path(route, route.filters)


def some(routes: Sequence[Route], make: Callable[[tuple[Path, ...]], Predicate], limit: int) -> Condition:
    """The condition that ``make`` holds for some selected node: the disjunction over all routes."""
    options: list[Condition] = []
    plain: list[Path] = []
    for route in routes:
        if route.filters is True and not route.guards:
            plain.append(_path(route, True))
        else:
            below = make((_path(route, True),))
            options.append(_guarded(route, _existing(below), limit))
    if plain:
        options.append(_existing(make(path_union(plain))))
    return either(options, limit)


def first(
    routes: Sequence[Route], make: Callable[[tuple[Path, ...]], Condition], empty: Condition, limit: int
) -> Condition:
    """The condition that ``make`` holds for all selected nodes together; ``empty`` if none is selected."""
    if not routes:
        return empty
    levels = len(routes[0].guards)
    if all(
        len(route.guards) == levels
        and not isinstance(route.filters, Mixed)
        and all(guard is True for guard in route.guards)
        for route in routes
    ):
        paths = path_union([_path(route, route.filters) for route in routes])
        if levels == 0:
            return make(paths)
        return either(
            [above(make(paths), levels), both([opposite(above(True, levels), limit), empty], limit)], limit
        )
    if len(routes) > 1:
        raise Refusal(
            "unsupported",
            "a union inside this function mixes paths that go up with paths that do not",
            "paths that all start at the same node",
        )
    (route,) = routes
    holds = _guarded(route, make((_path(route, True),)), limit)
    reached = _guarded(route, True, limit)
    return either([holds, both([opposite(reached, limit), empty], limit)], limit)


def _guarded(route: Route, below: Condition, limit: int) -> Condition:
    condition = both([route.filters, below], limit)
    for guard in reversed(route.guards):
        condition = both([guard, above(condition, 1)], limit)
    return condition


def _existing(predicate: Predicate) -> Condition:
    """``predicate``, or ``True`` if it only says that the context node exists."""
    if isinstance(predicate, Exists) and any(
        not path.steps and path.tail is None for path in predicate.paths
    ):
        return True
    return predicate


def _path(route: Route, filters: Condition) -> Path:
    assert not isinstance(filters, Mixed)
    if isinstance(filters, bool):
        return Path(route.steps, route.tail)
    return Path(route.steps, route.tail, conjuncts([filters]))


def _restricted_step(route: Route, branch: Branch, limit: int, *, absolute: bool) -> list[Route]:
    last = route.steps[-1]
    if branch.document:
        return []
    test: NameTest | None = last.test
    for required in branch.required:
        test = test.meet(required) if test else None
    if test is None:
        return []
    names = {predicate: _excluded(predicate) for predicate in (*last.predicates, *branch.here)}
    here = tuple([predicate for predicate, excluded in names.items() if excluded is None])
    for excluded in [*branch.excluded, *(each for each in names.values() if each is not None)]:
        common = test.meet(excluded)
        if common == test:
            return []
        if common is not None:
            here = (*here, not_named(excluded))
    predicates = conjuncts(here) if here else ()
    if branch.above is None or branch.above is True:  # an element always has a parent
        return [replace(route, steps=(*route.steps[:-1], Step(last.axis, test, predicates)))]
    step = Step(Axis.CHILD, test, predicates)
    found: list[Route] = []
    for unrestricted in _parent_routes(route):
        for parent in restricted(unrestricted, branch.above, limit, absolute=absolute):
            found.append(replace(parent, steps=(*parent.steps, step), tail=route.tail))
    return found


def not_named(test: NameTest) -> Test:
    """The predicate that the test does not admit the name of the element."""
    named = Selection(CONTEXT, (AxisStep("self", NodeTest("name", test)),))
    return Test(Call("not", (named,)))


def _excluded(predicate: Predicate) -> NameTest | None:
    """The name test of a predicate that ``not_named`` made."""
    match predicate:
        case Test(Call("not", (Selection(ContextNode(), (AxisStep("self", NodeTest("name", test), ()),)),))):
            return test
        case _:
            return None


def _parent_routes(route: Route) -> list[Route]:
    """The routes to possible parents of the last step: to the step before, or also to any node below that."""
    before = replace(route, steps=route.steps[:-1], tail=None)
    return [before] if route.steps[-1].axis is Axis.CHILD else self_and_below(before)


def _branch_at_document(branch: Branch, limit: int) -> Condition:
    if branch.required or branch.above is not None:
        return False
    return both([_at_document(predicate, limit) for predicate in branch.here], limit)


def _at_document(predicate: Predicate, limit: int) -> Condition:
    """The predicate as a condition on the document node, which has no attributes and no text of its own."""
    match predicate:
        case And(operands):
            return both([_at_document(operand, limit) for operand in operands], limit)
        case Or(operands):
            return either([_at_document(operand, limit) for operand in operands], limit)
        case Not(operand):
            return opposite(_at_document(operand, limit), limit)
        case Length(paths, operator, value) | Count(paths, operator, value) if not _possible(paths):
            return compare(0.0, operator, value)
        case Position():
            return False
        case Test():
            return predicate
        case _ if not _possible(predicate.paths):
            return False
    return replace(predicate, paths=_possible(predicate.paths))


def _possible(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(
        [path for path in paths if path.steps or not isinstance(path.tail, AttributeTail | TextTail)]
    )


def has_more_steps(routes: Iterable[Route], limit: int) -> bool:
    """Whether the routes have more than ``limit`` steps, counting the steps in their conditions.

    Cleaning copies conditions: a predicate that looks up from a descendant stands in two alternatives, and a
    predicate inside it in four.  The copies share their parts, so they cost nothing until the pattern is
    written out; counting stops at the limit, so it never visits all copies.
    """
    steps = limit
    waiting: list[Route | Path | Predicate | Mixed | Branch | bool] = [*routes]
    while waiting:
        item = waiting.pop()
        match item:
            case bool():
                continue
            case Position():
                waiting += item.among
            case Test():
                steps -= step_total(item.expression)
            case Route() | Path():
                steps -= len(item.steps)
                if isinstance(item.tail, Onward):
                    steps -= step_total(Selection(item.tail.start, item.tail.steps))
                for step in item.steps:
                    waiting += step.predicates
                if isinstance(item, Path):
                    waiting += item.filters
                else:
                    waiting += [item.filters, *item.guards]
            case Mixed():
                waiting += item.branches
            case Branch():
                waiting += item.here
                if item.above is not None:
                    waiting.append(item.above)
            case And() | Or():
                waiting += item.operands
            case Not():
                waiting.append(item.operand)
            case _:
                waiting += item.paths
        if steps < 0:
            return True
    return False
