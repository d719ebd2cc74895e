"""The tree pattern of a subscription, as frozen values.

The expression ``/nitf//p[@lang='en'][em or not(b/c)]/person`` is

    Pattern
    └── Path                              one alternative of a union
        ├── Step /  nitf
        ├── Step // p
        │     ├── Comparison(@lang = 'en')
        │     └── Or(Exists(em), Not(Exists(b/c)))
        └── Step /  person                the selected node

``parse`` keeps these invariants, so that expressions which differ only in the order of conditions are equal:

* Only the child and the descendant axis are left; ``.``, ``..`` and ``parent::`` have become filters.
* The predicates of a step are a conjunction: no ``And`` at the top, no duplicates, sorted by canonical text.
* The alternatives of a union are distinct and sorted by canonical text.
* Names have namespace URIs, never prefixes.
* Order comparisons are with numbers, all numbers are finite, and ``contains`` and ``starts-with`` have a
  non-empty text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias, TypeGuard

from twigcast.pattern.expression import CONTEXT, AxisStep, Expression, counted_siblings
from twigcast.pattern.numbers import compare


class Axis(Enum):
    """The axis of a step: it reaches children, or descendants at any depth."""

    CHILD = "/"
    DESCENDANT = "//"

    __hash__ = object.__hash__  # Enum's own __hash__ is a Python function, and patterns are hashed often


class NameTest(NamedTuple):
    """A test of element or attribute names; ``None`` admits any, ``""`` is no namespace.

    ``a`` is ``("", "a")``, ``*`` is ``(None, None)``, ``*:a`` is ``(None, "a")``, ``p:*`` is ``(uri, None)``.
    """

    namespace: str | None
    local: str | None

    def admits(self, namespace: str, local: str) -> bool:
        """Whether a name passes the test."""
        return (self.namespace is None or self.namespace == namespace) and (
            self.local is None or self.local == local
        )

    def includes(self, other: NameTest) -> bool:
        """Whether this test admits every name that ``other`` admits."""
        return (self[0] is None or self[0] == other[0]) and (self[1] is None or self[1] == other[1])

    def meet(self, other: NameTest) -> NameTest | None:
        """The test that admits the names which both tests admit; ``None`` if there is no such name."""
        namespace = other[0] if self[0] is None else self[0]
        local = other[1] if self[1] is None else self[1]
        both = NameTest(namespace, local)
        return both if self.includes(both) and other.includes(both) else None


ANY = NameTest(None, None)
"""The test of ``*``, which every name passes."""


@dataclass(frozen=True, slots=True)
class AttributeTail:
    """The end of a path that selects attributes of its last element."""

    test: NameTest


@dataclass(frozen=True, slots=True)
class TextTail:
    """The end of a path that selects text nodes, the children of its last element."""


TEXT = TextTail()
"""The end ``text()`` of a path."""


@dataclass(frozen=True, slots=True)
class Onward:
    """The end of a path that goes on by general steps: other axes, other nodes, positions among them.

    They start at the nodes of ``start``, an expression that is evaluated for the last element: usually that
    element itself, in ``(//a)[1]/b`` the nodes of ``(//a)[1]``.
    """

    steps: tuple[AxisStep, ...]
    start: Expression = CONTEXT


Tail: TypeAlias = AttributeTail | TextTail | Onward | None
"""How a path ends; ``None`` if it selects elements."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: axis, name test, and the predicates that must all hold."""

    axis: Axis
    test: NameTest
    predicates: tuple[Predicate, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """Steps from a context node to selected nodes: elements, or with a tail their attributes or text.

    ``filters`` are predicates on the context node itself: ``/b/../c`` is ``/self::node()[b]/c``.
    A path without steps and tail selects the context node: ``.`` in a predicate, ``/`` at the top.
    """

    steps: tuple[Step, ...]
    tail: Tail = None
    filters: tuple[Predicate, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A subscription: a union of absolute paths; it matches a document if one of them selects a node."""

    alternatives: tuple[Path, ...]

    def __str__(self) -> str:
        from twigcast.pattern.rendering import render

        return render(self)


@dataclass(frozen=True, slots=True)
class Exists:
    """Some node is selected by one of the paths."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison with ``value`` holds for the string-value of some selected node."""

    paths: tuple[Path, ...]
    operator: str
    value: str | float


@dataclass(frozen=True, slots=True)
class StringTest:
    """``contains`` or ``starts-with`` on the string-value of the first selected node, or on ``""``."""

    function: str
    paths: tuple[Path, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Length:
    """The comparison holds for the ``string-length`` of the first selected node, 0 if there is none."""

    paths: tuple[Path, ...]
    operator: str
    value: float


@dataclass(frozen=True, slots=True)
class Count:
    """The comparison with ``value`` holds for the number of selected nodes."""

    paths: tuple[Path, ...]
    operator: str
    value: float


@dataclass(frozen=True, slots=True)
class Position:
    """The comparison holds for the position of the element among its siblings, counted from 1.

    Only those siblings are counted that ``test`` admits and for which the predicates ``among`` hold.

    A step has at most one such predicate: ``//p[em][2][b]`` is the second ``p`` with an ``em``, if it has a
    ``b``.  The test is that of the step, unless the step was restricted further: ``/*[2][self::p]``.
    """

    test: NameTest
    operator: str
    value: float
    among: tuple[Predicate, ...] = ()


@dataclass(frozen=True, slots=True)
class And:
    """All operands hold.  There are at least two, sorted; ``And`` occurs only below ``Or`` and ``Not``."""

    operands: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one of the operands holds.  There are at least two, sorted."""

    operands: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The operand does not hold."""

    operand: Predicate


@dataclass(frozen=True, slots=True)
class Test:
    """A general expression is true of the node, by XPath's ``boolean()``."""

    expression: Expression

    __test__ = False  # not a class of tests, whatever pytest thinks of its name


Predicate: TypeAlias = Exists | Comparison | StringTest | Length | Count | Position | And | Or | Not | Test
"""A condition in brackets."""

Selecting: TypeAlias = Exists | Comparison | StringTest | Length | Count
"""The predicates that contain paths."""


def demands_a_node(predicate: Predicate) -> TypeGuard[Selecting]:
    """Whether the predicate holds only if its paths select a node."""
    match predicate:
        case Exists() | Comparison():
            return True
        case StringTest():
            return predicate.value != ""
        case Length() | Count():
            return not compare(0, predicate.operator, predicate.value)
        case _:
            return False


def counted_names(predicate: Predicate) -> NameTest | None:
    """The name test of the siblings among which a predicate takes a position; ``None`` if it takes none."""
    if isinstance(predicate, Position):
        return predicate.test
    siblings = counted_siblings(predicate.expression) if isinstance(predicate, Test) else None
    return None if siblings is None else siblings.test


def counted_among(predicate: Predicate) -> tuple[Predicate, ...]:
    """The conditions on the siblings among which a predicate takes a position."""
    if isinstance(predicate, Position):
        return predicate.among
    siblings = counted_siblings(predicate.expression) if isinstance(predicate, Test) else None
    return () if siblings is None else siblings.among
