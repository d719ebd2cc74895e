"""Compiles a pattern into a program: the integers from which the kernel builds its tables.

A pattern is cut at its branching nodes.  The condition at such a node is brought into disjunctive normal
form; each literal is a chain that starts at the node or a value predicate, positive or negative:

    /a/b[c/d or not(@x='1')]//e    →    a/b { (c/d, .//e)  |  (not @x='1', .//e) }

A condition that the kernel cannot decide in one pass (on the *first* of several nodes, a count, a general
expression, or a normal form with too many conjunctions) is replaced by a weaker one.  The program is then
inexact: it holds whenever the pattern holds, and the kernel decides its candidates on a tree of the document
(``expression_program``).  Under a negation a weaker operand would make the condition stronger, so a negation
of an inexact operand is left out as a whole.

A schema automaton is compiled too, into a program that holds for the documents that the automaton describes.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from operator import eq, ge, gt, le, lt, ne
from typing import TypeAlias

from twigcast.analysis import SchemaAutomaton, members
from twigcast.filtering.kernel._kernel import Vocabulary
from twigcast.filtering.necessary import necessary
from twigcast.pattern import (
    TEXT,
    And,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Not,
    Onward,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Selection,
    Step,
    StringTest,
    Tail,
    Test,
    number,
)

Literal: TypeAlias = tuple[int, ...]  # sign, then 0 and a chain, or 1 and a predicate's number
Conjunction: TypeAlias = tuple[Literal, ...]
Condition: TypeAlias = tuple[Conjunction, ...]  # in disjunctive form

TRUE: Condition = ((),)
FALSE: Condition = ()

MOST_KNOWN = 1 << 16  # entries of the compiler's cache of conditions
MOST_CONJUNCTIONS = 64  # of one branching node; a condition with more is made inexact

# Constants of the kernel (flat.hpp, segment.hpp).
_NONE = 0xFFFFFFFF
_DESCENDANT = 0x80000000
_ON_ATTRIBUTE, _ON_TEXT, _ON_FIRST_TEXT, _ON_STRING = range(4)
_EXISTS = 0
_STRING = {"=": 1, "!=": 2}
_NUMBER = {"=": 3, "!=": 4, "<": 5, "<=": 6, ">": 7, ">=": 8}
_FUNCTION = {"contains": 9, "starts-with": 10}
_LENGTH = {"=": 11, "!=": 12, "<": 13, "<=": 14, ">": 15, ">=": 16}
_COMPARE = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled pattern or schema.

    The program holds for every document that the pattern matches; if it is ``exact``, for no other document.
    """

    words: bytes
    exact: bool


class Compiler:
    """Compiles patterns and schemas over one growing vocabulary of names and value predicates."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self._tests: dict[NameTest, int] = {}
        self._keys: tuple[dict[NameTest, int], dict[NameTest, int]] = ({}, {})  # child, descendant
        self._predicates: dict[tuple[int, int, int, str | float], int] = {}
        self._kinds: dict[int, int] = {}  # the kind of each predicate, by its number
        self._known: dict[int, tuple[Predicate, Condition, bool]] = {}  # by id(): patterns share predicates
        self._exact = True

    def compile(self, pattern: Pattern | SchemaAutomaton) -> Program:
        """Compile a pattern or a schema into a program, from whose words the kernel builds segments."""
        if isinstance(pattern, SchemaAutomaton):
            return self._schema(pattern)
        self._exact = True
        chains = [chain for path in pattern.alternatives if (chain := self._alternative(path)) is not None]
        words = [len(chains)]
        for chain in chains:
            words += chain
        return Program(array("I", words).tobytes(), self._exact)

    def key(self, step: Step) -> int:
        """The word for the axis and the name test of a step."""
        axis = self._keys[step.axis is Axis.DESCENDANT]
        try:
            return axis[step.test]
        except KeyError:
            axis[step.test] = self._test(step.test) | (_DESCENDANT if step.axis is Axis.DESCENDANT else 0)
            return axis[step.test]

    def condition(self, predicate: Predicate) -> tuple[Condition, bool]:
        """The condition of a predicate in disjunctive normal form, and whether it is exact."""
        self._exact = True
        return self._condition(predicate), self._exact

    def _schema(self, automaton: SchemaAutomaton) -> Program:
        words = [_NONE, len(automaton.tests)]
        for state, (test, follow) in enumerate(zip(automaton.tests, automaton.follow, strict=True)):
            followers = list(members(follow))
            words += [self._test(test) if state else _NONE, len(followers), *followers]
        return Program(array("I", words).tobytes(), exact=True)

    def _alternative(self, path: Path) -> list[int] | None:
        if path.filters or not path.steps:
            return _chain([], self._at_document(self._path(path, self._target(path.tail))))
        return self._chain(path.steps, self._target(path.tail))

    def _at_document(self, condition: Condition) -> Condition:
        """The condition on the document node, which has no attributes and no text of its own."""
        kept = []
        for conjunction in condition:
            literals: list[Literal] = []
            for literal in conjunction:
                if literal[1] == 0:
                    literals.append(literal)
                elif self._kinds[literal[2]] == _ON_STRING:
                    self._exact = False  # the kernel does not collect the text of the whole document
                elif literal[0] == 0:
                    break
            else:
                kept.append(tuple(literals))
        return tuple(kept)

    def _chain(self, steps: tuple[Step, ...], condition: Condition) -> list[int] | None:
        """The chain of the steps with the condition at their end; ``None`` if it can never hold."""
        keys: list[int] = []  # from the last step to the first
        for step in reversed(steps):
            if step.predicates:
                if keys:
                    chain = _chain(keys, condition)
                    condition = FALSE if chain is None else (((0, 0, *chain),),)
                    keys = []
                for predicate in reversed(step.predicates):
                    condition = self._and(self._condition(predicate), condition)
            keys.append(self.key(step))
        return _chain(keys, condition)

    def _path(self, path: Path, target: Condition) -> Condition:
        """The condition that the path selects a node whose last element satisfies ``target``."""
        if path.steps:
            chain = self._chain(path.steps, target)
            target = FALSE if chain is None else (((0, 0, *chain),),)
        for predicate in path.filters:
            target = self._and(self._condition(predicate), target)
        return target

    def _condition(self, predicate: Predicate) -> Condition:
        """The condition of a predicate, cached, because many patterns share a few predicates."""
        known = self._known.get(id(predicate))
        if known is None:
            exact, self._exact = self._exact, True
            known = predicate, self._new_condition(predicate), self._exact
            self._exact = exact
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[id(predicate)] = known
        self._exact = self._exact and known[2]
        return known[1]

    def _new_condition(self, predicate: Predicate) -> Condition:
        match predicate:
            case Exists(paths):
                return self._either([self._path(path, self._target(path.tail)) for path in paths])
            case Comparison(paths, operator, value):
                return self._either(
                    [self._path(path, self._compared(path.tail, operator, value)) for path in paths]
                )
            case Position(_, _, _, among):
                return self._weakened(self._condition(And(among)))
            case And(operands):
                condition = TRUE
                for operand in operands:
                    condition = self._and(condition, self._condition(operand))
                return condition
            case Or(operands):
                return self._either([self._condition(operand) for operand in operands])
            case Not(operand):
                return self._not(operand)
            case StringTest(function, paths, value):
                return self._string_test(function, paths, value)
            case Length(paths, operator, value):
                return self._length(paths, operator, value)
            case Count(paths, operator, value):
                return self._count(paths, operator, value)
            case Test(expression):
                implied = necessary(expression)
                return self._weakened(TRUE if implied is None else self._condition(implied))

    def _not(self, predicate: Predicate) -> Condition:
        exact, self._exact = self._exact, True
        condition = self._condition(predicate)
        inexact, self._exact = not self._exact, exact
        if inexact:
            return self._weakened(TRUE)
        negated = TRUE
        for conjunction in condition:
            negated = self._and(negated, tuple(((1 - sign, *rest),) for sign, *rest in conjunction))
        return negated

    def _and(self, left: Condition, right: Condition) -> Condition:
        if left is TRUE:
            return right
        if right is TRUE:
            return left
        if len(left) == len(right) == 1:
            return (_joined(left[0], right[0]),)
        if len(left) * len(right) > MOST_CONJUNCTIONS:
            return self._weakened(min(left, right, key=len))
        return tuple(dict.fromkeys(_joined(a, b) for a in left for b in right))

    def _either(self, conditions: list[Condition]) -> Condition:
        if len(conditions) == 1:
            return conditions[0]
        united = tuple(dict.fromkeys(conjunction for condition in conditions for conjunction in condition))
        if () in united:
            return TRUE
        return united if len(united) <= MOST_CONJUNCTIONS else self._weakened(TRUE)

    def _weakened(self, condition: Condition) -> Condition:
        self._exact = False
        return condition

    def _target(self, tail: Tail) -> Condition:
        if tail is None:
            return TRUE
        return self._onward(tail) if isinstance(tail, Onward) else self._value(tail, _EXISTS, "")

    def _onward(self, tail: Onward) -> Condition:
        """The condition that general steps lead somewhere, weakened to where they begin."""
        implied = necessary(Selection(tail.start, tail.steps)) if tail.steps else necessary(tail.start)
        return self._weakened(TRUE if implied is None else self._condition(implied))

    def _compared(self, tail: Tail, operator: str, value: str | float) -> Condition:
        if isinstance(tail, Onward):
            return self._onward(tail)
        if operator == "!=" and _one_value(tail):
            # If there is at most one value, ``!=`` means that it exists and is not equal: one negative
            # literal instead of many positive ones.
            ((equal,),) = self._compared(tail, "=", value)
            different: Condition = (((1, *equal[1:]),),)
            return different if tail is None else self._and(self._target(tail), different)
        if isinstance(value, str):
            if operator in _STRING:
                return self._value(tail, _STRING[operator], value)
            value = number(value)
            if value != value:
                return FALSE
        return self._value(tail, _NUMBER[operator], value)

    def _string_test(self, function: str, paths: tuple[Path, ...], value: str) -> Condition:
        if not value:
            return TRUE
        operator = _FUNCTION[function]
        if _single(paths):
            (path,) = paths
            return self._path(path, self._first(path.tail, operator, value))
        # If the first node satisfies the test, some node does: a weaker condition that the kernel can decide.
        return self._weakened(
            self._either([self._path(path, self._first(path.tail, operator, value)) for path in paths])
        )

    def _length(self, paths: tuple[Path, ...], operator: str, value: float) -> Condition:
        if not _single(paths) or paths[0].filters:
            return self._weakened(TRUE)
        tail = paths[0].tail
        condition = self._first(tail, _LENGTH[operator], value)
        if tail is not None and _COMPARE[operator](0, value):  # a missing node has length 0
            ((exists,),) = self._target(tail)
            condition = self._either([condition, (((1, *exists[1:]),),)])
        return condition

    def _count(self, paths: tuple[Path, ...], operator: str, value: float) -> Condition:
        holds = _COMPARE[operator]
        none, one, many = holds(0, value), holds(1, value), holds(2**53, value)
        # ``steady``: the comparison has the same result for all counts from 1 on.
        steady = one == many and not (operator in ("=", "!=") and value >= 1 and value.is_integer())
        if steady and none == one:
            return TRUE if none else FALSE
        if steady:
            return self._not(Exists(paths)) if none else self._condition(Exists(paths))
        return self._weakened(TRUE if none else self._condition(Exists(paths)))

    def _first(self, tail: Tail, operator: int, value: str | float) -> Condition:
        if isinstance(tail, Onward):
            return self._onward(tail)
        if tail is None or isinstance(tail, AttributeTail):
            return self._value(tail, operator, value)
        return ((self._literal(_ON_FIRST_TEXT, operator, 0, value),),)

    def _value(self, tail: Tail, operator: int, value: str | float) -> Condition:
        if tail is None:
            return ((self._literal(_ON_STRING, operator, 0, value),),)
        if isinstance(tail, AttributeTail):
            return ((self._literal(_ON_ATTRIBUTE, operator, self._test(tail.test), value),),)
        return ((self._literal(_ON_TEXT, operator, 0, value),),)

    def _literal(self, kind: int, operator: int, test: int, value: str | float) -> Literal:
        key = (kind, operator, test, value)
        known = self._predicates.get(key)
        if known is None:
            text, numeric = (value, 0.0) if isinstance(value, str) else ("", value)
            known = self.vocabulary.add_predicate(kind, operator, test, text, numeric)
            self._kinds[known] = kind
            self._predicates[key] = known
        return 0, 1, known

    def _test(self, test: NameTest) -> int:
        known = self._tests.get(test)
        if known is None:
            known = self._tests[test] = self.vocabulary.add_test(test.namespace, test.local)
        return known


def _chain(keys: list[int], condition: Condition) -> list[int] | None:
    if condition == FALSE:
        return None
    words = [len(keys), *reversed(keys)]
    if condition is TRUE or () in condition:
        words.append(0)
        return words
    words.append(len(condition))
    for conjunction in condition:
        words.append(len(conjunction))
        for literal in conjunction:
            words += literal
    return words


def _joined(left: Conjunction, right: Conjunction) -> Conjunction:
    return (*left, *(literal for literal in right if literal not in left))


def _single(paths: tuple[Path, ...]) -> bool:
    """Whether the paths can select at most one node, or only nodes of which the kernel knows the first."""
    return len(paths) == 1 and not paths[0].steps and (paths[0].tail is TEXT or _one_value(paths[0].tail))


def _one_value(tail: Tail) -> bool:
    """Whether an element has at most one such value: its string-value, or an attribute of a full name."""
    if isinstance(tail, AttributeTail):
        return tail.test.namespace is not None and tail.test.local is not None
    return tail is None
