"""Embeddings of a pattern in the structure of a document, and the bindings of wildcards that they give.

    told        //a/*/c                   structure    r { a {x {c}, y {c}} }
    numbers     2                         bindings     (2, x), then (2, y)

An embedding maps each element of a pattern to an element of the document.  A binding takes all its names from
one embedding: names of two embeddings, put together, may say what is not so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import TypeAlias

from twigcast.document import Name, Shape, Structure
from twigcast.pattern import And, AttributeTail, Axis, Exists, NameTest, Not, Or, Path, Pattern, Predicate
from twigcast.routing.piggyback.questions.bindings import Binding, NumberedTwig, numbered_twig, path_twig

MOST_BINDINGS = 4
"""How many bindings of one pattern are searched for, unless the caller says otherwise."""

MOST_WORK = 200_000
"""How many shapes and names a search visits before it gives up."""


def embeddings(
    told: Pattern, structure: Structure, numbers: Collection[int], most: int = MOST_BINDINGS
) -> list[Binding]:
    """Different bindings of the wildcards ``numbers`` of ``told``, each from one embedding in a document.

    The document is given by its structure.  There is no binding if ``told`` does not match, if it has several
    alternatives, or if the structure does not decide it; and one, ``()``, if it matches and has no wildcards
    with these numbers.  The order is that of the document; a shorter gap at the same place comes first.
    A caller who chooses bindings by what they prove asks for more of them.

    Invariant: the document matches ``bound(told, binding)``.
    Idea: for each pair of a step and a shape at most ``most`` bindings are kept, and each pair is looked at
    once.  So there are as many bindings as are possible, up to ``most``.
    Cost: tens of microseconds for a news item of 120 elements.  A search that visits ``MOST_WORK`` shapes
    gives up, and there is no binding.
    """
    root = _compiled(told, frozenset(numbers))
    if root is None:
        return []
    try:
        return _Search(structure, most).at(root, len(structure.shapes))
    except _UndecidedError:
        return []


_Condition: TypeAlias = "Callable[[_Search, int], bool]"
"""Whether a condition holds for a shape, by its index."""


@dataclass(frozen=True, slots=True, eq=False)
class _Target:
    """An element to be found in a structure; ``gap`` and ``name`` are 0 where they are not to be bound.

    ``exact`` is the only name that ``test`` admits, if there is only one; ``binds`` says whether anything in
    the target or below is to be bound.
    """

    axis: Axis
    test: NameTest
    exact: Name | None
    gap: int
    name: int
    binds: bool
    conditions: tuple[_Condition, ...]
    branches: tuple[_Target, ...]


@lru_cache(maxsize=1 << 13)
def _compiled(pattern: Pattern, numbers: frozenset[int]) -> _Target | None:
    """The root of a pattern, which is the document, as a target."""
    root = numbered_twig(pattern)
    return None if root is None else _target(root, numbers)


def _target(node: NumberedTwig, numbers: Collection[int]) -> _Target:
    branches = tuple([_target(branch, numbers) for branch in node.branches])
    gap = node.gap if node.gap in numbers else 0
    name = node.name if node.name in numbers else 0
    binds = bool(gap or name) or any(branch.binds for branch in branches)
    namespace, local = node.test
    exact = None if namespace is None or local is None else (namespace, local)
    conditions = tuple([_condition(predicate) for predicate in node.conditions])
    return _Target(node.axis, node.test, exact, gap, name, binds, conditions, branches)


def _condition(predicate: Predicate) -> _Condition:
    match predicate:
        case And(operands):
            parts = [_condition(operand) for operand in operands]
            return lambda search, shape: all(part(search, shape) for part in parts)
        case Or(operands):
            parts = [_condition(operand) for operand in operands]
            return lambda search, shape: any(part(search, shape) for part in parts)
        case Not(operand):
            denied = _condition(operand)
            return lambda search, shape: not denied(search, shape)
        case Exists((Path((), AttributeTail(test), ()),)):
            return lambda search, shape: any(test.admits(*name) for name in search.attributes(shape))
        case Exists(paths):
            targets = [_target(path_twig(path), ()) for path in paths]
            return lambda search, shape: any(search.at(target, shape) for target in targets)
        case _:
            raise TypeError(f"a structure does not say whether {predicate} holds")


class _UndecidedError(Exception):
    """The structure does not say whether the pattern matches, or not with the work that is admitted."""


class _Search:
    """A search for targets in one structure; the document is added to its shapes as the last one."""

    __slots__ = (
        "_has_attributes",
        "_known",
        "_known_across",
        "_known_below",
        "_left",
        "_most",
        "_shapes",
    )

    def __init__(self, structure: Structure, most: int) -> None:
        self._shapes = (*structure.shapes, Shape(("", ""), (len(structure.shapes) - 1,)))
        self._has_attributes = structure.has_attributes
        self._most = most
        self._left = MOST_WORK
        self._known: dict[tuple[_Target, int], list[Binding]] = {}
        self._known_below: dict[tuple[_Target, int], list[Binding]] = {}
        self._known_across: dict[_Target, list[list[Binding]]] = {}  # by shape, as far as was asked for

    def at(self, target: _Target, shape: int) -> list[Binding]:
        """The bindings of a target at a shape whose name it admits; none if the shape does not satisfy it."""
        key = target, shape
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._at(target, shape)
        return found

    def attributes(self, shape: int) -> tuple[Name, ...]:
        """The names of the attributes of a shape."""
        if not self._has_attributes:
            raise _UndecidedError
        return self._shapes[shape].attributes

    def _at(self, target: _Target, shape: int) -> list[Binding]:
        for condition in target.conditions:
            if not condition(self, shape):
                return []
        parts: list[list[Binding]] = []
        if target.name:
            parts.append([((target.name, (self._shapes[shape].name,)),)])
        for branch in target.branches:
            found = self._below(branch, shape)
            if not found:
                return []
            if branch.binds:
                parts.append(found)
        if len(parts) == 1:
            return parts[0]
        return [sum(each, ()) for each in islice(product(*parts), self._most)]

    def _below(self, target: _Target, shape: int) -> list[Binding]:
        """The bindings of a target at the shapes that its axis reaches from a shape."""
        if target.gap:
            return self._across(target, shape)
        if target.axis is Axis.CHILD:
            return self._first(target, self._shapes[shape].children)
        key = target, shape
        found = self._known_below.get(key)
        if found is None:
            found = self._known_below[key] = self._first(target, self._descendants(shape))
        return found

    def _first(self, target: _Target, shapes: Iterable[int]) -> list[Binding]:
        """The first bindings of a target at any of these shapes."""
        most = self._most if target.binds else 1
        exact = target.exact
        found: list[Binding] = []
        for shape in shapes:
            self._spend(1)
            name = self._shapes[shape].name
            if name == exact if exact is not None else target.test.admits(*name):
                more = self.at(target, shape)
                found = list(dict.fromkeys([*found, *more])) if found else more
                if len(found) >= most:
                    break
        return found[:most]

    def _across(self, target: _Target, shape: int) -> list[Binding]:
        """The bindings of a target below a shape, with the gap between.

        They are made for one shape after the other, from those of its children, which are earlier shapes.
        """
        known = self._known_across.setdefault(target, [])
        shapes, exact, gap, most = self._shapes, target.exact, target.gap, self._most
        for each in range(len(known), shape + 1):
            children = shapes[each].children
            found: dict[Binding, None] = {}
            self._spend(1 + len(children))
            for child in children:
                name = shapes[child].name
                if name == exact if exact is not None else target.test.admits(*name):
                    for binding in self.at(target, child):
                        found[((gap, ()), *binding)] = None
                for (_, between), *others in known[child]:
                    self._spend(len(between))
                    found[((gap, (name, *between)), *others)] = None
            known.append(list(found)[:most])
        return known[shape]

    def _descendants(self, shape: int) -> Iterator[int]:
        """The shapes below a shape, each once, in document order."""
        seen: set[int] = set()
        waiting = [*self._shapes[shape].children[::-1]]
        while waiting:
            each = waiting.pop()
            if each not in seen:
                seen.add(each)
                yield each
                waiting += self._shapes[each].children[::-1]

    def _spend(self, work: int) -> None:
        self._left -= work
        if self._left < 0:
            raise _UndecidedError
