"""What a query looks at: the elements that must stay in a chunk so that its answers stay the same.

Every chunk is the document with things left out.  If it has all that a query looks at for its targets, and
nothing but nodes of the document with their ancestors, in order, then every path in the query selects the
same nodes in both.  So keeping more is always right.

    predicate                         needs, from its context
    Exists, Count                     TAG at the end of the path; of text(): OWN; of @x: TAG of the element
    Comparison, StringTest, Length    TREE at the end of the path; of text(): OWN; of @x: TAG
    Position                          TAG of every sibling that is counted, and the needs of its conditions
    a general expression              TREE of the context, if it only looks downward

A query is *local* at an element if predicates above it use only attributes of that very element, and no step
at or above it counts siblings: then a part with whole subtrees there, and the tags of the ancestors, will do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from twigcast.chunking.outline import Names
from twigcast.chunking.reach.general import counts_siblings, looks_outside, reads_node
from twigcast.chunking.reach.spine import standing
from twigcast.document import Keep
from twigcast.pattern import (
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
    StringTest,
    Tail,
    Test,
    TextTail,
    counted_among,
    counted_names,
)

Context: TypeAlias = tuple[tuple[Axis, NameTest], ...]
"""Steps from the document node to elements, without predicates."""


class Need(NamedTuple):
    """How much is kept of the elements that the steps reach from the document node."""

    steps: Context
    keep: Keep


class Target(NamedTuple):
    """Where a query can select: exactly at a label path, or if it is open there or anywhere below."""

    path: Names
    is_open: bool = False

    def __str__(self) -> str:
        return "/" + "/".join(local for _, local in self.path) + ("//" if self.is_open else "")


def exactly(path: Names) -> Context:
    """The context of exactly one label path."""
    return tuple((Axis.CHILD, NameTest(*name)) for name in path)


def target_needs(pattern: Pattern, target: Target, *, content: bool = True) -> Iterator[Need]:
    """What must stay so that the pattern selects the same at a target: F of the paper, and the target.

    Without ``content``, only the tags of what is selected stay, and what the last predicates look at.
    """
    path = target.path
    is_whole = content or target.is_open
    if is_whole:
        yield Need(exactly(path), Keep.TREE)
    for alternative in pattern.alternatives:
        at = standing(alternative.steps, path, is_open=target.is_open)
        if not at[0]:
            continue
        yield from conditions_needs((), alternative.filters)
        for depth in range(1, len(path) + 1):
            context = exactly(path[:depth])
            for number in sorted(at[depth] - {0}):
                predicates = alternative.steps[number - 1].predicates
                if is_whole and depth == len(path):
                    predicates = tuple(each for each in predicates if counts_siblings(each))
                yield from conditions_needs(context, predicates)
        if not is_whole:
            yield from tail_needs(exactly(path), alternative.tail, Keep.TAG)


def conditions_needs(context: Context, predicates: Iterable[Predicate]) -> Iterator[Need]:
    """What predicates look at from their context."""
    for predicate in predicates:
        match predicate:
            case Exists(paths) | Count(paths):
                for path in paths:
                    yield from path_needs(context, path, Keep.TAG)
            case Comparison(paths) | StringTest(_, paths) | Length(paths):
                for path in paths:
                    yield from path_needs(context, path, Keep.TREE)
            case And(operands) | Or(operands):
                yield from conditions_needs(context, operands)
            case Not(operand):
                yield from conditions_needs(context, (operand,))
            case Position():
                yield from _sibling_needs(context, predicate)
            case Test():
                if reads_node(predicate.expression):
                    yield Need(context, Keep.TREE)
                if counted_names(predicate) is not None:
                    yield from _sibling_needs(context, predicate)


def path_needs(context: Context, path: Path, keep: Keep) -> Iterator[Need]:
    """What a path looks at from its context, if ``keep`` of its last elements is looked at."""
    yield from conditions_needs(context, path.filters)
    for step in path.steps:
        context = (*context, (step.axis, step.test))
        yield from conditions_needs(context, step.predicates)
    yield from tail_needs(context, path.tail, keep)


def tail_needs(context: Context, tail: Tail, keep: Keep) -> Iterator[Need]:
    """What the end of a path looks at, if ``keep`` of its last elements is looked at."""
    match tail:
        case AttributeTail():
            yield Need(context, Keep.TAG)
        case TextTail():
            yield Need(context, Keep.OWN)
        case Onward():
            yield Need(context, Keep.TREE)
        case None:
            yield Need(context, keep)


def _sibling_needs(context: Context, predicate: Position | Test) -> Iterator[Need]:
    """The siblings that a position counts; below the same parent they are reached by the same axis."""
    test = counted_names(predicate)
    assert test is not None
    if context:
        siblings = (*context[:-1], (context[-1][0], test))
        yield Need(siblings, Keep.TAG)
        yield from conditions_needs(siblings, counted_among(predicate))


def local_depth(pattern: Pattern, target: Target) -> int:
    """The greatest depth on the way to a target down to which the pattern is local; 0 if it never is.

    A record must contain each element whose predicate looks at more than its own attributes, and the parent
    of each element whose siblings are counted.
    """
    most = len(target.path)
    for alternative in pattern.alternatives:
        at = standing(alternative.steps, target.path, is_open=target.is_open)
        if not at[0]:
            continue
        if alternative.filters:
            return 0
        for place in range(1, len(target.path) + 1):
            for number in at[place] - {0}:
                predicates = alternative.steps[number - 1].predicates
                if any(counts_siblings(each) for each in predicates):
                    most = min(most, place - 1)
                if not all(map(_uses_own_attributes, predicates)):
                    most = min(most, place)
    return most


def _uses_own_attributes(predicate: Predicate) -> bool:
    match predicate:
        case Exists(paths) | Count(paths) | Comparison(paths) | StringTest(_, paths) | Length(paths):
            return all(
                not path.steps and not path.filters and isinstance(path.tail, AttributeTail) for path in paths
            )
        case And(operands) | Or(operands):
            return all(map(_uses_own_attributes, operands))
        case Not(operand):
            return _uses_own_attributes(operand)
        case Position() | Test():
            return False


def outside_word(pattern: Pattern) -> str | None:
    """The word of a pattern that looks beyond what needs can say, so that it takes the whole document."""
    for alternative in pattern.alternatives:
        if not alternative.steps:
            return "the document node"
        if found := looks_outside(alternative):
            return found
    return None
