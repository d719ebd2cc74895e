"""Advertisements that are given as path expressions, as in the routing paper.

advertisement_of("sensors", [parse_path_expression("/site(/room)+/t")])
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from experiments.engines.routing.path_expression import Either, Label, PathExpression, Repeat, Series
from twigcast.analysis import DOCUMENT, SchemaAutomaton, members
from twigcast.analysis.automaton import deterministic
from twigcast.errors import SchemaError
from twigcast.pattern import ANY
from twigcast.routing import Advertisement


def advertisement_of(id: str, expressions: Iterable[PathExpression]) -> Advertisement:
    """Make the advertisement of the documents that some of the expressions describe."""
    return Advertisement(id, expression_automaton(expressions))


def expression_automaton(expressions: Iterable[PathExpression]) -> SchemaAutomaton:
    """Make one position for each label of each expression (Glushkov's construction), then determinise."""
    tests = [ANY]
    follow = [0]

    def connect(sources: int, targets: int) -> None:
        for number in members(sources):
            follow[number] |= targets

    def positions_of(expression: PathExpression) -> _Ends:
        match expression:
            case Label(test):
                tests.append(test)
                follow.append(0)
                return _Ends(1 << len(tests) - 1, 1 << len(tests) - 1, False)
            case Series(parts):
                whole = _Ends(0, 0, True)
                for part in parts:
                    ends = positions_of(part)
                    connect(whole.last, ends.first)
                    whole = _Ends(
                        whole.first | (ends.first if whole.empty else 0),
                        ends.last | (whole.last if ends.empty else 0),
                        whole.empty and ends.empty,
                    )
                return whole
            case Either(options):
                found = [positions_of(option) for option in options]
                first = last = 0
                for ends in found:
                    first |= ends.first
                    last |= ends.last
                return _Ends(first, last, any(ends.empty for ends in found))
            case Repeat(body):
                ends = positions_of(body)
                connect(ends.last, ends.first)
                return ends

    for expression in expressions:
        connect(DOCUMENT, positions_of(expression).first)
    if not follow[0]:
        raise SchemaError("a schema needs at least one path expression that is not empty")
    return deterministic(tests, follow)


@dataclass(frozen=True, slots=True)
class _Ends:
    """The positions at which a part of an expression can begin and end, and whether the part can be empty."""

    first: int
    last: int
    empty: bool
