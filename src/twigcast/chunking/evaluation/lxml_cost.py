"""How long libxml2 may take for an expression at most, found before it is asked: it cannot be stopped.

libxml2 evaluates a predicate on each node anew, and compares all pairs where it unites sets of nodes.  So the
bound says, for each step, how often a node can be visited:

    //a[.//b/c]        //a: each node once;  .//b: once for each of its ancestors;  c: as often as its parent
    //a[../b]          ..: once for each child;  b: as often as its parent
    //a[preceding::b]  each node once for each a

A query whose bound is beyond the limit is left to the evaluator of twigcast, which counts the steps that it
really takes, or refused.  Bounds are for the worst document of its size and shape.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from twigcast.chunking.reach.xpath_syntax import (
    CallTerm,
    ContextTerm,
    LiteralTerm,
    OperationTerm,
    PathTerm,
    RootTerm,
    StepTerm,
    Term,
    VariableTerm,
)
from twigcast.pattern import (
    And,
    Axis,
    Comparison,
    Count,
    Exists,
    Length,
    Not,
    Or,
    Path,
    Pattern,
    Position,
    Predicate,
    StringTest,
)

VISITS_PER_STEP = 16
"""libxml2 visits so many nodes in the time in which twigcast's evaluator visits one; 0.01 µs each."""

_CHARACTERS_PER_VISIT = 4


class TreeFigures:
    """The size and the shape of a tree of lxml; ``ranges`` gives start and end of each element, in turn."""

    def __init__(self, body: bytes, tree: Any, ranges: Callable[[], array[int]]) -> None:
        self._body = body
        self._tree = tree
        self._ranges = ranges

    @cached_property
    def nodes(self) -> int:
        """The number of all nodes."""
        root = self._tree.getroot()
        return int(root.xpath("count(//node())") + root.xpath("count(//@*)")) + 1

    @cached_property
    def characters(self) -> int:
        """A bound on the characters of all text and all attributes together, with entities expanded."""
        from lxml import etree

        if self._tree.docinfo.internalDTD is None:
            return len(self._body)
        return max(len(self._body), len(etree.tostring(self._tree, encoding="unicode")))

    @cached_property
    def depth(self) -> int:
        """How many elements can be open at once."""
        import numpy as np
        from lxml import etree

        if self._tree.docinfo.internalDTD is None:
            ranges = np.frombuffer(self._ranges(), dtype=np.uint64)
            starts, ends = ranges[::2], np.sort(ranges[1::2])
            before = np.searchsorted(ends, starts, side="right")
            return int((np.arange(1, len(starts) + 1) - before).max())
        depth = most = 0
        for event, _ in etree.iterwalk(self._tree, events=("start", "end")):
            depth += 1 if event == "start" else -1
            most = max(most, depth)
        return most

    @cached_property
    def children(self) -> int:
        """A bound on the children of one node."""
        from lxml import etree

        most = max(map(len, self._tree.getroot().iter(etree.Element)))
        if b"\0" in self._body[:4]:
            return self.nodes
        return min(self.nodes, 2 * most + 2 * sum(map(self._body.count, _SECTIONS)) + 2)


def pattern_steps(pattern: Pattern, figures: TreeFigures) -> float:
    """A bound on the steps that libxml2 takes for a pattern that is written by ``to_xpath``."""
    found = _PatternCost(figures)
    for path in pattern.alternatives:
        found.path(path, 1.0, below=1.0)
    return found.visits / VISITS_PER_STEP


class _PatternCost:
    """The visits for parts of a pattern; a ``factor`` is how often a node can be their context."""

    def __init__(self, figures: TreeFigures) -> None:
        self.visits = 0.0
        self._figures = figures

    def path(self, path: Path, factor: float, *, below: float | None = None) -> float:
        """How often a node can be reached; ``below`` is the factor of a first ``//``, if not the depth."""
        self._conditions(path.filters, factor)
        for step in path.steps:
            if step.axis is Axis.DESCENDANT:
                factor *= self._figures.depth if below is None else below
            below = None
            self.visits += factor * self._figures.nodes
            self._conditions(step.predicates, factor)
        if path.tail is not None:
            self.visits += factor * self._figures.nodes
        return factor

    def _conditions(self, predicates: Iterable[Predicate], factor: float) -> None:
        for predicate in predicates:
            self.visits += factor * self._figures.nodes
            match predicate:
                case Exists(paths) | Count(paths):
                    for path in paths:
                        self.path(path, factor)
                case Comparison(paths) | Length(paths):
                    self._values(paths, factor, 1)
                case StringTest(_, paths, value):
                    self._values(paths, factor, 1 + len(value))
                case And(operands) | Or(operands):
                    self._conditions(operands, factor)
                case Not(operand):
                    self._conditions((operand,), factor)
                case Position(_, _, _, among):
                    self._conditions(among, factor)
                case _:
                    self.visits = math.inf

    def _values(self, paths: Iterable[Path], factor: float, times: int) -> None:
        """String-values, each of whose characters is looked at several times."""
        for path in paths:
            reached = self.path(path, factor)
            characters = reached * self._figures.characters * self._figures.depth
            self.visits += times * characters / _CHARACTERS_PER_VISIT


def text_steps(terms: Term, figures: TreeFigures, variables: Mapping[str, object]) -> float:
    """A bound on the steps that libxml2 takes for an expression, evaluated once at the document node."""
    found = _TermCost(figures, variables)
    found.cost(terms, _Contexts(1, 1))
    return found.visits / VISITS_PER_STEP


@dataclass(frozen=True, slots=True)
class _Contexts:
    """How often an expression is evaluated, and how often at most on one and the same node."""

    count: float
    factor: float


@dataclass(frozen=True, slots=True)
class _Value:
    """What evaluations of an expression give together.

    Of nodes: how often one of them is reached at most (``factor``), how many one evaluation has at most
    (``size``).  Of other values ``size`` is None.  ``characters`` are those of all evaluations as strings,
    ``longest`` those of one.
    """

    characters: float
    longest: float
    factor: float = 0
    size: float | None = None


_NUMBER = 32  # characters of a number


class _TermCost:
    """Adds up the visits for the terms of an expression."""

    def __init__(self, figures: TreeFigures, variables: Mapping[str, object]) -> None:
        self.visits = 0.0
        self._figures = figures
        self._variables = variables

    def cost(self, term: Term, at: _Contexts) -> _Value:
        """Add the visits of a term in its contexts, and return what it gives."""
        self.visits += at.count
        match term:
            case LiteralTerm(value):
                return self._constant(value, at)
            case VariableTerm(name):
                given = self._variables.get(name)
                if isinstance(given, str | int | float):
                    return self._constant(given, at)
                self.visits = math.inf  # nodes of another tree
                return _Value(0, 0)
            case RootTerm():
                return self._nodes(at.count, 1, at)
            case ContextTerm():
                return self._nodes(at.factor, 1, at)
            case OperationTerm():
                return self._operation(term, at)
            case CallTerm():
                return self._call(term, at)
            case PathTerm():
                return self._path(term, at)

    def _constant(self, value: object, at: _Contexts) -> _Value:
        length = len(value) if isinstance(value, str) else _NUMBER
        return _Value(at.count * length, length)

    def _nodes(self, factor: float, size: float, at: _Contexts) -> _Value:
        """What evaluations give that reach a node so often, and so many at a time."""
        figures = self._figures
        factor, size = min(factor, at.count), min(size, figures.nodes)
        characters = min(
            factor * figures.characters * figures.depth,
            at.count * figures.characters * min(size, figures.depth),
        )
        return _Value(characters, figures.characters, factor, size)

    def _operation(self, term: OperationTerm, at: _Contexts) -> _Value:
        values = [self.cost(each, at) for each in term.operands]
        sets = [each for each in values if each.size is not None]
        if "|" in term.operators:
            size = sum(each.size or 0 for each in sets)
            self.visits += at.count * size * size  # each node is compared with all before it
            return self._nodes(sum(each.factor for each in sets), size, at)
        if not term.operators <= {"and", "or"}:
            self.visits += sum(each.characters for each in values) / _CHARACTERS_PER_VISIT
            for first, second in pairwise(sets):
                self.visits += at.count * (first.size or 0) * (second.size or 0)
        return _Value(at.count * _NUMBER, _NUMBER)

    def _call(self, term: CallTerm, at: _Contexts) -> _Value:
        values = [self.cost(each, at) for each in term.arguments]
        if not values and term.function in _OF_CONTEXT:
            values = [self._nodes(at.factor, 1, at)]
        if term.function not in _CONSTANT:
            self.visits += sum(each.characters for each in values) / _CHARACTERS_PER_VISIT
        if term.function in _SEARCHING and len(values) > 1:  # libxml2 may look at all pairs of characters
            times = min(each.longest for each in values[1:2])
            self.visits += values[0].characters * (1 + times) / _CHARACTERS_PER_VISIT
        if term.function == "lang":
            self.visits += at.count * self._figures.depth
        if term.function == "id":
            longest = max((each.longest for each in values), default=0)
            return self._nodes(at.count, longest / 2 + 1, at)
        if term.function in _NUMBERS:
            return _Value(at.count * _NUMBER, _NUMBER)
        if term.function in _STRINGS:
            return _Value(sum(each.characters for each in values), sum(each.longest for each in values))
        self.visits = math.inf  # nobody knows what it does
        return _Value(0, 0)

    def _path(self, term: PathTerm, at: _Contexts) -> _Value:
        value = self.cost(term.start, at)
        if value.size is None:
            self.visits = math.inf
            return value
        self._predicates(term.predicates, value.factor, value.size, at)
        for step in term.steps:
            value = self._step(step, value, at)
        return value

    def _step(self, step: StepTerm, value: _Value, at: _Contexts) -> _Value:
        figures = self._figures
        assert value.size is not None
        before, size = value.factor, value.size
        contexts = min(before * figures.nodes, at.count * size)
        is_attribute = step.axis in ("attribute", "namespace")
        children = figures.nodes if is_attribute else figures.children
        match step.axis:
            case "child" | "attribute":
                visits, factor = min(before * figures.nodes, contexts * children), before
                size *= children
            case "self":
                visits, factor = contexts, before
            case "parent":
                visits, factor = contexts, contexts
            case "descendant" | "descendant-or-self":
                factor = min(before * (figures.depth + 1), contexts)
                visits = factor * figures.nodes
                size = figures.nodes
            case "ancestor" | "ancestor-or-self":
                visits, factor = contexts * (figures.depth + 1), contexts
                size *= figures.depth + 1
            case "following-sibling" | "preceding-sibling":
                visits, factor = contexts * children, min(contexts, before * children)
                size *= children
            case _:
                visits, factor = contexts * figures.nodes, contexts
                size = figures.nodes
        size = min(size, figures.nodes)
        self.visits += visits
        self._predicates(step.predicates, factor, visits / max(at.count, 1), at)
        if step.axis in ("preceding", "preceding-sibling"):
            self.visits += visits * children  # they are sorted, by walking from sibling to sibling
        if value.size > 1 and step.axis not in ("child", "attribute", "self"):
            self.visits += visits * size  # each node is compared with all before it
        return self._nodes(factor, size, at)

    def _predicates(self, predicates: Iterable[Term], factor: float, size: float, at: _Contexts) -> None:
        if predicates:
            contexts = _Contexts(min(factor * self._figures.nodes, max(at.count * size, 1)), factor)
            for predicate in predicates:
                self.cost(predicate, contexts)


_SECTIONS = (b"<!--", b"<?", b"<![CDATA[", b"&")
_OF_CONTEXT = frozenset(
    ("string", "normalize-space", "string-length", "number", "name", "local-name", "namespace-uri")
)
_CONSTANT = frozenset(("position", "last", "true", "false", "count", "not", "boolean"))
_SEARCHING = frozenset(("contains", "substring-before", "substring-after", "translate", "starts-with"))
_NUMBERS = _CONSTANT | {
    *("number", "sum", "floor", "ceiling", "round", "string-length"),
    *("contains", "starts-with", "lang"),
}
_STRINGS = frozenset(
    (
        *("string", "concat", "substring", "substring-before", "substring-after", "translate"),
        *("normalize-space", "name", "local-name", "namespace-uri"),
    )
)
