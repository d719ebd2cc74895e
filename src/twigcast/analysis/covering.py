"""Whether one pattern covers another, that is, matches every document that the other one matches.

``covers(p, q)`` is true only if it is proved.  The predicates of q are facts about a node, those of p are
goals to prove about it.  A goal with a path follows from a fact with a path if the steps of the goal can be
mapped to nodes along the path of the fact, whatever elements lie in the gaps of its ``//``.  The predicates
of a mapped step become goals at its node; they must follow from the predicates there and from the rest of the
fact's path:

    q   /a[@k=5]//b[c]/d          facts at a: @k=5, .//b[c]/d       at b: c, d
    p   /a[@k<9]//*[c]            goals: @k<9 at a, c at b

Paths without predicates are decided by an automaton on bits (``linear_containment``).

``covers`` is sound for the whole language and complete for unions of linear paths.  A goal on a value is
proved from one fact at a time; a disjunction among facts is resolved by case analysis, one ``or`` at a time.
Cost: the summary of a pattern is computed once.  Most pairs are rejected by their summaries in less than a
microsecond, linear pairs are decided in a few microseconds, others in tens to hundreds and then cached.
Work is bounded for a proof and for the proofs of a message (``implication.proof_budget``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from twigcast.analysis.implication import bounded, denied, implies, is_one_node, spend, whole_number_implies
from twigcast.analysis.linear_containment import MOST_MASKS, ChainAutomaton, chain
from twigcast.pattern import (
    ANY,
    And,
    AttributeTail,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    NameTest,
    Not,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    Selecting,
    Step,
    StringTest,
    Tail,
    Test,
    counted_among,
    demands_a_node,
    number,
)
from twigcast.system import bloom_bits

REMEMBERED = 1 << 17
"""The largest number of cached summaries, and of cached verdicts."""

_RANKS = 1 << 12


def covers(p: Pattern, q: Pattern) -> bool:
    """Whether it is proved that ``p`` matches every document that ``q`` matches."""
    return summary_covers(summary(p), summary(q))


class Summary:
    """Necessary conditions for covering, computed once for each pattern; below, p covers q.

    ``asked`` are the names and values that p requires, ``said`` those that q mentions; ``asks`` and ``says``
    are the same sets as bits: the bits that p asks are a subset of those that q says.
    ``value`` is a value that p requires, if any; it is then among the ``values`` of q.
    ``shortest`` is the length of the shortest alternative; ``deepest`` is the smallest height among the
    alternatives.  The shortest of p is at most the deepest of q.
    ``least`` and ``most`` bound a rank: the least of p is at most the most of q.  Both are the rank itself
    for a single linear path, and if p and q then have the same rank, they are equivalent.
    """

    __slots__ = (
        "asked",
        "asks",
        "automaton",
        "chains",
        "deepest",
        "least",
        "most",
        "pattern",
        "said",
        "says",
        "shortest",
        "value",
        "values",
    )

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        paths = pattern.alternatives
        linear = all(_is_linear(path) for path in paths)
        self.chains = tuple([chain(path) for path in paths]) if linear else None
        self.automaton = ChainAutomaton(self.chains) if self.chains is not None else None
        self.asked: frozenset[Hashable] = _common([set(_asked(path)) for path in paths])
        self.said: frozenset[Hashable] = (
            self.asked if linear else _common([set(_said(path)) for path in paths])
        )
        self.asks = self.says = bloom_bits(self.asked)
        self.value: Hashable = None
        self.values: tuple[Hashable, ...] = (None,)
        if not linear:
            self.says = bloom_bits(self.said)
            self.value = next(iter(_values(self.asked)), None)
            self.values += _values(self.said)
        self.shortest = min([len(path.steps) for path in paths])
        self.deepest = self.shortest if linear else min([_height(path) for path in paths])
        if linear and len(paths) == 1:
            self.least = self.most = _RANKS * len(paths[0].steps) - _generality(paths[0].steps)
        else:
            self.least = _RANKS * (self.shortest - 1) + 1
            self.most = _RANKS * self.deepest + 1


_summaries: dict[int, Summary] = {}


def summary(pattern: Pattern) -> Summary:
    """Return the summary of a pattern, cached by identity: hashing costs more than most verdicts."""
    found = _summaries.get(id(pattern))
    if found is None:
        if len(_summaries) >= REMEMBERED:
            _summaries.clear()
        found = _summaries[id(pattern)] = Summary(pattern)  # keeps the pattern, and so its id, alive
    return found


def summary_covers(p: Summary, q: Summary) -> bool:
    """Decide ``covers`` for callers that keep summaries."""
    if p.asks & ~q.says or p.shortest > q.deepest or p.least > q.most:
        return False
    if p.automaton is not None and q.chains is not None:
        for steps in q.chains:  # noqa: SIM110 (a generator costs as much as the answer)
            if not p.automaton.covers(steps):
                return False
        return True
    return _proved(p, q)


@partial(bounded, remembered=REMEMBERED)
def _proved(p: Summary, q: Summary) -> bool:
    goal = Exists(p.pattern.alternatives)
    return all(_follows(goal, known((Exists((path,)),))) for path in q.pattern.alternatives)


# Facts


_Valued: TypeAlias = Comparison | StringTest | Length


def known(predicates: Sequence[Predicate]) -> tuple[Predicate, ...]:
    """Return the facts in a conjunction of predicates: ``and`` and double negations are resolved."""
    facts: list[Predicate] = []
    for predicate in predicates:
        match predicate:
            case And(operands):
                facts += known(operands)
            case Not(Or(operands)):
                facts += known([Not(operand) for operand in operands])
            case Not(Not(operand)):
                facts += known([operand])
            case Position():
                facts += (predicate, *known(predicate.among))
            case _:
                facts.append(predicate)
                if demands_a_node(predicate) and len(predicate.paths) == 1:
                    facts += known(predicate.paths[0].filters)
    return tuple(facts)


def denials(operand: Predicate) -> Iterator[Predicate]:
    """Yield the predicates that ``not(operand)`` implies: ``not(a or not(b))`` implies ``b``."""
    match operand:
        case Not(stated):
            yield stated
        case Or(operands):
            for each in operands:
                yield from denials(each)


def _from(fact: Selecting, path: Path, start: int) -> Predicate:
    """Return what a fact implies for the node that ``start`` steps of its path lead to."""
    rest = (Path(path.steps[start:], path.tail),)
    return Exists(rest) if isinstance(fact, Exists | Count) else replace(fact, paths=rest)


# Goals


def _follows(goal: Predicate, facts: tuple[Predicate, ...]) -> bool:
    """Whether ``goal`` is true for every node for which all ``facts`` are true."""
    spend(1 + len(facts))
    if goal in facts or _follows_directly(goal, facts):
        return True
    cases = [fact for fact in facts if isinstance(fact, Or)]
    others = tuple([fact for fact in facts if not isinstance(fact, Or)])
    return any(all(_follows(goal, others + known((operand,))) for operand in case.operands) for case in cases)


follows = bounded(_follows)


def _follows_directly(goal: Predicate, facts: tuple[Predicate, ...]) -> bool:
    match goal:
        case And(operands):
            return all(_follows(operand, facts) for operand in operands)
        case Or(operands):
            return any(_follows(operand, facts) for operand in operands)
        case Not(operand):
            return _denied(operand, facts)
        case Exists(paths):
            return any(_selects(path, None, facts) for path in paths)
        case Comparison(paths):
            return any(_selects(path, goal, facts) for path in paths)
        case StringTest(_, paths) | Length(paths):
            return any(
                implies(fact, goal)
                for fact in facts
                if isinstance(fact, StringTest | Length | Comparison)
                and fact.paths == paths
                and (not isinstance(fact, Comparison) or is_one_node(paths))
            )
        case Count():
            return any(
                whole_number_implies(fact, goal)
                for fact in facts
                if isinstance(fact, Count) and fact.paths == goal.paths
            )
        case Test():
            return False  # a general expression follows only from itself
        case Position():
            return any(
                whole_number_implies(fact, goal)
                for fact in facts
                if isinstance(fact, Position) and (fact.test, fact.among) == (goal.test, goal.among)
            )


def _denied(goal: Predicate, facts: tuple[Predicate, ...]) -> bool:
    """Whether ``goal`` is false for every node for which all ``facts`` are true."""
    spend(1 + len(facts))
    if isinstance(goal, Not):
        return _follows(goal.operand, facts)
    if isinstance(goal, Or):
        return all(_denied(operand, facts) for operand in goal.operands)
    if isinstance(goal, And) and any(_denied(operand, facts) for operand in goal.operands):
        return True
    supposed = known((goal,))
    if any(isinstance(fact, Not) and _follows(fact.operand, supposed) for fact in facts):
        return True
    return (
        isinstance(goal, Comparison)
        and is_one_node(goal.paths)
        and any(
            isinstance(fact, _Valued) and fact.paths == goal.paths and implies(fact, denied(goal))
            for fact in facts
        )
    )


def _selects(path: Path, value: Comparison | None, facts: tuple[Predicate, ...]) -> bool:
    """Whether ``path`` selects a node (one with ``value``, if given) from every node with these facts."""
    if not all(_follows(condition, facts) for condition in path.filters):
        return False
    if not path.steps:
        return _ends(path.tail, value, facts)
    return any(
        all(_lies_along(path, value, other, fact) for other in fact.paths)
        for fact in facts
        if demands_a_node(fact)
    )


def _ends(tail: Tail, value: Comparison | None, facts: tuple[Predicate, ...]) -> bool:
    """Whether every node with these facts has the ``tail`` (with ``value``, if given)."""
    if tail is None and value is None:
        return True
    return any(
        all(not other.steps and _tail_includes(tail, other.tail) for other in fact.paths)
        and (value is None or (isinstance(fact, _Valued) and implies(fact, value)))
        for fact in facts
        if demands_a_node(fact)
    )


def _tail_includes(general: Tail, special: Tail) -> bool:
    if isinstance(general, AttributeTail):
        return isinstance(special, AttributeTail) and general.test.includes(special.test)
    return general == special


def _lies_along(path: Path, value: Comparison | None, other: Path, fact: Selecting) -> bool:
    """Whether the steps of ``path`` can be mapped to nodes along ``other``, for all lengths of its gaps.

    ``other`` is a path of ``fact``.  As in ``ChainAutomaton.covers``, bit j of a mask says that the first j
    steps can be mapped so far.  A mask is settled once all steps are mapped and the goal on the last node is
    proved, or once the rest of the path follows from the predicates of the node reached.
    """
    goals = path.steps
    complete = 1 << len(goals)
    stay = sum(1 << j for j, goal in enumerate(goals) if goal.axis is Axis.DESCENDANT)
    masks = {1}
    for i, step in enumerate(other.steps):
        if step.axis is Axis.DESCENDANT:
            gap = _FactNode(path, value, ANY, (), (_from(fact, other, i),))
            widened = set(masks)
            for mask in masks:
                while True:
                    mask = gap.moved(mask) | (mask & stay)
                    if gap.settles(mask) or mask & ~complete in widened:
                        break
                    mask &= ~complete
                    widened.add(mask)
            masks = widened
        branches = known(step.predicates)
        node = _FactNode(path, value, step.test, branches, (*branches, _from(fact, other, i + 1)))
        after = set()
        for mask in masks:
            mask = node.moved(mask) | (mask & stay)
            if not node.settles(mask):
                after.add(mask & ~complete)
        if not after:
            return True
        if 0 in after or len(after) > MOST_MASKS:
            return False
        masks = {mask for mask in after if not any(o != mask and o & mask == o for o in after)}
    return False


class _FactNode:
    """A node on the path of a fact: which steps of the goal can be mapped to it, and what that settles."""

    __slots__ = ("_admits", "_rest", "branches", "facts", "path", "test", "value")

    def __init__(
        self,
        path: Path,
        value: Comparison | None,
        test: NameTest,
        branches: tuple[Predicate, ...],
        facts: tuple[Predicate, ...],
    ) -> None:
        self.path = path
        self.value = value
        self.test = test
        self.branches = branches
        self.facts = facts
        self._admits: dict[int, bool] = {}
        self._rest: dict[int, bool] = {}

    def moved(self, mask: int) -> int:
        """Return the mask after mapping one more step to this node, from each state of ``mask``."""
        found = 0
        for j, step in enumerate(self.path.steps):
            if mask >> j & 1:
                if j not in self._admits:
                    self._admits[j] = self._admitted(step)
                if self._admits[j]:
                    found |= 2 << j
        return found

    def settles(self, mask: int) -> bool:
        """Whether the rest of the goal's path is proved from one of the states of ``mask``."""
        for j in range(len(self.path.steps) + 1):
            if mask >> j & 1:
                if j not in self._rest:
                    self._rest[j] = self._settled(j)
                if self._rest[j]:
                    return True
        return False

    def _admitted(self, step: Step) -> bool:
        return step.test.includes(self.test) and all(
            _follows(predicate, self.facts) for predicate in step.predicates
        )

    def _settled(self, j: int) -> bool:
        steps = self.path.steps
        if j == len(steps):
            return _ends(self.path.tail, self.value, self.facts)
        return bool(self.branches) and _selects(Path(steps[j:], self.path.tail), self.value, self.branches)


# Summaries


def _is_linear(path: Path) -> bool:
    return path.tail is None and not path.filters and all(not step.predicates for step in path.steps)


def _generality(steps: Sequence[Step]) -> int:
    """Return how general a path is among paths of equal length; ``*`` counts 2, a gap or a partial test 1."""
    generality = 0
    gap = False
    for step in steps:
        gap = gap or step.axis is Axis.DESCENDANT
        if step.test == ANY:
            generality += 2
            continue
        generality += gap + (None in step.test)
        gap = False
    return generality


def _values(things: frozenset[Hashable]) -> tuple[Hashable, ...]:
    found = [thing for thing in things if type(thing) is tuple and thing[0] == "="]
    return tuple(sorted(found, key=repr))  # in the same order in every process


def _common(sets: Sequence[set[Hashable]]) -> frozenset[Hashable]:
    return frozenset(set.intersection(*sets))


def _asked(path: Path) -> Iterator[Hashable]:
    """Yield the names and values that facts must mention for the goal ``path`` to follow from them."""
    for predicate in path.filters:
        yield from _asked_by(predicate)
    for step in path.steps:
        if None not in step.test:
            yield step.test
        for predicate in step.predicates:
            yield from _asked_by(predicate)
    if isinstance(path.tail, AttributeTail) and None not in path.tail.test:
        yield "@", path.tail.test


def _asked_by(predicate: Predicate) -> Iterator[Hashable]:
    match predicate:
        case Exists((path,)):
            yield from _asked(path)
        case Comparison((path,), operator, value):
            yield from _asked(path)
            if operator == "=":
                yield "=", value


def _said(path: Path) -> Iterator[Hashable]:
    """Yield the names and values that the facts of ``path`` mention."""
    for predicate in path.filters:
        yield from _said_by(predicate)
    for step in path.steps:
        yield step.test
        for predicate in step.predicates:
            yield from _said_by(predicate)
    if isinstance(path.tail, AttributeTail):
        yield "@", path.tail.test


def _said_by(predicate: Predicate) -> Iterator[Hashable]:
    match predicate:
        case And(operands) | Or(operands):
            for operand in operands:
                yield from _said_by(operand)
        case Not(operand):
            for denial in denials(operand):
                yield from _said_by(denial)
        case Position() | Test():
            for condition in counted_among(predicate):
                yield from _said_by(condition)
        case _:
            for path in predicate.paths:
                yield from _said(path)
            if isinstance(predicate, Comparison) and predicate.operator == "=":
                yield "=", predicate.value
                if isinstance(predicate.value, str):
                    yield "=", number(predicate.value)


def _height(path: Path) -> int:
    """Return the length of the longest chain of nodes that the facts of ``path`` mention."""
    height = max((_height_of(predicate) for predicate in path.filters), default=0)
    for i, step in enumerate(path.steps):
        height = max(height, i + 1, *(i + 1 + _height_of(predicate) for predicate in step.predicates))
    return height


def _height_of(predicate: Predicate) -> int:
    match predicate:
        case And(operands) | Or(operands):
            return max(_height_of(operand) for operand in operands)
        case Not(operand):
            return max((_height_of(denial) for denial in denials(operand)), default=0)
        case Position() | Test():
            return max((_height_of(condition) for condition in counted_among(predicate)), default=0)
        case _:
            return max(_height(path) for path in predicate.paths)
