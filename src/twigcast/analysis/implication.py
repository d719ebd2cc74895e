"""Whether one condition on a value implies another: ``@price < 5`` implies ``@price < 10``.

Both conditions are about the same string-value; the caller has to make sure that they are.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, wraps
from typing import ParamSpec, TypeAlias, cast

from twigcast.pattern import (
    AttributeTail,
    Comparison,
    Count,
    Length,
    Path,
    Position,
    StringTest,
    compare,
    number,
)

ValueTest: TypeAlias = Comparison | StringTest | Length
Arguments = ParamSpec("Arguments")


def implies(fact: ValueTest, goal: ValueTest) -> bool:
    """Whether every value that satisfies ``fact`` satisfies ``goal``: sound, but not complete."""
    match fact:
        case Comparison(_, "=", str(text)):
            return value_has(text, goal)
        case Comparison(_, operator, float(value)):
            return _number_implies(operator, value, goal)
        case Comparison(_, operator, value):
            return isinstance(goal, Comparison) and (goal.operator, goal.value) == (operator, value)
        case StringTest():
            return _part_implies(fact, goal)
        case Length(_, operator, value):
            return _length_implies(operator, value, goal)


def value_has(text: str, goal: ValueTest) -> bool:
    """Whether the value ``text`` satisfies a condition."""
    match goal:
        case Comparison(_, "=" | "!=" as operator, str(value)):
            return (text == value) is (operator == "=")
        case Comparison(_, operator, value):
            return compare(number(text), operator, number(value) if isinstance(value, str) else value)
        case StringTest("contains", _, value):
            return value in text
        case StringTest(_, _, value):
            return text.startswith(value)
        case Length(_, operator, length):
            return compare(len(text), operator, length)


def denied(goal: Comparison) -> Comparison:
    """Return a comparison that no value satisfies together with ``goal``."""
    return replace(goal, operator=_OPPOSITE[goal.operator])


def whole_number_implies(fact: Count | Length | Position, goal: Count | Length | Position) -> bool:
    """Whether every whole number that satisfies ``fact`` satisfies ``goal``."""
    return _range_implies(_whole(fact.operator, fact.value), _whole(goal.operator, goal.value))


_OPPOSITE = {"=": "!=", "!=": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_NUMERIC = frozenset("0123456789.- \t\r\n")


def is_one_node(paths: tuple[Path, ...]) -> bool:
    """Whether ``paths`` can select only the context node, or only one attribute of it."""
    path = paths[0]
    if len(paths) > 1 or path.steps or path.filters:
        return False
    return path.tail is None or (isinstance(path.tail, AttributeTail) and None not in path.tail.test)


def _number_implies(operator: str, value: float, goal: ValueTest) -> bool:
    if not isinstance(goal, Comparison):
        return False
    if isinstance(goal.value, float):
        return _range_implies((operator, value), (goal.operator, goal.value))
    if goal.operator != "!=":
        return False
    excluded = number(goal.value)
    return not compare(excluded, operator, value) and not (operator == "!=" and math.isnan(excluded))


def _part_implies(fact: StringTest, goal: ValueTest) -> bool:
    part = fact.value
    if isinstance(goal, StringTest):
        if goal.function == "contains":
            return goal.value in part
        return fact.function == "starts-with" and part.startswith(goal.value)
    if isinstance(goal, Length):
        return _range_implies((">=", float(len(part))), (goal.operator, goal.value))
    if isinstance(goal.value, str) and goal.operator == "=":
        return False
    if isinstance(goal.value, str) and goal.operator == "!=":
        return not value_has(goal.value, fact)
    return goal.operator == "!=" and not _NUMERIC.issuperset(part)


def _length_implies(operator: str, value: float, goal: ValueTest) -> bool:
    if isinstance(goal, Length):
        return _range_implies(_whole(operator, value), _whole(goal.operator, goal.value))
    if isinstance(goal, Comparison) and isinstance(goal.value, str) and goal.operator == "!=":
        return not compare(len(goal.value), operator, value)
    return False


def _whole(operator: str, value: float) -> tuple[str, float]:
    """Return an equivalent comparison for whole numbers, with ``<=`` or ``>=`` and a whole bound."""
    if operator in (">", ">="):
        return ">=", math.floor(value) + 1.0 if operator == ">" else float(math.ceil(value))
    if operator in ("<", "<="):
        return "<=", math.ceil(value) - 1.0 if operator == "<" else float(math.floor(value))
    return operator, value


def _range_implies(fact: tuple[str, float], goal: tuple[str, float]) -> bool:
    """Whether every number in the range ``fact`` is in the range ``goal``, each an operator and a bound."""
    operator, value = fact
    wanted, bound = goal
    if operator == "=":
        return compare(value, wanted, bound)
    if operator == "!=" or wanted == "=":
        return operator == wanted and value == bound
    if wanted == "!=":
        return not compare(bound, operator, value)
    if operator[0] != wanted[0]:
        return False
    if value == bound:
        return wanted == operator or wanted == operator[0] + "="
    return value < bound if operator[0] == "<" else value > bound


# The work of proofs.  The search is exponential in the nesting of ``not`` and ``and``, and cubic in the
# number of operands of an ``or``; n subscriptions have n² pairs.  Work is counted in facts that are looked
# at, not in seconds, and a verdict from the cache costs what it has cost first: so the same messages always
# have the same verdicts.  A proof that is given up is one that was not found: the pattern is then forwarded,
# though another one may cover it.

MOST_WORK = 100_000
"""The most facts that one proof looks at."""

WORK_TOGETHER, WORK_OF_EACH = MOST_WORK, 4_000
"""The most facts that the proofs of one message look at: so many, and so many more for each of its patterns.
Generated subscriptions with nested conditions and values need 40 for each of 3,000 on average."""


class ProofAbandoned(Exception):
    """The work of the current proof is used up."""


class _Work(threading.local):
    left = MOST_WORK
    together = math.inf


_work = _Work()


def spend(units: int) -> None:
    """Count work of the current proof; raises ``ProofAbandoned`` when it is used up."""
    _work.left -= units
    if _work.left < 0:
        raise ProofAbandoned


@contextmanager
def proof_budget(patterns: int) -> Iterator[None]:
    """Within it, proofs about so many patterns have a common bound, after which none is found any more."""
    before = _work.together
    allowed = _work.together = min(before, WORK_TOGETHER + WORK_OF_EACH * patterns)
    try:
        yield
    finally:
        _work.together = before - (allowed - _work.together)


def bounded(proof: Callable[Arguments, bool], remembered: int = 0) -> Callable[Arguments, bool]:
    """A search for a proof that has ``MOST_WORK``, and answers False when that or the budget is used up.

    So many answers are ``remembered``, with their work.
    """

    def measured(*arguments: Arguments.args, **named: Arguments.kwargs) -> tuple[bool, int]:
        _work.left = MOST_WORK
        try:
            found = proof(*arguments, **named)
        except ProofAbandoned:
            found = False
        return found, MOST_WORK - _work.left

    search = measured
    if remembered:
        search = cast(Callable[Arguments, tuple[bool, int]], lru_cache(maxsize=remembered)(measured))

    @wraps(proof)
    def answer(*arguments: Arguments.args, **named: Arguments.kwargs) -> bool:
        if _work.together <= 0:
            return False
        found, work = search(*arguments, **named)
        _work.together -= work
        return found

    return answer
